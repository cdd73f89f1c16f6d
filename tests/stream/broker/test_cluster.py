"""What a broker remembers, refuses and waits for; without a JVM."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import pytest

from stream.broker import cluster
from stream.broker.cluster import Broker
from stream.broker.errors import AlreadyRunning, NotRunning, PortTaken, StartFailed, UnusableDirectory
from stream.broker.jars import InstallProgress
from stream.broker.node import BrokerNode
from stream.broker.settings import Ports
from stream.broker.state import BrokerState, load, new_cluster_id, only_one_start, save

ONE = BrokerState("id", "/usr/bin/java", True, (Ports(1001, 1002),))
THREE = BrokerState("id", "/usr/bin/java", False, (Ports(1, 2), Ports(3, 4), Ports(5, 6)))


class Node:
    """A node without a process of its own."""

    def __init__(self, number: int = 1, *, runs: bool = True) -> None:
        self.number = number
        self.ports = Ports(1000 + number, 2000 + number)
        self.log = Path(f"node-{number}.log")
        self.runs = runs
        self.ends_when_asked = True
        self.done: list[str] = []

    def is_running(self) -> bool:
        return self.runs

    def ask_to_end(self) -> None:
        self.done.append("asked")
        self.runs = self.runs and not self.ends_when_asked

    def kill(self) -> None:
        self.done.append("killed")
        self.runs = False

    def failure(self) -> StartFailed:
        return StartFailed(f"node {self.number} ended")


def broker_of(*nodes: Node) -> Broker:
    return Broker(Path("somewhere"), nodes)  # type: ignore[arg-type]


# ---- what is remembered


@pytest.mark.parametrize("remembered", [ONE, THREE])
def test_what_was_saved_is_loaded_and_no_draft_is_left(tmp_path: Path, remembered: BrokerState) -> None:
    assert load(tmp_path) is None
    save(tmp_path, remembered)
    assert load(tmp_path) == remembered
    assert [file.name for file in tmp_path.iterdir()] == ["broker.json"]
    assert (tmp_path / "broker.json").read_text().endswith("}\n")


@pytest.mark.parametrize("content", [b"", b"{", b'{"cluster_id": 1}'])
def test_a_damaged_memory_names_the_file_and_what_to_do(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "broker.json").write_bytes(content)
    with pytest.raises(UnusableDirectory, match=r'cannot read ".*broker\.json": .*Delete the directory'):
        load(tmp_path)


def test_no_cluster_id_begins_with_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first of them would begin with a dash: its first six bits are 62.
    drawn = iter([UUID(int=62 << 122), UUID(int=1)])
    monkeypatch.setattr("uuid.uuid4", lambda: next(drawn))
    assert new_cluster_id() == "A" * 21 + "Q"
    assert next(drawn, None) is None


def test_only_one_start_at_a_time(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "broker"
    with only_one_start(directory):
        assert directory.is_dir()
        with pytest.raises(AlreadyRunning, match="another start is under way"), only_one_start(directory):
            pass
    with only_one_start(directory):
        pass


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(UnusableDirectory, match=r'cannot use ".*broker" for a broker'),
        only_one_start(tmp_path / "file" / "broker"),
    ):
        pass


# ---- what is refused


@pytest.mark.parametrize("nodes", [0, 2, 4])
def test_other_numbers_of_nodes_are_refused(tmp_path: Path, nodes: int) -> None:
    with pytest.raises(UnusableDirectory, match=f"1 node or 3, not {nodes}"):
        cluster._refuse_or_remember(tmp_path, nodes)


@pytest.mark.parametrize(("remembered", "nodes"), [(ONE, 3), (THREE, 1)])
def test_a_directory_keeps_its_number_of_nodes(tmp_path: Path, remembered: BrokerState, nodes: int) -> None:
    assert cluster._refuse_or_remember(tmp_path, nodes) is None
    save(tmp_path, remembered)
    told = f"a broker of {len(remembered.ports)} node.*cannot become {nodes}"
    with pytest.raises(UnusableDirectory, match=told):
        cluster._refuse_or_remember(tmp_path, nodes)
    assert cluster._refuse_or_remember(tmp_path, len(remembered.ports)) == remembered


def test_nodes_are_numbered_from_one(tmp_path: Path) -> None:
    nodes = cluster._nodes(tmp_path, THREE)
    assert [(node.number, node.ports) for node in nodes] == list(enumerate(THREE.ports, 1))
    assert [node.directory.name for node in nodes] == ["node-1", "node-2", "node-3"]
    assert Broker(tmp_path, nodes).bootstrap_servers == "127.0.0.1:1,127.0.0.1:3,127.0.0.1:5"


@pytest.mark.parametrize("remembered", [None, ONE])
def test_a_broker_that_does_not_run_is_not_found(tmp_path: Path, remembered: BrokerState | None) -> None:
    if remembered is not None:
        save(tmp_path, remembered)
    with pytest.raises(NotRunning, match=r"no broker runs in .* `espalier broker start`"):
        Broker.find(tmp_path)


# ---- ports


def giving(*given: int) -> Callable[..., int]:
    """Return what stands for `free_port`: the first wish, or the next of those given."""
    left = iter(given)
    return lambda wishes=(): next((wish for wish in wishes if wish is not None), None) or next(left)


def test_ports_are_those_of_the_last_time_and_the_wish_is_the_first_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "free_port", giving())
    assert cluster._choose_ports(3, None, THREE) == THREE.ports
    assert cluster._choose_ports(3, 99, THREE) == (Ports(99, 2), Ports(3, 4), Ports(5, 6))


def test_no_port_is_chosen_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "free_port", giving(7, 7, 7, 8))
    assert cluster._choose_ports(1, None, None) == (Ports(7, 8),)
    # The controller had the port that is wished for the broker now.
    monkeypatch.setattr(cluster, "free_port", giving(9))
    assert cluster._choose_ports(1, 1002, ONE) == (Ports(1002, 9),)


# ---- waiting


def test_it_is_ready_when_every_node_knows_all(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [Node(1), Node(2), Node(3)]
    everyone = {node.number: node.ports.broker for node in nodes}
    answers = [{}, everyone, everyone, {1: 1001}, everyone, everyone, everyone, everyone, everyone]
    left = iter(answers)
    monkeypatch.setattr(cluster, "cluster_at", lambda port: next(left))
    reported: list[InstallProgress] = []
    broker_of(*nodes).wait_ready(60, reported.append)
    assert [(one.done, one.total) for one in reported] == [(2, 3), (2, 3), (3, 3)]
    assert next(left, None) is None


def test_a_node_that_ends_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "cluster_at", lambda port: {})
    with pytest.raises(StartFailed, match="node 2 ended"):
        broker_of(Node(1), Node(2, runs=False)).wait_ready(3600)


def test_nodes_that_never_answer_are_given_up_with_their_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "cluster_at", lambda port: {})
    with pytest.raises(StartFailed, match=r'not answer within 0.05 s. Read "node-1.log", "node-2.log"'):
        broker_of(Node(1), Node(2)).wait_ready(0.05)


@pytest.mark.parametrize("running", [(True, False), (False, True), (False, False)])
def test_a_broker_runs_as_long_as_one_node_does(running: tuple[bool, bool]) -> None:
    assert broker_of(*(Node(runs=one) for one in running)).is_running() == any(running)


def test_all_are_asked_to_end_before_anybody_is_waited_for_and_killed() -> None:
    good, stubborn = Node(1), Node(2)
    stubborn.ends_when_asked = False
    with broker_of(good, stubborn) as broker:
        broker.stop(0.05)
        assert good.done == stubborn.done == ["asked", "killed"]
    assert not stubborn.runs


# ---- starting


@pytest.fixture
def no_jvm(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Nodes that are killed say so, and nothing is installed."""
    killed: list[str] = []
    installed = SimpleNamespace(java=Path("/usr/bin/java"), jars=())
    monkeypatch.setattr(cluster, "install", lambda sources, report: installed)
    monkeypatch.setattr(BrokerNode, "kill", lambda node: killed.append(node.directory.name))
    return killed


def failing(monkeypatch: pytest.MonkeyPatch, *errors: BaseException | None) -> list[BrokerState]:
    """Let one start of the nodes after the other fail, or not; return what was remembered at each."""
    left = iter(errors)
    remembered: list[BrokerState] = []

    def start(broker: Broker, state: BrokerState, *rest: object) -> None:
        assert load(broker.directory) == state
        remembered.append(state)
        error = next(left)
        if error is not None:
            raise error

    monkeypatch.setattr(Broker, "_start_nodes", start)
    return remembered


def test_a_start_whose_port_was_taken_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_jvm: list[str]
) -> None:
    remembered = failing(monkeypatch, PortTaken("taken"), None)
    broker = Broker.start(tmp_path / "b")
    assert broker.directory == tmp_path / "b"
    assert (len(remembered), no_jvm) == (2, ["node-1"])
    assert load(broker.directory) == remembered[-1]


def test_a_start_is_given_up_when_every_port_is_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_jvm: list[str]
) -> None:
    remembered = failing(monkeypatch, *[PortTaken("taken")] * 9)
    with pytest.raises(PortTaken):
        Broker.start(tmp_path / "b")
    assert len(remembered) == len(no_jvm) == cluster.ATTEMPTS


@pytest.mark.parametrize("error", [KeyboardInterrupt(), StartFailed("no")])
def test_whatever_goes_wrong_nothing_is_left_running(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_jvm: list[str], error: BaseException
) -> None:
    remembered = failing(monkeypatch, error)
    with pytest.raises(type(error)):
        Broker.start(tmp_path / "b", nodes=3)
    assert (len(remembered), no_jvm) == (1, ["node-1", "node-2", "node-3"])
