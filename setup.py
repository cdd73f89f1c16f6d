"""Builds the compiled core; everything else about the package is in pyproject.toml."""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, ExecError, PlatformError

# `make sanitize` builds with the compiler's own checks switched on.
SANITIZE = os.environ.get("ESPALIER_SANITIZE", "")
FLAGS = ["-O1", "-g", f"-fsanitize={SANITIZE}", "-fno-omit-frame-pointer"] if SANITIZE else ["-O3"]
FLAGS.append("-UNDEBUG" if SANITIZE else "-DNDEBUG")  # with them the C asserts what must hold
# A sum of products is rounded as it is written: a replay comes to the same on another kind of machine.
FLAGS.append("-ffp-contract=off")


class BuildCore(build_ext):
    """Says what to do where there is no C compiler."""

    def run(self) -> None:
        """Build, or end with a message that helps."""
        try:
            super().run()
        except (CCompilerError, ExecError, PlatformError) as error:
            sys.exit(
                f"espalier's core is written in C and could not be compiled: {error}\n"
                "Install a C compiler (Debian: apt install gcc python3-dev; macOS: xcode-select --install) "
                "and try again."
            )


def extension(name: str, *sources: str, depends: tuple[str, ...] = ()) -> Extension:
    """Return a compiled module; its sources are in the directory of its package."""
    directory = Path(*name.split(".")[:-1])
    headers = sorted(str(path) for path in directory.glob("*.h"))
    return Extension(
        name,
        [str(directory / source) for source in sources],
        include_dirs=[str(directory)],
        depends=[*headers, *(str(directory / one) for one in depends)],
        # Only the module itself is visible from outside, so that calls inside it are direct.
        extra_compile_args=["-std=c11", "-Wall", "-fvisibility=hidden", *FLAGS],
        extra_link_args=[f"-fsanitize={SANITIZE}"] if SANITIZE else [],
    )


ID5R = (
    *("_core.pyx", "tree.c", "nodes.c", "scores.c", "store.c", "cuts.c", "shift.c", "shelf.c"),
    *("bayes.c", "blend.c", "voices.c", "dump.c", "boundary.c", "check.c", "check_table.c"),
    *("logs.c", "critical.c", "missing.c", "budget.c"),
)
REBUILT = ("_batch.pyx", "columns.c", "splits.c", "c45.c", "cells.c", "naive.c", "prune.c")

setup(
    ext_modules=cythonize(
        [
            extension("learners.id5r._core", *ID5R, depends=("outlines.pxi", "voices.pxi")),
            extension("learners.rebuilt._batch", *REBUILT),
            extension("learners.lookahead._lookahead", "_lookahead.pyx", "space.c", "sample.c", "job.c"),
            extension("learners.lookahead._errors", "_errors.pyx"),
            extension("learners.iidt._tree", "_tree.pyx"),
            extension("learners.iidt._choosing", "_choosing.pyx"),
            *(
                extension(f"learners.mdl.{name}", f"{name}.py")
                for name in ("records", "judging", "growing", "tree")
            ),
            extension("stream.native.rows", "rows.pyx", "record.c", "skip.c", "names.c"),
            extension("stream.native.predictions", "predictions.pyx"),
            extension("stream.native.messages", "messages.pyx"),
        ],
        compiler_directives={"language_level": 3},
    ),
    cmdclass={"build_ext": BuildCore},
)
