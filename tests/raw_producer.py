"""A producer that writes what confluent-kafka's own cannot: header names that are not UTF-8."""

import ctypes
import functools
from collections.abc import Sequence
from pathlib import Path

import confluent_kafka

_END, _TOPIC, _PARTITION, _VALUE, _KEY, _FLAGS, _HEADER = 0, 1, 3, 4, 5, 7, 9
"""The tags of rd_kafka_producev's arguments."""
_COPY = 2
_PRODUCER = 0


@functools.cache
def _library() -> ctypes.CDLL:
    """Return the librdkafka that confluent-kafka itself has loaded."""
    (found,) = Path(confluent_kafka.__path__[0] + ".libs").glob("librdkafka*.so*")
    library = ctypes.CDLL(str(found))
    library.rd_kafka_conf_new.restype = ctypes.c_void_p
    library.rd_kafka_new.restype = ctypes.c_void_p
    library.rd_kafka_new.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    library.rd_kafka_conf_set.argtypes = [
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]
    library.rd_kafka_flush.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.rd_kafka_destroy.argtypes = [ctypes.c_void_p]
    return library


def produce_raw(
    servers: str,
    topic: str,
    value: bytes,
    headers: Sequence[tuple[bytes, bytes]],
    key: bytes = b"",
    partition: int = 0,
) -> None:
    """Write one record and wait until the broker has it."""
    library = _library()
    error = ctypes.create_string_buffer(512)
    settings = library.rd_kafka_conf_new()
    assert library.rd_kafka_conf_set(settings, b"bootstrap.servers", servers.encode(), error, 512) == 0
    producer = library.rd_kafka_new(_PRODUCER, settings, error, 512)
    assert producer, error.value
    told: list[object] = [ctypes.c_int(_TOPIC), ctypes.c_char_p(topic.encode())]
    told += [ctypes.c_int(_PARTITION), ctypes.c_int(partition)]
    told += [ctypes.c_int(_FLAGS), ctypes.c_int(_COPY)]
    told += [ctypes.c_int(_VALUE), ctypes.c_char_p(value), ctypes.c_size_t(len(value))]
    told += [ctypes.c_int(_KEY), ctypes.c_char_p(key), ctypes.c_size_t(len(key))]
    for name, text in headers:
        told += [ctypes.c_int(_HEADER), ctypes.c_char_p(name), ctypes.c_char_p(text)]
        told += [ctypes.c_ssize_t(len(text))]
    try:
        sent = library.rd_kafka_producev(ctypes.c_void_p(producer), *told, ctypes.c_int(_END))
        assert sent == 0
        assert library.rd_kafka_flush(producer, 20_000) == 0
    finally:
        library.rd_kafka_destroy(producer)
