"""`mathamr amr` as another program calls it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mathamr.amr.graph import Amr

ROOT = Path(__file__).resolve().parents[2]
RULE = "tests.amr.rule_parser:RuleParser"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "MATHAMR_CACHE": str(tmp_path / "cache")}


def run(
    environment: dict[str, str], *arguments: str, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "mathamr", "amr", "--parser", RULE, *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, env=environment, cwd=ROOT, check=False)


def test_sentences_become_penman_graphs(environment: dict[str, str]) -> None:
    ran = run(environment, "Let FORMULA_0 be", "Why?")
    assert (ran.returncode, ran.stderr) == (0, b"")
    graphs = [Amr.from_penman(text) for text in ran.stdout.decode().strip().split("\n\n")]
    assert [dict(graph.metadata)["snt"] for graph in graphs] == ["Let FORMULA_0 be", "Why?"]
    assert graphs[0].to_penman(one_line=True) == "(n0 / Let :mod (n1 / FORMULA_0) :mod (n2 / be))"


def test_without_sentences_the_lines_of_stdin_are_read(environment: dict[str, str]) -> None:
    ran = run(environment, "--alignments", stdin="one two\n\ncaf\u00e9 \xff\n".encode("latin-1", "replace"))
    assert "(n0 / one~e.0" in ran.stdout.decode()
    assert len([Amr.from_penman(text) for text in ran.stdout.decode().strip().split("\n\n")]) == 2
    assert b"2 sentences parsed, 0 with a minimal graph, 0 formulas without a node" in ran.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_json_lines_are_answered_in_order_and_go_on_after_an_error(
    environment: dict[str, str], workers: str
) -> None:
    texts = [f"word{number} FORMULA_{number}" for number in range(200)]
    texts[7], texts[70] = "RAISE FORMULA_7", "DROP FORMULA_70"
    lines = [json.dumps({"text": text}) for text in texts]
    lines[3:3] = ["no json", "[1]", '{"text": 5}', "\ufeff{", '{"text": "lone \\ud800"}', "[" * 50_000]
    ran = run(environment, "--jsonl", "--workers", workers, stdin="\n".join(lines).encode())
    assert ran.returncode == 0
    rows = [json.loads(line) for line in ran.stdout.decode().splitlines()]
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
    assert b"1 with a minimal graph (exception: 1), 1 formula without a node, 5 lines refused" in ran.stderr


def test_a_pipe_is_answered_before_it_is_closed(environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "mathamr", "amr", "--parser", RULE, "--jsonl"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=ROOT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for word in ("one", "two"):
            process.stdin.write(json.dumps({"text": word}).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["amr"] == f"(n0 / {word})"


def test_all_sentences_are_drawn_in_one_picture(environment: dict[str, str], tmp_path: Path) -> None:
    ran = run(environment, "A set.", "It is open.", "--svg", str(tmp_path / "graph.svg"))
    assert (ran.returncode, ran.stdout) == (0, b"")
    picture = (tmp_path / "graph.svg").read_text()
    assert ">multi-sentence</text>" in picture
    assert run(environment, "--svg", "-", stdin=b"A set.\nIt is open.\n").stdout.decode() == picture


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
def test_errors_are_clear(environment: dict[str, str], arguments: list[str], code: int, message: str) -> None:
    ran = run(environment, *arguments)
    assert ran.returncode == code
    assert message in re.sub(r"\s+", " ", ran.stderr.decode())
    assert b"Traceback" not in ran.stderr


def test_control_characters_do_not_reach_the_terminal(environment: dict[str, str]) -> None:
    ran = run(environment, "Let \x1b]0;owned\x07 be \x9b2J")
    assert not {"\x1b", "\x07", "\x9b"} & set((ran.stdout + ran.stderr).decode())
    assert "\\x1b]0;owned" in ran.stdout.decode()
