from __future__ import annotations

import pytest

from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import parse


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
