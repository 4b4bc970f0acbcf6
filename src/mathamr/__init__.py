"""mathamr: a math-aware search engine and research toolkit.

A program that searches needs only `from mathamr import Index`. Every name is imported when it is first used. Inside IPython
and Jupyter, formulas, graphs, hits, explanations and evaluations are shown as pictures and tables.

    read_posts(path)                         the posts of a file or folder
    parse_formula(latex)                     both trees of a formula
    make_graph(text_or_post)                 the MathAMR+ graph; to_networkx and to_pyg for other libraries
    build_index([path], folder)              make or update an index
    Index.open(folder)                       open one: search, explain, rank, score
    retrieve(index, topics, ...)             the run of an index for topics
    notation(path)                           the symbols of a collection, and what they are introduced as
    compare_runs(qrels, *runs)               measure runs; print it for a table
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mathamr.core.telemetry import disable_telemetry
from mathamr.core.version import __version__

disable_telemetry()  # before anything else of this package, and so before the libraries that it loads

if TYPE_CHECKING:
    from mathamr.amr.document import DocumentAmr as DocumentAmr
    from mathamr.amr.document import parse_document as parse_document
    from mathamr.amr.graph import Amr as Amr
    from mathamr.amr.parser import AmrParser as AmrParser
    from mathamr.amr.parser import Failure as Failure
    from mathamr.amr.parser import PartialParseError as PartialParseError
    from mathamr.amr.parser import load_parser as load_parser
    from mathamr.amr.workers import ParallelParser as ParallelParser
    from mathamr.core.errors import MathAMRError as MathAMRError
    from mathamr.core.errors import ParseError as ParseError
    from mathamr.evaluation.comparison import Comparison as Comparison
    from mathamr.evaluation.comparison import compare as compare
    from mathamr.evaluation.measures import measures as measures
    from mathamr.evaluation.measures.measure import Measure as Measure
    from mathamr.evaluation.qrels import Qrels as Qrels
    from mathamr.evaluation.qrels import read_qrels as read_qrels
    from mathamr.evaluation.runevaluation import RunEvaluation as RunEvaluation
    from mathamr.evaluation.runevaluation import compare_runs as compare_runs
    from mathamr.evaluation.runs import Run as Run
    from mathamr.evaluation.runs import read_run as read_run
    from mathamr.evaluation.runs import write_run as write_run
    from mathamr.evaluation.scores import Scores as Scores
    from mathamr.evaluation.scores import evaluate as evaluate
    from mathamr.evaluation.topics import Topic as Topic
    from mathamr.evaluation.topics import read_topics as read_topics
    from mathamr.evaluation.topicsearch import retrieve as retrieve
    from mathamr.formulas.errors import FormulaError as FormulaError
    from mathamr.formulas.latex.macros import Macros as Macros
    from mathamr.formulas.mathml.markup import opt_from_mathml as opt_from_mathml
    from mathamr.formulas.mathml.markup import slt_from_mathml as slt_from_mathml
    from mathamr.formulas.notation import to_string as to_string
    from mathamr.formulas.parse import FormulaParser as FormulaParser
    from mathamr.formulas.parse import ParsedFormula as ParsedFormula
    from mathamr.formulas.parse import parse as _parse
    from mathamr.formulas.tree import Opt as Opt
    from mathamr.formulas.tree import Slt as Slt
    from mathamr.graphs.configuration import GraphConfiguration as GraphConfiguration
    from mathamr.graphs.exchange import from_networkx as from_networkx
    from mathamr.graphs.exchange import from_pyg as from_pyg
    from mathamr.graphs.exchange import to_networkx as to_networkx
    from mathamr.graphs.exchange import to_pyg as to_pyg
    from mathamr.graphs.flatgraph import FlatGraph as FlatGraph
    from mathamr.graphs.maker import GraphMaker as GraphMaker
    from mathamr.graphs.maker import make_graph as make_graph
    from mathamr.graphs.mathgraph import MathGraph as MathGraph
    from mathamr.graphs.store import GraphStore as GraphStore
    from mathamr.graphs.tensor import GraphTensor as GraphTensor
    from mathamr.graphs.tensor import tensorise as tensorise
    from mathamr.graphs.virtual import flatten as flatten
    from mathamr.graphs.vocabulary import RelationVocabulary as RelationVocabulary
    from mathamr.graphs.vocabulary import Vocabulary as Vocabulary
    from mathamr.index.engines.entry import Filter as Filter
    from mathamr.index.indexing.builder import BuildOptions as BuildOptions
    from mathamr.index.indexing.builder import build_index as build_index
    from mathamr.index.indexing.writer import IndexWriter as IndexWriter
    from mathamr.posts.format import Collection as Collection
    from mathamr.posts.format import Format as Format
    from mathamr.posts.format import PostReader as PostReader
    from mathamr.posts.level import Level as Level
    from mathamr.posts.passage import Passage as Passage
    from mathamr.posts.passage import passage as passage
    from mathamr.posts.post import Formula as Formula
    from mathamr.posts.post import Post as Post
    from mathamr.posts.reader import read_posts as read_posts
    from mathamr.posts.report import Report as Report
    from mathamr.search.alignment import AlignedPart as AlignedPart
    from mathamr.search.alignment import Alignment as Alignment
    from mathamr.search.collections import Collections as Collections
    from mathamr.search.fragment import Fragment as Fragment
    from mathamr.search.fusion import Fusion as Fusion
    from mathamr.search.fusion import fuse as fuse
    from mathamr.search.heatmap import save_heatmap as save_heatmap
    from mathamr.search.hits import Hit as Hit
    from mathamr.search.hits import Hits as Hits
    from mathamr.search.introductions import Introduction as Introduction
    from mathamr.search.notation import NotationEntry as NotationEntry
    from mathamr.search.notation import notation as notation
    from mathamr.search.query import Query as Query
    from mathamr.search.searcher import Index as Index
    from mathamr.systems.abilities import ComparesSentences as ComparesSentences
    from mathamr.systems.abilities import CutsPieces as CutsPieces
    from mathamr.systems.abilities import JoinsWording as JoinsWording
    from mathamr.systems.abilities import MatchesNodes as MatchesNodes
    from mathamr.systems.contract import ContractError as ContractError
    from mathamr.systems.contract import check_system as check_system
    from mathamr.systems.field import Field as Field
    from mathamr.systems.nodematch import TreeMatch as TreeMatch
    from mathamr.systems.ranking import Aligned as Aligned
    from mathamr.systems.ranking import AlikeNodes as AlikeNodes
    from mathamr.systems.ranking import Belongs as Belongs
    from mathamr.systems.ranking import BestFormula as BestFormula
    from mathamr.systems.ranking import Component as Component
    from mathamr.systems.ranking import Fuse as Fuse
    from mathamr.systems.ranking import Inherit as Inherit
    from mathamr.systems.ranking import Lexical as Lexical
    from mathamr.systems.ranking import MaxSim as MaxSim
    from mathamr.systems.ranking import MeanMaxSim as MeanMaxSim
    from mathamr.systems.ranking import Mutual as Mutual
    from mathamr.systems.ranking import Nearest as Nearest
    from mathamr.systems.ranking import NearestRows as NearestRows
    from mathamr.systems.ranking import Promote as Promote
    from mathamr.systems.ranking import Rerank as Rerank
    from mathamr.systems.ranking import Unhub as Unhub
    from mathamr.systems.system import Encoded as Encoded
    from mathamr.systems.system import GraphInput as GraphInput
    from mathamr.systems.system import Item as Item
    from mathamr.systems.system import System as System
    from mathamr.systems.system import VisualFormula as VisualFormula
    from mathamr.systems.vectors import Vectors as Vectors

    parse_formula = _parse

_NAMES = {
    "mathamr.amr.document": "DocumentAmr parse_document",
    "mathamr.amr.graph": "Amr",
    "mathamr.amr.parser": "AmrParser Failure PartialParseError load_parser",
    "mathamr.amr.workers": "ParallelParser",
    "mathamr.core.errors": "MathAMRError ParseError",
    "mathamr.evaluation.comparison": "Comparison compare",
    "mathamr.evaluation.measures": "measures",
    "mathamr.evaluation.measures.measure": "Measure",
    "mathamr.evaluation.qrels": "Qrels read_qrels",
    "mathamr.evaluation.runevaluation": "RunEvaluation compare_runs",
    "mathamr.evaluation.runs": "Run read_run write_run",
    "mathamr.evaluation.scores": "Scores evaluate",
    "mathamr.evaluation.topics": "Topic read_topics",
    "mathamr.evaluation.topicsearch": "retrieve",
    "mathamr.formulas.errors": "FormulaError",
    "mathamr.formulas.latex.macros": "Macros",
    "mathamr.formulas.mathml.markup": "opt_from_mathml slt_from_mathml",
    "mathamr.formulas.notation": "to_string",
    "mathamr.formulas.parse": "FormulaParser ParsedFormula",
    "mathamr.formulas.tree": "Opt Slt",
    "mathamr.graphs.configuration": "GraphConfiguration",
    "mathamr.graphs.exchange": "from_networkx from_pyg to_networkx to_pyg",
    "mathamr.graphs.flatgraph": "FlatGraph",
    "mathamr.graphs.maker": "GraphMaker make_graph",
    "mathamr.graphs.mathgraph": "MathGraph",
    "mathamr.graphs.store": "GraphStore",
    "mathamr.graphs.tensor": "GraphTensor tensorise",
    "mathamr.graphs.virtual": "flatten",
    "mathamr.graphs.vocabulary": "RelationVocabulary Vocabulary",
    "mathamr.index.engines.entry": "Filter",
    "mathamr.index.indexing.builder": "BuildOptions build_index",
    "mathamr.index.indexing.writer": "IndexWriter",
    "mathamr.posts.format": "Collection Format PostReader",
    "mathamr.posts.level": "Level",
    "mathamr.posts.passage": "Passage passage",
    "mathamr.posts.post": "Formula Post",
    "mathamr.posts.reader": "read_posts",
    "mathamr.posts.report": "Report",
    "mathamr.search.alignment": "AlignedPart Alignment",
    "mathamr.search.collections": "Collections",
    "mathamr.search.fragment": "Fragment",
    "mathamr.search.fusion": "Fusion fuse",
    "mathamr.search.heatmap": "save_heatmap",
    "mathamr.search.hits": "Hit Hits",
    "mathamr.search.introductions": "Introduction",
    "mathamr.search.notation": "NotationEntry notation",
    "mathamr.search.query": "Query",
    "mathamr.search.searcher": "Index",
    "mathamr.systems.abilities": "ComparesSentences CutsPieces JoinsWording MatchesNodes",
    "mathamr.systems.contract": "ContractError check_system",
    "mathamr.systems.field": "Field",
    "mathamr.systems.nodematch": "TreeMatch",
    "mathamr.systems.ranking": "Aligned AlikeNodes Belongs BestFormula Component Fuse Inherit Lexical MaxSim MeanMaxSim Mutual Nearest NearestRows Promote Rerank Unhub",
    "mathamr.systems.system": "Encoded GraphInput Item System VisualFormula",
    "mathamr.systems.vectors": "Vectors",
}
_PLACES = {name: (module, name) for module, names in _NAMES.items() for name in names.split()}
_PLACES["parse_formula"] = "mathamr.formulas.parse", "parse"

__all__ = ["__version__", *sorted(_PLACES)]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        module, called = _PLACES[name]
        return getattr(import_module(module), called)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if "IPython" in sys.modules and (_shell := sys.modules["IPython"].get_ipython()) is not None:
    from mathamr.adapters.notebook import register

    register(_shell)
