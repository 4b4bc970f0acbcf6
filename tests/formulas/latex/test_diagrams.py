"""Diagrams of notes as trees: what they show counts, not how they are drawn."""

from __future__ import annotations

from mathamr.formulas.trees import trees_of
from mathamr.posts.post import Formula


def test_the_options_of_a_diagram_are_no_part_of_its_trees() -> None:
    diagram = r'\begin{tikzcd}[row sep=large] A \arrow[r, "f", hook] \arrow[d, "g"\'] & B \\ C & \end{tikzcd}'
    (opt, slt), _ = trees_of(Formula("1", diagram))
    assert opt is not None
    assert slt is not None
    assert {label for label in slt.labels if label.startswith("V!")} <= {"V!A", "V!B", "V!C", "V!f", "V!g"}
    assert {"V!A", "V!B", "V!C", "→", "↓"} <= set(slt.labels)
