"""`mathamr amr` as another program calls it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from mathamr.amr.graph import Amr
from tests.cli.conftest import Command
from tests.conftest import ROOT

RULE = "tests.amr.rule_parser:RuleParser"


@pytest.fixture
def run(mathamr: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command with a parser of the tests, which its workers find, too."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return partial(mathamr, "amr", "--parser", RULE)


def test_sentences_become_penman_graphs(run: Command) -> None:
    ran = run("Let FORMULA_0 be", "Why?")
    assert (ran.returncode, ran.stderr) == (0, "")
    graphs = [Amr.from_penman(text) for text in ran.stdout.strip().split("\n\n")]
    assert [dict(graph.metadata)["snt"] for graph in graphs] == ["Let FORMULA_0 be", "Why?"]
    assert graphs[0].to_penman(one_line=True) == "(n0 / Let :mod (n1 / FORMULA_0) :mod (n2 / be))"


def test_without_sentences_the_lines_of_stdin_are_read(run: Command) -> None:
    ran = run("--alignments", stdin=b"one two\n\ncaf\xe9 \xff\n")
    assert "(n0 / one~e.0" in ran.stdout
    assert len([Amr.from_penman(text) for text in ran.stdout.strip().split("\n\n")]) == 2
    assert "2 sentences parsed, 0 with a minimal graph, 0 formulas without a node" in ran.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_json_lines_are_answered_in_order_and_go_on_after_an_error(run: Command, workers: str) -> None:
    texts = [f"word{number} FORMULA_{number}" for number in range(200)]
    texts[7], texts[70] = "RAISE FORMULA_7", "DROP FORMULA_70"
    lines = [json.dumps({"text": text}) for text in texts]
    lines[3:3] = ["no json", "[1]", '{"text": 5}', "\ufeff{", '{"text": "lone \\ud800"}', "[" * 50_000]
    ran = run("--jsonl", "--workers", workers, stdin="\n".join(lines))
    assert ran.returncode == 0
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert all(list(row) == ["text", "amr", "error"] for row in rows)
    assert [row["text"] for row in rows] == [
        *texts[:3],
        None,
        None,
        None,
        None,
        "lone \ud800",
        None,
        *texts[3:],
    ]
    by_text = {row["text"]: row for row in rows}
    assert by_text["RAISE FORMULA_7"]["amr"] == "(a / and :op1 (r / raise) :op2 (f / FORMULA_7))"
    assert by_text["RAISE FORMULA_7"]["error"].endswith("exception: ValueError: I cannot read this")
    assert by_text["word9 FORMULA_9"] == {
        "text": "word9 FORMULA_9",
        "amr": "(n0 / word9 :mod (n1 / FORMULA_9))",
        "error": None,
    }
    assert "1 with a minimal graph (exception: 1), 1 formula without a node, 5 lines refused" in ran.stderr


def test_a_pipe_is_answered_before_it_is_closed() -> None:
    command = [sys.executable, "-m", "mathamr", "amr", "--parser", RULE, "--jsonl"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for word in ("one", "two"):
            process.stdin.write(json.dumps({"text": word}).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["amr"] == f"(n0 / {word})"


def test_all_sentences_are_drawn_in_one_picture(run: Command, tmp_path: Path) -> None:
    ran = run("A set.", "It is open.", "--svg", tmp_path / "graph.svg")
    assert (ran.returncode, ran.stdout) == (0, "")
    picture = (tmp_path / "graph.svg").read_text()
    assert ">multi-sentence</text>" in picture
    assert run("--svg", "-", stdin="A set.\nIt is open.\n").stdout == picture


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["--parser", "nonsense", "word"],
            1,
            "mathamr: unknown AMR parser 'nonsense'; known: builtin, amrlib",
        ),
        (
            ["--svg", "/nowhere/graph.svg", "word"],
            1,
            "mathamr: cannot write the picture to /nowhere/graph.svg",
        ),
        (["--jsonl", "word"], 2, "--jsonl reads standard input"),
        (["--workers", "0", "word"], 2, "Invalid value"),
    ],
)
def test_errors_are_clear(run: Command, arguments: list[str], code: int, message: str) -> None:
    ran = run(*arguments)
    assert ran.returncode == code
    assert message in re.sub(r"\s+", " ", ran.stderr)
    assert "Traceback" not in ran.stderr


def test_control_characters_do_not_reach_the_terminal(run: Command) -> None:
    ran = run("Let \x1b]0;owned\x07 be \x9b2J")
    assert not {"\x1b", "\x07", "\x9b"} & set(ran.stdout + ran.stderr)
    assert "\\x1b]0;owned" in ran.stdout
