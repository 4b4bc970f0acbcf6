from __future__ import annotations

import pytest

from mathamr.formulas.budget import Budget
from mathamr.formulas.errors import FormulaError
from mathamr.formulas.latex import definitions
from mathamr.formulas.latex.lexer import tokenize
from mathamr.formulas.latex.macros import Macros, expanded
from tests.cases import cases


def expand(latex: str, macros: str = "") -> str:
    tokens, offsets = tokenize(latex)
    return "".join(expanded(tokens, offsets, latex, Macros.from_latex(macros), Budget(len(latex)))[0])


@cases(
    ("latex", "result"),
    [
        (r"\newcommand{\a}{xy}\a", "xy"),
        (r"\newcommand\a{xy}\a\a", "xyxy"),
        (r"\renewcommand*{\a}[2]{#2#1}\a{x}{yz}", "yzx"),
        (r"\newcommand{\a}[2][k]{#1:#2}\a{x}\a[l]{y}", "k:xl:y"),
        (r"\def\a#1#2{#1+#2}\a xy", "x+y"),
        (r"\def\a#1.{(#1)}\a xyz.w", "(xyz)w"),
        (r"\DeclareMathOperator{\a}{rk}\a", r"\operatorname{rk}"),
        (r"\DeclareMathOperator*{\a}{lim}\a", r"\operatorname*{lim}"),
        (r"\DeclarePairedDelimiter{\a}{(}{)}\a{x}\a*{y}", r"\left(x\right)\left(y\right)"),
        (r"\def\a{\b}\def\b{x}\a", "x"),
        (r"\let\a=\frac\def\frac{x}\a\frac", r"\fracx"),
        (r"\let\a\b\def\b{x}\a", r"\b"),
        (r"\def\a{x}\providecommand{\a}{y}\providecommand{\z}{z}\a\z", "xz"),
        (r"\providecommand{\sin}{x}\providecommand{\R}{x}\providecommand\abs[1]{#1}\sin\R\abs y", r"\sinxy"),
        (r"\def\a{x}\begingroup\def\a{y}\a\endgroup\a", r"\begingroupy\endgroupx"),
        (r"\def\a{x}{\newcommand\b{z}\def\a{y}\a\b}\a\b", r"{yz}x\b"),
        (r"{\gdef\a{y}{\global\long\def\b{z}}\def\b{w}\b}\a\b", "{{}w}yz"),
        (r"\def\a{1}\edef\b#1{\a#1\noexpand\a}\def\a{2}\b3", "132"),
        (r"{\def\a{1}\xdef\b{\a}}\b", "{}1"),
        (r"\newenvironment{a}{(}{)}\begin{a}x\end{a}", r"\begingroup(x)\endgroup"),
        (
            r"\newenvironment{a b}[2][k]{#1#2}{}\begin{a b}[l]{m}\end{a b}\begin{a b}m\end{a b}",
            r"\begingrouplm\endgroup\begingroupkm\endgroup",
        ),
        (r"\newenvironment{a}{(}{)}\begin{b}x\end {b}\begin", r"\begin{b}x\end {b}\begin"),
    ],
)
def test_definitions_in_the_formula(latex: str, result: str) -> None:
    assert expand(latex) == result


def test_a_preamble_may_hold_anything_between_definitions() -> None:
    assert expand(r"\a+\b", r"\documentclass{article} \newcommand{\a}{x} text $1$ \def\b{y}") == "x+y"


def test_tokens_of_a_macro_stand_where_it_was_called() -> None:
    latex = r"z\a"
    tokens, offsets = tokenize(latex)
    assert expanded(tokens, offsets, latex, Macros.from_latex(r"\def\a{xy}"), Budget(3))[:2] == (
        ["z", "x", "y"],
        [0, 1, 1],
    )


def test_a_malformed_definition_is_noted() -> None:
    latex = r"\newcommand{x}{y}z"
    assert expanded(*tokenize(latex), latex, Macros(), Budget(len(latex)))[2] == [
        ("a definition without a command", 0)
    ]


@cases("body", [r"\a", r"\a\a", r"\b", r"{\a}"])
def test_recursion_is_an_error(body: str) -> None:
    with pytest.raises(FormulaError, match="without end"):
        expand(r"\def\a{" + body + r"}\def\b{\a}\a")


def test_an_expanded_definition_without_end_is_an_error_in_a_formula_and_left_out_of_a_preamble() -> None:
    endless = r"\def\a{\a\a}\edef\b{\a}"
    with pytest.raises(FormulaError, match="without end"):
        expand(endless + "x")
    assert expand(r"x\b", endless) == r"x\b"


def test_growth_is_an_error() -> None:
    doubling = "".join(rf"\def\{a}{{\{b}\{b}}}" for a, b in zip("abcdefghijkl", "bcdefghijklm", strict=True))
    with pytest.raises(FormulaError, match="without end"):
        expand(doubling + r"\a")


@cases(
    ("preamble", "latex", "result"),
    [
        (r"\let\eps\varepsilon", r"\eps", r"\varepsilon"),
        (r"\newcommand\Cat\mathcal", r"\Cat{C}", r"\mathcal{C}"),
        ("\\newcommand{\\foo}[1]{%\n  \\mathbf{#1}%\n}", r"\foo{x}+y", r"\mathbf{x}+y"),
        ("\\newcommand{\\foo}{\\bf% why\n x}", r"\foo", r"\bfx"),
        (r"\DeclarePairedDelimiter\abs{\lvert}{\rvert}", r"\abs[\big]{x}", r"\left\lvertx\right\rvert"),
        (r"\DeclarePairedDelimiterX\ip[2]{<}{>}{#1,#2}", r"\ip*{x}{y}", r"\left<x,y\right>"),
        (r"\DeclarePairedDelimiterXPP\P[1]{Q}{(}{)}{_1}{#1}", r"\P{x}", r"Q\left(x\right)_1"),
        (r"\NewDocumentCommand{\a}{s m O{k}}{\IfBooleanTF{#1}{S}{N}#2#3}", r"\a*{x}\a x[y]", "SxkNxy"),
        (r"\DeclareDocumentCommand\a{o m}{\IfNoValueTF{#1}{-}{#1}#2}", r"\a{x}\a[y]{z}", "-xyz"),
        (r"\NewDocumentCommand\a{m e{}}{#1}", r"\a x", "x"),
        (r"\newcommandx{\a}[3][1=p, 3=r]{#1#2#3}", r"\a{x}\a[q]{x}[s]", "pxrqxs"),
        (
            r"\NewDocumentEnvironment{e}{O{x} m}{(#1#2}{)}",
            r"\begin{e}{y}z\end{e}",
            r"\begingroup(xyz)\endgroup",
        ),
        (r"\def\a(#1,#2){#1+#2}", r"\a(x,y)", "x+y"),
        (r"\makeatletter\def\a{\@ifnextchar[{\a@b}{\a@b[k]}}\def\a@b[#1]#2{#1#2}", r"\a x\a[y]z", "kxyz"),
        (r"\makeatletter\newcommand\a{\@ifstar\b\c}", r"\a*x\a y", r"\bx\cy"),
        (r"\newcommand\a{\ensuremath{x}\xspace}", r"\a+\a", r"\ensuremath{x}+\ensuremath{x}"),
        (r"\newcommand\a{\texorpdfstring{$\infty$}{infinity}}", r"\a", r"$\infty$"),
        (r"\newcommand\a[1]{\ifx#1y A\else B\fi\ifmmode m\else t\fi}", r"\a x", " B m"),
        (r"\newcommand\a[1]{\mathchoice{\b#1}{\b}{\b}{\b}}\newcommand\b{z}", r"\a x", "zx"),
        (r"\let\old\phi\let\phi\varphi\let\varphi\old", r"\phi\varphi", r"\varphi\phi"),
        (r"\newcommand\a{\newcommand\b{x}}", r"\b", r"\b"),
    ],
)
def test_definitions_of_a_preamble(preamble: str, latex: str, result: str) -> None:
    assert expand(latex, preamble) == result


def test_a_conditional_without_end_and_the_styles_of_a_choice_stay() -> None:
    assert expand(r"\ifx x\else y") == r" x\else y"
    assert expand(r"\mathchoice{a}{b}{c}{d}") == r"\mathchoice{a}{b}{c}{d}"


def test_a_definition_that_never_ends_defines_nothing() -> None:
    assert expand(r"\a", r"\newcommand{\a}{x") == r"\a"


@pytest.mark.parametrize(
    "hostile", [r"\def", r"\def\a{", r"\newcommand{\a}[", r"\let\a", r"\def\a#1", r"\NewDocumentCommand\a{"]
)
def test_definitions_are_read_in_steps_linear_in_the_text(
    hostile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 0
    take = definitions._Text.take

    def counted(self: definitions._Text) -> str:
        nonlocal steps
        steps += 1
        return take(self)

    monkeypatch.setattr(definitions._Text, "take", counted)
    counts = []
    for size in (20_000, 40_000):
        steps = 0
        for _ in definitions.definitions_in(hostile * (size // len(hostile))):
            pass
        counts.append(steps)
    assert counts[1] < 2.2 * counts[0] + 1000
