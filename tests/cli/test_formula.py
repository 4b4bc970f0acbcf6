"""`mathamr formula` as a user or another program calls it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli.conftest import Command


@pytest.fixture
def run(mathamr: Command) -> Command:
    return partial(mathamr, "formula")


def test_trees_for_people(run: Command) -> None:
    done = run("x^2", r"\nosuch")
    assert done.returncode == 0
    assert "├─ above: N!2" in done.stdout or "└─ above: N!2" in done.stdout
    assert r"repaired: unknown command \nosuch (at offset 0)" in done.stdout


def test_json_holds_trees_and_repairs(run: Command) -> None:
    (formula,) = json.loads(run("--json", "a}").stdout)
    assert formula["slt"] == "[V!a]"
    assert formula["repairs"] == [{"message": "} without its opening", "offset": 1}]


def test_json_lines_are_answered_in_order(run: Command) -> None:
    done = run("--jsonl", stdin='{"latex": "a"}\nbroken\n{"latex": "b"}\n')
    assert done.returncode == 0
    assert [json.loads(line)["slt"] for line in done.stdout.splitlines()] == ["[V!a]", None, "[V!b]"]


def test_a_formula_that_cannot_be_read_is_shown_with_a_caret_and_the_others_are_answered(
    run: Command,
) -> None:
    done = run(r"\def\x{\x}\x", "a")
    assert done.returncode == 1
    assert done.stdout.startswith("a\n")
    assert "          ^" in done.stderr
    assert "Traceback" not in done.stderr


def test_picture_markup_macros_and_wildcards(run: Command, tmp_path: Path) -> None:
    macros = tmp_path / "macros.tex"
    macros.write_text(r"\newcommand{\half}{\frac12}")
    picture = tmp_path / "trees.svg"
    assert run("--macros", str(macros), "--svg", str(picture), r"\half").returncode == 0
    assert picture.read_text(encoding="utf-8").startswith("<svg")
    assert "<mfrac>" in run("--macros", str(macros), "--mathml", r"\half").stdout
    assert json.loads(run("--wildcards", "--json", "?a").stdout)[0]["slt"] == "[?a]"


def test_wrong_usage_is_exit_code_two(run: Command) -> None:
    assert run("--json", "--jsonl", "a").returncode == 2
    assert run(stdin="").returncode == 2
    assert run("--svg", "trees.svg", "a", "b").returncode == 2


def test_formulas_may_come_line_by_line(run: Command) -> None:
    assert [formula["latex"] for formula in json.loads(run("--json", stdin="a\n\nb\n").stdout)] == ["a", "b"]


def test_control_characters_do_not_reach_the_terminal(run: Command) -> None:
    for arguments in ((), ("--mathml",)):
        done = run(*arguments, "x\x1b]0;owned\x07\x9b2J")
        assert not {"\x1b", "\x07", "\x9b"} & set(done.stdout + done.stderr), arguments
