"""mathamr: a math-aware search engine and research toolkit.

A program that searches needs only `from mathamr import Index`. Every name is imported when it is first used. Inside IPython
and Jupyter, formulas, graphs, hits, explanations and evaluations are shown as pictures and tables.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mathamr.core.telemetry import disable_telemetry
from mathamr.core.version import __version__

disable_telemetry()  # before anything else of this package, and so before the libraries that it loads

if TYPE_CHECKING:
    from mathamr.core.errors import MathAMRError
    from mathamr.evaluation.qrels import read_qrels
    from mathamr.evaluation.runevaluation import compare_runs
    from mathamr.evaluation.runs import read_run
    from mathamr.formulas.parse import parse as parse_formula
    from mathamr.graphs.maker import make_graph
    from mathamr.index.engines.entry import Filter
    from mathamr.index.indexing.builder import BuildOptions, build_index
    from mathamr.index.indexing.writer import IndexWriter
    from mathamr.posts.post import Formula, Post
    from mathamr.posts.reader import read_posts
    from mathamr.search.hits import Hit, Hits
    from mathamr.search.query import Query
    from mathamr.search.searcher import Index

__all__ = [
    "BuildOptions",
    "Filter",
    "Formula",
    "Hit",
    "Hits",
    "Index",
    "IndexWriter",
    "MathAMRError",
    "Post",
    "Query",
    "__version__",
    "build_index",
    "compare_runs",
    "make_graph",
    "parse_formula",
    "read_posts",
    "read_qrels",
    "read_run",
]

_MODULES = {
    "BuildOptions": "mathamr.index.indexing.builder",
    "Filter": "mathamr.index.engines.entry",
    "Formula": "mathamr.posts.post",
    "Hit": "mathamr.search.hits",
    "Hits": "mathamr.search.hits",
    "Index": "mathamr.search.searcher",
    "IndexWriter": "mathamr.index.indexing.writer",
    "MathAMRError": "mathamr.core.errors",
    "Post": "mathamr.posts.post",
    "Query": "mathamr.search.query",
    "build_index": "mathamr.index.indexing.builder",
    "read_run": "mathamr.evaluation.runs",
    "read_qrels": "mathamr.evaluation.qrels",
    "compare_runs": "mathamr.evaluation.runevaluation",
    "make_graph": "mathamr.graphs.maker",
    "parse_formula": "mathamr.formulas.parse:parse",
    "read_posts": "mathamr.posts.reader",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        module, _, called = _MODULES[name].partition(":")
        return getattr(import_module(module), called or name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if "IPython" in sys.modules and (_shell := sys.modules["IPython"].get_ipython()) is not None:
    from mathamr.adapters.notebook import register

    register(_shell)
