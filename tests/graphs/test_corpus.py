from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.corpus import build_graphs, build_tensors, build_vocabularies
from mathamr.graphs.statistics import statistics
from mathamr.graphs.store import GraphStore
from mathamr.posts.post import Formula, Post

PARSER = "tests.graphs.parsers:WordChain"
ROOT = Path(__file__).parents[2]


def post(number: int, body: str = "Is $a+b$ odd when $x^2$ is? Then $n$ grows.") -> Post:
    latex = body.split("$")[1::2]
    formulas = tuple(Formula(f"{number}:{i}", text) for i, text in enumerate(latex))
    return Post(str(number), "question", body, markup="text", formulas=formulas)


def test_every_post_gets_a_graph_and_fallbacks_are_counted(tmp_path: Path) -> None:
    posts = [
        post(1),
        post(2, ""),
        post(3, "This will explode. This will not: $z$."),
        post(4, r"$\frac{a$ and $b$"),
    ]
    with GraphStore(tmp_path, create=True) as store:
        counts = build_graphs(posts, store, parser=PARSER)
        assert (counts.given, counts.made, counts.kept, counts.failed) == (4, 4, 0, 0)
        assert counts.fallbacks["sentence: exception"] == 1
        assert counts.fallbacks["formula dropped by the AMR parser"] == 2
        assert counts.fallbacks["formula repaired"] == 1
        assert counts.fallbacks["empty formula"] == 0
        assert store.fallbacks() == counts.fallbacks
        first = store.graph("1")
        assert [f.formula_id for f in first.formulas] == ["1:0", "1:1", "1:2"]
        assert [f.dropped for f in first.formulas] == [False, True, False]
        assert [f.sentence for f in first.formulas] == [0, 0, 1]
        assert first.formulas[0].opt is not None
        assert first.formulas[0].opt.labels[0] == "U!plus"
        assert len(store.graph("3").sentences) == 2


def test_an_empty_formula_is_distinguished_from_an_unreadable_one(tmp_path: Path) -> None:
    body = '<span class="math-container" id="9">$$</span> and <span class="math-container" id="8">$x$</span>'
    given = Post("1", "answer", body, formulas=(Formula("9", ""), Formula("8", "x")))
    with GraphStore(tmp_path, create=True) as store:
        counts = build_graphs([given], store, parser=PARSER)
    assert counts.fallbacks["empty formula"] == 1
    assert "formula without a tree" not in counts.fallbacks


def test_only_new_and_changed_posts_are_made_again(tmp_path: Path) -> None:
    with GraphStore(tmp_path, create=True) as store:
        build_graphs([post(1), post(2)], store, parser=PARSER)
        changed = build_graphs([post(1), post(2, "Another text."), post(3)], store, parser=PARSER)
        assert (changed.made, changed.kept) == (2, 1)
        assert store.graph("2").texts == ("Another text.",)
        other_parser = build_graphs([post(1)], store, parser=PARSER, model="2")
        assert (other_parser.made, other_parser.kept) == (1, 0)


@pytest.mark.slow
def test_two_workers_make_the_same_store_as_one(tmp_path: Path) -> None:
    posts = [post(n, f"Sentence {n} has $x_{n}$. Another $y$.") for n in range(60)]
    texts = []
    for workers in (1, 2):
        with GraphStore(tmp_path / str(workers), create=True) as store:
            build_graphs(posts, store, parser=PARSER, workers=workers)
            coverage = build_vocabularies(store, workers=workers)
            assert build_tensors(store, workers=workers) == 60
            tensors = [tensor.to_bytes() for tensor in store.tensors(GraphConfiguration().name)]
            texts.append((list(store.texts()), coverage, store.vocabulary_path.read_text(), tensors))
    assert texts[0] == texts[1]


@pytest.mark.slow
def test_a_post_that_kills_its_worker_still_gets_a_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MATHAMR_TEST_KILL", "1")
    posts = [post(1), post(2, "A killer with $x$."), post(3)]
    with GraphStore(tmp_path, create=True) as store:
        counts = build_graphs(posts, store, parser=PARSER, workers=2)
        assert counts.failed == 0
        assert counts.fallbacks["post: worker died"] == 1
        assert store.graph("2").formulas[0].opt is not None
        assert list(store.ids()) == ["1", "2", "3"]


def test_vocabularies_and_tensors_are_made_only_once(tmp_path: Path) -> None:
    with GraphStore(tmp_path, create=True) as store:
        build_graphs([post(1), post(2)], store, parser=PARSER)
        coverage = build_vocabularies(store)
        assert build_tensors(store) == 2
        assert build_vocabularies(store) == coverage
        assert build_tensors(store) == 0
        assert build_tensors(store, GraphConfiguration("opt")) == 2
        build_graphs([post(3, "Wholly new words here.")], store, parser=PARSER)
        assert build_vocabularies(store).labels > coverage.labels
        assert build_tensors(store) == 3


def test_statistics_have_the_rows_of_the_thesis(tmp_path: Path) -> None:
    answer = replace(post(2), kind="answer", parent="1")
    question = replace(post(1), accepted_answer="2")
    with GraphStore(tmp_path, create=True) as store:
        counts = build_graphs([question, answer, post(3, "")], store, parser=PARSER)
        found = statistics(store, counts, build_vocabularies(store))
        graphs = [store.graph(str(n)) for n in (1, 2, 3)]
    assert (found.posts, found.failed, found.pairs, found.accepted_pairs) == (3, 0, 1, 1)
    assert found.formulas == sum(len(graph.formulas) for graph in graphs) == 6
    assert found.kinds["answer"].formulas == 3
    assert found.nodes_median == found.kinds["answer"].nodes
    trees = [formula.opt for graph in graphs for formula in graph.formulas]
    assert found.shape is not None
    assert found.shape.opt_nodes == sum(map(len, trees)) / len(trees)
    assert found.shape.virtual == pytest.approx(1 + (6 + sum(len(graph.sentences) for graph in graphs)) / 3)
    assert found.vocabularies is not None
    assert found.vocabularies.relations == 2 * (found.vocabularies.relations_raw + 5)


BUILDER = """
import sys
from pathlib import Path
from mathamr.graphs.corpus import build_graphs
from mathamr.graphs.store import GraphStore
from tests.graphs.test_corpus import PARSER, post
store = GraphStore(Path(sys.argv[1]), create=True)
class Printing:
    def advance(self, count=1):
        print(len(store), flush=True)
build_graphs(map(post, range(3000)), store, parser=PARSER, workers=2, progress=Printing())
"""


@pytest.mark.slow
def test_a_killed_build_goes_on_where_it_stopped(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", BUILDER, str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    reported = [process.stdout.readline() for _ in range(2)]
    process.send_signal(signal.SIGKILL)
    reported += [line for line in process.stdout if line.endswith(b"\n")]
    process.wait()
    with GraphStore(tmp_path) as store:
        kept = len(store)
        assert kept >= max(map(int, reported))
        counts = build_graphs(map(post, range(kept + 30)), store, parser=PARSER)
        assert (counts.kept, counts.made) == (kept, 30)
        assert list(store.ids()) == [str(n) for n in range(kept + 30)]
