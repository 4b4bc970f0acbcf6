"""Both trials on the bundled sample, as small as they can be, from posts to tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.sample import folder as sample_folder
from mathamr_lab.experiments import EXPERIMENTS
from mathamr_lab.experiments.collection import TestCollection, TestSet, collection_of
from mathamr_lab.experiments.formulacollection import task2_collection
from mathamr_lab.experiments.formulaplaces import read_places
from mathamr_lab.experiments.planner import planned, write_report
from mathamr_lab.experiments.runner import run
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.trials.preparation import prepare_contexts, sets_by_task
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
SMALL += ("formula_length=16", "fusion_heads=2", "batch=4", "formula_batch=4", "held=2")
SMALL += ("context_epochs=1", "formula_epochs=1", "fusion_epochs=1")


@pytest.mark.parametrize(("kind", "tuning"), [("bert", "full"), ("qwen3", "frozen")])
def test_marf_is_trained_and_measured_from_posts_to_tables(
    collection: TestCollection, tmp_path: Path, kind: str, tuning: str
) -> None:
    base = tiny_published(tmp_path / "base", kind)
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
