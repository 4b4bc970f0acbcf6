"""The seam for AMR parsers: one small protocol and one registry of names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, Protocol, cast, runtime_checkable

from mathamr.amr.graph import Amr
from mathamr.errors import MathAMRError
from mathamr.registry import Registry

Cause = Literal[
    "exception", "no graph", "wrong number of graphs", "invalid graph", "too deep", "time-out", "worker died"
]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a sentence got no graph from a parser."""

    cause: Cause
    message: str


class PartialParseError(MathAMRError):
    """Some sentences of a batch failed; `results` holds a graph or a `Failure` for every one of them.

    A parser that knows which sentence failed raises this, so that the others need not be parsed again.
    """

    def __init__(self, results: Sequence[Amr | Failure]) -> None:
        self.results = list(results)
        failures = [result for result in self.results if isinstance(result, Failure)]
        first = f"; the first: {failures[0].cause}: {failures[0].message}" if failures else ""
        super().__init__(f"{len(failures)} of {len(self.results)} sentences could not be parsed{first}")


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
        """Name, version and weights in one short word; what is cached under another one is never used."""
        ...

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        """One graph for every sentence."""
        ...


class ParserFactory(Protocol):
    """What the registry holds: the class of a parser, called with the model it should load."""

    def __call__(self, model: str | None = None) -> AmrParser:
        """A parser with `model` (a path or a name, as the parser has it), or with its default model."""
        ...


PARSERS: Registry[ParserFactory] = Registry(
    "AMR parser",
    {
        "builtin": "mathamr.amr.builtin:BuiltinParser",
        "amrlib": "mathamr.amr.amrlib:AmrlibParser",
        "transition": "mathamr.amr.transition:TransitionParser",
    },
)


def load_parser(name: str = "builtin", model: str | None = None) -> AmrParser:
    """The parser of that name, ready to parse; ``module:Class`` names one that is not ours."""
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
