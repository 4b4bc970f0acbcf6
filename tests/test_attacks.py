"""The harness of attacks itself: scripts/attacks."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT

SCRIPTS = ROOT / "scripts" / "attacks"


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))


def test_every_attack_is_documented_and_every_name_in_the_document_is_one() -> None:
    document = (ROOT / "docs/secure.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in document.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([a-z_0-9]+)`", row)}
    done = subprocess.run(
        [sys.executable, str(SCRIPTS), "--list"], capture_output=True, text=True, check=True
    )
    listed = set(done.stdout.split())
    assert len(listed) >= 97
    assert not listed - named
    assert not {name for name in named if "_" in name} - listed


def test_the_smallest_case_that_fails_is_found() -> None:
    from fuzz import Case, smallest

    case = Case("a.md", (("a", 7), ("b", 100), ("c", 1), ("d", 50), ("e", 3)))
    found = smallest(case, lambda few: few.text.count("b") > 10 and "d" in few.text)
    assert found.parts == (("b", 12), ("d", 1))


def test_a_seed_gives_the_same_cases() -> None:
    from corpus import ODD, TEXTS

    from fuzz import parts

    pieces = TEXTS["documents"]["a.md"]
    made = [parts(random.Random("documents 1 7"), pieces, ODD) for _ in range(2)]
    assert made[0] == made[1] != parts(random.Random("documents 1 8"), pieces, ODD)


def test_findings_are_kept_with_their_seeds_and_smallest_cases(tmp_path: Path) -> None:
    from fuzz import Campaign, Case, Door

    def run(case: Case) -> str:
        return "finding: it breaks" if "b" in case.text else "read"

    door = Door(
        "letters", lambda _, chance: Case("a", tuple((chance.choice("ab"), 9) for _ in range(5))), run
    )
    campaign = Campaign("letters", 3, count=4, seconds=60, minutes=5, finds=tmp_path)
    assert campaign.run(door) > 0
    said = (tmp_path / "letters-3.txt").read_text()
    assert "letters seed 3 case 0 (a, 45 characters): finding: it breaks\n  smallest: a (('b', 1),)\n" in said
    assert "letters seed 3: 4 cases" in said


@pytest.mark.parametrize(("power", "is_steep"), [(1, False), (2, True)])
def test_the_slope_of_calls_tells_linear_from_quadratic(power: int, *, is_steep: bool) -> None:
    # in a process of its own: profiling ends whatever else profiles this one
    code = (
        "from fuzz import STEEP, slope\n"
        f"calls, _ = slope(lambda size: [len('a') for _ in range(size**{power})], (100, 200, 800))\n"
        "print(calls, calls > STEEP)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=SCRIPTS, capture_output=True, text=True, timeout=100, check=True
    )
    calls, said = float(done.stdout.split()[0]), done.stdout.split()[1]
    assert said == str(is_steep)
    assert calls == pytest.approx(power, abs=0.1)


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (lambda: "read", "read"),
        (lambda: 1 / 0, "finding: Traceback"),
        (lambda: bytearray(1 << 30), "finding: more than 200 MB"),
        (lambda: time.sleep(1000), "finding: ended by signal 14"),
        (lambda: [None for _ in iter(int, 1)], "finding: "),
    ],
)
def test_what_a_case_does_is_told_in_a_process_of_its_own(
    work: object, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fuzz

    monkeypatch.setattr(fuzz, "PATIENCE", 2)
    result = fuzz.in_child(work, 1, 200)  # type: ignore[arg-type]
    assert result.said.startswith(said)
    assert result.is_finding is said.startswith("finding")
