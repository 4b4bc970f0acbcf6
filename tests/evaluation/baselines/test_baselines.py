"""Every baseline keeps the same contract, and does what its name says."""

from __future__ import annotations

import math
from collections import Counter

import bm25s
import numpy as np
import pytest

from mathamr import sample
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.evaluation.baselines import BASELINES, Candidate, candidates, query, run
from mathamr.evaluation.baselines.bm25 import Bm25
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import read_qrels
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.topics import read_topics
from mathamr.index.lexical.terms import latex_tokens, word_tokens
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.cases import cases
from tests.evaluation.small import ANSWER_TOPICS, FORMULA_TOPICS, POSTS


@cases("name", list(BASELINES))
def test_a_run_ranks_only_answers_of_every_topic_at_most_to_its_depth(name: str) -> None:
    found = run(name, POSTS, ANSWER_TOPICS, "answers", depth=2)
    assert (found.name, list(found.rankings)) == (name, ["A.1", "A.2"])
    assert found == Run.of(name, {topic: list(hits) for topic, hits in found.rankings.items()})
    for hits in found.rankings.values():
        assert len(hits) <= 2
        assert {hit.id for hit in hits} <= {"11", "12", "13", "14"}
    assert run(name, POSTS, ANSWER_TOPICS, "answers", depth=2) == found


@cases("name", list(BASELINES))
def test_formulas_are_ranked_by_their_visuals(name: str) -> None:
    found = run(name, POSTS, FORMULA_TOPICS, "formulas")
    ids = found.ids("B.1")
    assert set(ids) <= {"v1", "v2", "v3", "v4", "v5"}
    if name not in ("random", "bm25-words"):
        assert ids[0] == "v3"


@pytest.mark.parametrize("name", ["bm25", "bm25-words"])
def test_words_find_the_answer_that_has_them(name: str) -> None:
    assert run(name, POSTS, ANSWER_TOPICS, "answers").ids("A.2")[0] == "13"


def test_an_unknown_baseline_lists_the_known() -> None:
    with pytest.raises(UnknownNameError, match="known: random, bm25, bm25-words, latex-ngrams"):
        run("oracle", POSTS, ANSWER_TOPICS, "answers")


def test_nothing_to_rank_and_topics_without_formulas_are_clear_errors() -> None:
    with pytest.raises(MathAMRError, match="the posts have no answers"):
        run("bm25", POSTS[:1], ANSWER_TOPICS, "answers")
    with pytest.raises(MathAMRError, match=r"topic 'A.1' names no formula"):
        run("bm25", POSTS, ANSWER_TOPICS, "formulas")


def test_an_answer_stands_for_its_body_alone_and_a_question_for_title_and_body() -> None:
    answer = next(candidates(POSTS, "answers"))
    assert " ".join(answer.text.split()) == "Square it and use polar coordinates: ."
    assert answer.formulas == (r"\int e^{-x^2}dx=\sqrt{\pi}",)
    assert query(FORMULA_TOPICS[0], "formulas") == Candidate("B.1", "", ("A=A^T",))


def test_bm25_equals_its_formula() -> None:
    corpus = [Candidate(str(place), text, ()) for place, text in enumerate(["a b b c", "b c", "c d d d d"])]
    (hits,) = Bm25(corpus).rank([Candidate("q", "b d b", ())], 10)
    documents = [word_tokens(candidate.text) for candidate in corpus]
    average = sum(map(len, documents)) / 3
    expected = {}
    for place, document in enumerate(documents):
        counts = Counter(document)
        score = 0.0
        for token in word_tokens("b d b"):
            holding = sum(token in other for other in documents)
            weight = math.log(1 + (3 - holding + 0.5) / (holding + 0.5))
            score += weight * counts[token] / (counts[token] + 1.5 * (0.25 + 0.75 * len(document) / average))
        expected[str(place)] = score
    assert {hit.id: hit.score for hit in hits} == pytest.approx(expected, rel=1e-5)


def test_bm25_scores_as_the_library_does_and_reads_candidates_only_once() -> None:
    posts = list(read_posts(sample.folder() / "Posts.xml", Report()))
    found = list(candidates(posts, "answers"))
    asked = [query(topic, "answers") for topic in read_topics(sample.folder() / "topics" / "task1.xml")[:5]]
    tokens = Bm25(()).tokens
    library = bm25s.BM25(method="lucene")
    library.index([tokens(each) for each in found], show_progress=False)
    for ours, each in zip(Bm25(iter(found)).scores(asked), asked, strict=True):
        known = [token for token in tokens(each) if token in library.vocab_dict]
        np.testing.assert_allclose(ours, library.get_scores(known), rtol=1e-4, atol=1e-5)


def test_a_query_that_shares_nothing_finds_nothing() -> None:
    corpus = [Candidate("1", "a b", ())]
    assert Bm25(corpus).rank([Candidate("q", "z", ()), Candidate("r", "", ())], 10) == [[], []]
    assert Bm25([Candidate("1", "", ())]).rank([Candidate("q", "a", ())], 10) == [[]]


def test_latex_is_cut_where_a_reader_sees_signs() -> None:
    assert latex_tokens(r"\left\{ x_{12}\le 3.5 \,\middle|\; \mathbb{R} \right\}") == [
        *["\\{", "x", "_", "12", "\\leq", "3.5", "\\middle", "|", "\\mathbb", "R", "\\}"]
    ]


@pytest.mark.parametrize(
    ("task", "name", "least"), [("answers", "bm25", 0.55), ("formulas", "latex-ngrams", 0.55)]
)
def test_lexical_search_beats_chance_on_the_sample(task: str, name: str, least: float) -> None:
    folder = sample.folder()
    number = 1 if task == "answers" else 2
    posts = list(read_posts(folder / "Posts.xml", Report()))
    topics = read_topics(folder / "topics" / f"task{number}.xml")
    qrels = read_qrels(folder / "qrels" / f"task{number}.qrels")
    assert task in ("answers", "formulas")
    figures = {
        each: evaluate(run(each, posts, topics, task), qrels, measures(["Bpref"])).mean("Bpref")  # type: ignore[arg-type]
        for each in (name, "random")
    }
    assert figures[name] > least > figures["random"] + 0.15


def test_equal_scores_at_the_depth_are_cut_in_a_fixed_order() -> None:
    corpus = [Candidate(str(place), "a b", ()) for place in range(5)]
    (hits,) = Bm25(corpus).rank([Candidate("q", "a", ())], 3)
    assert [hit.id for hit in hits] == ["4", "3", "2"]
