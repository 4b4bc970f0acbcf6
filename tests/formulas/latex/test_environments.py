from __future__ import annotations

import pytest

from mathamr.formulas.latex.diagrams import with_arrays
from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import parse
from mathamr.formulas.trees import trees_of
from mathamr.posts.post import Formula


def trees(latex: str) -> tuple[str, str]:
    formula = parse(latex)
    return to_string(formula.slt), to_string(formula.opt)


@pytest.mark.parametrize(
    ("name", "label"),
    [("matrix", "M!2x2"), ("pmatrix", "M!()2x2"), ("bmatrix", "M!&lsqb;&rsqb;2x2"), ("vmatrix", "M!||2x2"),
     ("Bmatrix", "M!{}2x2"), ("smallmatrix", "M!2x2"), ("pmatrix*", "M!()2x2")],
)  # fmt: skip
def test_matrices_carry_their_delimiters(name: str, label: str) -> None:
    assert parse(rf"\begin{{{name}}}a&b\\c&d\end{{{name}}}").slt.labels == (label, "V!a", "V!b", "V!c", "V!d")


def test_cases() -> None:
    slt, opt = trees(r"f=\begin{cases}a&x>0\\b\end{cases}")
    assert slt == "[V!f[=[{[M!2x2,w[V!a,e[V!x[>[N!0]],e[V!b,e[W!]]]]]]]]"
    assert opt == "[U!eq,0[V!𝑓],1[O!cases,0[V!𝑎],1[O!gt,0[V!𝑥],1[N!0]],2[V!𝑏],3[W!]]]"


def test_arrays_fill_short_rows_up_to_their_template() -> None:
    assert trees(r"\begin{array}{c|c}a\\c&d\end{array}")[0] == "[M!2x2,w[V!a,e[W!,e[V!c,e[V!d]]]]]"


def test_split_is_one_formula_broken_over_lines() -> None:
    slt, opt = trees(r"\begin{split}a&=b\\&=c\end{split}")
    assert slt == "[M!2x2,w[V!a,e[=[V!b],e[W!,e[=[V!c]]]]]]"
    assert opt == "[U!and,0[U!eq,0[V!𝑎],1[V!𝑏]],1[U!eq,0[V!𝑏],1[V!𝑐]]]"


def test_an_alignment_of_one_line_is_just_that_line() -> None:
    assert trees(r"\begin{align}a&=b\end{align}") == trees("a=b")


def test_plain_tex_tables() -> None:
    assert trees(r"\pmatrix{a&b\cr c&d}") == trees(r"\begin{pmatrix}a&b\\c&d\end{pmatrix}")
    assert trees(r"\sum_{\substack{a\\b}}x")[0] == "[∑[V!x],u[M!2x1,w[V!a,e[V!b]]]]"


def test_empty_rows_at_the_end_and_optional_skips_are_dropped() -> None:
    assert trees(r"\begin{matrix}a\\[2pt]b\\\end{matrix}") == trees(r"\begin{matrix}a\\b\end{matrix}")


def test_an_unclosed_delimiter_ends_with_its_cell() -> None:
    formula = parse(r"\begin{matrix}\left(a&b\end{matrix}")
    assert formula.slt.labels[0] == "M!1x2"
    assert [repair.message for repair in formula.repairs] == [r"unclosed \left"]


def test_nested_tables() -> None:
    assert parse(r"\begin{matrix}\begin{matrix}a&b\end{matrix}&c\end{matrix}").slt.labels[:2] == (
        "M!1x2",
        "M!1x2",
    )


def test_diagrams_are_tables_of_their_objects() -> None:
    formula = parse(r"\xymatrix{A \ar[r]^f \ar@{->}[d] & B \ar[d]^-{g} \\ C \ar@/_/[r] & D}")
    assert to_string(formula.slt) == "[M!2x2,w[V!A,e[V!B,e[V!C,e[V!D]]]]]"
    assert {repair.message for repair in formula.repairs} == {"an arrow of a diagram is left out"}


def test_commutative_diagrams_keep_their_arrows() -> None:
    diagram = Formula("1", r"\begin{CD} A @>f>> B \\ @VV{\operatorname{g} V}V @| \\ C @= {D@V} \end{CD}")
    array = r"\begin{array}{ccc}A & \xrightarrow[]{f} & B \\ {\scriptstyle }\downarrow{\scriptstyle {\operatorname{g} V}} & & \| \\ C & = & {D@V}\end{array}"
    assert trees_of(diagram) == trees_of(Formula("2", array))


def test_brackets_behind_a_blank_begin_the_next_line() -> None:
    latex = r"\begin{aligned}{[x]}\\ [y]\\ [2pt] [z]\\*[2pt]w\end{aligned}"
    assert trees(latex) == trees(r"\begin{aligned}{[x]}\\{}[y]\\{}[z]\\w\end{aligned}")
    assert parse(latex).slt.labels[0] == "M!4x1"


def test_options_of_environments_are_not_printed() -> None:
    plain = trees(r"\begin{multlined}a\\b\end{multlined}")
    assert trees(r"\begin{multlined}[t][3cm]a\\b\end{multlined}") == plain
    small = r"\begin{smallmatrix}a&b\end{smallmatrix}"
    assert trees(r"\begin{smallmatrix*}[r]a&b\end{smallmatrix*}") == trees(small)


def test_dashed_lines_leave_no_trace() -> None:
    rows = r"\begin{array}{cc}a&b\\%sc&d\end{array}"
    assert trees(rows % r"\hdashline ") == trees(rows % "") == trees(rows % r"\cdashline{1-2}")


def test_the_options_of_a_diagram_are_no_part_of_its_trees() -> None:
    diagram = r'\begin{tikzcd}[row sep=large] A \arrow[r, "f", hook] \arrow[d, "g"\'] & B \\ C & \end{tikzcd}'
    (opt, slt), _ = trees_of(Formula("1", diagram))
    assert opt is not None
    assert slt is not None
    assert {label for label in slt.labels if label.startswith("V!")} <= {"V!A", "V!B", "V!C", "V!f", "V!g"}
    assert {"V!A", "V!B", "V!C", "→", "↓"} <= set(slt.labels)


@pytest.mark.parametrize("begin", [r"\begin{CD}", r"\begin{tikzcd}", r"\begin{tikzcd}[", r"\begin{CD}@V{"])
def test_diagrams_without_end_stay_as_they_are(begin: str) -> None:
    assert with_arrays(begin * 5_000) == begin * 5_000
