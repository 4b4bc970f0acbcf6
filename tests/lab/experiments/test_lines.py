"""Graphs as lines: the pairs and the steps of the graph network, and graphs that another vocabulary numbered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from mathamr.graphs import shard as shards
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.corpus import build_graphs, build_tensors, build_vocabularies
from mathamr.graphs.mathamr import linearise, mathamr
from mathamr.graphs.store import GraphStore
from mathamr.index.engines.engine import open_engine
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.systems.models import load_system
from mathamr.systems.system import Encoded, Item
from mathamr_lab.experiments import vectors
from mathamr_lab.experiments.graphs import FURTHER, POSTS, VISUALS, CorpusCatalogue
from mathamr_lab.experiments.lines import line_settings, write_lines
from mathamr_lab.experiments.scale import scale_named
from mathamr_lab.experiments.vectors import encode_posts, encode_topics
from mathamr_lab.experiments.visualtable import VisualTable
from mathamr_lab.recipes.recipe import RECIPES
from mathamr_lab.systems.mathamr.judgedlines import read_pairs
from mathamr_lab.systems.mathamr.recipe import _training as training_of
from tests.models import tiny_model

PARSER = "tests.amr.rule_parser:RuleParser"
NAME = GraphConfiguration().name


def _post(name: str, body: str, parent: str | None = None) -> Post:
    formulas = formulas_of(name, "", body, "text")
    kind = "answer" if parent else "question"
    return Post(name, kind, body, markup="text", formulas=formulas, parent=parent)


POSTS_OF_TWO = [
    _post("q1", "Is $x+y$ even?"),
    _post("a1", "The sum $x+y$ is even.", "q1"),
    _post("q2", "What does the limit of $a_n$ mean?"),
    _post("a2", "It means that $a_n$ tends to $a$.", "q2"),
    _post("a3", "Nothing tends to $b$.", "q2"),
]


def _store(folder: Path, posts: list[Post]) -> Path:
    with GraphStore(folder, create=True) as store:
        build_graphs(posts, store, parser=PARSER)
        build_vocabularies(store)
        build_tensors(store, GraphConfiguration())
    return folder


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _store(tmp_path_factory.mktemp("lines") / "store", POSTS_OF_TWO)


def test_the_lines_are_the_graphs_of_the_same_pairs(store: Path, tmp_path: Path) -> None:
    with GraphStore(store) as graphs:
        pairs = list(graphs.pairs())[1:]
        shards.export(graphs, NAME, pairs, tmp_path / "pairs.npz")
        lines = {
            name: linearise(mathamr(graphs.graph(name)).to_penman(one_line=True)) for name in graphs.ids()
        }
    assert write_lines(tmp_path / "pairs.npz", store, tmp_path / "lines.jsonl") == {"pairs": 2}
    found = read_pairs(tmp_path / "lines.jsonl")
    assert [(each.topic, each.query, each.candidate) for each in found] == [
        (question, lines[question], lines[answer]) for question, answer in pairs
    ]
    assert {each.grade for each in found} == {3}, "all are positive"
    assert len(set(lines.values())) == len(POSTS_OF_TWO)


@pytest.mark.parametrize("name", ["tiny", "thesis-full"])
def test_lines_are_trained_for_the_steps_of_the_graphs_with_their_seed(name: str) -> None:
    scale = scale_named(name)
    settings = line_settings(scale, (), 2)
    RECIPES["mathamr"].check(settings)
    _, graphs = scale.configurations((), 2)
    lines = training_of(settings, "ranking").to_json()
    for each in ("batch_size", "epochs", "validation", "seed"):
        assert lines[each] == graphs[each], each
    assert lines["seed"] == 2
    assert lines["masked"] is True
    assert lines["learning_rate"] == 2e-5
    kept = training_of(line_settings(scale, ("learning_rate=0.0", "epochs=1"), 0), "ranking")
    assert (kept.learning_rate, kept.epochs) == (0.0, 1)


def test_a_model_reads_graphs_by_its_own_vocabulary(store: Path, tmp_path: Path) -> None:
    model = load_system(tiny_model(tmp_path / "model", store), "cpu")
    other = _store(tmp_path / "other", [*POSTS_OF_TWO[:3], _post("n", "Numbers, numbers of $b$ and $b$.")])
    with GraphStore(store) as one, GraphStore(other) as two:
        assert one.vocabularies() != two.vocabularies()
    (tmp_path / FURTHER).write_text("")
    (tmp_path / POSTS).write_text("a1\tanswer\n")
    with VisualTable.writing(tmp_path / VISUALS) as add:
        add([])
    catalogue, found = CorpusCatalogue.read(tmp_path), []
    for where in (store, other):
        encode_posts(model, catalogue, where, tmp_path / where.name / "index")
        engine = open_engine(tmp_path / where.name / "index" / "flat", read_only=True)
        found.append(engine["parts"].fetch(["a1"])["a1"].vectors)
        engine.close()
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def test_coreference_is_followed_where_it_is_wanted(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Asked:
        """A system that reads graphs."""

        graphs = None

        def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
            for item in items:
                assert item.graph is not None
                yield Encoded(id=item.graph.post_id)

    monkeypatch.setattr(
        vectors, "coreferent", lambda graph: replace(graph, post_id=f"{graph.post_id} joined")
    )
    test = SimpleNamespace(posts=lambda: [("a3", POSTS_OF_TWO[4])])
    for coreference, expected in ((False, "a3"), (True, "a3 joined")):
        found = encode_topics(Asked(), test, store, coreference=coreference)  # type: ignore[arg-type]
        assert list(found) == [expected]
