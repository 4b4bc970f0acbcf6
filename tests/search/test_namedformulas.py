"""A famous name leads to posts with its formula, and a formula to its names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr.formulas.parse import parse
from mathamr.index.lexical.terms import word_tokens
from mathamr.index.scored import Scored
from mathamr.posts.post import Post
from mathamr.search.namedformulas import formulas_of, named_formulas, named_in, names_of
from mathamr.search.nameholders import Holder, with_holders
from mathamr.search.ranker import FoundHits
from mathamr.search.searcher import Index
from tests.cases import cases
from tests.index.small import build


def test_the_table_is_readable_throughout() -> None:
    """Every formula is parsed without a repair, and every name stands once."""
    assert len(named_formulas()) >= 400
    for named in named_formulas():
        assert named.latex, named.names
        for latex in named.latex:
            read = parse(latex, reading="mathematician")
            assert not read.repairs, latex
            assert read.opt is not None, latex
    names = Counter(name for named in named_formulas() for name in named.names)
    assert [name for name, count in names.items() if count > 1] == []


@cases(
    ("typed", "usual"),
    [
        ("Gaussian integral", "gaussian integral"),
        ("Euler's identity", "euler's identity"),
        ("euler identity", "euler's identity"),
        ("Cauchy\u2013Schwarz", "cauchy-schwarz inequality"),
        ("proof of the basel problem", "basel problem"),
        ("entropy", "entropy"),
        ("entropy of a measure", None),
        ("an integral", None),
        ("integral", None),
    ],
)
def test_a_name_is_read_alone_and_beside_words(typed: str, usual: str | None) -> None:
    found = named_in(word_tokens(typed))
    assert (found.names[0] if found else None) == usual


@pytest.mark.parametrize(
    ("latex", "name"),
    [
        (r"\int_{-\infty}^\infty e^{-x^2}\,dx", "gaussian integral"),
        (r"\int e^{-t^2}dt", "gaussian integral"),
        (r"|\langle u,v\rangle|\le\|u\|\|v\|", "cauchy-schwarz inequality"),
        (r"\zeta(2)=\frac{\pi^2}{6}", "basel problem"),
        ("E=mc^2", "mass-energy equivalence"),
        ("u^2+v^2=w^2", "pythagorean theorem"),
    ],
)
def test_a_formula_has_its_name_in_any_letters(latex: str, name: str) -> None:
    assert name in names_of(latex)


@cases("latex", ["a+b", "x=y", r"\int f", r"\frac{1}{2}", r"\left(", ""])
def test_a_formula_without_a_name_has_none(latex: str) -> None:
    assert names_of(latex) == ()


def test_a_name_in_the_table_has_formulas_and_each_leads_back() -> None:
    for name in ("wallis product", "euler's formula", "hölder's inequality", "stirling's formula"):
        formulas = formulas_of(name)
        assert formulas
        for latex in formulas:
            assert formulas == formulas_of(names_of(latex)[0]), latex
    assert formulas_of("carpenter's delight") == ()


POSTS = [
    Post("bell", "question", r"Why is $\int_{-\infty}^{\infty} e^{-t^2}\,dt$ a root?", "An area", "text"),
    Post("shifted", "question", r"And what of $\int_0^1 e^{-x}\,dx$ here?", "Another area", "text"),
    Post("partial", "question", r"How is $\int_0^2 e^{-t^2}\,dt$ computed?", "Numbers", "text"),
    Post("said", "question", "The gaussian integral is asked for in every exam.", "Exams", "text"),
    Post("squares", "question", r"The sum $\sum_{k=1}^\infty \frac{1}{k^2}$ is known.", "A sum", "text"),
    Post("called", "question", "Nothing to see here but words.", "Wallis product", "text"),
    Post(
        "entry",
        "note",
        r"It says $$\sum_{k=1}^n k\,k! = (n+1)!-1$$ for all $n$.",
        "Cobbler identity",
        "markdown",
    ),
    Post(
        "uses", "question", r"How to prove $\sum_{j=1}^m j\,j! = (m+1)!-1$ by induction?", "Induction", "text"
    ),
    Post(
        "defined",
        "note",
        r"The **baker rule** $\frac{a+b}{a-b}=\frac{t+1}{t-1}$ is old, as is $a-b$.",
        "Ratios",
        "markdown",
    ),
    Post(
        "ratio",
        "question",
        r"Is $\frac{a+b}{a-b}=\frac{t+1}{t-1}$ of use?",
        "A question of proportion",
        "text",
    ),
    Post("many", "note", r"Let $$x+y=z+1$$ and $$x-y=z-1+x$$ be.", "Tanner system", "markdown"),
    Post("tanner", "question", r"Can I solve $x+y=z+1$ here?", "Solving", "text"),
    Post("product", "question", r"Is $\prod_{n=1}^\infty\frac{4n^2}{4n^2-1}=\frac\pi2$?", "Products", "text"),
]


@pytest.fixture(scope="module")
def index(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("named")
    build(folder / "index", POSTS, model_folder)
    with Index.open(folder / "index", device="cpu") as opened:
        yield opened


def test_who_types_a_name_finds_posts_with_its_formula_that_do_not_say_it(index: Index) -> None:
    hits = index.search("gaussian integral")
    assert {hit.id for hit in list(hits)[:2]} == {"said", "bell"}
    bell = next(hit for hit in hits if hit.id == "bell")
    assert (bell.reason, bell.match) == ("has a formula of this name", "strong")
    assert any("also searched: $\\int_{-\\infty}^\\infty e^{-x^2}" in note for note in hits.notes)


def test_a_formula_of_the_name_with_other_bounds_is_one_too(index: Index) -> None:
    hits = {hit.id: hit for hit in index.search("gaussian integral")}
    assert hits["partial"].reason == "has a formula of this name"
    assert "shifted" not in hits or hits["shifted"].reason != "has a formula of this name"
    assert list(hits).index("bell") < list(hits).index("partial")


def test_a_side_that_tells_is_a_formula_of_the_name() -> None:
    sides = {named.names[0]: named.sides for named in named_formulas()}
    assert r"\sum_{n=0}^\infty\frac{(-1)^n}{2n+1}" in sides["leibniz formula for pi"]
    assert sides["fundamental theorem of calculus"] == ()


def test_posts_that_are_called_so_do_not_hide_all_that_have_the_formula() -> None:
    called = [Scored(f"c{n}", 1 - n / 100) for n in range(12)]
    found = FoundHits(called, {"tag": {hit.id: 1.0 for hit in called}})
    mixed = with_holders(found, [Holder("a", "v", 0.8), Holder("b", "v", 0.9), Holder("c11", "v", 1.0)])
    assert [hit.id for hit in mixed.hits][:8] == ["c0", "c1", "c2", "c11", "b", "c3", "a", "c4"]
    assert sorted(hit.id for hit in mixed.hits) == sorted({"a", "b", *(hit.id for hit in called)})


def test_what_came_first_for_more_than_a_name_stays_first() -> None:
    found = FoundHits([Scored("a", 0.9), Scored("b", 0.8), Scored("c", 0.7)], {"tag": {"b": 1.0, "c": 1.0}})
    holders = [Holder("h", "v", 1.0)]
    assert [hit.id for hit in with_holders(found, holders).hits] == ["b", "c", "h", "a"]
    assert [hit.id for hit in with_holders(found, holders, is_more=True).hits] == ["a", "b", "c", "h"]


def test_a_name_that_no_post_says_is_not_denied_where_its_formula_stands(index: Index) -> None:
    hits = index.search("basel problem")
    assert (hits[0].id, hits.found, hits.absent) == ("squares", "strong", ())


def test_what_is_called_so_comes_before_what_has_the_formula(index: Index) -> None:
    assert [hit.id for hit in index.search("wallis product")][:2] == ["called", "product"]


def test_quotation_marks_ask_for_the_words_alone(index: Index) -> None:
    hits = index.search('"gaussian integral"')
    assert [hit.id for hit in hits] == ["said"]
    assert not any("also searched" in note for note in hits.notes)


@pytest.mark.parametrize(
    ("typed", "naming", "other"), [("cobbler identity", "entry", "uses"), ("baker rule", "defined", "ratio")]
)
def test_a_collection_names_formulas_itself(index: Index, typed: str, naming: str, other: str) -> None:
    hits = index.search(typed)
    assert [hit.id for hit in hits][:2] == [naming, other]
    assert any(note.startswith("also searched: $") for note in hits.notes)
    assert not any("also searched" in note for note in index.search(f'"{typed}"').notes)


def test_a_title_above_several_formulas_names_none_of_them(index: Index) -> None:
    assert not any("also searched" in note for note in index.search("tanner system").notes)


def test_a_filter_holds_for_what_a_name_adds(index: Index) -> None:
    hits = index.search("basel problem -sum")
    assert "squares" not in [hit.id for hit in hits]


def test_who_types_a_formula_is_told_its_name(index: Index) -> None:
    notes = index.search(r"$\int_{-\infty}^\infty e^{-x^2}\,dx$").notes
    assert "this formula is known as gaussian integral or euler-poisson integral" in notes
    assert not any("known as" in note for note in index.search("$a+b$").notes)
