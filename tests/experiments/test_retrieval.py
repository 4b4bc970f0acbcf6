"""Rankings against loops that say the same in the plainest way."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr.experiments.experiment import Strategy
from mathamr.experiments.retrieval import ExactAnswers, Formulas, NotApplicableError
from mathamr.experiments.vectors import VectorTable
from mathamr.graphs.virtual import Level
from mathamr.systems.vectors import Vectors

DRAW = np.random.default_rng(5)
POSTS = 40


def post(name: str, formulas: int, has_document: bool = True) -> Vectors:
    count = formulas + has_document
    rows = DRAW.normal(size=(count, 6)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    levels = [Level.FORMULA] * formulas + [Level.DOCUMENT] * has_document
    return Vectors(
        rows,
        np.array(levels, np.int32),
        tuple(f"{name}.{n}" for n in range(formulas)) + (name,) * has_document,
    )


@pytest.fixture(scope="module")
def posts() -> list[Vectors]:
    return [post(f"p{number}", int(DRAW.integers(0, 5))) for number in range(POSTS)]


@pytest.fixture(scope="module")
def topic() -> Vectors:
    return post("topic", 3)


def maxsim(topic: Vectors, other: Vectors) -> float:
    return float(np.mean([max(float(a @ b) for b in other.vectors) for a in topic.vectors]))


def document(topic: Vectors, other: Vectors) -> float:
    return float(topic.vectors[-1] @ other.vectors[-1])


def test_maxsim_ranks_all_posts_by_the_mean_of_best_matches(posts: list[Vectors], topic: Vectors) -> None:
    hits = ExactAnswers(VectorTable.of(posts, 6), Strategy("maxsim")).ranked(topic, 1000)
    assert [hit.id for hit in hits] == [
        each.post_id for each in sorted(posts, key=lambda each: -maxsim(topic, each))
    ]
    assert hits[0].score == pytest.approx(max(maxsim(topic, each) for each in posts), abs=1e-6)


def test_single_vectors_rank_by_documents_alone(posts: list[Vectors], topic: Vectors) -> None:
    hits = ExactAnswers(VectorTable.of(posts, 6), Strategy("single")).ranked(topic, 1000)
    assert [hit.id for hit in hits] == [
        each.post_id for each in sorted(posts, key=lambda each: -document(topic, each))
    ]


def test_reranking_orders_only_the_pool_that_documents_chose(posts: list[Vectors], topic: Vectors) -> None:
    strategy = Strategy("rerank", pool=0.3)
    hits = ExactAnswers(VectorTable.of(posts, 6), strategy).ranked(topic, 1000)
    by_document = sorted(posts, key=lambda each: -document(topic, each))
    pool, rest = by_document[:12], by_document[12:]
    assert strategy.pool_size(POSTS) == 12
    # What was not looked at again follows in the order of the documents.
    assert [hit.id for hit in hits] == [
        each.post_id for each in [*sorted(pool, key=lambda each: -maxsim(topic, each)), *rest]
    ]


def test_posts_without_document_vectors_cannot_be_ranked_by_them() -> None:
    with pytest.raises(NotApplicableError, match="no document vector"):
        ExactAnswers(VectorTable.of([post("p", 2, has_document=False)], 6), Strategy("single"))


def test_formulas_that_look_the_same_count_once_at_their_best(posts: list[Vectors], topic: Vectors) -> None:
    table = VectorTable.of(posts, 6)
    named = [reference for reference in table.references if "." in reference]
    looks = {name: f"look-{place % 7}" for place, name in enumerate(named) if place % 5}
    found = Formulas(table, looks, {"topic": "topic.1"}).ranked(topic, 1000)
    best: dict[str, float] = {}
    for each in posts:
        for reference, row in zip(each.references, each.vectors, strict=True):
            if reference in looks:
                score = float(topic.vectors[1] @ row)
                best[looks[reference]] = max(score, best.get(looks[reference], -2))
    assert [hit.id for hit in found] == sorted(best, key=lambda look: -best[look])
    assert found[0].score == pytest.approx(max(best.values()), abs=1e-6)


def test_a_topic_whose_formula_has_no_vector_finds_nothing(posts: list[Vectors], topic: Vectors) -> None:
    table = VectorTable.of(posts, 6)
    looks = {name: name for name in table.references if "." in name}
    assert Formulas(table, looks, {"topic": "topic.9"}).ranked(topic, 1000) == []


def test_graphs_without_formulas_have_none_to_find() -> None:
    with pytest.raises(NotApplicableError, match="no formulas"):
        Formulas(VectorTable.of([post("p", 0)], 6), {}, {})
