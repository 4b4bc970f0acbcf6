"""`Cache`: a least-recently-used cache, bounded by the number of its values and by their weight."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Cache(Generic[K, V]):
    """Values by key; the least recently used one is evicted first. Thread-safe.

    `weigh` returns the weight of an entry, such as its bytes; an entry heavier than `heaviest` is not stored.

    >>> cache = Cache[str, bytes](entries=2, weight=10, weigh=lambda key, value: len(value))
    >>> cache.put("a", b"12345"); cache.put("b", b"123456"); cache.put("c", b"too long to be kept")
    >>> cache.get("a"), cache.get("b"), cache.get("c"), cache.weight
    (None, b'123456', None, 6)
    """

    def __init__(
        self,
        entries: int | None = None,
        *,
        weight: int | None = None,
        weigh: Callable[[K, V], int] = lambda _key, _value: 1,
        heaviest: int | None = None,
    ) -> None:
        self.most_entries, self.most_weight = entries, weight
        self.heaviest = weight if heaviest is None else heaviest
        self.weight = 0
        """The weight of all values together."""
        self._weigh = weigh
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def get(self, key: K) -> V | None:
        """Return the value of a key, or `None` if the cache does not hold it."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V) -> None:
        """Store a value in place of an earlier one, unless it is too heavy."""
        weight = self._weigh(key, value)
        with self._lock:
            self._drop(key)
            if self.heaviest is not None and weight > self.heaviest:
                return
            self._values[key] = value, weight
            self.weight += weight
            while self._is_over():
                self.weight -= self._values.popitem(last=False)[1][1]

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key, computed if the cache does not hold it; concurrent threads may compute it twice."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._values.clear()
            self.weight = 0

    def _drop(self, key: K) -> None:
        if key in self._values:
            self.weight -= self._values.pop(key)[1]

    def _is_over(self) -> bool:
        return (self.most_entries is not None and len(self._values) > self.most_entries) or (
            self.most_weight is not None and self.weight > self.most_weight
        )
