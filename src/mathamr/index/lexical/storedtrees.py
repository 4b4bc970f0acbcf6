"""Packs both trees of a formula into bytes, which are stored beside its terms: a search aligns formulas without parsing them."""

from __future__ import annotations

from typing import TypeVar

from mathamr.formulas.tree import Opt, Slt, Tree
from mathamr.formulas.trees import Trees

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
    """Return the trees in some bytes; None if nothing was stored, or something that is no tree."""
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
    labels, parents = tuple(joined.split(_NODES)), tuple(ord(parent) - 4 for parent in shifted)
    is_tree = parents[:1] == (-1,) and all(0 <= parent < node for node, parent in enumerate(parents[1:], 1))
    if not is_tree or not len(labels) == len(parents) == len(edges):
        raise ValueError("the nodes are not those of a tree")
    return kind(labels, parents, edges)
