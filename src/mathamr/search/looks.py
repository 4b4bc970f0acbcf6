"""`CatalogueLooks`: which formulas of an index look the same, for the ranker of formulas."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.trees import Trees, trees_of
from mathamr.index.catalogue.catalogue import Catalogue


class CatalogueLooks:
    """Answers out of the catalogue of an index."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def looks_of(self, formulas: Sequence[str]) -> dict[str, str]:
        """The looks of formulas; unknown ones are left out."""
        return self._catalogue.looks_of(formulas)

    def with_look(self, look: str) -> list[str]:
        """The formulas with a look, in the order of the index."""
        return self._catalogue.with_look(look)

    def first_with(self, looks: Sequence[str]) -> dict[str, str]:
        """The first formula with each look."""
        return {look: known[0][0] for look, known in self._catalogue.looks(looks).items()}

    def trees(self, looks: Sequence[str], reading: str = "published") -> dict[str, Trees]:
        """The trees of one formula of each look, read as is said."""
        first = self.first_with(looks)
        entries = self._catalogue.formulas(list(first.values()))
        return {
            look: trees_of(entries[place].formula, entries[place].macros, reading)[0]
            for look, place in first.items()
            if place in entries
        }
