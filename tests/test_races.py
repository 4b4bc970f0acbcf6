"""A test that passes alone only is a race: counted, printed, and no pass the second time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from scripts.races import main

ROOT = Path(__file__).parents[1]
TESTS = """
from pathlib import Path

def runs(name):
    with Path(__file__).with_name(name).open("a") as file:
        file.write("x")
    return Path(__file__).with_name(name).stat().st_size

def test_of_another_kind():
    pass

def test_each():
    assert runs("each") not in FAILING
"""


def ci(folder: Path, code: str) -> tuple[int, str]:
    """What `.ci/run` does after lint, over one file of tests."""
    (folder / "test_it.py").write_text(code)
    (folder / "pytest.ini").write_text(
        "[pytest]"
    )  # else a stray pyproject.toml in a folder above names the tests
    (folder / "scripts").symlink_to(ROOT / "scripts")
    report = folder / "report"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin"}  # half the time
    environment |= {"PYTEST_ADDOPTS": "-p scripts.races", "MATHAMR_TEST_REPORT": str(report)}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    whole = run("pytest", "-n", "2", "-p", "no:cacheprovider")
    assert whole.returncode
    del environment["PYTEST_ADDOPTS"], environment["MATHAMR_TEST_REPORT"]
    repeated = run("scripts.races", str(report))
    return repeated.returncode, repeated.stdout + repeated.stderr


def failing_in(runs: Iterable[int]) -> str:
    """A test that fails in some of its runs, counted from 1: all tests, alone, twice beside busy processes."""
    return TESTS.replace("FAILING", str(list(runs)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runs", "status", "says"),
    [
        ([1], 0, "1 failed beside other tests and passed alone:\n    test_it.py::test_each"),
        ([1, 2], 1, "failed alone too:\n    test_it.py::test_each"),
        ([1, 4], 1, "a race that failed a second time:\n    test_it.py::test_each"),
    ],
    ids=str,
)
def test_a_test_fails_the_run_alone_or_the_second_time_in_three(
    tmp_path: Path, runs: list[int], status: int, says: str
) -> None:
    found, output = ci(tmp_path, failing_in(runs))
    assert (found, says in output) == (status, True), output


@pytest.mark.slow
def test_a_crash_is_no_race(tmp_path: Path) -> None:
    found, output = ci(tmp_path, "import os\ndef test_it():\n    os._exit(3)")
    assert (found, "did not run to their end" in output) == (1, True), output


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (
            {"status": 1, "failed": ["a"] * 21, "uncollected": []},
            "21 tests failed; more than 20 are not repeated",
        ),
        ({"status": 2, "failed": [], "uncollected": ["tests/a.py"]}, "not collected: tests/a.py"),
        ({"status": 2, "failed": ["a"], "uncollected": []}, "it ended with status 2"),
        ({"status": 1, "failed": [], "uncollected": []}, "status 1 and 0 failures"),
        (None, "did not run to their end"),
    ],
    ids=["many", "not collected", "interrupted", "coverage", "killed"],
)
def test_what_is_no_race_fails_the_run_without_a_repetition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], row: object, says: str
) -> None:
    report = tmp_path / "report"
    if row is not None:
        report.write_text(json.dumps(row))
    assert main(report) == 1
    assert says in capsys.readouterr().out
