"""Systems that no room above knows are indexed, updated, checked, searched, reranked, evaluated and served."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr.amr import parser as parsers
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.topics import read_topics
from mathamr.evaluation.topicsearch import rerank_results, retrieve
from mathamr.index.admin.check import check_index
from mathamr.index.engines.entry import Filter
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.posts.post import Post
from mathamr.sample import folder as sample_folder
from mathamr.search.searcher import Index
from mathamr.systems.system import SYSTEMS
from tests.index.small import note, write_posts
from tests.systems.tiny import TINY, NodeSystem, WordSystem

POSTS = [
    note("groups", "Every subgroup of a cyclic group is cyclic: $gH = Hg$."),
    note("sums", "The sum of squares $a^2+b^2=c^2$ has many solutions."),
    note("roots", "A root of $x^2-2$ is irrational; so is one of $a^2+b^2$.", tags=("roots",)),
    note("words", "No formula at all, only continuous words."),
]


@pytest.fixture(autouse=True)
def _tiny_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    """The systems are registered, and whoever loads an AMR parser fails: neither needs one."""
    for name, place in TINY.items():
        monkeypatch.setitem(SYSTEMS._built_in, name, place)

    def refuse(*_: object) -> None:
        raise AssertionError("an AMR parser was loaded for a system that needs none")

    monkeypatch.setattr(parsers, "load_parser", refuse)
    monkeypatch.setattr("mathamr.graphs.corpus.load_parser", refuse)


def built(folder: Path, system: WordSystem | NodeSystem, posts: list[Post]) -> Path:
    home = folder / system.kind
    system.save(home / "model")
    source = write_posts(home / "posts.jsonl", posts)
    build_index([source], home / "index", BuildOptions(model=home / "model", device="cpu"))
    return home / "index"


@pytest.fixture
def by_words(tmp_path: Path) -> Iterator[Index]:
    with Index.open(built(tmp_path, WordSystem(), POSTS)) as index:
        yield index


@pytest.fixture
def by_nodes(tmp_path: Path) -> Iterator[Index]:
    with Index.open(built(tmp_path, NodeSystem(), POSTS)) as index:
        yield index


@pytest.mark.parametrize("strategy", WordSystem.rankings["answers"])
def test_posts_are_found_by_a_system_of_words(by_words: Index, strategy: str) -> None:
    hits = by_words.search("continuous words", strategy=strategy)
    assert hits[0].id == "words"
    assert hits.strategy == strategy


def test_the_first_ranking_is_the_usual_one(by_words: Index, by_nodes: Index) -> None:
    assert by_words.search("cyclic group").strategy == "both"
    assert set(by_words.search("cyclic group")[0].evidence) == {"lexical", "words"}
    assert by_nodes.search("$a^2+b^2$", "formulas").strategy == "nodes"


@pytest.mark.parametrize("strategy", NodeSystem.rankings["formulas"])
def test_visuals_are_found_by_a_system_of_nodes(by_nodes: Index, strategy: str) -> None:
    hits = by_nodes.search("$x^2-2$", "formulas", strategy)
    assert hits[0].formula is not None
    assert hits[0].formula.latex == "x^2-2"
    assert hits[0].id == "roots"
    assert {hit.formula.latex for hit in hits if hit.formula} >= {"a^2+b^2", "a^2+b^2=c^2"}


@pytest.mark.parametrize("strategy", NodeSystem.rankings["formulas"])
def test_filters_narrow_visuals_by_the_posts_they_stand_in(by_nodes: Index, strategy: str) -> None:
    """The engine has no entries of posts or formulas here: the posts themselves say what they are found by."""
    hits = by_nodes.search("$a^2+b^2$", "formulas", strategy, where=Filter(tags=("roots",)))
    assert hits
    assert {hit.id for hit in hits} == {"roots"}
    assert not by_nodes.search("$a^2+b^2$", "formulas", strategy, where=Filter(tags=("poems",)))


def test_a_task_that_the_system_lacks_is_reported(by_words: Index, by_nodes: Index) -> None:
    with pytest.raises(MathAMRError, match="does not search for formulas; it searches for answers"):
        by_words.search("$x$", "formulas")
    with pytest.raises(MathAMRError, match="does not search for answers"):
        by_nodes.search("words")


def test_given_results_are_scored(by_words: Index, by_nodes: Index) -> None:
    scored = by_words.score("continuous words", ["sums", "words", "gone"], "words")
    assert [hit.id for hit in scored] == ["words", "sums"]
    visuals = by_nodes.archive.catalogue
    wanted = by_nodes.rank("$a^2+b^2$", "formulas")[0]
    again = by_nodes.score("$a^2+b^2$", [each.visual for each in reversed(wanted)], "all", "formulas")
    assert [hit.id for hit in again] == [
        each.visual for each in by_nodes.rank("$a^2+b^2$", "formulas", "all")[0]
    ]
    assert len(visuals) == len(POSTS)


def test_an_update_is_followed_and_what_is_gone_is_gone(tmp_path: Path) -> None:
    index = built(tmp_path, NodeSystem(), POSTS)
    changed = [*POSTS[:2], note("roots", "A root of $y^3-7$.")]
    built(tmp_path, NodeSystem(), changed)
    assert check_index(index).sound
    with Index.open(index) as opened:
        latex = {
            hit.formula.latex for hit in opened.search("$y^3-7$", "formulas", "all", k=50) if hit.formula
        }
        assert "y^3-7" in latex
        assert "x^2-2" not in latex
        assert "a^2+b^2" not in latex


@pytest.mark.parametrize("system", [WordSystem(), NodeSystem()], ids=lambda each: each.kind)
def test_topics_are_run_and_reranked(tmp_path: Path, system: WordSystem | NodeSystem) -> None:
    from mathamr.posts.reader import read_posts
    from mathamr.posts.report import Report

    posts = list(read_posts(sample_folder() / "Posts.xml", Report()))[:60]
    (task,) = system.tasks
    topics = read_topics(sample_folder() / "topics" / ("task1.xml" if task == "answers" else "task2.xml"))[:3]
    with Index.open(built(tmp_path, system, posts)) as index:
        found = retrieve(index, topics, task, depth=30).run()
        assert all(found.rankings[topic.id] for topic in topics)
        again = rerank_results(index, topics, found, task, depth=30).run()
    for topic in topics:
        assert {hit.id for hit in again.rankings[topic.id]} == {hit.id for hit in found.rankings[topic.id]}


def test_the_server_answers_with_what_the_system_has(tmp_path: Path) -> None:
    from starlette.testclient import TestClient

    from mathamr.serve.app import create_app
    from mathamr.serve.limits import Limits
    from mathamr.serve.service import Service

    index = Index.open(built(tmp_path, WordSystem(), POSTS))
    service = Service(index, Limits(seconds=3600))
    try:
        client = TestClient(create_app(service), raise_server_exceptions=False)
        about = client.get("/v1/index").json()
        assert about["tasks"] == ["answers"]
        assert about["strategies"] == list(WordSystem.rankings["answers"])
        hits = client.get("/v1/search", params={"q": "continuous words"}).json()
        assert hits["strategy"] == "both"
        assert hits["hits"][0]["id"] == "words"
        refused = client.get("/v1/search", params={"q": "words", "strategy": "maxsim"})
        assert refused.status_code == 422
        assert "both, words, again" in refused.json()["error"]["message"]
    finally:
        service.close()
        index.close()
