"""Both trials on the bundled sample, as small as they can be, from posts to tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import read_qrels
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import evaluate
from mathamr.sample import folder as sample_folder
from mathamr_lab.experiments import EXPERIMENTS, ntcir12
from mathamr_lab.experiments.collection import TestCollection, TestSet, collection_of
from mathamr_lab.experiments.formulacollection import task2_collection
from mathamr_lab.experiments.formulaplaces import read_places
from mathamr_lab.experiments.planner import planned, write_report
from mathamr_lab.experiments.runner import run
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.trials.marf import search_tasks
from mathamr_lab.experiments.trials.preparation import prepare_contexts, prepare_marf, sets_by_task
from mathamr_lab.experiments.trials.trialplan import TrialPlan
from tests.index.small import write_posts
from tests.lab.experiments.trials.tinybases import tiny_published


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> TestCollection:
    """Some posts of the sample with two topics of each set and what was judged for them."""
    whole = collection_of([sample_folder()])
    tests = tuple(map(_few, whole.tests))
    wanted = {item for test in tests for grades in test.qrels.grades.values() for item in grades}
    posts = [post for number, post in enumerate(whole.posts()) if post.id in wanted or number < 12]
    path = write_posts(tmp_path_factory.mktemp("trials") / "posts.jsonl", posts)
    return replace(whole, paths=(path,), tests=tests)


def _few(test: TestSet) -> TestSet:
    topics = test.topics[:2]
    grades = {topic.id: _some(test.qrels.grades[topic.id]) for topic in topics}
    return replace(test, topics=topics, qrels=replace(test.qrels, grades=grades))


def _some(grades: Mapping[str, int]) -> dict[str, int]:
    """The best and the worst of what was judged."""
    ranked = sorted(grades, key=lambda item: -grades[item])
    return {item: grades[item] for item in (*ranked[:2], *ranked[-2:])}


def test_contexts_are_prepared_for_topics_and_judged_formulas(
    collection: TestCollection, tmp_path: Path
) -> None:
    lines: list[str] = []
    prepare_contexts(collection, tmp_path, "tests.amr.rule_parser:RuleParser", None, lines.append)
    topics, judged = (read_places(tmp_path / f"{name}.jsonl.gz") for name in ("topic-places", "places"))
    (test,) = sets_by_task(collection)["task2"]
    assert [place.topic for place in topics] == [topic.id for topic in test.topics]
    assert {place.visual for place in judged} <= {
        visual for grades in test.qrels.grades.values() for visual in grades
    }
    assert len(lines) == 2


SMALL = ("size=16", "length=32", "formula_size=16", "formula_layers=1", "formula_heads=2", "formula_inner=16")
SMALL += ("formula_length=16", "fusion_heads=2", "batch=4", "formula_batch=4", "validation=0.3")
SMALL += ("context_epochs=1", "formula_epochs=1", "fusion_epochs=1")


@pytest.mark.parametrize(("kind", "tuning"), [("bert", "full"), ("qwen3", "frozen")])
def test_marf_is_trained_and_measured_from_posts_to_tables(
    collection: TestCollection, tmp_path: Path, kind: str, tuning: str
) -> None:
    base = tiny_published(tmp_path / kind, kind)
    given = (*SMALL, f"base={base}", f"tuning={tuning}")
    changes = tuple(f"marf.{change}" for change in given)

    def report(name: str, *only: str) -> str:
        setting = ExperimentSetting(
            EXPERIMENTS[name], collection, tmp_path, seeds=1, changes=changes, device="cpu", only=only
        )
        run([setting])
        return (write_report(planned(replace(setting, only=()))) / "results.md").read_text(encoding="utf-8")

    text = report("marf-benchmark", "context encoder")
    assert "| context encoder |" in text
    assert "| MaRF | .0" not in text.replace("| MaRF | |", "")
    text = report("marf-benchmark")
    assert "| MaRF |" in text
    assert "## How the models learned" in text
    assert ("| context encoder | words |" in text) == (tuning == "full")
    # Table 1 over BERT, or over Qwen3; the paper's other tables are BERT's alone.
    shown = {figure: figure in text for figure in ("| 0.436 |", "| 0.644 |", "| 0.583 |", "| 0.622 |")}
    assert list(shown.values()) == [kind == "bert"] * 2 + [kind == "qwen3"] * 2
    by_share = report("marf-math-dominance")
    assert "## Answers, by the share of mathematics in the answer" in by_share
    assert "| answers | recall@1000 |" in by_share
    if tuning == "full":
        assert report("marf-scoring").count("level, several formulas |") >= 2


def test_judgments_of_another_collection_stop_before_anything_is_trained(
    collection: TestCollection, tmp_path: Path
) -> None:
    (test,) = sets_by_task(collection)["task2"]
    grades = {topic.id: {"no-such-formula": 3} for topic in test.topics}
    other = replace(test, qrels=replace(test.qrels, grades=grades))
    with pytest.raises(MathAMRError, match="no judged formula is in the posts"):
        prepare_contexts(
            replace(collection, tests=(other,)),
            tmp_path,
            "tests.amr.rule_parser:RuleParser",
            None,
            lambda _: None,
        )
    with pytest.raises(MathAMRError, match="no judged formula of a topic is among the"):
        task2_collection(collection.posts(), test.topics, grades, "cut")
    bare = [replace(post, formulas=()) for post in collection.posts()]
    with pytest.raises(MathAMRError, match="has a visual id and trees"):
        task2_collection(bare, test.topics, test.qrels.grades, "cut")


def test_only_judgments_of_topics_without_wildcards_count_from_partly_relevant_on(
    collection: TestCollection, tmp_path: Path
) -> None:
    pool = tmp_path / "NTCIR12"
    pool.mkdir()
    (pool / "corpus.txt").write_text("Algebra:1 a+b\nAlgebra:2 c\n")
    (pool / "topics.txt").write_text("T-1 a+b\nT-2 c\nT-3 \\qvar{x}+1\n")
    (pool / "judge.dat").write_text("T-1 x Algebra:1 4\nT-2 x Algebra:2 1\nT-3 x Algebra:1 4\n")
    prepare_marf(collection, tmp_path / "prepared", lambda _: None, pool)
    assert read_qrels(tmp_path / "prepared" / "qrels" / "ntcir12.qrels").topics == ("T-1", "T-2")
    task = next(each for each in search_tasks(tmp_path / "prepared") if each.name == "ntcir12")
    assert [topic.id for topic in task.topics] == ["T-1", "T-2"] == list(task.qrels.topics)
    best = Run.of("best", {"T-1": [("Algebra:1", 1.0)], "T-2": [("Algebra:2", 1.0)]})
    assert evaluate(best, task.qrels, measures(ntcir12.MEASURES)).mean("Bpref(rel=1)") == 1.0


def test_other_inputs_have_other_folders(collection: TestCollection, tmp_path: Path) -> None:
    def folder(name: str = "mathamr-rerank", **others: Any) -> Path:
        given = {"collection": collection} | others
        return TrialPlan(ExperimentSetting(EXPERIMENTS[name], out=tmp_path, **given)).folder

    one, topics = tmp_path / "one.run", tmp_path / "topics.txt"
    one.write_text("B.1 0 v 1 1 one\n")
    topics.write_text("B.1\n")
    changes = (f"contexts.topics={topics}",)
    found = [
        folder(),
        folder("mathamr-contexts"),
        folder(parser="amrlib"),
        folder(collection=replace(collection, without=frozenset({"7"}))),
        folder(collection=replace(collection, paths=())),
        folder(changes=changes),
        folder(runs=(one,)),
    ]
    one.write_text("B.1 0 w 1 1 one\n")
    topics.write_text("B.2\n")
    found += [folder(runs=(one,)), folder(changes=changes)]
    assert len(set(found)) == len(found)
    # The rows of one trial are shared, and found again.
    assert folder("marf-benchmark") == folder("marf-scoring", only=("token level, longest formula",))
