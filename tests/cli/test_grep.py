"""The command `mathamr grep`: lines, exit codes, and renamed files."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

NOTES = "# One\n\nLet $x^2$ and $z$ be,\nwith $x_1$.\n\n# Two\n\nSo $x + y$."


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "a.md").write_text(NOTES, "utf-8")
    (tmp_path / "b.md").write_text("No $q$ here, x.\n", "utf-8")
    return tmp_path


def test_lines_counts_files_and_json(mathamr, notes: Path) -> None:
    a = notes / "a.md"
    assert mathamr("grep", "x", notes).stdout.splitlines() == [
        f"{a}:3:5:Let $x^2$ and $z$ be,",
        f"{a}:4:6:with $x_1$.",
        f"{a}:8:4:So $x + y$.",
    ]
    assert mathamr("grep", "x", notes, "-c").stdout == f"{a}:3\n"
    assert mathamr("grep", "x", notes, "-l").stdout == f"{a}\n"
    rows = [json.loads(line) for line in mathamr("grep", "x + y", notes, "--json").stdout.splitlines()]
    assert rows == [{"path": str(a), "line": 8, "column": 4, "latex": "x + y", "text": "$x + y$"}]
    assert mathamr("grep", "-C", "1", "x+y", a).stdout.splitlines() == [f"{a}-7-", f"{a}:8:4:So $x + y$."]
    assert mathamr("grep", "-w", "HERE", notes).returncode == 1
    assert mathamr("grep", "-w", "here", notes).stdout == f"{notes / 'b.md'}:1:8:No $q$ here, x.\n"


def test_colours_are_for_terminals_and_on_demand(mathamr, notes: Path) -> None:
    assert "\x1b" not in mathamr("grep", "x", notes).stdout
    assert "\x1b[1;31m$x + y$\x1b[0m" in mathamr("grep", "x+y", notes, "--color", "always").stdout


def test_exit_codes_are_those_of_ripgrep(mathamr, notes: Path) -> None:
    assert mathamr("grep", "x", notes).returncode == 0
    assert mathamr("grep", "w", notes).returncode == 1
    failed = mathamr("grep", "x", notes / "none.md")
    assert failed.returncode == 2
    assert "no such file" in failed.stderr
    assert mathamr("grep", "?a", notes, "--letters", "any").returncode == 2
    (notes / "c.ipynb").write_text('{"cells": [', "utf-8")
    partly = mathamr("grep", "x", notes)
    assert partly.returncode == 2
    assert f"{notes / 'a.md'}:3:5:" in partly.stdout
    assert "skipped 1: damaged notebook" in partly.stderr
    (notes / "c.ipynb").unlink()
    assert mathamr("grep", "x", notes, "--write").returncode == 2


def test_a_renaming_is_shown_and_written(mathamr, notes: Path) -> None:
    a = notes / "a.md"
    shown = mathamr("grep", "z", notes, "--rename", "x=t")
    assert a.read_text("utf-8") == NOTES
    expected = NOTES.replace("$x^2$", "$t^2$").replace("$x_1$", "$t_1$")
    everything = mathamr("grep", "x", notes, "--rename", "x=t").stdout
    assert "+So $t + y$.\n\\ No newline at end of file" in everything
    a.chmod(0o640)
    written = mathamr("grep", "z", notes, "--rename", "x=t", "--write")
    assert written.stdout == shown.stdout
    assert (a.read_text("utf-8"), a.stat().st_mode & 0o777) == (expected, 0o640)


def test_the_command_patch_applies_what_a_renaming_shows(mathamr, notes: Path) -> None:
    if (patch := shutil.which("patch")) is None:
        pytest.skip("the oracle is the command patch, which is not installed")
    a = notes / "a.md"
    shown = mathamr("grep", "z", notes, "--rename", "x=t").stdout
    applied = subprocess.run([patch, "-s", str(a)], input=shown, text=True, capture_output=True, check=False)
    assert applied.returncode == 0, applied.stdout
    assert a.read_text("utf-8") == NOTES.replace("$x^2$", "$t^2$").replace("$x_1$", "$t_1$")


def test_nothing_is_written_where_one_file_refuses(mathamr, notes: Path) -> None:
    (notes / "b.md").write_text("A clash of $x$ and $t$.\n", "utf-8")
    ran = mathamr("grep", "x", notes, "--rename", "x=t", "--write")
    assert ran.returncode == 2
    assert "b.md, line 1: t is used already" in ran.stderr
    assert (notes / "a.md").read_text("utf-8") == NOTES
