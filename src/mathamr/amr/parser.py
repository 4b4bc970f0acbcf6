"""The interface of AMR parsers: a protocol and a registry of names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, Protocol, cast, runtime_checkable

from mathamr.amr.graph import Amr
from mathamr.core.errors import MathAMRError
from mathamr.core.registry import Registry

Cause = Literal[
    "exception", "no graph", "wrong number of graphs", "invalid graph", "too deep", "time-out", "worker died"
]


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a parser returned no graph for a sentence."""

    cause: Cause
    message: str


class PartialParseError(MathAMRError):
    """Raised if some sentences of a batch failed; `results` holds a graph or a `Failure` for every sentence.

    A parser that knows which sentence failed raises this, so that the others need not be parsed again.
    """

    def __init__(self, results: Sequence[Amr | Failure]) -> None:
        self.results = list(results)
        failures = [result for result in self.results if isinstance(result, Failure)]
        first = f"; the first: {failures[0].cause}: {failures[0].message}" if failures else ""
        super().__init__(f"{len(failures)} of {len(self.results)} sentences could not be parsed{first}")


def all_graphs(results: Sequence[Amr | Failure]) -> list[Amr]:
    """Return the graphs of a batch; raise `PartialParseError` if a sentence has none."""
    graphs = [result for result in results if isinstance(result, Amr)]
    if len(graphs) < len(results):
        raise PartialParseError(results)
    return graphs


@runtime_checkable
class AmrParser(Protocol):
    """Turns sentences into meaning graphs, one for each, in order.

    Formulas stand in the sentences as ``FORMULA_0``, ``FORMULA_1``… and should become one node each with that
    concept. An implementation may raise on sentences it cannot parse: `mathamr.amr.batch` isolates them.
    """

    @property
    def name(self) -> str:
        """The name in `PARSERS`."""
        ...

    @property
    def fingerprint(self) -> str:
        """A short text that identifies name, version and weights; results cached under another one are never used."""
        ...

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        """Return one graph for every sentence."""
        ...


@runtime_checkable
class TextParser(AmrParser, Protocol):
    """A parser that reads sentences in the context of their text, formulas in place."""

    def parse_text(self, sentences: Sequence[str], latex: Mapping[str, str]) -> list[Amr]:
        """Return one graph for every sentence of one text; `latex` has the formulas of its placeholders."""
        ...


class ParserFactory(Protocol):
    """An entry of the registry: the class of a parser, called with the model it should load."""

    def __call__(self, model: str | None = None) -> AmrParser:
        """Create a parser with `model` (a path or a name, depending on the parser), or with its default model."""
        ...


PARSERS: Registry[ParserFactory] = Registry(
    "AMR parser",
    {
        "builtin": "mathamr.amr.builtin:BuiltinParser",
        "amrlib": "mathamr.amr.amrlib:AmrlibParser",
    },
)


_vouched: set[tuple[str, str | None]] = set()
"""Parsers and models that the command line or the calling program named."""


def vouch_for_parser(name: str = "builtin", model: str | None = None) -> None:
    """Allow indexes that this process opens to use a third-party parser, or a model of a parser.

    Call it with what a person typed, never with what a file contains: the class is imported and called, and models of
    some parsers run code when they are loaded.
    """
    _vouched.add((name, model))


def check_recorded(name: str, model: str | None, source: object) -> None:
    """Raise an error for a third-party parser, or a model of a parser, that a file names and no person has vouched for."""
    if (name in PARSERS and model is None) or (name, model) in _vouched:
        return
    if ":" not in name:
        PARSERS.check(name)
    shown = f"--parser {name[:200]}" + ("" if model is None else f" --parser-model {model[:200]}")
    raise MathAMRError(
        f"{source} asks for an AMR parser that is not mathamr's own ({shown}); a file never chooses what runs here:"
        " if you trust it, pass these options yourself"
    )


def recorded_parser(name: str, model: str | None, source: object) -> AmrParser:
    """Load the parser that an index names, if an index may name it (see `check_recorded`)."""
    check_recorded(name, model, source)
    return load_parser(name, model)


def load_parser(name: str = "builtin", model: str | None = None) -> AmrParser:
    """Load the parser of that name; ``module:Class`` names a third-party one.

    Only for names that a person typed: it calls `vouch_for_parser`.
    """
    vouch_for_parser(name, model)
    module, colon, attribute = name.partition(":")
    if not colon:
        return PARSERS[name](model)
    try:
        factory: Any = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise MathAMRError(
            f"no AMR parser {name!r}: {error}; it should name a class as module:Class"
        ) from error
    return cast(ParserFactory, factory)(model)
