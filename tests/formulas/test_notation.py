from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.errors import ParseError
from mathamr.formulas.notation import opt_from_string, outline, slt_from_string, to_string
from mathamr.formulas.parse import parse
from mathamr.formulas.tree import Opt, Slt
from tests.cases import cases
from tests.formulas.generated import OPTS, SLTS
from tests.formulas.gold import published


def test_next_follows_directly_and_the_rest_after_commas() -> None:
    tree = Slt(("V!x", "+", "N!1", "N!2", "V!i"), (-1, 0, 1, 0, 0), "-nnab")
    assert to_string(tree) == "[V!x[+[N!1]],a[N!2],b[V!i]]"


def test_every_operand_has_its_number() -> None:
    assert to_string(Opt(("U!plus", "V!a", "V!b"), (-1, 0, 0), "-01")) == "[U!plus,0[V!a],1[V!b]]"


@given(SLTS)
def test_layout_trees_round_trip(tree: Slt) -> None:
    assert slt_from_string(to_string(tree)) == tree


@given(OPTS)
def test_operator_trees_round_trip(tree: Opt) -> None:
    assert opt_from_string(to_string(tree)) == tree


@given(st.text("[],na0x!", max_size=20))
def test_any_text_is_a_tree_or_a_parse_error(text: str) -> None:
    try:
        tree = slt_from_string(text)
    except ParseError as error:
        offset = error.offset
    else:
        assert to_string(tree) == text
        offset = 0
    assert 0 <= offset <= len(text)


def test_published_strings_round_trip(data: Path) -> None:
    rows = published(data)
    assert len(rows) > 4000
    for row in rows:
        assert to_string(slt_from_string(row["slt"])) == row["slt"]
        assert to_string(opt_from_string(row["opt"])) == row["opt"]


@cases(
    ("text", "offset", "reason"),
    [
        ("", 0, "begin with"),
        ("x", 0, "begin with"),
        ("[x", 0, "never closed"),
        ("[x]]", 3, "after the tree"),
        ("[x][y]", 3, "after the tree"),
        ("[x[y]", 5, "1 nodes are not closed"),
        ("[x,q[y]]", 3, "'q' is not an edge"),
        ("[x,", 3, "is not an edge"),
        ("[x,a", 4, "begin with"),
        ("[x,a[y],a[z]]", 9, "second child on edge a"),
    ],
)
def test_a_bad_string_is_an_error_with_a_caret(text: str, offset: int, reason: str) -> None:
    with pytest.raises(ParseError, match=reason) as caught:
        slt_from_string(text, source="trees.tsv")
    assert caught.value.offset == offset
    assert str(caught.value).startswith("trees.tsv: ")
    assert str(caught.value).endswith("^")


def test_operator_trees_have_no_next() -> None:
    with pytest.raises(ParseError, match="comma and its number"):
        opt_from_string("[U!plus[V!a]]")


def test_every_node_is_one_line_with_its_label() -> None:
    formula = parse(r"\sum_{i=1}^n \frac{a_i}{(b)} + \sqrt[3]{c}")
    for tree in (formula.slt, formula.opt):
        lines = outline(tree)
        assert len(lines) == len(tree)
        shown = [line.rpartition(": ")[2].lstrip("│├└─ ") for line in lines]
        assert sorted(shown) == sorted(tree.labels)


def test_scripts_hang_on_their_symbol_and_the_base_line_goes_on() -> None:
    assert outline(parse("x_i^2y").slt) == ["V!x", "├─ above: N!2", "├─ below: V!i", "V!y"]


def test_operands_are_numbered() -> None:
    assert outline(parse("a-b").opt) == ["O!minus", "├─ 0: V!𝑎", "└─ 1: V!𝑏"]
