"""The seam for AMR parsers: one small protocol and one registry of names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from mathamr.amr.graph import Amr
from mathamr.registry import Registry


@runtime_checkable
class AmrParser(Protocol):
    """Turns sentences into meaning graphs, one for each, in order.

    Formulas stand in the sentences as ``FORMULA_0``, ``FORMULA_1``… and should become one node each with that
    concept. An implementation may raise on sentences it cannot parse: `mathamr.amr.document` isolates them.
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
    """The parser of that name, ready to parse."""
    return PARSERS[name](model)
