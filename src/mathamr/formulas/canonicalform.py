r"""The canonical form of a formula: one tree for what authors write in several ways.

`\frac12x` is `x/2`, `a-b` a sum, `\text{Cov}(X,Y)` a function, `(\text{mod }n)` a remainder, `\mathrm d` is `d`, `\exp(x)` is `e^x`, `:=` is `=`, and
a chain of equations one equation with several sides. Formulas are compared in this form; what is indexed and shown keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, count
from unicodedata import normalize

from mathamr.core.listing import names
from mathamr.formulas.tree import Opt
from mathamr.formulas.typed.names import OPERATORS
from mathamr.formulas.visualkey import ALIKE

_ITALICS = {
    letter: italic
    for italic in map(chr, ALIKE)
    if (letter := normalize("NFKC", italic)).isascii() and letter.isalpha()
}
_SAME = {
    "O!assign": "U!eq",
    "F!≜": "U!eq",
    "F!Pr": "F!𝑃",
    "F!ln": "F!log",
} | {f"{kind}!{letter}": f"{kind}!{italic}" for letter, italic in _ITALICS.items() for kind in "VF"}
"""Labels that mean the same; an upright letter is one in italics."""
_MIRRORED = {"O!geq": "O!leq", "O!gt": "O!lt"}
"""Relations that say the same as others with their sides exchanged."""
_REWRITTEN = names("O!geq O!gt F!exp O!SUP O!minus U!plus O!divide U!times U!and O!diff F!˙ F!→")
"""The operators that have another form beside their own."""
MADE = names(
    """
    U!eq U!and U!plus U!times O!leq O!lt O!minus O!divide O!SUP O!root O!rem O!derivative O!apply N!1
    """
)
"""The labels of operators and numbers that a canonical form may have where the formula has none; all others it keeps or leaves out."""
MAKING = names("exp Pr top ⊺ 𝖳 ⊤")
"""The symbols for each of which a canonical form may have a letter that the formula lacks: e, P and T."""
Node = tuple[str, list[int]]
"""A label and the numbers of the children."""
_E, _ONE = "V!𝑒", "N!1"
_LIST = "M!V-"
_CONNECTIVES = names(
    "if for and or where when with otherwise is as all then else iff such that on in of an at by to"
)
"""Words in formulas that are not applied to what follows."""
_WORD_LETTERS = names("V!𝔼 V!ℙ")
"""Letters that are applied to what follows even without parentheses."""
_TRANSPOSED = names("O!top V!⊺ V!𝖳 V!⊤")
_LINKS = ("U!eq", "O!leq", "O!lt")
"""The relations of a chain, the weakest first: what follows from several is the strongest of them."""
_LONGEST_WORD, _LONGEST_CHAIN = 6, 5
_MOST_COMPARED = 500
"""The most nodes of two sides that are compared."""
_LARGEST_GROWTH = 10
"""By how much chains inside of chains may make a formula larger; others keep their own form."""


@dataclass(frozen=True, slots=True)
class CanonicalForm:
    """The nodes of a formula in depth-first order: their labels, and the numbers of their children."""

    labels: tuple[str, ...]
    children: tuple[tuple[int, ...], ...]


@lru_cache(maxsize=64)
def canonical_form(tree: Opt) -> CanonicalForm:
    r"""Return the canonical form of a formula in the mathematician's reading.

    >>> from mathamr.formulas.parse import parse
    >>> def read(latex):
    ...     return canonical_form(parse(latex, reading="mathematician").opt)
    >>> read(r"\frac12x") == read(r"\frac12\cdot x"), read(r"\text{Var}(X)=1") == read(r"\operatorname{Var}[X]:=1"), read("a-b") == read("b-a")
    (True, True, False)
    """
    nodes, most = _Form(tree).nodes, _LARGEST_GROWTH * len(tree)
    labels: list[str] = []
    children: list[list[int]] = []
    waiting: list[tuple[int, list[int]]] = [(0, [])]
    for number in count():
        if not waiting:
            return CanonicalForm(tuple(labels), tuple(map(tuple, children)))
        if number > most:
            break
        place, siblings = waiting.pop()
        siblings.append(number)
        label, below = nodes[place]
        own: list[int] = []
        if below:
            waiting += [(child, own) for child in reversed(below)]
        labels.append(label)
        children.append(own)
    return CanonicalForm(tree.labels, tuple(map(tuple, tree.children())))


class _Form:
    """The nodes of a formula, which are rewritten from the leaves to the root.

    A fraction is a product with an inverse, `O!divide` with one operand, and a difference a sum with an opposite, `O!minus` with one operand.
    """

    def __init__(self, tree: Opt) -> None:
        self.nodes: list[Node] = list(zip(tree.labels, tree.children(), strict=True))
        for place in range(len(tree) - 1, -1, -1):
            label, below = self.nodes[place]
            label = _SAME.get(label, label)
            is_rewritten = below and label in _REWRITTEN
            self.nodes[place] = self._rewritten(label, below) if is_rewritten else (label, below)

    def _rewritten(self, label: str, below: list[int]) -> Node:
        match label, below:
            case "O!geq" | "O!gt", [_, *_]:
                return _MIRRORED[label], below[::-1]
            case "F!exp", [exponent]:
                return self._power(self._add(_E), exponent)
            case "O!SUP", [base, exponent]:
                return self._power(base, exponent)
            case "O!minus", [operand]:
                return self.nodes[self._opposite(operand)]
            case "O!minus", [first, second]:
                return self._sum([first, self._opposite(second)])
            case "U!plus", [_, _, *_]:
                return self._sum(below)
            case "O!divide", [above, under]:
                return self._product([above, self._add("O!divide", under)])
            case "U!times", [_, _, *_]:
                return self._product_of_words(below)
            case "U!and", [_, _, *_]:
                return self._chain(below) or self._chain(below[::-1], is_reversed=True) or (label, below)
            case "O!diff", [operand, variable]:
                return self._derivative(operand, self.nodes[variable][1]) or (label, below)
            case "F!˙", [operand]:
                return "O!derivative", [operand]
            case "F!→", [operand]:
                return self.nodes[operand]
        return label, below

    def _add(self, label: str, *below: int) -> int:
        self.nodes.append((label, list(below)))
        return len(self.nodes) - 1

    def _put(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _is(self, place: int, label: str, size: int | None = None) -> bool:
        own, below = self.nodes[place]
        return own == label and (size is None or len(below) == size)

    def _opposite(self, place: int) -> int:
        """Return the operand with the other sign; that of a sum is the sum of the opposites."""
        label, below = self.nodes[place]
        if self._is(place, "O!minus", 1):
            return below[0]
        if label == "U!plus":
            return self._add("U!plus", *map(self._opposite, below))
        return self._add("O!minus", place)

    def _sum(self, summands: Iterable[int]) -> Node:
        flat: list[int] = []
        for each in summands:
            flat += self.nodes[each][1] if self._is(each, "U!plus") else [each]
        return "U!plus", flat

    def _power(self, base: int, exponent: int) -> Node:
        """Return a power: a root for the exponent 1/n, an inverse for a negative one, unless the base is `e` or may be a function or a matrix."""
        if self.nodes[exponent][0] in _TRANSPOSED:
            return "O!SUP", [base, self._add("V!𝑇")]
        if self._is(exponent, "O!divide", 1):
            return "O!root", [base, *self.nodes[exponent][1]]
        if self._is(exponent, "O!minus", 1) and not self._is(base, _E):
            (positive,) = self.nodes[exponent][1]
            if not self._is(positive, _ONE):
                return "O!divide", [self._add("O!SUP", base, positive)]
            if self.nodes[base][0] in ("U!plus", "U!times"):
                return "O!divide", [base]
        return "O!SUP", [base, exponent]

    def _product(self, operands: Iterable[int]) -> Node:
        """Return a product without 1, with the inverse of each factor of a denominator; its sign stands before it."""
        above: list[int] = []
        is_negative = False
        waiting = [(each, False) for each in operands][::-1]
        while waiting:
            place, is_inverse = waiting.pop()
            label, below = self.nodes[place]
            if self._is(place, "O!divide", 1):
                waiting.append((below[0], not is_inverse))
            elif label == "U!times" and below:
                waiting += [(each, is_inverse) for each in below][::-1]
            elif self._is(place, "O!minus", 1):
                is_negative = not is_negative
                waiting.append((below[0], is_inverse))
            elif is_inverse and label == "O!SUP" and self._is(below[0], _E):
                above.append(self._add(label, below[0], self._opposite(below[1])))
            elif label != _ONE:
                above.append(self._add("O!divide", place) if is_inverse else place)
        product: Node = (
            ("U!times", above) if len(above) > 1 else self.nodes[above[0]] if above else (_ONE, [])
        )
        return ("O!minus", [self._put(product)]) if is_negative else product

    def _product_of_words(self, operands: Sequence[int]) -> Node:
        """Return a product in which words are functions of what stands behind them, and `mod` is a remainder."""
        found: list[int] = []
        place = 0
        while place < len(operands):
            word, end, arguments = self._word(operands, place)
            if word == "mod" and found and end < len(operands):
                divisor = self._put(self._product_of_words(operands[end:]))
                return "O!rem", [self._put(self._product(found)), divisor]
            if word and word != "mod" and (arguments or end < len(operands)):
                if not arguments:
                    arguments, end = self._arguments(operands, end)
                found.append(self._add(f"F!{word}", *arguments))
            else:
                found.append(operands[place])
                end = place + 1
            place = end
        return self._product(found)

    def _arguments(self, operands: Sequence[int], start: int) -> tuple[list[int], int]:
        """Return what a word is applied to, and where that ends: a list, or the product of all up to the next word."""
        label, below = self.nodes[operands[start]]
        if label.startswith(_LIST):
            return below, start + 1
        ends = (end for end in range(start + 1, len(operands)) if self._word(operands, end)[0])
        end = next(ends, len(operands))
        return [self._put(self._product(operands[start:end]))], end

    def _word(self, operands: Sequence[int], place: int) -> tuple[str, int, list[int]]:
        """Return the word that begins at an operand, where it ends, and its arguments if it has them; "" if none does.

        It is upright, or spelled by letters in italics, of which the last may be read as the function.
        """
        label = self.nodes[operands[place]][0]
        word = label[2:].strip()
        if label in _WORD_LETTERS:
            return word, place + 1, []
        if label[:2] in ("T!", "V!") and len(word) > 1 and word.isascii() and word.isalpha():
            return ("" if word in _CONNECTIVES else word), place + 1, []
        spelled = ""
        for end in range(place, min(len(operands), place + _LONGEST_WORD)):
            label, below = self.nodes[operands[end]]
            if label[:2] not in ("V!", "F!") or len(label) != 3:
                break
            spelled += normalize("NFKC", label[2:])
            if spelled == "mod" or spelled in OPERATORS:
                return spelled, end + 1, below
            if below:
                break
        return "", place, []

    def _chain(self, links: Sequence[int], *, is_reversed: bool = False) -> Node | None:
        """Return all relations that follow from a chain, each of which goes on where the one before ends: of a = b < c also a < c.

        Equations alone are one with several sides. Of a chain with `>` the links are taken from its end.
        """
        sides: list[int] = []
        relations: list[str] = []
        for each in links:
            label, below = self.nodes[each]
            if label not in _LINKS or len(below) != 2 or len(sides) > _LONGEST_CHAIN:
                return None
            first, second = below[::-1] if is_reversed and label == "U!eq" else below
            if sides and not self._are_equal(sides[-1], first):
                return None
            sides += [second] if sides else [first, second]
            relations.append(label)
        if set(relations) == {"U!eq"}:
            return "U!eq", sides
        implied = [
            self._add(max(relations[start:end], key=_LINKS.index), sides[start], sides[end])
            for start, end in combinations(range(len(sides)), 2)
        ]
        return "U!and", implied

    def _derivative(self, operand: int, variable: list[int]) -> Node | None:
        """Return `dy/dx` as `y'` and `df(x)/dx` as `f'(x)`; None for what has no such form."""
        label, below = self.nodes[operand]
        if label.startswith("V!"):
            return "O!derivative", [operand, *variable[1:]]
        is_letter = label.startswith("F!") and len(label) == len("F!f")
        if is_letter and len(below) == 1 and self._are_equal(below[0], variable[0]):
            function = self._add(f"V!{label[2:]}")
            return "O!apply", [self._add("O!derivative", function, *variable[1:]), below[0]]
        return None

    def _are_equal(self, first: int, second: int) -> bool:
        waiting = [(first, second)]
        for _ in range(_MOST_COMPARED):
            if not waiting:
                return True
            one, other = waiting.pop()
            (label, below), (theirs, beside) = self.nodes[one], self.nodes[other]
            if label != theirs or len(below) != len(beside):
                return False
            waiting += zip(below, beside, strict=True)
        return False
