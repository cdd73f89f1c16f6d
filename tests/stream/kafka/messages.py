"""Messages as a consumer of confluent-kafka hands them over."""

from typing import Any


class FakeMessage:
    """What a consumed message answers."""

    def __init__(self, partition: int = 0, offset: int = 0, error: object = None, **rest: Any) -> None:
        self._told: dict[str, Any] = {"topic": "t", "partition": partition, "offset": offset, "error": error}
        self._told |= {"value": b"v", "key": None, "headers": None, "timestamp": (1, 9)} | rest

    def __getattr__(self, name: str) -> Any:
        return lambda: self._told[name]

    def __len__(self) -> int:
        return len(self._told["value"] or b"")
