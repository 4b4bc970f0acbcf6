from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.columnfile import FormatError
from mathamr.evaluation.runs import Run, RunHit, read_run, run_lines, write_run
from tests.cases import cases


def written(folder: Path, text: str, name: str = "mine.run") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


TREC = "A.1 {0} 7 1 2.5 x\nA.1 {0} 8 2 1e-3 x\n"
TASK_1, TASK_2 = (
    "A.1\t7\t1\t2.5\trun 1\nA.1\t8\t2\t0.001\trun 1\n",
    "A.1\t7\t5\t1\t2.5\t1\nA.1\t8\t5\t2\t1e-3\t1\n",
)


@cases(
    "text",
    [
        *(TREC.format(second) for second in ("Q0", "0", "_", "ITER")),  # as long as it is always the same
        TREC.format("Q0").replace(" ", "\t"),
        TASK_1,
        "Query_Id\tPost_Id\tRank\tScore\tRun_Number\n" + TASK_1,
        TASK_2,  # the formula, not its post
        "Query_Id\tFormula_Id\tPost_Id\tRank\tScore\tRun_Number\n" + TASK_2,
    ],
)
def test_runs_of_trec_and_of_both_tasks_of_arqmath_are_read(tmp_path: Path, text: str) -> None:
    assert read_run(written(tmp_path, text)) == Run("mine", {"A.1": (RunHit("7", 2.5), RunHit("8", 0.001))})


def test_one_line_of_trec_is_recognised_by_its_q0(tmp_path: Path) -> None:
    assert read_run(written(tmp_path, "A.1 Q0 7 1 2.5 x\n", "team.tsv")) == Run(
        "team", {"A.1": (RunHit("7", 2.5),)}
    )


def test_scores_count_and_ranks_that_contradict_them_are_noticed(tmp_path: Path) -> None:
    run = read_run(written(tmp_path, "A.1 Q0 7 1 1 x\nA.1 Q0 8 2 2 x\nA.2 Q0 7 2 1 x\nA.2 Q0 8 1 1 x\n"))
    assert run.ids("A.1") == ["8", "7"]
    assert run.disordered == 1


@cases(
    ("text", "line", "message"),
    [
        ("A.1 Q0 7 1 2.5 x\nA.1 Q0 7 2 1.5 x\n", 2, "'7' is ranked twice for topic 'A.1' (before in line 1)"),
        ("A.1 Q0 7 1 2.5 x\nA.1 Q0 8 2 1.5\n", 2, "expected 6 columns, as in the first line; found 5"),
        ("A.1 Q0 7 1\n", 1, "expected the 6 columns of TREC (topic Q0 id rank score tag)"),
        ("A.1 Q0 7 1 2.5 x y\n", 1, "found 7 columns"),
        ("A.1 Q0 7 1 high x\n", 1, "expected a number as the score, found 'high'"),
        ("A.1 Q0 7 1 nan x\n", 1, "expected a number as the score, found 'nan'"),
        ("A.1 Q0 7 first 1 x\n", 1, "expected a number as the rank"),
        ("Query_Id\tRank\tScore\nA.1\t1\t2\n", 1, "names no id"),
        ("A.1\tQ0\t\t1\t2\tx\n", 1, "expected a topic and an id"),
    ],
)
def test_a_malformed_run_is_refused_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FormatError) as error:
        read_run(path)
    assert str(error.value).startswith(f"{path}, line {line}: ")
    assert message in str(error.value)


def test_an_empty_run_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no results; expected the 6 columns of TREC"):
        read_run(written(tmp_path, ""))


def test_a_run_in_python_refuses_what_no_file_could_hold() -> None:
    with pytest.raises(MathAMRError, match=r"'7' is ranked twice for topic 'A.1'"):
        Run.of("mine", {"A.1": [("7", 1.0), ("7", 2.0)]})
    with pytest.raises(MathAMRError, match=r"the score of '7' for topic 'A.1' is nan"):
        Run.of("mine", {"A.1": [("7", float("nan"))]})
    for id, topic in (("a\tb", "A.1"), ("a\nb", "A.1"), (" a", "A.1"), ("", "A.1"), ("a", "A\r1")):
        with pytest.raises(MathAMRError, match="a tab or line break, cannot be written"):
            Run.of("mine", {topic: [(id, 1.0)]})


def test_ids_with_spaces_are_written_and_read_again(tmp_path: Path) -> None:
    run = Run.of("mine", {"topic 1": [("limits of a sum.md", 2.0), ("b", 1.0)], "2": [("c\u202fd", 1.0)]})
    write_run(run, tmp_path / "mine.tsv")
    assert read_run(tmp_path / "mine.tsv") == run


def test_a_written_run_is_cut_at_the_depth_and_its_tag_is_one_word() -> None:
    run = Run.of("my run", {"A.1": [("7", 1.0), ("8", 2.0), ("9", 3.0)]})
    assert list(run_lines(run, depth=2)) == ["A.1 Q0 9 1 3.0 my_run\n", "A.1 Q0 8 2 2.0 my_run\n"]


identifiers = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=8)
scores = st.dictionaries(
    identifiers, st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5
)


@given(rankings=st.dictionaries(identifiers, scores, min_size=1, max_size=3))
def test_what_is_written_reads_back_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, rankings: dict[str, dict[str, float]]
) -> None:
    run = Run.of("mine", {topic: list(found.items()) for topic, found in rankings.items()})
    path = tmp_path_factory.mktemp("runs") / "mine.run"
    write_run(run, path)
    assert read_run(path) == run


def test_formulas_that_visual_the_same_count_once_at_their_best_rank() -> None:
    run = Run.of("mine", {"B.1": [("1", 5.0), ("2", 4.0), ("3", 3.0), ("4", 2.0), ("5", 1.0)]})
    visuals, unknown = run.by_visual_id({"1": "v9", "2": "v1", "3": "v9", "4": "v2"})
    assert visuals.rankings["B.1"] == (RunHit("v9", 5.0), RunHit("v1", 4.0), RunHit("v2", 2.0))
    assert unknown == 1
