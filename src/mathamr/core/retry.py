"""`retry`: repeats calls that fail temporarily, after a delay."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def retry(work: Callable[[], T], delays: Sequence[float], is_temporary: Callable[[Exception], bool]) -> T:
    """Return the result of `work`; after a temporary error it is called again, once for each delay in seconds.

    >>> errors = [TimeoutError(), TimeoutError()]
    >>> def work():
    ...     if errors:
    ...         raise errors.pop()
    ...     return "done"
    >>> retry(work, (0, 0), lambda error: isinstance(error, TimeoutError))
    'done'
    """
    for delay in delays:
        try:
            return work()
        except Exception as error:
            if not is_temporary(error):
                raise
        if delay:
            time.sleep(delay)
    return work()
