"""Both trials on the bundled sample, as small as they can be, from posts to tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.sample import folder as sample_folder
from mathamr.systems.marf.configuration import CONFIGURATIONS
from mathamr_lab.experiments import EXPERIMENTS
from mathamr_lab.experiments.collection import TestCollection, TestSet, collection_of
from mathamr_lab.experiments.formulacollection import task2_collection
from mathamr_lab.experiments.formulaplaces import read_places
from mathamr_lab.experiments.planner import planned, write_report
from mathamr_lab.experiments.runner import run
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.trials import trialplan
from mathamr_lab.experiments.trials.preparation import prepare_contexts, sets_by_task
from tests.index.small import write_posts
from tests.systems.tinytext import tiny_base

SMALL = ("all.batch_size=4", "all.epochs=1", "all.pairs=8", "all.length=24", "all.validation=0.1")


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


def test_contexts_are_prepared_for_topics_judged_formulas_and_all_visuals(
    collection: TestCollection, tmp_path: Path
) -> None:
    lines: list[str] = []
    prepare_contexts(collection, tmp_path, "tests.amr.rule_parser:RuleParser", None, lines.append)
    topics, judged, every = (
        read_places(tmp_path / f"{name}.jsonl.gz") for name in ("topic-places", "places", "places-all")
    )
    (test,) = sets_by_task(collection)["task2"]
    assert [place.topic for place in topics] == [topic.id for topic in test.topics]
    assert {place.visual for place in judged} <= {
        visual for grades in test.qrels.grades.values() for visual in grades
    }
    assert {place.id for place in judged} <= {place.id for place in every}
    assert len(lines) == 3


def test_marf_is_trained_and_measured_from_posts_to_tables(
    collection: TestCollection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    base = str(tiny_base(tmp_path / "base"))
    monkeypatch.setitem(CONFIGURATIONS, "small", CONFIGURATIONS["tiny"].changed([f'base="{base}"']))
    monkeypatch.setattr(trialplan, "MARF_BASE", base)

    def report(name: str) -> str:
        setting = ExperimentSetting(
            EXPERIMENTS[name], collection, tmp_path, seeds=1, changes=SMALL, device="cpu"
        )
        run([setting])
        return (write_report(planned(setting)) / "results.md").read_text(encoding="utf-8")

    text = report("marf-benchmark")
    assert "| context encoder |" in text
    assert "| MaRF |" in text
    assert "## Formulas" in text
    assert "0.535" in text or "## Answers" not in text
    words = ["marf", str(tmp_path / "trials" / "marf" / "prepared"), "--out", str(tmp_path / "other")]
    words += ["--base", base, "--seeds", "0", "--device", "cpu", "--set"]
    capsys.readouterr()
    assert trialplan.main([*words, "model.formula_length=7"]) == 1
    assert "was prepared for other word pieces or lengths" in capsys.readouterr().err
    assert trialplan.main([*words, "model.base=minilm"]) == 1
    assert "name the base with --base" in capsys.readouterr().err
    monkeypatch.setattr(trialplan, "main", lambda words: 1)
    assert report("marf-scoring").count("level, several formulas |") >= 2, "both share what is trained"


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


def test_scores_of_all_formulas_are_preferred_and_those_before_training_count_once(tmp_path: Path) -> None:
    names = (
        "seed-0/amr-opt.run.gz",
        "seed-0/amr-opt-all.npz",
        "seed-2/amr-opt-all.npz",
        "untrained/amr-latex.run.gz",
    )
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = {
        title: [str(path.relative_to(tmp_path)) for path in trialplan.own_scores(tmp_path, scores, 3)]
        for title, scores in trialplan.RERANKING.items()
    }
    assert list(found.values()) == [[names[1], names[2]], [], [names[3]]]
