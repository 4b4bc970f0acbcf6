"""`CatalogueVisuals`: the visual classes of an index, for the ranker of formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mathamr.formulas.trees import Trees, trees_of
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.posts.post import Formula


class CatalogueVisuals:
    """Reads visual classes from the catalogue of an index."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def visuals_of(self, formulas: Sequence[str]) -> dict[str, str]:
        """The visual classes of formulas; unknown formulas are left out."""
        return self._catalogue.visuals_of(formulas)

    def with_visual(self, visual: str) -> list[str]:
        """The formulas of a visual class, in the order of the index."""
        return self._catalogue.with_visual(visual)

    def first_with(self, visuals: Sequence[str]) -> dict[str, str]:
        """The first formula of each visual class."""
        return {visual: known[0][0] for visual, known in self._catalogue.visuals(visuals).items()}

    def trees(self, visuals: Sequence[str], reading: str, affords: Callable[[int], bool]) -> dict[str, Trees]:
        """The trees of one formula of each visual class in a reading, as far as the caller affords to parse them."""
        first = self.first_with(visuals)
        entries = self._catalogue.formulas(list(first.values()))
        return {
            visual: trees_of(entry.formula, entry.macros, reading)[0]
            for visual in visuals
            if (entry := entries.get(first.get(visual, ""))) is not None and affords(_length(entry.formula))
        }


def _length(formula: Formula) -> int:
    return len(formula.latex) or len(formula.presentation_mathml or "") + len(formula.content_mathml or "")
