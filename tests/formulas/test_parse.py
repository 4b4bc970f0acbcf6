"""LaTeX to both trees: worked examples, the published trees, repairs, limits."""

from __future__ import annotations

import csv
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripts.golden_cut import cut, published_rows, sample_formulas

from mathamr.core.errors import ParseError
from mathamr.formulas.latex.grammar.rules import MAX_DEPTH
from mathamr.formulas.latex.symbols import SYMBOLS
from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import FormulaError, FormulaParser, Macros, ParsedFormula, parse
from tests.cases import cases
from tests.formulas.gold import json_rows


def trees(latex: str, **options: object) -> tuple[str, str]:
    formula = parse(latex, **options)  # type: ignore[arg-type]
    return to_string(formula.slt), to_string(formula.opt)


with Path(__file__).with_name("trees.tsv").open(encoding="utf-8", newline="") as lines:
    TREES = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
"""What a formula shows, its LaTeX, its layout tree, its operator tree, and what is repaired in it."""


def test_formulas_have_the_trees_of_the_table() -> None:
    wrong = []
    for row in TREES:
        slt, opt = trees(row["latex"])
        repairs = [f"{repair.message} at {repair.offset}" for repair in parse(row["latex"]).repairs]
        read = row | {"slt": slt, "opt": opt, "repairs": "; ".join(repairs)}
        if read != row:
            wrong.append((row, read))
    assert not wrong


@cases(
    "spellings",
    [
        (r"\frac12", r"\dfrac{1}{2}", r"\tfrac 1 2", r"{1\over2}"),
        (r"p\le q", r"p\leq q", r"p \leq  q"),
        (r"p\ne q", r"p\neq q", r"p\not=q"),
        ("p^2", "p^{2}", "p ^ 2", "{p}^2", "p^{{2}}"),
        (r"(p)", r"\left(p\right)", r"\bigl(p\bigr)", r"\Big(p\Big)"),
        (r"\mathbb R", r"\mathbb{R}", r"\Bbb R"),
        (r"p\to q", r"p\rightarrow q"),
        (r"|p|", r"\left|p\right|", r"\vert p\vert"),
        (r"\{p\}", r"\lbrace p\rbrace", r"\left\{p\right\}"),
        (r"\operatorname*{lim}_p", r"\operatornamewithlimits{lim}_p"),
        (r"p'", r"p^\prime", r"p^{\prime}"),
        (r"\sqrt p", r"\sqrt{p}", r"{\sqrt{p}}"),
        (r"pq", "p q", "p % a comment\n q", r"p\label{a}q", r"{\color{red}p}q"),
        (r"\begin{equation}p\end{equation}", r"\[p\]", r"\(p\)", "p"),
        (r"\boldsymbol p", r"\pmb p", r"\bm{p}"),
    ],
)
def test_spellings_of_one_formula_give_the_same_trees(spellings: tuple[str, ...]) -> None:
    assert {trees(spelling) for spelling in spellings} == {trees(spellings[0])}


OTHERWISE = {
    "golden.jsonl": [],
    "pool.jsonl.gz": [
        (2851, "slt"),  # a symbol that is given by its number in a font (`\mathchar`)
        (2851, "opt"),
        (2868, "slt"),  # LaTeXML reads `\pmatrix` with an argument as that of LaTeX, and loses the second one
        (2868, "opt"),
    ],
}
"""The published trees that ours are not, by the number of their row."""


@pytest.mark.parametrize("name", OTHERWISE)
@pytest.mark.slow
def test_trees_are_the_published_ones_but_for_four(data: Path, name: str) -> None:
    different = []
    for number, row in enumerate(json_rows(data / "formulas" / name)):
        formula = parse(row["latex"])
        if to_string(formula.slt) != row["slt"]:
            different.append((number, "slt"))
        if "fragments" not in row["opt_mode"] and to_string(formula.opt) != row["opt"]:
            different.append((number, "opt"))
    assert different == OTHERWISE[name]


def sample_rows() -> list[tuple[str, str, str]]:
    """The cut of golden trees that is here on every machine (`scripts/golden_cut.py`)."""
    with Path(__file__).with_name("sample.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    return [(latex, slt, opt) for latex, slt, opt in rows]


def test_formulas_of_the_sample_have_the_trees_that_published_ones_confirm() -> None:
    rows = sample_rows()
    assert len(rows) > 300
    assert [(latex, *trees(latex)) for latex, _, _ in rows] == rows


@pytest.mark.slow
def test_the_cut_of_the_sample_is_what_the_published_trees_confirm(data: Path) -> None:
    found = cut(published_rows(data / "formulas"), sample_formulas())
    assert found == sample_rows(), "write it again: python scripts/golden_cut.py > tests/formulas/sample.tsv"


def test_broken_formulas_have_a_tree_or_a_clear_error(data: Path) -> None:
    rows = json_rows(data / "formulas/nasty.jsonl")
    errors = [error for row in rows if (error := _error(row["latex"])) is not None]
    assert all(error.message and "^" in str(error) for error in errors)
    assert len(errors) <= 0.05 * len(rows)


def _error(latex: str) -> FormulaError | None:
    try:
        parse(latex)
    except FormulaError as error:
        return error
    return None


@cases("latex", ["", "  ", r"\label{a}", "{}"])
def test_an_empty_formula_is_an_error(latex: str) -> None:
    with pytest.raises(FormulaError, match="empty"):
        parse(latex)


def test_an_error_is_a_parse_error_with_offset_and_caret() -> None:
    with pytest.raises(ParseError) as caught:
        parse(r"a+\def\x{\x}\x")
    assert caught.value.offset == 12
    assert str(caught.value).splitlines()[-1] == " " * 14 + "^"


@cases(
    "latex",
    [
        r"\def\x{\x}\x",
        r"\def\x{\x\x}\x",
        r"\newcommand{\a}[1]{\b{#1#1}}\newcommand{\b}[1]{\a{#1#1}}\a{x}",
        "".join(rf"\def\{a}{{\{b}\{b}}}" for a, b in zip("abcdefghijklmn", "bcdefghijklmno", strict=True))
        + r"\a",
    ],
)
def test_macro_bombs_end_in_an_error(latex: str) -> None:
    with pytest.raises(FormulaError, match="without end"):
        parse(latex)


@pytest.mark.parametrize("depth", [41, 400, 20_000])
def test_parentheses_deeper_than_the_limit_are_left_as_a_row(depth: int) -> None:
    formula = parse("(" * depth + "x" + ")" * depth)
    inner = depth - MAX_DEPTH
    groups, row = formula.slt.labels[:MAX_DEPTH], formula.slt.labels[MAX_DEPTH:]
    assert groups == ("M!()1x1",) * MAX_DEPTH
    assert row == ("(",) * inner + ("V!x",) + (")",) * inner


def test_time_does_not_explode_with_nesting() -> None:
    """The grammar without memory would need 3 to the power of the depth."""
    deep = MAX_DEPTH - 2
    assert len(parse("(a+" * deep + "b" + ")" * deep).opt) == 2 * deep + 1
    assert trees("(" * deep + "x" + ")" * deep)[1] == "[V!𝑥]"


def test_too_long_a_text_is_refused() -> None:
    with pytest.raises(FormulaError, match="longer than"):
        parse("x" * 100_001)


def test_macros_of_the_document_and_of_the_formula() -> None:
    document = Macros.from_latex(r"\newcommand{\half}{\frac12} \DeclareMathOperator{\rk}{rk}")
    assert trees(r"\half+\rk p", macros=document) == trees(r"\frac12+\operatorname{rk}p")
    assert trees(r"\half", macros=[r"\def\half{x}"]) == trees("x")
    assert trees(r"\def\half{y}\half", macros=document) == trees("y")


def test_wildcards() -> None:
    assert trees(r"\qvar{a}+1") == ("[?a[+[N!1]]]", "[U!plus,0[?a],1[N!1]]")
    assert trees("?a+1", wildcards=True) == trees(r"\qvar{a}+1")
    assert trees("?a")[0] == "[V!&quest;[V!a]]"


def test_a_formula_is_the_same_after_any_other() -> None:
    first = trees(r"\mathbf{x}+x")
    trees(r"\boldsymbol{\mathcal{x}} \displaystyle x \sum_{\max x}")
    assert trees(r"\mathbf{x}+x") == first


def test_parser_remembers_formulas() -> None:
    parser = FormulaParser([r"\def\x{y}"])
    assert parser.parse(r"\x^2") is parser.parse(r"\x^2")
    assert to_string(parser.parse(r"\x").slt) == "[V!y]"


@cases(
    "latex", [r"x^2", r"\sum_{i=1}^n\frac{a_i}{2}", r"\begin{pmatrix}a&b\end{pmatrix}", r"a<\text{b \& c}"]
)
def test_formulas_travel_between_processes(latex: str) -> None:
    formula = parse(latex)
    travelled = pickle.loads(pickle.dumps(formula))
    assert travelled == formula
    assert travelled.presentation_mathml() == formula.presentation_mathml()


def test_presentation_mathml_is_safe() -> None:
    markup = parse(r"\text{<script>alert(1)</script>} < \href{javascript:x}{y}").presentation_mathml()
    assert "<script" not in markup
    assert "javascript" not in markup.split("<annotation")[0].split("alttext")[0]


_PIECES = [*sorted(SYMBOLS)[::7], *"xyz12+=<>|()[]{}^_'&,.!?%$#~ ", r"\frac", r"\sqrt", r"\left", r"\right", r"\over", r"\\",
           r"\begin{matrix}", r"\end{matrix}", r"\begin{cases}", r"\end{cases}", r"\begin{align}", r"\text", r"\mathrm",
           r"\hat", r"\overset", r"\limits", r"\mathop", r"\not", r"\binom", r"\def\x", r"\x", r"\substack", r"\bigl",
           r"\pmod", r"\operatorname", r"\rm", r"\displaystyle", r"\quad", r"\ket", r"\dv", r"\sideset", r"\root",
           r"\of", r"\middle", r"\boxed", r"\genfrac", r"\hline", r"\xrightarrow", r"\stackrel", "−", "é", "\x00"]  # fmt: skip


def _tree_or_error(latex: str) -> ParsedFormula | None:
    error = _error(latex)
    if error is None:
        return parse(latex)
    assert 0 <= error.offset <= len(latex)
    return None


@given(st.lists(st.sampled_from(_PIECES), max_size=30).map("".join))
def test_any_pieces_of_latex_give_a_tree_or_an_error(latex: str) -> None:
    formula = _tree_or_error(latex)
    if formula is not None:
        assert all(0 <= repair.offset <= len(latex) for repair in formula.repairs)
        assert formula == parse(latex)


@given(st.text(max_size=60))
def test_any_text_gives_a_tree_or_an_error(latex: str) -> None:
    _tree_or_error(latex)


_ATOMS = st.sampled_from(["x", "y", "12", r"\alpha", r"\sin x", "f(x)", r"\frac{a}{b}", "|z|", "n!"])
_FORMULAS = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", r"\cdot ", " "]), inner).map("".join),
        inner.map(lambda part: f"({part})"),
        inner.map(lambda part: rf"\sqrt{{{part}}}"),
        st.tuples(_ATOMS, inner).map(lambda parts: f"{parts[0]}^{{{parts[1]}}}"),
    ),
    max_leaves=12,
)


@given(_FORMULAS)
def test_sizes_of_delimiters_and_outer_braces_change_nothing(latex: str) -> None:
    sized = latex.replace("(", r"\left(").replace(")", r"\right)")
    assert trees(latex) == trees("{" + sized + "}")


@given(_FORMULAS, _FORMULAS)
def test_the_sides_of_an_equation_are_read_on_their_own(left: str, right: str) -> None:
    opt = trees(f"{left}={right}")[1]
    assert opt == f"[U!eq,0{trees(left)[1]},1{trees(right)[1]}]"


@pytest.mark.parametrize("latex", [r"f%sg", r"D_{KL}(p\,%s\,q)", r"\ell %s m+1"])
def test_two_bars_between_operands_are_one_sign(latex: str) -> None:
    two, one = parse(latex % "||"), parse(latex % r"\|")
    assert two.opt == one.opt
    assert two.slt == one.slt
    assert "O!conditional" in two.opt.labels
