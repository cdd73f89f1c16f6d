"""How contenders and peers are measured."""

from pathlib import Path

import msgspec
import pytest

from lab.bench.contenders import FACE, OURS, our_passes
from lab.bench.loops import Carried, Watch
from lab.bench.measure import Passes, PeerFailed, Timed, in_turn, span
from lab.bench.memory import hold
from lab.bench.peers import GET_MOA, GET_RIVER, MOA, Peer, find_peers, moa_jars
from lab.bench.streams import Nominal
from tests.lab.sample_report import quiet
from tests.needs import PEERS, missing

# ---- measuring


def test_contenders_take_turns_and_the_best_pass_counts() -> None:
    asked: list[str] = []
    times = {"a": iter([3.0, 1.0, 2.0]), "b": iter([30.0])}

    def one(name: str) -> Timed:
        asked.append(name)
        return Timed(10, next(times[name]), 5)

    passes = in_turn({"a": lambda: one("a"), "b": lambda: one("b")}, 3, quiet, "x")
    best = {name: one.best for name, one in passes.items()}
    # The second is slow and has no more turns.
    assert asked == ["a", "b", "a", "a"]
    assert best == {"a": Timed(10, 1.0, 5), "b": Timed(10, 30.0, 5)}
    assert best["a"].rate == 10
    assert best["b"].micros == 3e6
    assert best["b"].accuracy == 0.5
    # A ratio is one of passes of the same turn.
    assert passes["a"].against(passes["b"]) == pytest.approx([10.0])
    assert Passes([Timed(1, 1.0), Timed(1, 2.0)]).against(Passes([Timed(1, 3.0), Timed(1, 1.0)])) == [
        3.0,
        0.5,
    ]
    assert span([3.0, 0.5, 1.0]) == "0.5-3.0"


def test_both_ways_to_our_learner_give_the_same_answers() -> None:
    source = Nominal(0.05)
    chunk = source.draw(5_000)
    told = {name: run() for name, run in our_passes(source, chunk, bare=True).items()}
    assert told[OURS].correct == told[FACE].correct
    assert told[OURS].accuracy > 0.8
    assert all(timed.records == 5_000 and timed.seconds > 0 for timed in told.values())


def test_the_memory_of_a_tree_is_measured_at_the_number_of_different_records_asked_for() -> None:
    held = hold(3_000, 0.0)
    assert held.records == 3_000
    assert held.reported > 3_000 * 22


def test_a_watch_runs_from_the_first_commit_to_the_last() -> None:
    watch = Watch(10)
    assert watch.carried() == Carried(0, 0.0, 0.0)
    assert not watch.committed(0)
    assert not watch.committed(4)
    assert not watch.committed(7)
    assert watch.committed(11)
    carried = watch.carried()
    assert carried.records == 7
    assert carried.wall > 0
    assert not Watch(0).committed(100)


# ---- peers


def test_a_peer_that_is_not_there_is_left_out_and_told_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.bench.peers.has_river", lambda: False)
    monkeypatch.setattr("lab.maven.has_maven", lambda: False)
    peers = find_peers(["river", "moa"], None, quiet)
    assert peers.there == {}
    assert peers.notes == [GET_RIVER, GET_MOA]
    assert find_peers([], None, quiet).notes == []


def moa() -> Peer:
    """Return MOA in a JVM; skip the test without it, or fail it where nothing may be skipped."""
    peers = find_peers(["moa"], None, quiet)
    if MOA not in peers.there:
        missing(peers.notes[0], PEERS)
    return peers.there[MOA]


@pytest.mark.peers
def test_moa_learns_the_same_records_in_a_jvm() -> None:
    source = Nominal()
    with moa().passes(source, source.draw(3_000), majority=True) as ways:
        told = [run() for run in ways.values()]
    assert len(told) == 2
    assert all(timed.records == 3_000 and timed.seconds > 0 for timed in told)
    assert all(timed.accuracy > 0.6 for timed in told)


@pytest.mark.peers
def test_a_jvm_that_dies_is_a_peer_that_failed(tmp_path: Path) -> None:
    broken = type(moa())(tmp_path)  # type: ignore[call-arg]
    source = Nominal()
    with (
        pytest.raises(PeerFailed, match="did not finish a pass"),
        broken.passes(source, source.draw(10), majority=False),
    ):
        pass


def test_jars_are_not_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr("lab.maven.has_maven", lambda: True)
    monkeypatch.setattr("lab.maven.shutil.which", lambda name: f"/nowhere/{name}")

    def pretend(command: list[str], each: object, *, directory: Path, seconds: float) -> object:
        calls.append(command[0])
        return msgspec.defstruct("Ending", [("status", int), ("late", bool)])(len(calls) == 1, False)

    monkeypatch.setattr("lab.maven.follow", pretend)
    with pytest.raises(PeerFailed, match="Maven could not fetch it"):
        moa_jars(tmp_path, quiet)
    assert moa_jars(tmp_path, quiet) == moa_jars(tmp_path, quiet) == tmp_path / "espalier" / "moa" / "jars"
    assert calls == ["/nowhere/mvn"] * 2
