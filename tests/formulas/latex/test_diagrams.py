from __future__ import annotations

from mathamr.formulas.latex.diagrams import with_arrays
from mathamr.formulas.trees import trees_of
from mathamr.posts.post import Formula
from tests.cases import cases


def test_commutative_diagrams_keep_their_arrows() -> None:
    diagram = Formula("1", r"\begin{CD} A @>f>> B \\ @VV{\operatorname{g} V}V @| \\ C @= {D@V} \end{CD}")
    array = r"\begin{array}{ccc}A & \xrightarrow[]{f} & B \\ {\scriptstyle }\downarrow{\scriptstyle {\operatorname{g} V}} & & \| \\ C & = & {D@V}\end{array}"
    assert trees_of(diagram) == trees_of(Formula("2", array))


def test_the_options_of_a_diagram_are_no_part_of_its_trees() -> None:
    diagram = r'\begin{tikzcd}[row sep=large] A \arrow[r, "f", hook] \arrow[d, "g"\'] & B \\ C & \end{tikzcd}'
    (opt, slt), _ = trees_of(Formula("1", diagram))
    assert opt is not None
    assert slt is not None
    assert {label for label in slt.labels if label.startswith("V!")} <= {"V!A", "V!B", "V!C", "V!f", "V!g"}
    assert {"V!A", "V!B", "V!C", "→", "↓"} <= set(slt.labels)


@cases("begin", [r"\begin{CD}", r"\begin{tikzcd}", r"\begin{tikzcd}[", r"\begin{CD}@V{"])
def test_diagrams_without_end_stay_as_they_are(begin: str) -> None:
    assert with_arrays(begin * 5_000) == begin * 5_000
