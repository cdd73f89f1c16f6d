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


setup(
    ext_modules=cythonize(
        [
            Extension(
                "learners.core._core",
                [
                    f"learners/core/{name}"
                    for name in (
                        "_core.pyx",
                        "tree.c",
                        "nodes.c",
                        "scores.c",
                        "store.c",
                        "cuts.c",
                        "shift.c",
                        "shelf.c",
                        "bayes.c",
                        "blend.c",
                        "voices.c",
                        "dump.c",
                    )
                ],
                include_dirs=["learners/core"],
                depends=[*sorted(map(str, Path("learners/core").glob("*.h"))), "learners/core/voices.pxi"],
                # Nothing but the module itself is to be seen from outside: calls within need no detour.
                extra_compile_args=["-std=c11", "-Wall", "-fvisibility=hidden", *FLAGS],
                extra_link_args=[f"-fsanitize={SANITIZE}"] if SANITIZE else [],
            ),
            Extension(
                "learners.batch._batch",
                [
                    f"learners/batch/{name}"
                    for name in (
                        "_batch.pyx",
                        "columns.c",
                        "splits.c",
                        "c45.c",
                        "cells.c",
                        "naive.c",
                        "prune.c",
                    )
                ],
                include_dirs=["learners/batch"],
                depends=["learners/batch/batch.h"],
                extra_compile_args=["-std=c11", "-Wall", *FLAGS],
                extra_link_args=[f"-fsanitize={SANITIZE}"] if SANITIZE else [],
            ),
            Extension(
                "learners.anytime._anytime",
                [f"learners/anytime/{name}" for name in ("_anytime.pyx", "space.c", "sample.c", "job.c")],
                include_dirs=["learners/anytime"],
                depends=["learners/anytime/anytime.h"],
                extra_compile_args=["-std=c11", "-Wall", *FLAGS],
                extra_link_args=[f"-fsanitize={SANITIZE}"] if SANITIZE else [],
            ),
            *(
                Extension(
                    f"learners.anytime.{name}",
                    [f"learners/anytime/{name}.pyx"],
                    extra_compile_args=["-std=c11", "-Wall", *FLAGS],
                    extra_link_args=[f"-fsanitize={SANITIZE}"] if SANITIZE else [],
                )
                for name in ("_tree", "_choosing")
            ),
            *(
                Extension(
                    f"learners.mdl.{name}",
                    [f"learners/mdl/{name}.py"],
                    extra_compile_args=["-std=c11", "-Wall", *FLAGS],
                    extra_link_args=[f"-fsanitize={SANITIZE}"] if SANITIZE else [],
                )
                for name in ("records", "judging", "growing", "tree")
            ),
            Extension(
                "stream.fast.rows",
                [f"stream/fast/{name}" for name in ("rows.pyx", "record.c", "names.c")],
                include_dirs=["stream/fast"],
                depends=["stream/fast/fast.h"],
                extra_compile_args=["-std=c11", "-Wall", *FLAGS],
                extra_link_args=[f"-fsanitize={SANITIZE}"] if SANITIZE else [],
            ),
            Extension(
                "stream.fast.predictions",
                ["stream/fast/predictions.pyx"],
                extra_compile_args=["-std=c11", "-Wall", *FLAGS],
                extra_link_args=[f"-fsanitize={SANITIZE}"] if SANITIZE else [],
            ),
            Extension(
                "stream.fast.messages",
                ["stream/fast/messages.pyx"],
                extra_compile_args=["-std=c11", "-Wall", *FLAGS],
                extra_link_args=[f"-fsanitize={SANITIZE}"] if SANITIZE else [],
            ),
        ],
        compiler_directives={"language_level": 3},
    ),
    cmdclass={"build_ext": BuildCore},
)
