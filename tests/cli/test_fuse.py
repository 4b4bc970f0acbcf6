"""`mathamr fuse` as another program calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.evaluation.fusedruns import fuse_runs
from mathamr.evaluation.runs import read_run
from tests.cli.conftest import Command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in: two runs with one topic in common, and some that do not fit them."""
    monkeypatch.chdir(tmp_path)
    Path("one.run").write_text("A.1 Q0 7 1 9 x\nA.1 Q0 8 2 8 x\nA.2 Q0 7 1 1 x\n", encoding="utf-8")
    Path("two.run").write_text("A.1\t8\t1\t.9\tx\nA.1\t5\t2\t.1\tx\nA.3\t9\t1\t1\tx\n", encoding="utf-8")
    Path("looks.run").write_text("A.1 Q0 q_1 1 2 x\nA.1 Q0 q_2 2 1 x\n", encoding="utf-8")
    Path("b.run").write_text("B.1 Q0 7 1 2 x\n", encoding="utf-8")
    Path("odd.run").write_text("A.1 Q0 7 1 1 x\nA.1 Q0 8 2 5 x\n", encoding="utf-8")
    return tmp_path


def test_the_file_has_the_fused_run_and_stderr_what_to_know(mathamr: Command, folder: Path) -> None:
    ran = mathamr("fuse", "one.run", "two.run", "--out", "both.run", "--name", "both")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert read_run("both.run") == fuse_runs([read_run("one.run"), read_run("two.run")], name="both")
    assert read_run("both.run").ids("A.1") == ["8", "7", "5"]
    assert Path("both.run").read_text(encoding="utf-8").splitlines()[0].split()[::5] == ["A.1", "both"]
    assert "one: lacks 1 of 3 topics, which are fused from the other runs (A.3)" in ran.stderr
    assert "two: lacks 1 of 3 topics" in ran.stderr
    assert "2 runs, 3 topics, 5 results" in ran.stderr


def test_weights_normalisation_and_depth_count(mathamr: Command, folder: Path) -> None:
    arguments = ("fuse", "one.run", "two.run", "--out", "-", "--fusion", "weighted-sum")
    alike = mathamr(*arguments, "--weights", "1,1").stdout
    assert alike == mathamr(*arguments).stdout

    def first(*options: str) -> list[str]:
        return [line.split()[2] for line in mathamr(*arguments, *options).stdout.splitlines()][:3]

    assert first("--weights", "9,1") == ["7", "8", "5"]
    assert first("--weights", "1,1.05") == ["8", "7", "5"]
    assert first("--weights", "1,1.05", "--normalisation", "none") == ["7", "8", "5"]
    assert len(mathamr(*arguments, "--depth", "1").stdout.splitlines()) == 3


def test_what_makes_a_fusion_pointless_is_reported(mathamr: Command, folder: Path) -> None:
    apart = mathamr("fuse", "one.run", "looks.run", "--out", "-")
    assert "no result is in more than one of the runs; do they all have ids of the same kind" in apart.stderr
    odd = mathamr("fuse", "one.run", "odd.run", "--out", "-")
    assert "odd: the ranks contradict the scores in 1 topics; the scores count" in odd.stderr
    assert "do they all have ids of the same kind" not in odd.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("one.run",), 2, "two runs or more"),
        (("one.run", "two.run", "--weights", "1"), 2, "2 runs need 2 weights, got 1"),
        (("one.run", "two.run", "--weights", "1;2"), 2, "write numbers like 1,0.5"),
        (("one.run", "two.run", "--weights", "1,-1"), 1, "must be a finite number of at least 0, got -1.0"),
        (("one.run", "two.run", "--fusion", "zscore"), 1, "unknown fusion 'zscore'; known: rrf, score-rrf"),
        (("one.run", "two.run", "--normalisation", "z"), 1, "the fusion 'rrf' uses ranks alone"),
        (
            ("one.run", "two.run", "--fusion", "mean", "--normalisation", "q"),
            1,
            "unknown normalisation 'q'; known: min-max, top, z, none",
        ),
        (("one.run", "one.run"), 1, "the run one.run appears twice"),
        (("one.run", "three.run"), 1, "three.run: cannot be read"),
        (("one.run", "b.run"), 1, "no topic is in more than one of the runs: one has A.1, A.2; b has B.1"),
    ],
)
def test_wrong_input_ends_with_one_clear_message_and_no_file(
    mathamr: Command, folder: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    ran = mathamr("fuse", *arguments, "--out", "both.run")
    assert ran.returncode == code
    assert message in " ".join(ran.stderr.replace("│", " ").split())
    assert "Traceback" not in ran.stderr
    assert not (folder / "both.run").exists()


def test_a_place_that_cannot_be_written_is_reported(mathamr: Command, folder: Path) -> None:
    ran = mathamr("fuse", "one.run", "two.run", "--out", "no-such-folder/both.run")
    assert ran.returncode == 1
    assert "no-such-folder/both.run: the run cannot be written" in ran.stderr
