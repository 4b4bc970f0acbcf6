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
    ],
)
def test_notation_of_physics_is_short_for_the_long_one(latex: str, same: str) -> None:
    assert slt(latex) == slt(same)
