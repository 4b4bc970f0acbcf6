"""Repeats the tests that failed in a run of all: what fails alone too has failed, what passes alone is a race between tests.

    PYTEST_ADDOPTS="-p scripts.races" MATHAMR_TEST_REPORT=FILE make test-all || python -m scripts.races FILE

As a plugin of pytest it writes into FILE which tests failed, and how the run ended. As a program it repeats them alone, one after the
other; each that passes is a race, which is counted and printed. A race has failed in one run, and gets two more beside busy processes:
if it fails in one of them, that is the second time in three runs, and the whole run fails.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

REPORT = "MATHAMR_TEST_REPORT"
MOST = 20
"""More failures than this are no races, and are not repeated."""
SECONDS = 300
"""How long one repetition of all of them may take."""
MORE_RUNS = 2


class Report:
    """Collects what failed in a run; workers of pytest-xdist report to the process that started them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._failed: dict[str, None] = {}
        self._uncollected: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that failed, or whose fixtures did."""
        if report.failed:
            self._failed[report.nodeid] = None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that could not be collected: its tests did not run."""
        if report.failed:
            self._uncollected.append(report.nodeid)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write what was found; a run that was killed before leaves nothing."""
        row = {"status": int(exitstatus), "failed": list(self._failed), "uncollected": self._uncollected}
        self._path.write_text(json.dumps(row), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Report to the file that the environment names; processes of this run must not write there too."""
    os.environ.pop("PYTEST_ADDOPTS", None)
    path = os.environ.pop(REPORT, "")
    if path:
        config.pluginmanager.register(Report(Path(path)))


def main(report: Path) -> int:
    """Return 0 if all that failed were races, and none of them failed a second time."""
    failed, problem = _read(report)
    if problem:
        return _fail(problem)
    if len(failed) > MOST:
        return _fail(f"{len(failed)} tests failed; more than {MOST} are not repeated")
    _say(f"{len(failed)} failed; again, alone")
    again, problem = _repeat(failed)
    if again or problem:
        return _fail(problem or "failed alone too:", again)
    _say(f"{len(failed)} failed beside other tests and passed alone:", failed)
    for number in range(MORE_RUNS):
        _say(f"again beside busy processes, run {number + 2} of {MORE_RUNS + 1}")
        with _busy():
            again, problem = _repeat(failed, "-n", "2")
        if again or problem:
            return _fail(problem or "a race that failed a second time:", again)
    return 0


def _read(report: Path) -> tuple[list[str], str]:
    """Return the tests that failed in a run, and what else was wrong with it."""
    try:
        row = json.loads(report.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return [], "the tests did not run to their end"
    if row["uncollected"]:
        return [], f"not collected: {', '.join(row['uncollected'])}"
    if row["status"] not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return [], f"pytest did not run all tests: it ended with status {row['status']}"
    if bool(row["failed"]) != (row["status"] == pytest.ExitCode.TESTS_FAILED):
        return [], f"pytest ended with status {row['status']} and {len(row['failed'])} failures"
    return row["failed"], ""


def _repeat(tests: Sequence[str], *options: str) -> tuple[list[str], str]:
    """Run some tests again; return those that failed, and what else was wrong."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        environment = {**os.environ, REPORT: str(report)}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "scripts.races",
            "-p",
            "no:cacheprovider",
            *options,
            *tests,
        ]
        try:
            subprocess.run(command, env=environment, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return [], f"the repetition took more than {SECONDS} seconds"
        return _read(report)


@contextmanager
def _busy() -> Iterator[None]:
    """Keep every processor busy."""
    code = "while True: sum(range(10**6))"
    spinning = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for each in spinning:
            each.kill()
            each.wait()


def _say(text: str, tests: Sequence[str] = ()) -> None:
    print("\n".join([f"mathamr: {text}", *(f"    {each}" for each in tests)]), flush=True)


def _fail(text: str, tests: Sequence[str] = ()) -> int:
    _say(text, tests)
    return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
