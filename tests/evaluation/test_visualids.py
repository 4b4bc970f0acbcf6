from __future__ import annotations

from pathlib import Path

import pytest

from mathamr import sample
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.runevaluation import read_visual_ids
from mathamr.posts.report import Report


def test_the_header_names_the_columns(tmp_path: Path) -> None:
    path = tmp_path / "formulas.tsv"
    header = "id\tpost_id\tthread_id\ttype\tcomment_id\told_visual_id\tvisual_id\tissue\tformula"
    path.write_text(f"{header}\n5\t7\t7\ttitle\t\t1\t99\t\tx^2\n", encoding="utf-8")
    assert read_visual_ids(path) == {"5": "99"}


def test_a_folder_of_tables_is_read_whole_and_other_files_passed_over(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.tsv").write_text(
            f"id\tvisual_id\tformula\n{number}\tv{number}\tx\n", encoding="utf-8"
        )
    (tmp_path / "README").write_text("tables of formulas", encoding="utf-8")
    assert read_visual_ids(tmp_path) == {"1": "v1", "2": "v2"}


def test_a_damaged_row_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "formulas.tsv"
    path.write_text("id\tvisual_id\tformula\n1\tv1\tx\n2\n", encoding="utf-8")
    report = Report()
    assert read_visual_ids(path, report) == {"1": "v1"}
    assert report.skipped["damaged table row"] == 1


@pytest.mark.parametrize("text", ["", "id\tformula\n1\tx\n", "a line of prose\n"])
def test_a_file_without_visual_ids_says_what_was_expected(tmp_path: Path, text: str) -> None:
    path = tmp_path / "formulas.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MathAMRError, match="visual_id"):
        read_visual_ids(path)


def test_the_sample_names_every_formula() -> None:
    visual_ids = read_visual_ids(sample.folder() / "formulas.tsv")
    assert visual_ids["101001"] == "53910396"
