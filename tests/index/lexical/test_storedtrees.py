"""Stored trees are the trees of the formulas, through updates and merges; what cannot be stored is left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.formulas.tree import Opt, Slt
from mathamr.formulas.trees import trees_of
from mathamr.index.lexical.bags import LARGEST, bag_of, formula_bag, pack_trees, unpack_trees
from mathamr.index.lexical.lexicalindex import FORMULAS, LexicalPart
from mathamr.index.lexical.terms import READING, formula_terms
from mathamr.posts.post import Formula
from tests.models import sample_posts


def test_trees_survive_updates_and_merges(tmp_path: Path) -> None:
    formulas = {
        f"{number}": each for number, each in enumerate(f for post in sample_posts(20) for f in post.formulas)
    }
    part = LexicalPart(tmp_path, FORMULAS)
    names = list(formulas)
    for start in range(0, len(names), 7):
        part.update_bags((each, formula_bag(formulas[each])) for each in names[start : start + 7])
    part.update_bags([("plain", bag_of(formula_terms(Formula("f", "x^2"))))], deletes=names[:3])
    expected = {each: trees_of(formulas[each], (), READING)[0] for each in names[3:]}
    assert part.trees([*names, "plain", "unknown"]) == expected
    found = [hit.id for hit in part.search(formula_terms(formulas[names[5]]), 4)]
    assert part.trees(found) == {each: expected[each] for each in found}


labels = st.lists(st.text(min_size=1), min_size=1, max_size=9)


@pytest.mark.slow
@given(labels)
def test_any_tree_survives_or_is_left_out(names: list[str]) -> None:
    opt = Opt(tuple(names), (-1, *range(len(names) - 1)), "-" + "0" * (len(names) - 1))
    slt = Slt(("V!x",), (-1,), "-")
    packed = pack_trees((opt, slt))
    assert unpack_trees(packed) == ((opt, slt) if packed else None)
    assert packed or any(set(name) & {"\0", "\1", "\2"} for name in names)


def test_a_missing_tree_is_missing_and_a_huge_one_is_left_out() -> None:
    slt = Slt(("V!x",), (-1,), "-")
    assert unpack_trees(pack_trees((None, slt))) == (None, slt)
    many = Opt(("U!plus",) * (LARGEST + 1), (-1, *(0,) * LARGEST), "-" + "0" * LARGEST)
    assert pack_trees((many, slt)) == b""


@given(st.binary())
def test_damaged_bytes_are_no_trees(content: bytes) -> None:
    found = unpack_trees(content)
    for tree in found or ():
        assert tree is None or len(tree.labels) == len(tree.parents) == len(tree.edges)


@pytest.mark.parametrize("parents", ["\5", "\3\5", "\3\2"])
def test_nodes_that_do_not_follow_their_parents_are_no_tree(parents: str) -> None:
    text = "\1".join(("\0".join("V!x" for _ in parents), "-" * len(parents), parents))
    assert unpack_trees(f"{text}\2".encode()) is None
