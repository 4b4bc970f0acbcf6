"""What the grammar decides where LaTeX leaves it open."""

from __future__ import annotations

import pytest

from mathamr.formulas.latex.grammar.rules import MAX_DEPTH
from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import parse


def opt(latex: str) -> str:
    return to_string(parse(latex).opt)


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        # lists, chains, sequences of formulas
        ("a,b=c", "[U!eq,0[M!L-2,0[V!𝑎],1[V!𝑏]],1[V!𝑐]]"),
        ("a=b,c", "[U!eq,0[V!𝑎],1[M!L-2,0[V!𝑏],1[V!𝑐]]]"),
        ("a=b,c=d", "[O!form-seq,0[U!eq,0[V!𝑎],1[V!𝑏]],1[U!eq,0[V!𝑐],1[V!𝑑]]]"),
        ("a=", "[U!eq,0[V!𝑎],1[W!]]"),
        ("=a", "[U!eq,0[W!],1[V!𝑎]]"),
        ("f:A\\to B", "[F!:,0[V!𝑓],1[F!→,0[V!𝐴],1[V!𝐵]]]"),
        ("a>>b", "[O!much-greater-than,0[V!𝑎],1[V!𝑏]]"),
        # sums and products
        ("-a+b", "[U!plus,0[O!minus,0[V!𝑎]],1[V!𝑏]]"),
        ("a+", "[O!limit-from,0[V!𝑎],1[U!plus]]"),
        (r"\mathinner{ab}c", "[U!times,0[V!𝑎],1[V!𝑏],2[V!𝑐]]"),
        ("a/bc", "[U!times,0[O!divide,0[V!𝑎],1[V!𝑏]],1[V!𝑐]]"),
        (r"a\cup b\cap c", "[U!intersect,0[U!union,0[V!𝑎],1[V!𝑏]],1[V!𝑐]]"),
        # functions
        (r"\sin x+1", "[U!plus,0[F!sin,0[V!𝑥]],1[N!1]]"),
        (r"\sin(x)y", "[U!times,0[F!sin,0[V!𝑥]],1[V!𝑦]]"),
        (r"\log\log x", "[F!log,0[F!log,0[V!𝑥]]]"),
        (r"\sin\cos x", "[U!times,0[F!sin],1[F!cos,0[V!𝑥]]]"),
        (r"\max(a,b)", "[F!max,0[V!𝑎],1[V!𝑏]]"),
        (r"\nabla f", "[F!∇,0[V!𝑓]]"),
        # big operators take the product behind them
        (r"\sum ab+c", "[U!plus,0[O!sum,0[U!times,0[V!𝑎],1[V!𝑏]]],1[V!𝑐]]"),
        (r"\forall x\exists y", "[O!forall,0[U!times,0[V!𝑥],1[O!exists,0[V!𝑦]]]]"),
        # delimiters
        ("()", "[M!L-0]"),
        ("(a)(b)", "[U!times,0[V!𝑎],1[V!𝑏]]"),
        ("[a]", "[M!D-lsqb;&rsqb;,0[V!𝑎]]"),
        ("(a,b,c)", "[M!V-3,0[V!𝑎],1[V!𝑏],2[V!𝑐]]"),
        (r"\lfloor a\rfloor", "[F!floor,0[V!𝑎]]"),
        ("|a||b|", "[U!times,0[F!abs,0[V!𝑎]],1[F!abs,0[V!𝑏]]]"),
        ("||a|-b|", "[F!abs,0[O!minus,0[F!abs,0[V!𝑎]],1[V!𝑏]]]"),
        ("P(A|B)", "[U!times,0[V!𝑃],1[O!conditional,0[V!𝐴],1[V!𝐵]]]"),
        (r"|a\rangle", "[O!ket,0[V!𝑎]]"),
        (r"\langle a|", "[O!bra,0[V!𝑎]]"),
        (r"\langle a|H|b\rangle", "[O!quantum-operator-product,0[V!𝑎],1[V!𝐻],2[V!𝑏]]"),
        # scripts
        ("_a b", "[O!SUB,0[V!𝑏],1[V!𝑎]]"),
        ("x^{+}", "[O!SUP,0[V!𝑥],1[U!plus]]"),
        ("x^{(n)}", "[O!SUP,0[V!𝑥],1[V!𝑛]]"),
        ("x_{i,j}", "[O!SUB,0[V!𝑥],1[M!L-2,0[V!𝑖],1[V!𝑗]]]"),
    ],
)  # fmt: skip
def test_readings(latex: str, expected: str) -> None:
    assert opt(latex) == expected


@pytest.mark.parametrize("latex", ["(a+b", "a)b", r"a\mid", "a^b^c", "[a,b", r"\left(a\right]b+"])
def test_what_it_cannot_read_is_left_in_fragments_with_all_its_symbols(latex: str) -> None:
    formula = parse(latex)
    assert "O!fragments" in formula.opt.labels
    shown = "".join(label.removeprefix("V!") for label in formula.slt.labels)
    assert all(letter in shown for letter in latex if letter in "abc")


def test_unread_rows_keep_their_parentheses_together() -> None:
    assert to_string(parse("(a)b)").slt) == "[M!()1x1[V!b[)]],w[V!a]]"


def test_parentheses_are_followed_to_a_limit() -> None:
    deep = MAX_DEPTH - 2
    assert opt("(" * deep + "x" + ")" * deep) == "[V!𝑥]"
    assert "O!fragments" in opt("(" * (MAX_DEPTH + 2) + "x+y" + ")" * (MAX_DEPTH + 2))


def test_time_does_not_explode_with_nesting() -> None:
    """The grammar without memory would need 3 to the power of the depth."""
    deep = MAX_DEPTH - 2
    assert len(parse("(a+" * deep + "b" + ")" * deep).opt) == 2 * deep + 1


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"A\supset B", "[O!subset,0[V!𝐵],1[V!𝐴]]"),
        (r"A\ni x", "[O!in,0[V!𝑥],1[V!𝐴]]"),
        (r"A\subseteq B", "[O!subset,0[V!𝐴],1[V!𝐵]]"),
        (r"a\not\approx b", "[O!not,0[U!approx,0[V!𝑎],1[V!𝑏]]]"),
        (r"\infty", "[C!infinity]"),
        (r"\emptyset", "[C!emptyset]"),
        (r"\epsilon", "[V!italic-ϵ]"),
        (r"\mathcal{1}", "[N!1]"),
        (r"\coth x", "[F!coth,0[V!𝑥]]"),
        (r"\binom nk", "[O!binomial,0[V!𝑛],1[V!𝑘]]"),
        (r"{a\atop b}", "[F!FRACOP,0[V!𝑎],1[V!𝑏]]"),
        (r"\vec x", "[F!→,0[V!𝑥]]"),
        (r"\begin{vmatrix}a\end{vmatrix}", "[F!det,0[O!matrix,0[M!M-1x1,0[M!R!,0[V!𝑎]]]]]"),
        (r"\sin^2x", "[+!F!sin,0[O!SUP,0[F!sin],1[N!2]],1[V!𝑥]]"),
    ],
)
def test_meanings(latex: str, expected: str) -> None:
    assert to_string(parse(latex).opt) == expected


def test_a_chain_of_relations_shares_its_middle() -> None:
    assert to_string(parse("a<b=c").opt) == "[U!and,0[O!lt,0[V!𝑎],1[V!𝑏]],1[U!eq,0[V!𝑏],1[V!𝑐]]]"
