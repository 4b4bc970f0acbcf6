"""Whole evaluations on the sample: files and baselines in, figures and remarks out."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mathamr import sample
from mathamr.core.errors import MathAMRError
from mathamr.evaluation import runevaluation
from mathamr.evaluation.measures import measure, measures
from mathamr.evaluation.qrels import read_qrels
from mathamr.evaluation.runevaluation import EvaluationInputs, compare_runs, evaluate_runs
from mathamr.evaluation.runs import Run, read_run
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from tests.cases import cases

FOLDER = sample.folder()
QRELS = FOLDER / "qrels" / "task1.qrels"
TOPICS = FOLDER / "topics" / "task1.xml"
POSTS = FOLDER / "Posts.xml"
SUITE = measures(["arqmath"])


def run_file(folder: Path, name: str, lines: str) -> str:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(lines, encoding="utf-8")
    return str(path)


def test_files_and_baselines_are_compared_with_the_baseline_which_comes_first(tmp_path: Path) -> None:
    mine = run_file(tmp_path, "mine.run", "A.1 Q0 1001 1 2 x\nA.1 Q0 1010 2 1 x\n")
    assessment = evaluate_runs(
        EvaluationInputs(QRELS, (mine, "bm25"), "random", TOPICS, POSTS), SUITE, has_floors=True
    )
    comparison = assessment.comparison
    assert [scores.run for scores in comparison.scores] == ["random", "mine", "bm25"]
    assert comparison.baseline == "random"
    assert comparison.tests == 2 * 4  # judged@10 is not tested
    assert [floor.run for floor in assessment.floors] == [
        "random order of the judged items",
        "random order of 209 items",
    ]
    assert any(
        "mine: lacks 19 judged topics, which count as zero (A.2" in remark for remark in assessment.remarks
    )


def test_runs_of_the_same_name_are_called_by_their_paths(tmp_path: Path) -> None:
    first = run_file(tmp_path, "a/x.run", "A.1 Q0 1001 1 2 x\n")
    second = run_file(tmp_path, "b/x.run", "A.1 Q0 1002 1 2 x\n")
    assert [
        scores.run
        for scores in evaluate_runs(EvaluationInputs(QRELS, (first, second)), SUITE).comparison.scores
    ] == [
        first,
        second,
    ]


def test_topics_without_relevant_items_count_unless_they_are_left_out(tmp_path: Path) -> None:
    qrels = tmp_path / "q"
    qrels.write_text("A.1 0 7 3\nA.2 0 7 1\n", encoding="utf-8")
    mine = run_file(tmp_path, "mine.run", "A.1 Q0 7 1 2 x\nA.2 Q0 7 1 2 x\nA.3 Q0 7 1 2 x\n")
    kept = evaluate_runs(EvaluationInputs(qrels, (mine,)), SUITE)
    assert kept.comparison.scores[0].mean("MAP'") == 0.5
    assert any(
        "1 of 2 judged topics have no item of grade 2 or above; they count as zero" in r for r in kept.remarks
    )
    assert any(
        "mine: 1 of its topics are ignored, because they have no judgments (A.3)" in remark
        for remark in kept.remarks
    )
    chosen = evaluate_runs(EvaluationInputs(qrels, (mine,)), SUITE, only_with_relevant=True)
    assert chosen.comparison.scores[0].mean("MAP'") == 1
    assert chosen.comparison.topics == ("A.1",)
    with pytest.raises(MathAMRError, match="no topic has an item of grade 4"):
        evaluate_runs(EvaluationInputs(qrels, (mine,)), SUITE, relevant=4, only_with_relevant=True)


def test_formula_runs_are_judged_by_visual(tmp_path: Path) -> None:
    table = tmp_path / "formulas.tsv"
    table.write_text("id\tvisual_id\tformula\n1\t91\tx\n2\t91\tx\n3\t92\ty\n", encoding="utf-8")
    qrels = tmp_path / "q"
    qrels.write_text("B.1 0 91 0\nB.1 0 92 3\n", encoding="utf-8")
    mine = run_file(
        tmp_path,
        "mine.tsv",
        "B.1\t1\t5\t1\t9\t0\nB.1\t2\t5\t2\t8\t0\nB.1\t3\t6\t3\t7\t0\nB.1\t4\t6\t4\t6\t0\n",
    )
    assessment = evaluate_runs(EvaluationInputs(qrels, (mine,), formulas=table), measures(["MRR"]))
    assert assessment.runs[0].ids("B.1") == ["91", "92"]
    assert assessment.comparison.scores[0].mean("MRR") == 0.5
    assert "mine: 4 formulas, 2 after merging visual duplicates" in assessment.remarks
    assert "mine: 1 formulas without a visual id were left out" in assessment.remarks
    wrong = run_file(tmp_path, "looks.run", "B.1 Q0 91 1 9 x\nB.1 Q0 92 2 8 x\n")
    with pytest.raises(MathAMRError, match="none of its 2 ids is in the table of formulas"):
        evaluate_runs(EvaluationInputs(qrels, (wrong,), formulas=table), measures(["MRR"]))


def test_a_baseline_of_formulas_needs_no_table_of_visuals() -> None:
    sources = EvaluationInputs(
        FOLDER / "qrels" / "task2.qrels",
        ("latex-ngrams",),
        topics=FOLDER / "topics" / "task2.xml",
        posts=POSTS,
        formulas=FOLDER / "formulas.tsv",
    )
    assert evaluate_runs(sources, SUITE).comparison.scores[0].mean("Bpref") > 0.5


@cases(
    ("sources", "message"),
    [
        (
            EvaluationInputs(QRELS, ("nowhere.run",)),
            "nowhere.run: no such file or baseline; the baselines are random",
        ),
        (EvaluationInputs(QRELS, ("x" * 5000,)), "no such file"),
        (EvaluationInputs(QRELS, ("x\0y",)), "no such file"),
        (EvaluationInputs(QRELS, ("bm25",)), "the baseline 'bm25' needs --topics and --posts"),
        (EvaluationInputs(QRELS, ("bm25", "bm25"), None, TOPICS, POSTS), "the run bm25 appears twice"),
        (EvaluationInputs(QRELS, ()), "give at least one run to evaluate"),
        (
            EvaluationInputs(QRELS, ("bm25",), None, FOLDER / "topics" / "task2.xml", POSTS),
            "none of its topics is judged",
        ),
    ],
)
def test_what_cannot_be_assessed_is_a_clear_error(sources: EvaluationInputs, message: str) -> None:
    with pytest.raises(MathAMRError, match=message):
        evaluate_runs(sources, SUITE)


def test_negative_grades_and_contradicting_ranks_are_remarked(tmp_path: Path) -> None:
    qrels = tmp_path / "q"
    qrels.write_text("A.1 0 7 3\nA.1 0 8 -1\n", encoding="utf-8")
    mine = run_file(tmp_path, "mine.run", "A.1 Q0 7 1 1 x\nA.1 Q0 8 2 2 x\n")
    assert [
        remark.split(": ", 1)[1] for remark in evaluate_runs(EvaluationInputs(qrels, (mine,)), SUITE).remarks
    ] == [
        "1 negative grades count as unjudged",
        "the ranks contradict the scores in 1 topics; the scores count",
    ]


@pytest.mark.slow
def test_baselines_read_the_posts_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    alive: list[int] = []

    def counted(*arguments: Any) -> Iterator[Post]:
        for number, post in enumerate(read_posts(*arguments)):
            if number % 100 == 0:
                alive.append(sum(type(each) is Post for each in gc.get_objects()))
            yield post

    monkeypatch.setattr(runevaluation, "read_posts", counted)
    sources = EvaluationInputs(QRELS, ("bm25-words", "random"), topics=TOPICS, posts=POSTS)
    found = evaluate_runs(sources, measures(["MAP'"]), has_floors=True)
    assert [scores.run for scores in found.comparison.scores] == ["bm25-words", "random"]
    assert len(alive) == 3 * 4, "each baseline reads all posts, and so does the count of candidates"
    assert max(alive) < min(alive) + 50


def test_runs_and_files_are_compared_by_chosen_measures_and_print_a_table(
    tmp_path: Path,
) -> None:
    lines = "A.1 Q0 1001 1 2 x\nA.1 Q0 1010 2 1 x\n"
    first, second = (
        run_file(tmp_path, "mine.run", lines),
        run_file(tmp_path, "old.run", "A.1 Q0 1010 1 2 x\n"),
    )
    names = ["nDCG'", "P'@5"]
    found = compare_runs(QRELS, read_run(first), baseline=second, measures=names)
    assert found.comparison.measures == ("nDCG'", "P'@5")
    assert (
        found.comparison == compare_runs(QRELS, first, baseline=read_run(second), measures=names).comparison
    )
    assert compare_runs(QRELS, first, measures=measure("P'@5")).comparison.measures == ("P'@5",)
    assert str(found).splitlines()[0].split() == names
    assert "Bonferroni corrected for 2 tests" in str(found)


def test_two_given_runs_of_the_same_name_are_refused() -> None:
    with pytest.raises(MathAMRError, match="two runs are named 'x'"):
        compare_runs(QRELS, Run.of("x", {"A.1": [("1001", 1)]}), Run.of("x", {"A.1": [("1002", 1)]}))


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """Two judged answers of the first topic of the sample, of which one is relevant, and no others."""
    path = tmp_path / "cut.jsonl"
    grades = read_qrels(QRELS).grades["A.1"]
    wanted = (min(grades, key=grades.__getitem__), max(grades, key=grades.__getitem__))
    posts = [post for post in read_posts(POSTS) if post.id in wanted]
    path.write_text("".join(post.to_json() + "\n" for post in posts), encoding="utf-8")
    return path


def test_judged_items_that_the_posts_lack_are_counted_and_left_out_where_asked(cut: Path) -> None:
    judged = read_qrels(QRELS)
    left = judged.among({post.id for post in read_posts(cut)})
    topics = [topic for topic, grades in left.grades.items() if grades]
    assert 2 <= left.judgments < 40
    remark = f"{cut} lacks {judged.judgments - left.judgments} of {judged.judgments} judged items"
    inputs = EvaluationInputs(QRELS, ("bm25",), None, TOPICS, cut)
    found = evaluate_runs(inputs, SUITE)
    assert any(each.startswith(remark) and f"--judged-in {cut}" in each for each in found.remarks)
    assert found.qrels == judged
    inputs = EvaluationInputs(QRELS, ("bm25",), None, TOPICS, cut, judged_in=cut)
    found = evaluate_runs(inputs, SUITE, has_floors=True)
    assert found.qrels.judgments == left.judgments
    assert found.comparison.topics == tuple(topics)
    assert any(each.startswith(f"{remark}, which are left out") for each in found.remarks)
    assert found.floors[0].mean("nDCG'") > 0


def test_posts_that_hold_every_judged_item_change_nothing_and_others_are_refused(tmp_path: Path) -> None:
    mine = run_file(tmp_path, "mine.run", "A.1 Q0 1001 1 2 x\nA.1 Q0 1010 2 1 x\n")
    whole = evaluate_runs(EvaluationInputs(QRELS, (mine,)), SUITE)
    same = evaluate_runs(EvaluationInputs(QRELS, (mine,), judged_in=POSTS), SUITE)
    assert (same.comparison, same.remarks) == (whole.comparison, whole.remarks)
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "x", "body": "Let $y$ be."}\n', encoding="utf-8")
    with pytest.raises(MathAMRError, match="none of its items is judged"):
        evaluate_runs(EvaluationInputs(QRELS, (mine,), judged_in=other), SUITE)


def test_a_run_of_another_collection_is_said_to_have_no_judged_result(tmp_path: Path) -> None:
    mine = run_file(tmp_path, "mine.run", "A.1 Q0 nowhere 1 2 x\n")
    found = evaluate_runs(EvaluationInputs(QRELS, (mine,)), SUITE)
    assert any("mine: none of its results is judged" in remark for remark in found.remarks)
