"""Names of variables: the first letter of a concept and a number, as AMR annotators choose them."""

from __future__ import annotations

from collections.abc import Iterable


class Names:
    """Gives every node of a graph its own variable.

    >>> names = Names(taken={"b2"})
    >>> [names.fresh(concept) for concept in ("boy", "bird", "bear", "FORMULA_0", "-")]
    ['b', 'b3', 'b4', 'f', 'x']
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def fresh(self, concept: str) -> str:
        """An unused variable for a node with that concept."""
        letter = concept[:1].lower()
        if not "a" <= letter <= "z":
            letter = next((c for c in concept[:2].lower() if "a" <= c <= "z"), "x")
        while True:
            number = self._counts[letter] = self._counts.get(letter, 0) + 1
            variable = f"{letter}{number}" if number > 1 else letter
            if variable not in self._taken:
                self._taken.add(variable)
                return variable
