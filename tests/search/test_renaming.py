"""The same formula in other letters comes before formulas that merely share letters, by the usual search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr import Index
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.models import build_sample_index, once_a_run

CASES = {
    "Pascal's rule": (
        r"\binom{a}{b}=\binom{a-1}{b-1}+\binom{a-1}{b}",
        r"\binom{n}{k}=\binom{n-1}{k-1}+\binom{n-1}{k}",
        [r"\binom{a}{b}=\binom{a}{a-b}", r"\binom{a}{b}=\frac{a!}{b!(a-b)!}", r"\binom{a}{b}+\binom{a}{b-1}"],
    ),
    "quadratic formula": (
        r"t=\frac{-q\pm\sqrt{q^2-4pr}}{2p}",
        r"x=\frac{-b\pm\sqrt{b^2-4ac}}{2a}",
        [r"t=\frac{-q}{2p}", r"q^2-4pr", r"t=\frac{q+\sqrt{q^2+4pr}}{2p}"],
    ),
    "Cauchy-Schwarz": (
        r"|\langle f,g\rangle|\le\|f\|\|g\|",
        r"|\langle u,v\rangle|\le\|u\|\|v\|",
        [r"\langle f,g\rangle=0", r"\|f+g\|\le\|f\|+\|g\|", r"|\langle f,g\rangle|=\|f\|"],
    ),
    "geometric series": (
        r"\sum_{j=0}^\infty t^j=\frac{1}{1-t}",
        r"\sum_{n=0}^\infty x^n=\frac{1}{1-x}",
        [r"\sum_{j=0}^\infty\frac{t^j}{j!}=e^t", r"\sum_{j=1}^m t^j", r"\frac{1}{1+t}"],
    ),
    "Euler's formula": (
        r"e^{i\alpha}=\cos\alpha+i\sin\alpha",
        r"e^{i\theta}=\cos\theta+i\sin\theta",
        [r"\cos\alpha+\sin\alpha=1", r"e^{i\alpha}=e^{-i\alpha}", r"\sin\alpha=\cos\alpha"],
    ),
    "Pythagoras": (
        r"p^2+q^2=r^2",
        r"a^2+b^2=c^2",
        [r"p^2-q^2=r^2", r"p+q=r", r"p^2+q^2=(p+q)^2-2pq"],
    ),
    "binomial theorem": (
        r"(a+b)^m=\sum_{j=0}^m\binom{m}{j}a^jb^{m-j}",
        r"(x+y)^n=\sum_{k=0}^n\binom{n}{k}x^ky^{n-k}",
        [r"(a+b)^m=a^m+b^m", r"\sum_{j=0}^m\binom{m}{j}=2^m", r"(a+b)^{m-j}"],
    ),
    "product rule": (
        r"(uv)'=u'v+uv'",
        r"(fg)'=f'g+fg'",
        [r"(u+v)'=u'+v'", r"(u/v)'=0", r"uv+vu=2uv"],
    ),
    "sum of the first numbers": (
        r"\sum_{j=1}^{m}j=\frac{m(m+1)}{2}",
        r"\sum_{k=1}^{n}k=\frac{n(n+1)}{2}",
        [r"\sum_{j=1}^{m}j^2=\frac{m(m+1)(2m+1)}{6}", r"\frac{m(m-1)}{2}", r"\sum_{j=1}^{m}1=m"],
    ),
    "Bayes": (
        r"P(H|E)=\frac{P(E|H)P(H)}{P(E)}",
        r"P(A|B)=\frac{P(B|A)P(A)}{P(B)}",
        [r"P(H|E)=\frac{P(H\cap E)}{P(E)}", r"P(E|H)=P(E)", r"P(H)+P(E)"],
    ),
    "triangle inequality": (
        r"d(p,r)\le d(p,q)+d(q,r)",
        r"d(x,z)\le d(x,y)+d(y,z)",
        [r"d(p,q)=d(q,p)", r"d(p,r)\le d(p,q)", r"d(q,r)\ge 0"],
    ),
    "definition of the derivative": (
        r"g'(s)=\lim_{t\to 0}\frac{g(s+t)-g(s)}{t}",
        r"f'(x)=\lim_{h\to 0}\frac{f(x+h)-f(x)}{h}",
        [r"g'(s)=\lim_{t\to s}g(t)", r"\frac{g(s)-g(t)}{s-t}", r"g(s+t)=g(s)+g(t)"],
    ),
    "integration by parts": (
        r"\int p\,dq=pq-\int q\,dp",
        r"\int u\,dv=uv-\int v\,du",
        [r"\int p\,dp=\frac{p^2}{2}", r"pq-qp", r"\int(p+q)\,dp"],
    ),
    "Legendre symbols": (
        r"r^{(q-1)/2}\equiv 1\pmod q",
        r"a^{(p-1)/2}\equiv 1\pmod p",
        [r"r^{q-1}\equiv 1\pmod q", r"r^q\equiv r\pmod q", r"r\equiv 1\pmod q"],
    ),
    "determinant of two rows": (
        r"\begin{vmatrix}p&q\\r&s\end{vmatrix}=ps-qr",
        r"\begin{vmatrix}a&b\\c&d\end{vmatrix}=ad-bc",
        [r"\begin{pmatrix}p&q\\r&s\end{pmatrix}", r"ps-qr=1", r"\begin{vmatrix}p&q\\r&s\end{vmatrix}=0"],
    ),
    "law of cosines": (
        r"r^2=p^2+q^2-2pq\cos\phi",
        r"c^2=a^2+b^2-2ab\cos\gamma",
        [r"r^2=p^2+q^2", r"p=q\cos\phi", r"(p-q)^2=p^2+q^2-2pq"],
    ),
    "Stirling": (
        r"m!\sim\sqrt{2\pi m}\left(\frac{m}{e}\right)^m",
        r"n!\sim\sqrt{2\pi n}\left(\frac{n}{e}\right)^n",
        [r"m!=m(m-1)!", r"\sqrt{2\pi m}", r"\left(1+\frac{1}{m}\right)^m\to e"],
    ),
    "homomorphism": (
        r"\psi(gh)=\psi(g)\psi(h)",
        r"\varphi(ab)=\varphi(a)\varphi(b)",
        [r"\psi(g)=h", r"\psi(gh)=\psi(hg)", r"\psi(g)^{-1}=\psi(g^{-1})"],
    ),
}
"""What is asked, what should be found, and what shares its letters with the question."""


def _written(formulas: list[str]) -> str:
    return " ".join(f"Here is ${latex}$." for latex in formulas)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Iterator[Index]:
    source = tmp_path_factory.mktemp("renamed") / "renamed.md"
    source.write_text(
        "\n\n".join(
            f"# {name}\n\n{_written([*others, wanted])}" for name, (_, wanted, others) in CASES.items()
        ),
        encoding="utf-8",
    )
    posts: list[Post] = list(read_posts(source, Report()))
    made = once_a_run(
        tmp_path_factory, "renamed-index", lambda folder: build_sample_index(folder, model_folder, posts)
    )
    with Index.open(made, device="cpu") as opened:
        yield opened


@pytest.mark.parametrize("name", CASES)
def test_the_same_in_other_letters_comes_before_what_shares_letters(index: Index, name: str) -> None:
    asked, wanted, others = CASES[name]
    hits = index.search(f"${asked}$", "formulas", k=3)
    assert hits[0].formula is not None
    assert hits[0].formula.latex == wanted
    assert "renamed" in hits[0].evidence
    assert any(hit.formula is not None and hit.formula.latex in others for hit in hits), "they are found, too"


def test_the_very_formula_comes_before_the_same_in_other_letters(index: Index) -> None:
    hits = index.search(r"$\binom{n}{k}=\binom{n-1}{k-1}+\binom{n-1}{k}$", "formulas", k=1)
    assert hits[0].formula is not None
    assert hits[0].formula.exact
    assert "renamed" not in hits[0].evidence


def test_letters_that_fall_together_are_no_renaming(index: Index) -> None:
    hits = index.search("$x^2+x^2=y^2$", "formulas", k=5)
    assert hits.hits
    assert not any("renamed" in hit.evidence for hit in hits)
