"""MathAMR's contexts: what is trained on, how visual classes are ranked, and an experiment from posts to tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run, read_run
from mathamr.evaluation.topics import Topic
from mathamr.graphs.corpus import build_graphs
from mathamr.graphs.store import GraphStore
from mathamr.posts.post import Formula, Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.systems.mathamr.context import CONTEXTS, contexts
from mathamr_lab.experiments import EXPERIMENTS, training
from mathamr_lab.experiments.collection import collection_of
from mathamr_lab.experiments.formulabed import write_posts
from mathamr_lab.experiments.formulaplaces import judged_sentences, topic_sentences
from mathamr_lab.experiments.judgedformulas import judged_pairs, split_topics
from mathamr_lab.experiments.planner import planned, write_report
from mathamr_lab.experiments.rerank import by_visual, fused, reranked, reranking_table
from mathamr_lab.experiments.runner import run
from mathamr_lab.experiments.setting import ExperimentSetting
from tests.lab.experiments.conftest import train_here
from tests.systems.tinytext import tiny_base

RULES = "tests.amr.rule_parser:RuleParser"


TOPICS = [f"B.{150 + 50 * n}" for n in range(4)]


def test_no_topic_is_ranked_by_a_model_that_was_trained_on_it(tmp_path: Path) -> None:
    for learned, asked in split_topics(TOPICS, "folds", 3):
        assert learned
        assert set(learned).isdisjoint(asked)
    folds = [asked for _, asked in split_topics(TOPICS, "folds", 3)]
    assert sorted(topic for fold in folds for topic in fold) == sorted(TOPICS)
    assert list(split_topics(TOPICS, "first-year")) == [(["B.150"], ["B.200", "B.250", "B.300"])]
    (tmp_path / "topics.txt").write_text("B.150\nB.300\n")
    assert list(split_topics(TOPICS, str(tmp_path / "topics.txt"))) == [
        (["B.150", "B.300"], ["B.200", "B.250"])
    ]
    (tmp_path / "topics.txt").write_text("B.7\n")
    with pytest.raises(MathAMRError, match="of 4 judged topics 4 are left to rank"):
        list(split_topics(TOPICS, str(tmp_path / "topics.txt")))


@pytest.fixture(scope="module")
def setting(corner: Path, tmp_path_factory: pytest.TempPathFactory) -> ExperimentSetting:
    out = tmp_path_factory.mktemp("contexts")
    (out / "topics.txt").write_text("B.1\nB.2\n")
    base = tiny_base(out / "base")
    changes = [f"model.base={base}", f"contexts.topics={out / 'topics.txt'}", "model.rank=2"]
    changes += ["contrast.epochs=1", "ranking.epochs=1"]
    return ExperimentSetting(
        EXPERIMENTS["mathamr-contexts"],
        collection_of([corner]),
        out,
        seeds=1,
        changes=tuple(changes),
        device="cpu",
        parser=RULES,
    )


def report(setting: ExperimentSetting) -> str:
    run([setting])
    return (write_report(planned(setting)) / "results.md").read_text(encoding="utf-8")


def test_contexts_are_trained_and_measured_from_posts_to_tables(
    setting: ExperimentSetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "run_child", train_here)
    only = replace(setting, only=("OPT text alone", "raw text with OPT text"))
    text = report(only)
    assert "| OPT text alone | " in text
    assert "2 topics" in text, "the topics that were not trained on"
    assert "| raw text with OPT text, seed 0 | 1, contrast |" in text
    reranks = replace(setting, experiment=EXPERIMENTS["mathamr-rerank"], only=("AMR with LaTeX",))
    text = report(reranks)
    assert "## latex-ngrams, reranked by AMR with LaTeX" in text
    assert all(f"| {row} | " in text for row in ("original", "reranked", "fused"))
    (measured,) = planned(reranks).measured
    # What a run has found is ranked too, beside what was judged.
    judged = {visual for grades in measured.test.qrels().grades.values() for visual in grades}
    assert {hit.id for hit in read_run(measured.path).rankings["B.3"]} - judged


def test_judgments_of_another_collection_stop_before_anything_is_trained(setting: ExperimentSetting) -> None:
    tests = tuple(
        replace(test, qrels=replace(test.qrels, grades={topic.id: {"no-such": 3} for topic in test.topics}))
        for test in setting.collection.tests
        if test.task == "formulas"
    )
    with pytest.raises(MathAMRError, match="no judged formula is in the posts"):
        run(
            [replace(setting, collection=replace(setting.collection, tests=tests), out=setting.out / "other")]
        )


def test_a_training_learns_from_the_judged_lines_of_a_collection(corner: Path, tmp_path: Path) -> None:
    rows = judged_pairs(corner, "text-latex", RULES)
    assert {row.topic for row in rows} <= {f"B.{number}" for number in range(1, 5)}
    assert len(rows) > 4
    with pytest.raises(MathAMRError, match="no topics"):
        judged_pairs(tmp_path, "text-latex", RULES)


def test_sentences_with_judged_formulas_become_posts_with_the_same_graphs_and_lines(tmp_path: Path) -> None:
    formulas = tuple(
        Formula(f"p:{n}", latex, visual_id=f"v{n}") for n, latex in enumerate(("a+b", "c<1", "d^2"))
    )
    text = "Let <i>$a+b$</i> be $c<1$ & more. Nothing here. Then $d^2$ is odd."
    post = Post("p", "answer", text.replace("c<1", "c&lt;1").replace("&", "&amp;", 1), formulas=formulas)
    found = list(judged_sentences([post], ["v0"]))
    assert [each.id for each in found] == ["p/0"]
    assert [(each.id, each.latex, each.visual_id) for each in found[0].formulas] == [
        ("p:0", "a+b", "v0"),
        ("p:1", "c<1", None),
    ]
    wider = list(judged_sentences([post], ["v0"], ["v2"]))
    assert [[each.visual_id for each in one.formulas] for one in wider] == [["v0", None], ["v2"]]
    (asked,) = topic_sentences([Topic("B.1", post, "p:2")])
    assert (asked.id, asked.formula and asked.formula.latex) == ("B.1", "d^2")
    assert write_posts(wider, tmp_path / "posts.jsonl") == 2
    again = list(read_posts(tmp_path / "posts.jsonl", Report()))
    assert [each.formulas for each in again] == [each.formulas for each in wider]
    with GraphStore(tmp_path / "graphs", create=True) as store:
        build_graphs([post, *again], store, parser=RULES)
        for kind in CONTEXTS:
            whole = dict(contexts(store.graph("p"), post, kind))
            for each in again:
                own = dict(contexts(store.graph(each.id), each, kind))
                assert own == {formula: whole[formula] for formula in own}, kind


def test_a_run_is_ordered_again_by_cosines_and_what_is_unknown_follows() -> None:
    original = Run.of("other", {"A.1": [("a", 3.0), ("b", 2.0), ("c", 1.0)]})
    ours = Run.of("ours", {"A.1": [("c", 0.9), ("a", 0.1), ("z", 0.5)]})
    again = reranked(original, ours)
    assert again.ids("A.1") == ["c", "a", "b"]
    assert [hit.score for hit in again.rankings["A.1"]][:2] == [0.9, 0.1]
    # Shares of the best score over ranks: c is 1/61 + (1/3)/63, a is 1/61 + (0.1/0.9)/62.
    assert fused(original, ours).ids("A.1") == ["c", "a", "b"]
    with pytest.raises(MathAMRError, match="every measure of the run 'other' is 0"):
        list(reranking_table(original, [ours], Qrels({"A.1": {"v9": 3}})))


def test_a_run_by_formula_ids_is_converted_to_visual_ids() -> None:
    formulas = tuple(Formula(str(n), "x", visual_id=f"v{n // 9 + 1}") for n in (7, 8, 9))
    posts = [Post("1", "answer", "$x$ $x$ $y$", markup="text", formulas=formulas)]
    theirs = Run.of("theirs", {"B.1": [("8", 3.0), ("7", 2.0), ("9", 1.0), ("404", 0.5)]})
    assert by_visual({"theirs": theirs}, posts)["theirs"].rankings["B.1"] == (("v1", 3.0), ("v2", 1.0))
    ready = Run.of("ready", {"B.1": [("v2", 3.0), ("v1", 2.0)]})
    assert by_visual({"ready": ready}, posts)["ready"].ids("B.1") == ["v2", "v1"]
    with pytest.raises(MathAMRError, match="names no formula of the collection"):
        by_visual({"odd": Run.of("odd", {"B.1": [("404", 1.0)]})}, posts)
