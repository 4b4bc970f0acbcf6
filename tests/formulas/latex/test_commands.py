from __future__ import annotations

import pytest

from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import parse


def slt(latex: str) -> str:
    return to_string(parse(latex).slt)


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"\cfrac{1}{x}", "[O!divide,o[N!1],u[V!x]]"),
        (r"\genfrac{[}{]}{0pt}{}{a}{b}", "[M!&lsqb;&rsqb;1x1,w[O!divide,o[V!a],u[V!b]]]"),
        (r"\root 3 \of x", "[O!root,c[N!3],w[V!x]]"),
        (r"\hat{x}^2", "[V!x,a[N!2],o[^]]"),
        (r"\underbrace{x}_{n}", "[M!1x1,u[V!n],w[V!x,u[⏟]]]"),
        (r"\overset{a}{b}", "[V!b,o[𝑎]]"),
        (r"\stackrel{a}{=}", "[=,o[V!a]]"),
        (r"\xrightarrow[a]{b}", "[→,o[𝑏],u[𝑎]]"),
        (r"\sideset{_a^b}{_c^d}\sum", "[∑,a[V!d],b[V!c],c[V!b],d[V!a]]"),
        (r"\prescript{a}{b}{x}", "[V!x,c[V!a],d[V!b]]"),
        (r"\mathfrak{g}\mathcal{L}\mathsf{A}\mathtt{b}", "[V!𝔤[V!ℒ[V!𝖠[V!𝚋]]]]"),
        (r"{\bf x}y", "[V!𝐱[V!y]]"),
        (r"\boldsymbol{\alpha}", "[V!𝜶]"),
        (r"\lim\limits_{x}f", "[lim[V!f],u[V!x]]"),
        (r"\max\nolimits_{x}f", "[V!max[V!f],b[V!x]]"),
        (r"\max_{x}f", "[V!max[V!f],u[V!x]]"),
        (r"\mathop{foo}_x", "[M!1x1,u[V!x],w[V!f[V!o[V!o]]]]"),
        (r"a\mathrel{+}b", "[V!a[+[V!b]]]"),
        (r"a\bmod b", "[V!a[mod[V!b]]]"),
        (r"\bigl(x\bigr)", "[M!()1x1,w[V!x]]"),
        (r"a\dots b+\dots+c", "[V!a[V!…[V!b[+[V!⋯[+[V!c]]]]]]]"),
        (r"\boxed{x}", "[box,w[V!x]]"),
        (r"\cancel{x}", "[updiagonalstrike,w[V!x]]"),
        (r"\textcolor{red}{x}\color{blue}y", "[V!x[V!y]]"),
        (r"x\tag{1}\label{a}\nonumber", "[V!x]"),
        (r"\smash{x}\vphantom{y}", "[V!x]"),
        (r"\mathchoice{a}{b}{c}{d}", "[V!a]"),
        (r"\varlimsup x", "[V!lim[V!x],o[¯]]"),
        (r"\ce{H2O}", "[T!H2O]"),
        (r"\text{if $x$ or}", "[T!if[V!x[T!or]]]"),
        (r"\text{$x$}", "[V!x]"),
        (r"\textit{ab}", "[T!𝑎𝑏]"),
        (r"\text{a \textbf{b}}", "[T!a[T!𝐛]]"),
        (r"\hbox{caf\'e -- ok}", "[T!café – ok]"),
    ],
)
def test_layout(latex: str, expected: str) -> None:
    assert slt(latex) == expected


@pytest.mark.parametrize(
    ("latex", "same"),
    [
        (r"\dv{f}{x}", r"\frac{\mathrm{d}f}{\mathrm{d}x}"),
        (r"\pdv[2]{f}{x}", r"\frac{\partial^2f}{\partial x^2}"),
        (r"\pdv{f}{x}{y}", r"\frac{\partial^2f}{\partial x\partial y}"),
        (r"\braket{a}{b}", r"\langle a|b\rangle"),
        (r"\ket{a}\bra{b}", r"|a\rangle\langle b|"),
        (r"\abs{x}", "|x|"),
        (r"\comm{a}{b}", "[a,b]"),
        (r"\set{a,b}", r"\{a,b\}"),
        (r"\mel{a}{H}{b}", r"\langle a|H|b\rangle"),
        (r"\curl F", r"\nabla\times F"),
        (r"\laplacian f", r"\nabla^2f"),
        (r"\Braket{a}{b}", r"\langle a\rangle b"),
        (r"\pmqty{a&b\\c&d}", r"\begin{pmatrix}a&b\\c&d\end{pmatrix}"),
        (r"\sine x", r"\sin x"),
        (r"\divergence F", r"\nabla\cdot F"),
        (r"\order{x^2}", r"\mathcal{O}(x^2)"),
        (r"\pv{\int f}", r"\mathcal{P}\int f"),
        (r"x\qq{if}y", r"x\quad\text{if}\quad y"),
        (r"x\qand y", r"x\quad\text{and}\quad y"),
        (r"\vu*{x}", r"\hat{x}"),
        (r"\vb*{x}\va*{y}", r"\mathbf{x}\vec{y}"),
    ],
)
def test_notation_of_physics_is_short_for_the_long_one(latex: str, same: str) -> None:
    assert slt(latex) == slt(same)


@pytest.mark.parametrize(
    ("latex", "same"),
    [
        (r"a\\[2ex]b", r"a\\b"),
        (r"a\newline[10pt]b", r"a\newline b"),
        (r"a\\[-5px]b\\[.5\jot]c\\[\baselineskip]d", r"a\\b\\c\\d"),
        (r"\MoveEqLeft[3]a", "a"),
        (r"\sideset{a}{b}X", "aXb"),
        (r"\bigl. x \bigr|_0^1", r"\left. x \right|_0^1"),
        (r"a\kern{1em}b", r"a\kern1em b"),
        (r"a\hskip{1,5em plus 2pt}b", "ab"),
        (r"{a\above{1.5pt}b}", r"{a\over b}"),
        (r"\overbracket[1pt][2pt]{x}", r"\overbracket{x}"),
        (r"\underbracket[1pt]{x}", r"\underbracket{x}"),
        (r"\framebox[2cm][c]{x}", r"\framebox{x}"),
        (r"\raise 1ex\hbox{x}", r"\hbox{x}"),
        (r"a\lower{1em}b", "ab"),
        (r"""\text{\'\i{} na\"{\i}ve}""", r"\text{í{} naïve}"),
        (r"\text{a \textcolor{red}{b}\phantom{c}d}", r"\text{a bd}"),
        (r"\text{\LaTeX}", r"\text{LaTeX}"),
        (r"\verb|a_b%c{|+1", r"\texttt{a\_b\%c\{}+1"),
        (r"\verb*!x!\verb+y+", r"\texttt{x}\texttt{y}"),
    ],
)
def test_commands_leave_what_they_show_and_nothing_else(latex: str, same: str) -> None:
    formula = parse(latex)
    assert (to_string(formula.slt), to_string(formula.opt)) == (slt(same), to_string(parse(same).opt))
    assert not formula.repairs


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"\lozenge", "[V!◊]"),
        (r"\upvarphi\upphi\Upphi", "[V!φ[V!ϕ[V!Φ]]]"),
        (r"\text[a]", "[T!&lsqb;[V!a[&rsqb;]]]"),
        (r"a\colonequals b", "[V!a[:=[V!b]]]"),
        (r"\texteuro\infin\rarr", "[V!€[V!∞[→]]]"),
        (r"\text{\Huge a\thinspace b \smash{c}}", "[T!a b c]"),
        (r"\cancelto{0}{x}", "[updiagonalstrike,o[N!0],w[V!x]]"),
        (r"\llbracket x\rrbracket", "[⟦[V!x[⟧]]]"),
        (r"\left\llbracket x\right\rrbracket", "[⟦[V!x[⟧]]]"),
        (r"\upalpha\uppi\Upgamma", "[V!α[V!π[V!Γ]]]"),
        (r"\LaTeX", "[T!LaTeX]"),
    ],
)
def test_commands_that_others_know_are_known(latex: str, expected: str) -> None:
    assert slt(latex) == expected
    assert not parse(latex).repairs


def test_upright_greek_differs_from_the_usual_in_the_operator_tree() -> None:
    assert to_string(parse(r"\upalpha\alpha").opt) == "[U!times,0[V!α],1[V!𝛼]]"


def test_brackets_behind_a_line_that_hold_no_length_are_kept_and_said() -> None:
    formula = parse(r"a\\[x]b")
    assert to_string(formula.slt) == slt("a[x]b")
    assert [(repair.message, repair.offset) for repair in formula.repairs] == [
        (r"the brackets behind \\ hold no length", 3)
    ]


def test_mathchoice_follows_the_style_in_force() -> None:
    latex = r"\mathchoice{D}{T}{S}{U}"
    formula = rf"{latex}{{\textstyle{latex}}}{{\scriptstyle{latex}}}{{\scriptscriptstyle{latex}}}"
    assert parse(formula).slt.labels == ("V!D", "V!T", "V!S", "V!U")
