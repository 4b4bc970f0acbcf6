from __future__ import annotations

from mathamr.formulas.outline import outline
from mathamr.formulas.parse import parse


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
