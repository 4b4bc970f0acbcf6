"""Pairs of statements that say the same: in the same words and formulas up to one renaming of letters, or nearly so.

Statements are compared by the words and the shapes of subformulas that they share, weighted by how rare these are; a pair that is
near by this measure gets a verdict from its trees.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from typing import Any, Literal, get_args

from mathamr.core.cancellation import check_cancelled
from mathamr.core.listing import names
from mathamr.formulas.containment import LARGEST, Subformula
from mathamr.formulas.tree import OPT_EDGES, Opt
from mathamr.formulas.trees import trees_of
from mathamr.index.lexical.terms import nameless, part_tokens, stems, word_tokens
from mathamr.posts.passage import PLACEHOLDER
from mathamr.posts.post import Post
from mathamr.posts.postcontent import parse_post
from mathamr.posts.postkind import ASKING

Verdict = Literal["same statement", "same formula", "contains", "near"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
STATING = ASKING - {"question"} | {"definition", "axiom", "declaration", "statement", "notation"}
"""The kinds of posts that are statements."""
NEAR, ALIKE = 0.45, 0.6
"""Similarities from which two statements are near, and from which the words of the same statement are the same."""
HOLDING = 0.4
"""Similarity from which a statement may contain the formula of another: a short bound stands in many that have nothing to do with it."""
SMALLEST = 5
"""Nodes of the smallest formula that is worth telling: `x = y` occurs everywhere."""
_FRAME = names(
    "let suppose assume if then there is are be exist every each all any for we have hold a an the that with such of in to and it map function real number set element given thus so hence where which follow"
)
"""Words that a statement may have instead of others without saying something else."""
_MOST_FORMULAS = 200
"""Formulas of a statement that are compared."""
_MOST_SHARING = 500
"""Statements that may share a word or shape; a more frequent one brings no candidates."""
_CANDIDATES = 5
"""The nearest statements of each that get a verdict."""


class Statement:
    """A statement as what is compared: `terms`, its words and the shapes of its formulas, and its trees."""

    def __init__(self, post: Post) -> None:
        self.post = post
        read = parse_post(post)
        formulas = [*read.formulas[:_MOST_FORMULAS]]
        self.trees = [tree for each in formulas if (tree := trees_of(each, post.macros)[0][0]) is not None]
        spoken = read.text if post.markup == "declaration" else read.passage.text
        self.words = Counter(word_tokens(PLACEHOLDER.sub(" ", spoken)))
        shapes = (part_tokens(nameless(tree))[:-1] for tree in self.trees if len(tree) <= LARGEST)
        self.terms = Counter(chain(self.words.elements(), *shapes))

    @cached_property
    def main(self) -> Opt | None:
        """The largest formula, if it is large enough to be told apart."""
        largest = max(self.trees, key=len, default=None)
        return largest if largest is not None and SMALLEST <= len(largest) <= LARGEST else None

    @cached_property
    def whole(self) -> Opt | None:
        """All formulas in order as the operands of one tree, so that one renaming must fit all."""
        labels, parents, edges = ["O!statement"], [-1], "-"
        for place, tree in enumerate(self.trees):
            start = len(labels)
            labels += tree.labels
            parents += [parent + start if parent >= 0 else 0 for parent in tree.parents]
            edges += OPT_EDGES[min(place, len(OPT_EDGES) - 1)] + tree.edges[1:]
        return Opt(tuple(labels), tuple(parents), edges) if 1 < len(labels) <= LARGEST else None


@dataclass(frozen=True)
class Twins:
    """Two statements, what they are to each other, and how similar they are from 0 to 1."""

    first: Statement
    second: Statement
    verdict: Verdict
    similarity: float

    def to_dict(self) -> dict[str, Any]:
        """Convert to an object for JSON."""
        return {
            "verdict": self.verdict,
            "similarity": round(self.similarity, 3),
            "first": _row(self.first.post),
            "second": _row(self.second.post),
        }


def twins(posts: Iterable[Post], others: Iterable[Post] | None = None) -> Iterator[Twins]:
    """Yield pairs of statements that say the same, the nearest other of each statement first; among `others` if they are given.

    >>> posts = [
    ...     Post("a", "lemma", "For all $x, y$ we have $(x+y)^2 = x^2+2xy+y^2$.", markup="markdown"),
    ...     Post("b", "lemma", "We have $(a+b)^2 = a^2+2ab+b^2$ for all $a, b$.", markup="markdown"),
    ...     Post("c", "lemma", "Every subgroup of a cyclic group is cyclic.", markup="markdown"),
    ... ]
    >>> [(pair.first.post.id, pair.second.post.id, pair.verdict) for pair in twins(posts)]
    [('a', 'b', 'same formula')]
    """
    ours = [Statement(post) for post in posts if post.kind in STATING]
    theirs = ours if others is None else [Statement(post) for post in others if post.kind in STATING]
    nearness = _Nearness(theirs)
    seen: set[tuple[int, int]] = set()
    for number, one in enumerate(ours):
        check_cancelled()
        if others is None and number in nearness.repeats:
            near = [(nearness.repeats[number], 1.0)]
        else:
            near = nearness.nearest(one, number if others is None else None)
        for other, similarity in near:
            pair = (min(number, other), max(number, other))
            if others is None and (pair in seen or _proves_itself(one.post, theirs[other].post)):
                continue
            seen.add(pair)
            if (verdict := _verdict(one, theirs[other], similarity)) is not None:
                yield Twins(one, theirs[other], verdict, similarity)


def _proves_itself(one: Post, other: Post) -> bool:
    """Return True if one statement names the other as what it is made from, as an alias does."""
    names = {other.title, other.place.label if other.place else ""} - {""}
    return any(link.label in names for link in one.links if "generated" in one.tags or "alias" in one.tags)


def _verdict(one: Statement, other: Statement, similarity: float) -> Verdict | None:
    alike = _overlap(one.words, other.words)
    if one.trees and other.trees:
        if one.whole and other.whole and _is_same(one.whole, other.whole) and alike >= ALIKE:
            return "same formula" if _exchanges(one.words, other.words) else "same statement"
        if one.main and other.main:
            if _is_same(one.main, other.main):
                return "same formula"
            part, larger = sorted((one.main, other.main), key=len)
            if similarity >= HOLDING and len(part) > SMALLEST and Subformula(part).inside(larger):
                return "contains"
    elif not one.trees and not other.trees and alike >= (1 + ALIKE) / 2:
        return "near" if "alias" in (*one.post.tags, *other.post.tags) else "same statement"
    return "near" if similarity >= NEAR else None


def _is_same(one: Opt, other: Opt) -> bool:
    """Return True if one formula becomes the other by a renaming."""
    part = Subformula(one)
    return part.is_as_large_as(other) and part.inside(other) is not None


def _exchanges(one: Counter[str], other: Counter[str]) -> bool:
    """Return True if each has a word instead of one of the other's: compact sets here, connected ones there."""
    return bool(one.keys() - other.keys() - _frame()) and bool(other.keys() - one.keys() - _frame())


@cache
def _frame() -> frozenset[str]:
    return frozenset(stems(sorted(_FRAME)))


def _overlap(one: Counter[str], other: Counter[str]) -> float:
    both, either = (one & other).total(), (one | other).total()
    return both / either if either else 1.0


class _Nearness:
    """The cosine of terms weighted by rarity, over the statements that share one that is not too frequent."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.repeats: dict[int, int] = {}
        """What says the same as many others, by its number, with the first of these; only the first is near to something."""
        alike: dict[frozenset[tuple[str, int]], list[int]] = defaultdict(list)
        for number, each in enumerate(statements):
            alike[frozenset(each.terms.items())].append(number)
        for first, *others in alike.values():
            if len(others) >= _CANDIDATES:
                self.repeats |= dict.fromkeys(others, first)
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, each in enumerate(statements):
            if number not in self.repeats:
                for term, count in each.terms.items():
                    self._postings[term].append((number, count))
        self._size = len(statements) - len(self.repeats)
        self._norms = [self._norm(each.terms) for each in statements]

    def _weight(self, term: str, count: int) -> float:
        held = len(self._postings.get(term, ()))
        return (1 + math.log(count)) * math.log(1 + self._size / (0.5 + held))

    def _norm(self, terms: Counter[str]) -> float:
        return math.sqrt(sum(self._weight(term, count) ** 2 for term, count in terms.items())) or 1.0

    def nearest(self, one: Statement, itself: int | None) -> list[tuple[int, float]]:
        """Return the nearest statements with their similarities, except for itself."""
        found: dict[int, float] = defaultdict(float)
        for term, count in one.terms.items():
            postings = self._postings.get(term, ())
            weight = self._weight(term, count)
            if len(postings) > _MOST_SHARING:
                continue
            for number, their_count in postings:
                found[number] += weight * self._weight(term, their_count)
        found.pop(-1 if itself is None else itself, None)
        norm = self._norm(one.terms)
        ranked = sorted(
            ((score / (norm * self._norms[number]), number) for number, score in found.items()), reverse=True
        )
        return [(number, score) for score, number in ranked[:_CANDIDATES]]


def _row(post: Post) -> dict[str, Any]:
    row: dict[str, Any] = {"id": post.id, "kind": post.kind, "title": post.title, "text": post.body}
    return row | ({"place": post.place.to_dict()} if post.place is not None else {})
