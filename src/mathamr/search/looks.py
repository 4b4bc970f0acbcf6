"""`CatalogueLooks`: which formulas of an index look the same, for the ranker of formulas."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.posts.post import Formula


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

    def readable(self, looks: Sequence[str]) -> dict[str, Formula]:
        """One formula of each look, to be read."""
        first = self.first_with(looks)
        entries = self._catalogue.formulas(list(first.values()))
        return {look: entries[place].formula for look, place in first.items() if place in entries}
