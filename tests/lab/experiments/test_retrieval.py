"""An experiment ranks like a user: its run by a strategy is that of `mathamr run` on an index of the same posts."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.evaluation.topicsearch import retrieve
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.store import GraphStore
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.search.searcher import Index
from mathamr.systems.mathamrplus.system import MathAMRPlusSystem
from mathamr.systems.models import load_system
from mathamr.systems.ranking import MaxSim, Rerank
from mathamr_lab.experiments import vectors
from mathamr_lab.experiments.collection import TestCollection, collection_of
from mathamr_lab.experiments.experiment import Strategy
from mathamr_lab.experiments.graphs import (
    CorpusCatalogue,
    build_both_tensors,
    build_corpus,
    build_topics,
)
from mathamr_lab.experiments.plan import NotApplicableError
from mathamr_lab.experiments.retrieval import ranking_of, search
from mathamr_lab.experiments.visualtable import VisualTable
from tests.models import tiny_model

PARSER = "tests.amr.rule_parser:RuleParser"


@pytest.fixture(scope="module")
def made(corner: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TestCollection]:
    """A corner of the sample with graphs, a tiny model, its vectors, and an index of the same posts."""
    folder = tmp_path_factory.mktemp("made")
    collection = collection_of([corner])
    build_corpus(collection, folder / "graphs", folder / "corpus", PARSER, given=False)
    build_topics(collection, folder / "corpus", folder / "topics", PARSER)
    for mode in ("both", "none"):
        build_both_tensors(folder / "corpus", folder / "topics", GraphConfiguration(mode))  # type: ignore[arg-type]
    model = tiny_model(folder / "model", folder / "corpus")
    catalogue = CorpusCatalogue.read(folder / "graphs")
    vectors.encode_posts(load_system(model, "cpu"), catalogue, folder / "corpus", folder / "index")
    build_index(
        [corner / "Posts.xml"],
        folder / "product",
        BuildOptions(model=model, engine="flat", parser=PARSER, device="cpu"),
    )
    return folder, collection


@pytest.mark.parametrize("name", ["maxsim", "single", "rerank"])
def test_a_run_of_answers_is_that_of_the_index(made: tuple[Path, TestCollection], name: str) -> None:
    folder, collection = made
    (test,) = [each for each in collection.tests if each.task == "answers"]
    catalogue = CorpusCatalogue.read(folder / "graphs")
    strategy = Strategy(name)  # type: ignore[arg-type]
    asked = vectors.encode_topics(load_system(folder / "model", "cpu"), test, folder / "topics")
    ours, _ = search(test, strategy, MathAMRPlusSystem, asked, folder / "index" / "flat", catalogue)
    with Index.open(folder / "product", device="cpu") as index:
        theirs = retrieve(index, test.topics, "answers", strategy=name, depth=test.depth).run()
    for topic in test.topics:
        assert ours.ids(topic.id, test.depth) == theirs.ids(topic.id, test.depth)
        assert [hit.score for hit in ours.rankings[topic.id]] == pytest.approx(
            [hit.score for hit in theirs.rankings[topic.id]], abs=2e-6
        )


def test_a_run_of_formulas_has_the_scores_of_the_index(made: tuple[Path, TestCollection]) -> None:
    folder, collection = made
    (test,) = [each for each in collection.tests if each.task == "formulas"]
    catalogue = CorpusCatalogue.read(folder / "graphs")
    asked = vectors.encode_topics(load_system(folder / "model", "cpu"), test, folder / "topics")
    ours, _ = search(test, Strategy(), MathAMRPlusSystem, asked, folder / "index" / "flat", catalogue)
    with Index.open(folder / "product", device="cpu") as index:
        theirs = retrieve(index, test.topics, "formulas", strategy="maxsim", depth=test.depth).run()
    for topic in test.topics:
        # One look may have two visual ids, which share a score: their order may differ, their scores may not.
        expected = {hit.id: hit.score for hit in theirs.rankings[topic.id]}
        found = {hit.id: hit.score for hit in ours.rankings[topic.id]}
        shared = expected.keys() & found.keys()
        assert len(shared) >= 0.9 * min(len(expected), len(found)) > 0
        best = max(found, key=lambda each: found[each])
        assert max(expected.values()) == pytest.approx(found[best], abs=2e-6)


def test_a_share_of_the_candidates_is_the_pool_and_the_rest_follows() -> None:
    ranking = ranking_of(Strategy("rerank", pool=0.03), MathAMRPlusSystem, "answers", 33_771)
    assert isinstance(ranking, Rerank)
    assert (ranking.pool, ranking.keeps_rest) == (1013, True)
    assert ranking_of(Strategy(), MathAMRPlusSystem, "answers", 10) == MaxSim("parts")


def test_visuals_are_those_of_the_judges(tmp_path: Path) -> None:
    with VisualTable.writing(tmp_path / "formulas.sqlite") as add:
        add([("a:0", "7"), ("b:0", "7")])
        add([("b:1", "9"), ("b:0", "9")])
    visuals = VisualTable(tmp_path / "formulas.sqlite")
    assert len(visuals) == 3
    assert visuals.visuals_of(["b:0", "c:0"]) == {"b:0": "7"}
    assert visuals.with_visual("7") == ["a:0", "b:0"]
    assert visuals.first_with(["9", "7", "8"]) == {"9": "b:1", "7": "a:0"}


def test_what_graphs_do_not_have_cannot_be_found(made: tuple[Path, TestCollection], tmp_path: Path) -> None:
    folder, collection = made
    (test,) = [each for each in collection.tests if each.task == "formulas"]
    catalogue = CorpusCatalogue.read(folder / "graphs")
    with vectors.engine_in(tmp_path / "flat", "flat", load_system(folder / "model", "cpu").fields):
        pass
    with pytest.raises(NotApplicableError, match="no formulas to find"):
        search(test, Strategy(), MathAMRPlusSystem, {}, tmp_path / "flat", catalogue)


def test_several_workers_make_the_same_graphs_and_tensors(
    made: tuple[Path, TestCollection], tmp_path: Path
) -> None:
    folder, collection = made
    build_corpus(collection, tmp_path / "graphs", tmp_path / "corpus", PARSER, given=False, workers=2)
    build_topics(collection, tmp_path / "corpus", tmp_path / "topics", PARSER, workers=2)
    build_both_tensors(tmp_path / "corpus", tmp_path / "topics", GraphConfiguration("both"), workers=2)
    for name in ("corpus", "topics"):
        with GraphStore(folder / name) as one, GraphStore(tmp_path / name) as several:
            assert dict(one.texts()) == dict(several.texts())
            posts = list(one.ids())
            assert one.count_tensors("both-hierarchy-none") == len(posts) > 0
            for post in posts:
                ours, theirs = (each.tensor("both-hierarchy-none", post) for each in (one, several))
                assert ours.to_bytes() == theirs.to_bytes()
    again = CorpusCatalogue.read(tmp_path / "graphs")
    assert again.posts == CorpusCatalogue.read(folder / "graphs").posts
