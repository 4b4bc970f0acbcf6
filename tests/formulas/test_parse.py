"""LaTeX to both trees: worked examples, the published trees, repairs, limits."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.errors import ParseError
from mathamr.formulas.latex.grammar.rules import MAX_DEPTH
from mathamr.formulas.latex.symbols import SYMBOLS
from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import FormulaError, FormulaParser, Macros, ParsedFormula, parse


def trees(latex: str, **options: object) -> tuple[str, str]:
    formula = parse(latex, **options)  # type: ignore[arg-type]
    return to_string(formula.slt), to_string(formula.opt)


EXAMPLES = [
    # latex, layout tree, operator tree
    ("p", "[V!p]", "[V!𝑝]"),
    ("p+q-r", "[V!p[+[V!q[−[V!r]]]]]", "[O!minus,0[U!plus,0[V!𝑝],1[V!𝑞]],1[V!𝑟]]"),
    ("3pq", "[N!3[V!p[V!q]]]", "[U!times,0[N!3],1[V!𝑝],2[V!𝑞]]"),
    ("p^q_r", "[V!p,a[V!q],b[V!r]]", "[O!SUB,0[O!SUP,0[V!𝑝],1[V!𝑞]],1[V!𝑟]]"),
    (r"\frac{p}{q}", "[O!divide,o[V!p],u[V!q]]", "[O!divide,0[V!𝑝],1[V!𝑞]]"),
    (r"{p \over q}", "[O!divide,o[V!p],u[V!q]]", "[O!divide,0[V!𝑝],1[V!𝑞]]"),
    (r"{p \choose q}", "[M!()1x1,w[O!divide,o[V!p],u[V!q]]]", "[O!binomial,0[V!𝑝],1[V!𝑞]]"),
    (r"\sqrt[3]{p}", "[O!root,c[N!3],w[V!p]]", "[O!root,0[V!𝑝],1[N!3]]"),
    ("g(p)", "[V!g[M!()1x1,w[V!p]]]", "[U!times,0[V!𝑔],1[V!𝑝]]"),
    ("(p,q]", "[M!(&rsqb;1x2,w[V!p[&comma;],e[V!q]]]", "[O!interval(O-C),0[V!𝑝],1[V!𝑞]]"),
    (r"\{p,q,r\}", "[M!{}1x3,w[V!p[&comma;],e[V!q[&comma;],e[V!r]]]]", "[M!S-3,0[V!𝑝],1[V!𝑞],2[V!𝑟]]"),
    (r"\cos 2p", "[V!cos[N!2[V!p]]]", "[F!cos,0[U!times,0[N!2],1[V!𝑝]]]"),
    (r"\cos p\sin q", "[V!cos[V!p[V!sin[V!q]]]]", "[U!times,0[F!cos,0[V!𝑝]],1[F!sin,0[V!𝑞]]]"),
    ("p=q<r", "[V!p[=[V!q[<[V!r]]]]]", "[U!and,0[U!eq,0[V!𝑝],1[V!𝑞]],1[O!lt,0[V!𝑞],1[V!𝑟]]]"),
    ("|p|+|q|", "[M!||1x1[+[M!||1x1,w[V!q]]],w[V!p]]", "[U!plus,0[F!abs,0[V!𝑝]],1[F!abs,0[V!𝑞]]]"),
    ("||p||", "[‖[V!p[‖]]]", "[O!norm,0[V!𝑝]]"),
    ("p!", "[V!p[!]]", "[O!factorial,0[V!𝑝]]"),
    ("g''", "[V!g,a[′′]]", "[O!SUP,0[V!𝑔],1[V!′′]]"),
    (r"p\not=q", "[V!p[≠[V!q]]]", "[U!neq,0[V!𝑝],1[V!𝑞]]"),
    (r"\mathrm{rank}\,p", "[V!rank[V!p]]", "[U!times,0[V!rank],1[V!𝑝]]"),
    (r"\operatorname{rank}p", "[V!rank[V!p]]", "[F!rank,0[V!𝑝]]"),
    (r"p\quad q", "[V!p[V!q]]", "[M!L-2,0[V!𝑝],1[V!𝑞]]"),
    (r"p\;q", "[V!p[V!q]]", "[U!times,0[V!𝑝],1[V!𝑞]]"),
    ("10.25", "[N!10.25]", "[N!10.25]"),
    (r"\text{for }p", "[T!for[V!p]]", "[U!times,0[W!],1[V!𝑝]]"),
    (r"\overline{pq}", "[M!1x1,o[¯],w[V!p[V!q]]]", "[F!¯,0[U!times,0[V!𝑝],1[V!𝑞]]]"),
    ("{p+q}^2", "[V!p[+[V!q,a[N!2]]]]", "[U!plus,0[V!𝑝],1[O!SUP,0[V!𝑞],1[N!2]]]"),
    (r"\{p\mid p>0\}", "[M!{}1x1,w[V!p[∣[V!p[>[N!0]]]]]]", "[O!conditional-set,0[V!𝑝],1[O!gt,0[V!𝑝],1[N!0]]]"),
    (r"\begin{pmatrix}p\\q\end{pmatrix}", "[M!()2x1,w[V!p,e[V!q]]]",
     "[O!matrix,0[M!M-2x1,0[M!R!,0[V!𝑝]],1[M!R!,0[V!𝑞]]]]"),
    (r"\int_0^1 p\,dp", "[∫[V!p[𝑑[V!p]]],o[N!1],u[N!0]]",
     "[+!O!SUB,0[O!SUP,0[O!SUB,0[O!int],1[N!0]],1[N!1]],1[U!times,0[V!𝑝],1[O!differential-d,0[V!𝑝]]]]"),
    (r"\left.p\right|_{q=1}", "[M!1x1,b[V!q[=[N!1]]],w[V!p[|]]]",
     "[O!evaluated-at,0[V!𝑝],1[U!eq,0[V!𝑞],1[N!1]]]"),
    (r"\langle p|q\rangle", "[⟨[V!p[|[V!q[⟩]]]]]", "[O!inner-product,0[V!𝑝],1[V!𝑞]]"),
    (r"p\equiv q\pmod{r}", "[V!p[≡[V!q[M!()1x1,w[mod[V!r]]]]]]",
     "[U!equivalent,0[V!𝑝],1[O!annotated,0[V!𝑞],1[F!pmod,0[V!𝑟]]]]"),
]  # fmt: skip


@pytest.mark.parametrize(("latex", "slt", "opt"), EXAMPLES, ids=[example[0] for example in EXAMPLES])
def test_worked_examples(latex: str, slt: str, opt: str) -> None:
    assert trees(latex) == (slt, opt)


@pytest.mark.parametrize(
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
    ids=lambda spellings: spellings[0],
)
def test_spellings_of_one_formula_give_the_same_trees(spellings: tuple[str, ...]) -> None:
    assert {trees(spelling) for spelling in spellings} == {trees(spellings[0])}


def _rows(path: Path) -> list[dict[str, str]]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in content.splitlines()]


@pytest.mark.parametrize("name", ["golden.jsonl", "pool.jsonl.gz"])
@pytest.mark.slow
def test_trees_are_the_published_ones(data: Path, name: str) -> None:
    rows = _rows(data / "formulas" / name)
    wrong = {"slt": 0, "opt": 0}
    for row in rows:
        formula = parse(row["latex"])
        wrong["slt"] += to_string(formula.slt) != row["slt"]
        wrong["opt"] += "fragments" not in row["opt_mode"] and to_string(formula.opt) != row["opt"]
    assert wrong["slt"] <= 0.005 * len(rows)
    assert wrong["opt"] <= 0.005 * len(rows)


def test_broken_formulas_have_a_tree_or_a_clear_error(data: Path) -> None:
    rows = _rows(data / "formulas/nasty.jsonl")
    errors = [error for row in rows if (error := _error(row["latex"])) is not None]
    assert all(error.message and "^" in str(error) for error in errors)
    assert len(errors) <= 0.05 * len(rows)


def _error(latex: str) -> FormulaError | None:
    try:
        parse(latex)
    except FormulaError as error:
        return error
    return None


@pytest.mark.parametrize(
    ("latex", "message", "offset"),
    [
        (r"\frac{p}{q", "unclosed {", 8),
        ("p}", "} without its opening", 1),
        (r"\left(p", r"unclosed \left", 0),
        (r"p\right)", r"\right without its opening", 1),
        (r"p+\nosuch q", r"unknown command \nosuch", 2),
        ("p^q^r", "double superscript", 3),
        (r"\begin{matrix}p", "unclosed environment matrix", 13),
        (r"\begin{nosuch}p", "unknown environment nosuch", 0),
        (r"p\end{matrix}", r"\end{matrix} without its beginning", 12),
        (r"\sqrt", "missing argument", 5),
        ("p&q", "stray &", 1),
        ("p$q", "stray $", 1),
        (r"p\over q\over r", r"more than one fraction in a group: \over", 8),
        ("%p+q", "a comment hides the formula; read without %", 0),
        (r"\left{p\right}", r"{ as a delimiter; read as \{", 5),
        (r"\begin{aligned}p&amp;=q\end{aligned}", "an escape that was escaped again", 16),
    ],
)
def test_malformed_formulas_are_repaired_and_say_where(latex: str, message: str, offset: int) -> None:
    repairs = parse(latex).repairs
    assert (message, offset) in [(repair.message, repair.offset) for repair in repairs]


def test_well_formed_formulas_need_no_repair() -> None:
    for latex, _, _ in EXAMPLES:
        assert parse(latex).repairs == ()


@pytest.mark.parametrize("latex", ["", "  ", r"\label{a}", "{}"])
def test_an_empty_formula_is_an_error(latex: str) -> None:
    with pytest.raises(FormulaError, match="empty"):
        parse(latex)


def test_an_error_is_a_parse_error_with_offset_and_caret() -> None:
    with pytest.raises(ParseError) as caught:
        parse(r"a+\def\x{\x}\x")
    assert caught.value.offset == 12
    assert str(caught.value).splitlines()[-1] == " " * 14 + "^"


BOMBS = {
    "braces": "{" * 100_000,
    "closing braces": "}" * 20_000,
    "parentheses": "(" * 20_000 + ")" * 20_000,
    "fractions": r"\frac{" * 16_000,
    "scripts": "x^{" * 33_000,
    "roots": r"\sqrt" * 20_000,
    "left": r"\left(" * 16_000,
    "matrices": r"\begin{matrix}" * 7_000,
    "digits": "1" * 100_000,
    "words": r"\mathrm{" + "x" * 99_000 + "}",
    "sum": "x+" * 10_000 + "x",
    "bars": "|x" * 500,
    "angles": "<a|" * 500,
    "text": r"\text{$" * 14_000,
    "primes": "x" + "'" * 90_000,
}


@pytest.mark.parametrize("latex", BOMBS.values(), ids=BOMBS.keys())
@pytest.mark.slow
def test_large_and_deep_input_ends_in_a_tree_or_an_error(latex: str) -> None:
    try:
        formula = parse(latex)
    except FormulaError:
        return
    assert len(formula.slt) <= len(latex)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
