"""`Bag`: the terms of an entry as numbers, the form in which they are counted, stored and sent between processes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import count
from operator import lt
from typing import Self, TypeVar

from mathamr.core.pickling import pickle_by_fields
from mathamr.formulas.tree import Opt, Slt, Tree
from mathamr.formulas.trees import LONGEST_REMEMBERED, Trees, trees_of
from mathamr.index.lexical.terms import READING, Terms, formulas_in, terms_of_trees, text_terms
from mathamr.posts.post import Formula, Post

TREES = "trees"
"""The key of the packed trees in a bag."""
LARGEST = 2_000
"""The most nodes of a tree that is stored; larger ones are rare, and parsed when they are needed."""
_NODES, _PARTS, _TREES = "\0", "\1", "\2"
AnyTree = TypeVar("AnyTree", bound=Tree)


def pack_trees(trees: Trees) -> bytes:
    """Return both trees as bytes; nothing if they are too large or have none of the forms that can be told apart again.

    >>> from mathamr.formulas.parse import parse
    >>> read = parse("x^2")
    >>> unpack_trees(pack_trees((read.opt, read.slt))) == (read.opt, read.slt)
    True
    """
    packed = [text for tree in trees if (text := _pack(tree)) is not None]
    return _TREES.join(packed).encode("utf-8", "surrogatepass") if len(packed) == len(trees) else b""


def unpack_trees(content: bytes) -> Trees | None:
    """Return the trees in some bytes; None if nothing was stored, or if the bytes are not a tree."""
    try:
        opt, slt = content.decode("utf-8", "surrogatepass").split(_TREES)
        return _unpack(opt, Opt), _unpack(slt, Slt)
    except ValueError:
        return None


def _pack(tree: Tree | None) -> str | None:
    if tree is None:
        return ""
    labels = _NODES.join(tree.labels)
    is_clear = labels.count(_NODES) == len(tree) - 1 and not {_PARTS, _TREES} & set(labels)
    if len(tree) > LARGEST or not is_clear:
        return None
    # Numbers of parents begin at -1, and are shifted above the separators.
    return _PARTS.join((labels, tree.edges, "".join(chr(parent + 4) for parent in tree.parents)))


def _unpack(text: str, kind: type[AnyTree]) -> AnyTree | None:
    if not text:
        return None
    joined, edges, shifted = text.split(_PARTS)
    labels, parents = tuple(joined.split(_NODES)), tuple([ord(parent) - 4 for parent in shifted])
    above = parents[1:]
    is_tree = parents[:1] == (-1,) and min(above, default=0) >= 0 and all(map(lt, above, count(1)))
    if not is_tree or not len(labels) == len(parents) == len(edges):
        raise ValueError("the nodes are not those of a tree")
    return kind(labels, parents, edges)


Bag = Mapping[str, bytes]
"""By field, the numbers of its terms as `NUMBER`s; a number is repeated as often as its term occurs. The bag of a formula has its
trees too (`TREES`)."""
NUMBER = "q"
"""A term's number as the modules `array` and `numpy` call it: an integer of 64 bits."""


def term_number(term: str) -> int:
    """Return a term as a number of 64 bits, the same on every machine."""
    return int.from_bytes(_number(term), sys.byteorder, signed=True)


def bag_of(terms: Terms) -> Bag:
    """Return the numbers of terms."""
    return {field: b"".join(map(_number, found)) for field, found in terms.items()}


def _number(term: str) -> bytes:
    """Return the number of a term in a bag; long terms are rare and not cached."""
    return _short_number(term) if len(term) <= _LONGEST_CACHED else _digest(term)


def _digest(term: str) -> bytes:
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return digest if sys.byteorder == "little" else digest[::-1]


_LONGEST_CACHED = 100
_short_number = lru_cache(maxsize=1 << 18)(_digest)


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class PostBags:
    """The terms of a post, separately for its text and for each of its formulas."""

    text: Bag
    formulas: tuple[Bag, ...]

    @classmethod
    def of(cls, post: Post) -> Self:
        """Return the terms of a post, as `post_terms` finds them."""
        formulas = (formula_bag(formula, post.macros) for formula in formulas_in(post))
        return cls(bag_of(text_terms(post)), tuple(formulas))

    def joined(self) -> Bag:
        """Return all terms together."""
        parts = {field: [numbers] for field, numbers in self.text.items()}
        for bag in self.formulas:
            for field, numbers in bag.items():
                if field != TREES:
                    parts.setdefault(field, []).append(numbers)
        return {field: b"".join(numbers) for field, numbers in parts.items()}


def post_bag(post: Post) -> Bag:
    """Return the terms of a post, as `post_terms` finds them."""
    return PostBags.of(post).joined()


def formula_bag(formula: Formula, macros: tuple[str, ...] = ()) -> Bag:
    """Return the terms of a formula, as `formula_terms` finds them."""
    if formula.latex.strip() and len(formula.latex) <= LONGEST_REMEMBERED:
        return _bag_of_latex(formula.latex, macros)
    return _bag_of_trees(formula, macros)


@lru_cache(maxsize=8_000)
def _bag_of_latex(latex: str, macros: tuple[str, ...]) -> Bag:
    """Return the terms of LaTeX; cached, since posts repeat the same short formulas."""
    return _bag_of_trees(Formula("", latex), macros)


def _bag_of_trees(formula: Formula, macros: tuple[str, ...]) -> Bag:
    trees, _ = trees_of(formula, macros, READING)
    return {**bag_of(terms_of_trees(formula.latex, *trees)), TREES: pack_trees(trees)}
