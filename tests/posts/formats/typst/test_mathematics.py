"""Formulas of Typst as LaTeX: against LaTeX that means the same, and against Typst itself where it is installed."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest

from mathamr.formulas.mathml.markup import slt_from_mathml
from mathamr.formulas.notation import to_string
from mathamr.formulas.tree import Slt
from mathamr.formulas.trees import trees_of
from mathamr.posts.formats.typst.mathematics import TypstMacro, symbols, typst_to_latex
from mathamr.posts.post import Formula
from tests.bounded import bounded

PAIRS = [
    ("sum_(n=1)^oo 1/n^2 = pi^2/6", r"\sum_{n=1}^\infty \frac{1}{n^2} = \frac{\pi^2}{6}"),
    ("frac(a, b) + (a+b)/(c+d)", r"\frac{a}{b} + \frac{a+b}{c+d}"),
    ("mat(1, 2; 3, 4)", r"\begin{pmatrix}1 & 2 \\ 3 & 4\end{pmatrix}"),
    ('mat(delim: "[", a, b; c, d)', r"\begin{bmatrix}a & b \\ c & d\end{bmatrix}"),
    ("vec(x, y) in RR^n", r"\begin{pmatrix}x \\ y\end{pmatrix} \in \mathbb{R}^n"),
    ("RR arrow.r QQ", r"\mathbb{R} \to \mathbb{Q}"),
    ("sqrt(x^2 + 1) + root(3, x)", r"\sqrt{x^2 + 1} + \sqrt[3]{x}"),
    ("binom(n, k)", r"\binom{n}{k}"),
    ("2x/3", r"2\frac{x}{3}"),
    ("f(x)/2", r"\frac{f(x)}{2}"),
    ("x^y^z", "x^{y^z}"),
    ("x_1^2", "x_1^2"),
    ("e^(i pi) + 1 = 0", r"e^{i\pi} + 1 = 0"),
    ("n!/k!", r"\frac{n!}{k!}"),
    ("a/b/c", r"\frac{\frac{a}{b}}{c}"),
    ("abs(x) <= norm(y)", r"\left|x\right| \le \left\|y\right\|"),
    ("floor(x) + ceil(y)", r"\left\lfloor x\right\rfloor + \left\lceil y\right\rceil"),
    ("lim_(x -> 0) sin(x)/x = 1", r"\lim_{x \to 0} \frac{\sin(x)}{x} = 1"),
    ("forall epsilon > 0 exists delta > 0", r"\forall\varepsilon > 0 \exists\delta > 0"),
    ("A subset.eq B union C", r"A \subseteq B \cup C"),
    ("x in.not ZZ", r"x \notin \mathbb{Z}"),
    ("integral_0^1 f(x) dif x", r"\int_0^1 f(x) \mathrm{d} x"),
    ("a != b >= c", r"a \ne b \ge c"),
    ("hat(x) + overline(z) + arrow(v)", r"\hat{x} + \overline{z} + \vec{v}"),
    ("bb(R) + cal(F) + frak(g) + bold(x)", r"\mathbb{R} + \mathcal{F} + \mathfrak{g} + \mathbf{x}"),
    ("f''(x)", "f''(x)"),
    ('cases(1 "if" x > 0, 0 "else")', r"\begin{cases}1 \text{if} x > 0 \\ 0 \text{else}\end{cases}"),
    ("(partial f)/(partial x)", r"\frac{\partial f}{\partial x}"),
    ("{x | x > 0}", r"\{x | x > 0\}"),
    ("[0, 1)", "[0, 1)"),
    ("x |-> x^2", r"x \mapsto x^2"),
    ("A => B <=> C", r"A \Rightarrow B \Leftrightarrow C"),
    ("union.big_(i in I) A_i", r"\bigcup_{i \in I} A_i"),
    ("product_(i=1)^n x_i", r"\prod_{i=1}^n x_i"),
    ("phi.alt + phi + epsilon.alt", r"\phi + \varphi + \epsilon"),
    ("a, dots.h, z", r"a, \ldots, z"),
    ("pi_1(S^1)", r"\pi_1(S^1)"),
    ("log_2 n", r"\log_2 n"),
    ('op("ker") f', r"\operatorname{ker} f"),
    ("a times b dot c", r"a \times b \cdot c"),
    ("underbrace(a + b, n)", r"\underbrace{a + b}_{n}"),
    ("nothing != infinity", r"\emptyset \ne \infty"),
    ("x &= 1 \\ &= y", r"\begin{aligned}x &= 1 \\ &= y\end{aligned}"),
]  # fmt: skip


def layout(latex: str) -> Slt | None:
    return trees_of(Formula("1", latex))[0][1]


def test_a_formula_has_the_trees_of_its_latex() -> None:
    for typst, latex in PAIRS:
        found, repaired = trees_of(Formula("1", typst_to_latex(typst)))
        assert found == trees_of(Formula("2", latex))[0], typst
        assert not repaired, typst


# Typst writes the names of functions as operators, accents as combining characters, and no second column of cases.
OTHERWISE = ("sin", "log", "op(", "hat", "cases", "phi.alt", "cal(", "{x", "underbrace", "&=", "lim")


def test_a_formula_has_the_layout_that_typst_draws(tmp_path: Path) -> None:
    typst = pytest.importorskip("typst", reason="the package typst is not installed")
    file = tmp_path / "a.typ"
    for formula in (typst for typst, _ in PAIRS if not any(each in typst for each in OTHERWISE)):
        file.write_text(f"${formula}$\n", encoding="utf-8")
        page = typst.compile(str(file), format="html").decode()
        drawn = re.search("<math.*</math>", page, re.S)
        assert drawn is not None
        assert _plain(layout(typst_to_latex(formula))) == _plain(slt_from_mathml(drawn[0])), formula


def _plain(tree: Slt | None) -> str:
    """A tree with letters of mathematical alphabets as letters."""
    assert tree is not None
    return re.sub(
        "[\U0001d400-\U0001d7ff]", lambda match: unicodedata.normalize("NFKC", match[0]), to_string(tree)
    )


def test_macros_are_used_with_their_arguments() -> None:
    macros = {
        "half": TypstMacro(("x",), "x/2"),
        "zz": TypstMacro((), "zeta(s)"),
        "loop": TypstMacro((), "loop loop"),
    }
    assert layout(typst_to_latex("half(a + b) + zz", macros)) == layout(r"\frac{a + b}{2} + \zeta(s)")
    assert "mathrm" in typst_to_latex("loop", macros)


def test_every_symbol_of_the_table_can_be_drawn() -> None:
    unread = [
        latex
        for variants in symbols().values()
        for latex in variants.values()
        if latex.startswith("\\") and trees_of(Formula("1", f"x {latex} y"))[1]
    ]
    assert unread == []


HOSTILE = """
from mathamr.posts.formats.typst.mathematics import TypstMacro, typst_to_latex
many = {chr(97 + n) * 2: TypstMacro((), (chr(98 + n) * 2 + " ") * 9) for n in range(25)}
texts = ["(" * 19_000, "a/" * 9_000, "sqrt(" * 3_000, "x^" * 9_000, "mat(" * 4_000, "aa " * 5_000, '"' * 19_000, "#a(" * 6_000,
         "/*" * 9_000, "{[(" * 6_000, "x_" * 9_000 + "(" * 900, "$" * 30_000]
print([len(typst_to_latex(text, many)) < 40_000_000 for text in texts])
"""


@pytest.mark.slow
def test_hostile_formulas_take_bounded_time_and_memory() -> None:
    done = bounded(HOSTILE, megabytes=1024)
    assert done.stdout.count("True") == 12, done.stderr[-500:]
