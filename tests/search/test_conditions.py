"""The query language: phrases, excluded words and fields, and what must not be taken for one of them."""

from __future__ import annotations

import pytest

from mathamr import Filter, Index, Query
from mathamr.core.errors import MathAMRError
from mathamr.index.lexical.terms import called, post_text, words
from mathamr.index.preview import Preview
from mathamr.posts.post import Post
from mathamr.search.conditioncheck import MOST_READ, CheckedText
from mathamr.search.conditions import MOST, Conditions, Demand, read_conditions
from mathamr.search.hits import Hit
from mathamr.search.namequery import has_phrase
from mathamr.search.query import EmptyQueryError
from mathamr.systems.ranking import Task
from tests.cases import cases

LONGEST = 20


@cases(
    ("typed", "text", "required", "excluded"),
    [
        ('"nowhere dense" set', "nowhere dense set", Demand(phrases=(("nowhere", "dense"),)), Demand()),
        ("“Cauchy sequence”", "Cauchy sequence", Demand(phrases=(("cauchy", "sequence"),)), Demand()),
        ("group -abelian", "group", Demand(), Demand(phrases=(("abelian",),))),
        ("group -Hölder.", "group", Demand(), Demand(phrases=(("holder",),))),
        ('-"free group" rank', "rank", Demand(), Demand(phrases=(("free", "group"),))),
        ("rings -Cauchy-Schwarz", "rings", Demand(), Demand(phrases=(("cauchy", "schwarz"),))),
        ("title:compact sets", "compact sets", Demand(titles=(("compact",),)), Demand()),
        ('title:"Zorn lemma"', "Zorn lemma", Demand(titles=(("zorn", "lemma"),)), Demand()),
        ("sum tag:real-analysis", "sum", Demand(tags=("real-analysis",)), Demand()),
        ("sum -tag:algebra", "sum", Demand(), Demand(tags=("algebra",))),
        ('sum in:"my notes" in:b', "sum", Demand(folders=("my notes", "b")), Demand()),
        ("kind:theorem sum", "sum", Demand(kinds=("theorem",)), Demand()),
        ("tag:a $x -abc$ -word", "$x -abc$", Demand(tags=("a",)), Demand(phrases=(("word",),))),
    ],
)
def test_operators_are_read_once_and_leave_the_words(
    typed: str, text: str, required: Demand, excluded: Demand
) -> None:
    assert read_conditions(typed, LONGEST) == (text, Conditions(required, excluded))


@cases(
    "typed",
    [
        "-1",
        "x - y",
        "x -y",
        "non-empty sets",
        "f(x) = -sin(x)",
        "log -log n",
        "-Delta u = lambda u",
        "solve x^2 -xyz = 1",
        "$a -bcd$ and $-abc$",
        "a - word",
        "thm:main",
        "proof of thm:main",
        "see https://example.org/a",
        "f:X->Y is continuous",
        '5" pipe',
        "ratio 3:4",
        "Euler's formula",
    ],
)
def test_minus_signs_labels_and_inches_are_no_conditions(typed: str) -> None:
    assert read_conditions(typed, LONGEST) == (typed, Conditions())


@cases(
    ("typed", "note"),
    [
        ("author:euler sums", "'author:' is not a field"),
        ("title: sums", "'title:' needs its value right behind the colon"),
        ("kind:theorm sums", "'theorm' is not a kind of entry"),
        ('"nowhere dense', "a quotation mark is not closed"),
        ('"$x^2$ is prime"', "a formula in quotation marks is searched as a formula"),
    ],
)
def test_what_is_not_understood_is_said(typed: str, note: str) -> None:
    assert any(note in each for each in Query.of_text(typed).notes)


def test_a_formula_in_quotation_marks_stays_a_formula() -> None:
    query = Query.of_text('"x^2 + y^2" circle')
    assert [formula.latex for formula in query.formulas] == ["x^2 + y^2"]
    query = Query.of_text('"Let $x$ be prime"')
    assert [formula.latex for formula in query.formulas] == ["x"]
    assert query.conditions.required.phrases == (("let",), ("be", "prime"))


def test_a_whole_question_quotes_without_conditions() -> None:
    question = (
        'Why is the "obvious" proof of this -wrong? ' + "It uses an induction that I cannot follow. " * 3
    )
    text, conditions = read_conditions(question, LONGEST)
    assert text == question
    assert not conditions.required
    assert not conditions.excluded
    assert "whole question" in conditions.notes[0]


def test_what_only_excludes_is_no_query_and_too_many_conditions_are_text() -> None:
    with pytest.raises(EmptyQueryError, match="only excluded words"):
        Query.of_text("-word -tag:analysis")
    with pytest.raises(EmptyQueryError, match="only conditions and no formula"):
        Query.of_text("tag:analysis", "formulas")
    assert Query.of_text("tag:analysis -word").is_listing
    assert not Query.of_text("tag:analysis word").is_listing
    many = " ".join(f"-word{chr(97 + number)}" for number in range(MOST + 5))
    assert len(read_conditions(f"sum {many}", 100)[1].excluded.phrases) == MOST


def shown_words(index: Index, hit: Hit) -> list[list[str]]:
    """All words of a hit: of its post, and of the title that it is shown under."""
    catalogue = index.archive.catalogue
    post = catalogue.post(hit.id)
    texts = [post_text(post)] + ([catalogue.post(post.parent).title] if post.parent else [])
    return [words(text) for text in texts]


@pytest.mark.parametrize("task", ["answers", "formulas"])
@pytest.mark.parametrize("strategy", [None, "lexical"])
def test_no_hit_has_an_excluded_word(index: Index, task: Task, strategy: str | None) -> None:
    if strategy not in (None, *index.strategies(task)):
        pytest.skip(f"{task} have no strategy {strategy}")
    plain = "$x^2$ function series"
    before = index.search(plain, task, strategy, k=40)
    assert any("function" in text for hit in before for text in shown_words(index, hit))
    hits = index.search("$x^2$ series -function", task, strategy, k=40)
    assert len(hits) > 5
    for hit in hits:
        assert not any("function" in text for text in shown_words(index, hit))


@pytest.mark.parametrize("phrase", ["uniformly continuous", "the sum of", "Vector SPACE", "is a"])
def test_every_hit_has_the_phrase_and_all_that_have_it_are_found(index: Index, phrase: str) -> None:
    wanted = words(phrase)
    having = set()
    for post in index.archive.catalogue.every_post():
        parent = index.archive.catalogue.posts([post.parent]).get(post.parent) if post.parent else None
        text = CheckedText(Preview.of(post), parent or post)
        if text.has_all(Demand(phrases=(tuple(wanted),))):
            having.add(post.id)
    assert having
    hits = index.search(f'"{phrase}"', k=1000)
    assert {hit.id for hit in hits} == having
    for hit in hits:
        assert any(has_phrase(text, wanted) for text in shown_words(index, hit))


def test_phrases_end_at_formulas_and_ignore_case_and_accents() -> None:
    post = Post(
        "a", "note", "The HÖLDER   space. We let $x$ be open.", title="On $p$ groups", markup="markdown"
    )
    text = CheckedText(Preview.of(post), post)
    assert text.has_all(Demand(phrases=(("holder", "space"), ("on",), ("be", "open"))))
    assert not text.has_any(Demand(phrases=(("let", "be"), ("on", "groups"))))


def test_more_candidates_than_can_be_read_are_checked_in_the_order_of_the_ranking(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = [hit.id for hit in index.search('"is a"', strategy="lexical", k=5)]
    assert len(index) <= MOST_READ
    monkeypatch.setattr("mathamr.search.conditioncheck.MOST_READ", 3)
    assert [hit.id for hit in index.search('"is a"', strategy="lexical", k=5)] == few


def test_fields_are_filters(index: Index) -> None:
    tag = index.archive.catalogue.tags().most_common(1)[0][0]
    typed = index.search(f"function tag:{tag}", k=20)
    assert [hit.id for hit in typed] == [
        hit.id for hit in index.search("function", k=20, where=Filter(tags=(tag,)))
    ]
    answers = index.search("function kind:answer", k=20)
    assert answers.hits
    assert {hit.kind for hit in answers} == {"answer"}
    assert not {hit.id for hit in index.search(f"function -tag:{tag}", k=50)} & {hit.id for hit in typed}
    with pytest.raises(MathAMRError, match="no post of the index is in 'nosuch'"):
        index.search("function in:nosuch")
    with pytest.raises(MathAMRError, match="no entry is both"):
        index.search("function kind:answer", where=Filter(kinds=("question",)))


def test_a_title_condition_holds_for_the_title_that_a_hit_is_shown_under(index: Index) -> None:
    names = (word for post in index.archive.catalogue.spread(20) for name in called(post) for word in name)
    word = next(word for word in names if len(word) > 5)
    hits = index.search(f"title:{word}", k=50)
    assert hits.hits
    for hit in hits:
        post = index.archive.catalogue.post(hit.id)
        shown = index.archive.catalogue.post(post.parent) if post.parent and not post.title else post
        assert any(word in name for name in called(shown))


def test_what_no_entry_has_is_said(index: Index) -> None:
    hits = index.search('"function continuous the"')
    assert not hits.hits
    assert any("no entry fulfils the conditions" in note for note in hits.notes)


def test_the_words_of_a_phrase_are_marked_with_its_stop_words(index: Index) -> None:
    hits = index.search('"the sum of"', k=5)
    marked = [[part.text.lower() for part in hit.snippet if part.matched] for hit in hits]
    assert any("the" in each and "of" in each for each in marked)
    assert all(
        "of" not in [part.text for part in hit.snippet if part.matched] for hit in index.search("sum of")
    )
