"""Become another program that the kernel ends when the parent of this process dies.

Run as a script: `python die_with_parent.py PARENT_PID COMMAND...`. The process asks Linux for SIGKILL at its
parent's death and then *becomes* COMMAND (same process id; the request outlives `exec`). A script rather
than a `preexec_fn`, because Python code between `fork` and `exec` may deadlock when the parent has threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # from linux/prctl.h


def main(arguments: list[str]) -> None:
    """Tie this process to its parent, then become the command in `arguments`."""
    parent, *command = arguments
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # The parent may have died before the line above, and then nobody will ever send the signal.
    if os.getppid() == int(parent):
        os.execv(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
