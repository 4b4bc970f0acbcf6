"""mathamr: a math-aware search engine and research toolkit.

`from mathamr import Index` is what a program needs; it is loaded when it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mathamr.index.engines.entry import Filter
    from mathamr.search.library import Index
    from mathamr.search.query import Query

__version__ = "0.1.0"
__all__ = ["Filter", "Index", "Query", "__version__"]

_HOMES = {
    "Filter": "mathamr.index.engines.entry",
    "Index": "mathamr.search.library",
    "Query": "mathamr.search.query",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
