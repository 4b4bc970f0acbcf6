"""`mathamr evaluate` as another program calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mathamr import sample

FOLDER = sample.folder()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mathamr", "evaluate", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "judged").write_text("A.1 0 7 3\nA.1 0 8 0\nA.2 0 7 2\nA.3 0 9 2\n", encoding="utf-8")
    (tmp_path / "one.run").write_text("A.1 Q0 7 1 2 x\nA.1 Q0 8 2 1 x\nA.2 Q0 7 1 1 x\n", encoding="utf-8")
    (tmp_path / "two.run").write_text("A.1\t8\t1\t2\tx\nA.1\t7\t2\t1\tx\nA.3\t9\t1\t1\tx\n", encoding="utf-8")
    return tmp_path


def test_stdout_has_the_tables_and_stderr_what_to_know(files: Path) -> None:
    ran = run(
        *("--qrels", str(files / "judged"), "--run", str(files / "one.run"), str(files / "two.run")),
        *("--baseline", str(files / "one.run"), "--measure", "MRR", "--per-topic"),
    )
    assert ran.returncode == 0
    lines = ran.stdout.splitlines()
    assert lines[0].split() == ["MRR"]
    assert lines[1].split() == ["one", "†", "0.667"]
    assert lines[2].split() == ["two", "0.500", "-0.167"]
    assert "Bonferroni corrected for 1 tests" in ran.stdout
    assert ["A.2", "two", "0.0000"] in [line.split() for line in lines]
    assert "one: lacks 1 judged topics, which count as zero (A.3)" in ran.stderr


def test_json_is_one_object_with_every_value(files: Path) -> None:
    ran = run(
        *("--qrels", str(files / "judged"), "--run", str(files / "one.run"), "--run", str(files / "two.run")),
        *("--baseline", str(files / "two.run"), "--json", "--per-topic", "--random"),
    )
    row = json.loads(ran.stdout)
    assert row["baseline"] == "two"
    assert row["runs"][0]["measures"]["MAP'"]["mean"] == pytest.approx(2 / 3)
    assert row["runs"][0]["per_topic"]["A.3"]["MAP'"] == 0
    assert set(row["random"]) == {"random order of the judged items", "random order of 3 items"}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--run", "one.run"), 2, "--qrels"),
        (
            ("--qrels", "judged", "--run", "one.run", "--measure", "F1"),
            1,
            "measure 'F1': expected a name like",
        ),
        (("--qrels", "judged", "--run", "one.run", "--measure", "F"), 1, "unknown measure 'F'; known: nDCG"),
        (("--qrels", "judged", "--run", "none.run"), 1, "none.run: no such file or baseline"),
        (("--qrels", "one.run", "--run", "one.run"), 1, "line 1: expected 4 columns"),
        (("--qrels", "judged", "--run", "bad.run"), 1, "line 2: '7' is ranked twice for topic 'A.1'"),
    ],
)
def test_wrong_input_ends_with_one_clear_message(
    files: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    (files / "bad.run").write_text("A.1 Q0 7 1 2 x\nA.1 Q0 7 2 1 x\n", encoding="utf-8")
    ran = run(*(str(files / part) if (files / part).exists() else part for part in arguments))
    assert ran.returncode == code
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""
