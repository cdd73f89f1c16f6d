"""`make test` runs every test once, however the files are shared out."""

import os
from pathlib import Path

import pytest

from tests import side_by_side
from tests.paths import REPOSITORY
from tests.side_by_side import JOBS, Ended, Job, Lanes, files, job_of


def test_every_file_of_tests_is_in_one_job() -> None:
    shared = [file for of_job in files().values() for file in of_job]
    there = [file.relative_to(REPOSITORY).as_posix() for file in (REPOSITORY / "tests").rglob("test_*.py")]
    assert sorted(shared) == sorted(there)
    assert all(files().values()), "a job has no tests"
    assert len({job.name for job in JOBS}) == len(JOBS)


def test_a_directory_without_a_job_is_named() -> None:
    with pytest.raises(LookupError, match=r"tests/brand_new/test_it.py belongs to no job"):
        job_of(Path("tests/brand_new/test_it.py"))


def test_a_file_goes_where_it_is_named_most_exactly() -> None:
    assert job_of(Path("tests/faults/test_faust.py")).name == "faust"
    assert job_of(Path("tests/faults/test_kill.py")).name == "faults"
    # The name of a directory is not the beginning of another's.
    assert job_of(Path("tests/stream/test_worker.py")).name == "stream"


@pytest.fixture
def two_jobs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, list[str]]:
    """Two jobs, of which one fails."""
    (tmp_path / "test_good.py").write_text("def test_it(): pass\n")
    (tmp_path / "test_bad.py").write_text("def test_it(): assert 2 == 3\n")
    shared = {"good": [str(tmp_path / "test_good.py")], "bad": [str(tmp_path / "test_bad.py")]}
    monkeypatch.setattr(side_by_side, "files", lambda: shared)
    monkeypatch.setattr(side_by_side, "JOBS", (Job("good", ("good",)), Job("bad", ("bad",), waits=True)))
    monkeypatch.setattr(side_by_side, "LOGS", tmp_path)
    return shared


@pytest.mark.parametrize("lanes", [1, 3])
def test_what_fails_is_shown_and_the_others_go_on(
    two_jobs: dict[str, list[str]], capfdbinary: pytest.CaptureFixture[bytes], lanes: int
) -> None:
    ended: list[Ended] = Lanes(side_by_side.JOBS, lanes, dict(os.environ)).run()
    assert {one.job.name: one.status for one in ended} == {"good": 0, "bad": 1}
    shown = capfdbinary.readouterr().out.decode()
    assert "==== good" in shown
    assert "assert 2 == 3" in shown


@pytest.mark.parametrize(("jobs", "status"), [([], 1), (["good"], 0), (["bad"], 1)])
def test_one_failure_is_a_failure_of_all(
    two_jobs: dict[str, list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    jobs: list[str],
    status: int,
) -> None:
    monkeypatch.setenv("RUNNING_BROKER", "somewhere")
    monkeypatch.setattr("sys.argv", ["side_by_side", *jobs])
    assert side_by_side.main() == status
    shown = capfdbinary.readouterr().out.decode()
    assert ("bad: FAILED with 1" in shown) == bool(status)


def test_a_job_that_does_not_exist_is_no_empty_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["side_by_side", "nothing"])
    with pytest.raises(SystemExit) as ended:
        side_by_side.main()
    assert ended.value.code == 2


def test_only_jobs_that_start_many_brokers_get_the_archive_of_classes() -> None:
    """Other programs in Java say on standard output that it does not fit them."""
    lanes = Lanes((), 1, {"A": "1", side_by_side.JAVA_OPTIONS: "-XX:SharedArchiveFile=kafka.jsa"})
    assert lanes._environment_of(Job("b", (), waits=True)) == lanes._environment
    assert lanes._environment_of(Job("b", ())) == {"A": "1"}
