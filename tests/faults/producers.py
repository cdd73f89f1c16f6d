"""Transactional producers of another class than the client's, for workers that are to fail."""

from collections.abc import Callable, Mapping
from typing import Any

from stream.kafka import transactions

_derived: list[Callable[[Any], Any]] = []


def derive_producer(derive: Callable[[Any], Any]) -> None:
    """Make the workers of this process use another producer.

    Args:
        derive: Returns the class to use instead of the one it is given. What was derived first is derived
            from next.
    """
    if not _derived:
        make = transactions.client  # type: ignore[attr-defined]

        def client(kind: Any, settings: Mapping[str, object], **more: object) -> Any:
            for derive in _derived:
                kind = derive(kind)
            return make(kind, settings, **more)

        transactions.client = client  # type: ignore[attr-defined]
    _derived.append(derive)
