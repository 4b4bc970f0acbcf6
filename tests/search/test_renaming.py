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
    "Cauchy-Schwarz": (
        r"|\langle f,g\rangle|\le\|f\|\|g\|",
        r"|\langle u,v\rangle|\le\|u\|\|v\|",
        [r"\langle f,g\rangle=0", r"\|f+g\|\le\|f\|+\|g\|", r"|\langle f,g\rangle|=\|f\|"],
    ),
    "product rule": (
        r"(uv)'=u'v+uv'",
        r"(fg)'=f'g+fg'",
        [r"(u+v)'=u'+v'", r"(u/v)'=0", r"uv+vu=2uv"],
    ),
    "Bayes": (
        r"P(H|E)=\frac{P(E|H)P(H)}{P(E)}",
        r"P(A|B)=\frac{P(B|A)P(A)}{P(B)}",
        [r"P(H|E)=\frac{P(H\cap E)}{P(E)}", r"P(E|H)=P(E)", r"P(H)+P(E)"],
    ),
    "integration by parts": (
        r"\int p\,dq=pq-\int q\,dp",
        r"\int u\,dv=uv-\int v\,du",
        [r"\int p\,dp=\frac{p^2}{2}", r"pq-qp", r"\int(p+q)\,dp"],
    ),
    "determinant of two rows": (
        r"\begin{vmatrix}p&q\\r&s\end{vmatrix}=ps-qr",
        r"\begin{vmatrix}a&b\\c&d\end{vmatrix}=ad-bc",
        [r"\begin{pmatrix}p&q\\r&s\end{pmatrix}", r"ps-qr=1", r"\begin{vmatrix}p&q\\r&s\end{vmatrix}=0"],
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
