"""Who leaves out bounds, differentials or arrows finds the same formula with them before another with the same bounds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr.posts.post import Post
from mathamr.search.searcher import Index
from mathamr.systems.ranking import Task
from tests.cases import cases
from tests.index.small import build

FORMULAS = {
    "basel": r"\sum_{n=1}^\infty \frac{1}{n^2}",
    "apery": r"\sum_{n=1}^\infty \frac{1}{n^3}",
    "harmonic": r"\sum_{n=1}^\infty \frac{1}{n}",
    "gauss": r"\int_{-\infty}^\infty e^{-x^2}\,dx",
    "bounded": r"\int_0^1 e^{-x}\,dx",
    "sinc": r"\lim_{x\to 0} \frac{\sin x}{x}",
    "cosine": r"\lim_{x\to 0} \frac{\cos x}{x}",
    "euler": r"\prod_{p} \left(1-\frac{1}{p}\right)",
    "value": r"\sum_{k=1}^\infty \frac{1}{k^4} = \frac{\pi^4}{90}",
}
POSTS = [
    Post(name, "question", f"What do you know of this one? ${latex}$", f"Question {name}", "text")
    for name, latex in FORMULAS.items()
]


@pytest.fixture(scope="module")
def index(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("half")
    build(folder / "index", POSTS, model_folder)
    with Index.open(folder / "index", device="cpu") as opened:
        yield opened


@cases(
    ("typed", "wanted"),
    [
        ("sum 1/n^2", "basel"),
        ("sum 1/n", "harmonic"),
        (r"\sum \frac{1}{n^3}", "apery"),
        ("int e^(-x^2)", "gauss"),
        ("int e^(-x)", "bounded"),
        ("lim sin(x)/x", "sinc"),
        ("prod (1-1/p)", "euler"),
        ("sum 1/k^4", "value"),
    ],
)
@cases("task", ["answers", "formulas"])
def test_half_a_formula_finds_the_whole_one_first(index: Index, typed: str, wanted: str, task: Task) -> None:
    hit = index.search(typed, task)[0]
    assert hit.id.partition(":")[0] == wanted
    assert hit.match != "similar"


def test_the_same_formula_with_bounds_is_said_to_be_that(index: Index) -> None:
    assert index.search("sum 1/n^2")[0].reason == "has the formula with bounds"
    assert index.search("sum 1/n^2", "formulas")[0].match == "strong"


def test_a_whole_formula_still_comes_first_by_itself(index: Index) -> None:
    hit = index.search(r"$\sum_{n=1}^\infty \frac{1}{n^3}$")[0]
    assert (hit.id, hit.reason) == ("apery", "has the formula")
