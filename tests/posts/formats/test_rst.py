"""What docutils does not read of reStructuredText is kept as it is written, or counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.posts.passage import passage
from tests.cases import cases
from tests.posts.reading import read_files


@pytest.mark.parametrize("length", [21_000, 200_000])
def test_a_long_line_is_read_with_the_rest(tmp_path: Path, length: int) -> None:
    line = "word " * (length // 5)
    posts, report = read_files(tmp_path, a_rst=f"Above.\n\n{line}last\n\nBelow.\n")
    assert [part in posts["a.rst"].body for part in ("Above.", "word last", "Below.")] == [True] * 3
    assert len(posts["a.rst"].body) > length
    assert not report.repaired


@cases(
    "source",
    [
        "==== ====\nneedle b\n==== =",
        ".. figure::\n\n   needle",
        ".. csv-table::\n\n   \"needle",
        ".. admonition::\n\n   needle",
        ".. role:: foo(bar)\n   :needle: x",
        "a\n=\n\nb\n-\n\nc\n~\n\nd\n=\n\nneedle\n~~~~~~",
    ],
)  # fmt: skip
def test_what_docutils_cannot_read_is_kept_as_its_source(tmp_path: Path, source: str) -> None:
    posts, report = read_files(tmp_path, a_rst=f"Above.\n\n{source}\n\nBelow.\n")
    assert "needle" in passage(posts["a.rst"]).text
    assert report.repaired["reStructuredText error"] >= 1


@cases(
    "source",
    [
        ":needle: value",
        "--needle=file  an option",
        ".. image:: a.png\n   :alt: needle",
        "|needle|",
        "[needle]_",
        "+---+-------------+\n| a | one needle  |\n|   |             |\n|   | two         |\n+---+-------------+",
    ],
)
def test_names_and_pictures_are_read(tmp_path: Path, source: str) -> None:
    posts, _ = read_files(tmp_path, a_rst=f"Above.\n\n{source}\n\nBelow.\n")
    assert "needle" in passage(posts["a.rst"]).text.replace("needletwo", "")
