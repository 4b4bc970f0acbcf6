"""`pickle_by_fields`: makes frozen dataclasses with slots several times as fast to send between processes."""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import Any, TypeVar

T = TypeVar("T")


def pickle_by_fields(cls: type[T]) -> type[T]:
    """Pickle a dataclass of several fields as a call of its constructor.

    Without it the standard library looks up the fields of every object that is packed or unpacked.

    >>> import pickle
    >>> from mathamr.index.engines.entry import Payload
    >>> pickle.loads(pickle.dumps(Payload("note", score=3))).score
    3
    """
    values = attrgetter(*(field.name for field in fields(cls)))  # type: ignore[arg-type]

    def reduce(self: T) -> tuple[type[T], tuple[Any, ...]]:
        return cls, values(self)

    cls.__reduce__ = reduce  # type: ignore[assignment, method-assign]
    return cls
