"""`mathamr evaluate` as another program calls it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.folders import write_files


@pytest.fixture
def run(mathamr: Command) -> Command:
    return partial(mathamr, "evaluate")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judgments and runs in the folder to work in."""
    texts = {
        "judged": "A.1 0 7 3\nA.1 0 8 0\nA.2 0 7 2\nA.3 0 9 2\n",
        "one.run": "A.1 Q0 7 1 2 x\nA.1 Q0 8 2 1 x\nA.2 Q0 7 1 1 x\n",
        "two.run": "A.1\t8\t1\t2\tx\nA.1\t7\t2\t1\tx\nA.3\t9\t1\t1\tx\n",
        "bad.run": "A.1 Q0 7 1 2 x\nA.1 Q0 7 2 1 x\n",
    }
    monkeypatch.chdir(write_files(tmp_path, texts))


def test_stdout_has_the_tables_and_stderr_what_to_know(run: Command) -> None:
    runs = ("--run", "one.run", "two.run", "--baseline", "one.run")
    ran = run("--qrels", "judged", *runs, "--measure", "MRR", "--per-topic")
    assert ran.returncode == 0
    lines = ran.stdout.splitlines()
    assert lines[0].split() == ["MRR"]
    assert lines[1].split() == ["one", "†", "0.667"]
    assert lines[2].split() == ["two", "0.500", "-0.167"]
    assert "Bonferroni corrected for 1 tests" in ran.stdout
    assert ["A.2", "two", "0.0000"] in [line.split() for line in lines]
    assert "one: lacks 1 judged topics, which count as zero (A.3)" in ran.stderr


def test_show_prints_results_with_grades_and_writes_a_page(run: Command) -> None:
    runs = ("--run", "one.run", "two.run", "--show", "A.1", "--html", "page.html")
    ran = run("--qrels", "judged", *runs)
    assert ran.returncode == 0, ran.stderr
    found = ran.stdout[ran.stdout.index("\nA.1\n") :].splitlines()
    assert [line.split() for line in found if line.startswith("    ")] == [
        ["1", "3", "7"], ["2", "0", "8"], ["1", "0", "8"], ["2", "3", "7"],
    ]  # fmt: skip
    assert Path("page.html").read_text(encoding="utf-8").count('class="hit grade-3"') == 2
    shown = json.loads(run("--qrels", "judged", *runs, "--json").stdout)["shown"]
    assert shown["A.1"]["two"] == [{"id": "8", "grade": 0}, {"id": "7", "grade": 3}]


def test_json_is_one_object_with_every_value(run: Command) -> None:
    runs = ("--run", "one.run", "--run", "two.run", "--baseline", "two.run")
    ran = run("--qrels", "judged", *runs, "--json", "--per-topic", "--random")
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
    run: Command, arguments: tuple[str, ...], code: int, message: str
) -> None:
    ran = run(*arguments)
    assert ran.returncode == code
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""
