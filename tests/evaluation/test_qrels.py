from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.columnfile import FormatError
from mathamr.evaluation.qrels import FULL, PARTIAL, Qrels, read_qrels, write_qrels
from tests.cases import cases


def written(folder: Path, text: str) -> Path:
    path = folder / "judged.qrels"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return path


@cases(
    ("text", "grades"),
    [
        *((f"A.1{gap}0{gap}7{gap}3\n", {"A.1": {"7": 3}}) for gap in (" ", "\t", "  ", " \t ")),
        # the iteration may be anything and lines may end as in Windows
        ("\ufeffB.1\txxx\t99\t2\r\n\r\nB.2\txxx\t98\t1.0\r\n", {"B.1": {"99": 2}, "B.2": {"98": 1}}),
        # a header names columns in any order
        ("Topic_Id\tFormula_Id\tVisual_Id\tRelevance\nB.1\t5\t99\t2\n", {"B.1": {"99": 2}}),
    ],
)
def test_judgments_are_read_plain_and_compressed(
    tmp_path: Path, text: str, grades: dict[str, dict[str, int]]
) -> None:
    assert read_qrels(written(tmp_path, text)).grades == grades
    (tmp_path / "judged.qrels.gz").write_bytes(gzip.compress(text.encode()))
    assert read_qrels(tmp_path / "judged.qrels.gz").grades == grades


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    qrels = Qrels({"A.1": {"7": 3, "8": 0}, "A.2": {"7": 1}})
    write_qrels(qrels, tmp_path / "q")
    assert read_qrels(tmp_path / "q") == qrels


def test_negative_grades_are_counted_as_unjudged(tmp_path: Path) -> None:
    qrels = read_qrels(written(tmp_path, "A.1 0 7 -1\nA.1 0 8 2\n"))
    assert qrels.grades == {"A.1": {"8": 2}}
    assert qrels.unjudged == 1


def test_relevance_may_be_partial_or_full_as_in_ntcir12() -> None:
    qrels = Qrels({"N.1": {"a": 4, "b": 3, "c": 2, "d": 1, "e": 0}, "N.2": {"a": 1}})
    assert qrels.relevant("N.1", PARTIAL) == {"a", "b", "c", "d"}
    assert qrels.relevant("N.1", FULL) == {"a", "b"}
    assert qrels.relevant("N.1") == {"a", "b", "c"}
    assert qrels.with_relevant(FULL).topics == ("N.1",)
    assert qrels.relevant("N.3") == frozenset()


@cases(
    ("text", "line", "message"),
    [
        ("A.1 0 7 3\nA.1 0 8\n", 2, "expected 4 columns: topic, iteration, id, grade; found 3: 'A.1 0 8'"),
        ("A.1 0 7 3 x\n", 1, "found 5"),
        ("A.1 0 7 high\n", 1, "expected a whole number as the grade, found 'high'"),
        ("A.1 0 7 1.5\n", 1, "found '1.5'"),
        ("A.1 0 7 3\n\nA.1 0 7 3\n", 3, "'7' was already judged for topic 'A.1'"),
        ("A.1\t\t7\t3\nA.1\t0\t\t3\n", 2, "expected a topic and an id"),
        ("topic\titem\tgrade\nA.1\t7\t3\n", 1, "names no id"),
        ("A.1 0 7 " + "9" * 70_000, 1, "the line has more than"),
        ("A.1 0 7 3\nA.1 0 \udcff 3\n", 2, "expected UTF-8 text, found the byte 0xff"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FormatError) as error:
        read_qrels(path)
    assert str(error.value).startswith(f"{path}, line {line}: ")
    assert message in str(error.value)


def test_a_truncated_archive_is_an_error_not_half_the_judgments(tmp_path: Path) -> None:
    path = tmp_path / "q.gz"
    path.write_bytes(gzip.compress(b"A.1 0 7 3\n" * 1)[:-6])
    with pytest.raises(MathAMRError, match="the archive is damaged here"):
        read_qrels(path)


def test_empty_and_missing_files_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no judgments; expected 4 columns"):
        read_qrels(written(tmp_path, "\n \n"))
    with pytest.raises(MathAMRError, match="nowhere"):
        read_qrels(tmp_path / "nowhere")


def test_real_judgments_have_the_sizes_that_are_documented(data: Path) -> None:
    sizes = {
        name: (len(qrels.with_relevant().topics), qrels.judgments)
        for name in ("task1-2020", "task1-2021", "task2-2020", "task2-2021", "known-items")
        for qrels in [read_qrels(data / "arqmath-mini" / "qrels" / f"{name}.qrels")]
    }
    assert sizes == {
        "task1-2020": (47, 622),
        "task1-2021": (57, 1328),
        "task2-2020": (26, 320),
        "task2-2021": (52, 644),
        "known-items": (704, 879),
    }
