"""scripts/check_patterns.py, and the slopes of the patterns that it lists."""

from __future__ import annotations

import subprocess
import sys
from importlib import util
from types import ModuleType

import pytest

from tests.bounded import bounded
from tests.cases import cases
from tests.conftest import ROOT

SCRIPT = ROOT / "scripts" / "check_patterns.py"


@pytest.fixture(scope="module")
def check() -> ModuleType:
    spec = util.spec_from_file_location("check_patterns", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cases(
    ("pattern", "is_found"),
    [
        ("(?:a*b?)*c", True),
        (r"(?:<!--[^>]*-->|\s*)*<", True),
        (r"(\w+\s*)+;", True),
        ("(?:a+)+?b", True),
        ("(?:(?>a*)b?)*c", False),
        ("(?:a*+b?)*c", False),
        (r"\d+(?:\.\d+)*", False),
        (r"(?:\[[^\]]*\])*", False),
        ("(?:a{0,5}b?)*c", False),
    ],
)
def test_a_repetition_of_a_repetition_is_found(check: ModuleType, pattern: str, *, is_found: bool) -> None:
    assert check.repeats_a_repetition(pattern, 0) is is_found


@pytest.mark.slow  # `make lint` runs the same check
def test_no_pattern_of_the_package_repeats_a_repetition_unless_it_is_listed() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "src/mathamr"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert int(done.stderr.split()[0]) > 500


_TIMED = """
import itertools, sys, time
from importlib import import_module
module, name, begun = sys.argv[1:]
pattern = getattr(import_module(module), name)
signs = sorted({each for each in pattern.pattern if not each.isalnum() and each.isprintable()})[:6] + [" ", "a"]
for one, other in itertools.product(signs, repeat=2):
    took = []
    for count in (500, 2000):
        text = begun + (one + other) * count + "\\0"
        least = 1e9
        for _ in range(3):  # the least of three: a busy machine takes time of its own
            started = time.process_time()
            pattern.match(text)
            least = min(least, time.process_time() - started)
        took.append(least)
    assert took[1] < max(0.05, 12 * took[0]), (one, other, took)  # four times as long as linear
"""


def test_the_time_of_each_pattern_that_is_listed_is_linear(check: ModuleType) -> None:
    for where, begun in check.KNOWN.items():
        file, _, name = where.partition(":")
        module = "mathamr." + file.removesuffix(".py").replace("/", ".")
        done = bounded(_TIMED, module, name, begun, seconds=30)
        assert done.returncode == 0, f"{where}: {done.stderr[-300:]}"
