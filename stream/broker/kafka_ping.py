"""Ports that are free, and whether a Kafka really answers on one.

The question put to a node is Kafka's Metadata request, version 1, in plain `struct`: only engines may import
a client library, and an open port alone proves nothing (it accepts before the broker has joined its cluster).
"""

import socket
import struct
from collections.abc import Iterable

HOST = "127.0.0.1"
ANSWER_SECONDS = 2.0
_METADATA = 3
_VERSION = 1
_LARGEST_ANSWER = 1 << 20


def free_port(wishes: Iterable[int | None] = ()) -> int:
    """Return the first wished-for port that is free, otherwise one that the kernel picks.

    Linux gives odd ports to those who bind and even ones to those who connect, so a client that keeps on
    trying to reach a killed node does not take the node's port away by connecting from it.
    """
    for wish in wishes:
        if wish and is_free(wish):
            return wish
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def is_free(port: int) -> bool:
    """Whether a node could listen on the port now."""
    with socket.socket() as probe:
        # As the JVM does: connections of a broker that has just ended may linger.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def cluster_at(port: int) -> dict[int, int]:
    """Return the live brokers, number to port, that the node at `port` knows; none without an answer."""
    client = b"espalier-probe"
    no_topics = 0
    body = struct.pack(f">hhih{len(client)}si", _METADATA, _VERSION, 0, len(client), client, no_topics)
    try:
        with socket.create_connection((HOST, port), timeout=ANSWER_SECONDS) as connection:
            connection.sendall(struct.pack(">i", len(body)) + body)
            (size,) = struct.unpack(">i", _receive(connection, 4))
            return _brokers(_receive(connection, min(size, _LARGEST_ANSWER)))
    except (OSError, struct.error):
        return {}


def _receive(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = connection.recv(size - len(data))
        if not chunk:
            raise ConnectionError("the node closed the connection")
        data += chunk
    return data


def _brokers(answer: bytes) -> dict[int, int]:
    """Read the brokers of a Metadata answer: each a number, a host, a port and a rack (length -1: none)."""
    brokers: dict[int, int] = {}
    _correlation, count = struct.unpack_from(">ii", answer)
    at = 8
    for _ in range(count):
        number, host_length = struct.unpack_from(">ih", answer, at)
        at += 6 + host_length
        port, rack_length = struct.unpack_from(">ih", answer, at)
        at += 6 + max(rack_length, 0)
        brokers[number] = port
    return brokers
