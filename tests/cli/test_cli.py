from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from importlib import import_module

import pytest
import typer

from mathamr import __version__, cli
from mathamr.cli import LABORATORY, VERBS
from mathamr.core.errors import MissingExtraError
from tests.cli.conftest import Command


def started(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "mathamr", *arguments], capture_output=True, text=True)


def test_help_lists_every_verb_and_loads_nothing_heavy() -> None:
    code = (
        "import sys, contextlib; sys.argv = ['mathamr', '--help']\n"
        "from mathamr.cli import main\n"
        "with contextlib.suppress(SystemExit): main()\n"
        "print([name for name in ('torch', 'spacy', 'lxml', 'numpy', 'penman') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip().splitlines()[-1] == "[]", result.stderr
    assert all(verb in result.stdout for verb in VERBS)


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in LABORATORY])
def test_every_verb_has_a_module_with_a_documented_command(mathamr: Command, verb: str) -> None:
    command = import_module(f"mathamr.cli.{verb}").command
    assert command.__doc__
    assert mathamr(verb, "--help").returncode == 0


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in LABORATORY])
def test_a_short_help_has_a_line_for_each_option_and_fits_a_screen(
    mathamr: Command, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    lines = mathamr(verb, "-h").stdout.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    options = typer.main.get_command(_app(verb)).params
    shown = "\n".join(lines[4:])
    for option in options:
        assert option.param_type_name == "argument" or max(option.opts, key=len) in shown


def _app(verb: str) -> typer.Typer:
    app = typer.Typer(add_completion=False)
    app.command(name=verb)(import_module(f"mathamr.cli.{verb}").command)
    return app


def test_a_query_that_looks_like_the_short_help_is_typed_behind_dashes(mathamr: Command) -> None:
    assert "does not exist; create an index" in mathamr("search", "no-such-folder", "--", "-h").stderr


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("se", ["search", "serve"]),
        ("search --ki", ["--kind"]),
        ("index --eng", ["--engine", "--engine-option"]),
    ],
)
def test_a_shell_completes_verbs_and_options(typed: str, offered: list[str]) -> None:
    words = f"mathamr {typed}"
    environment = {
        **os.environ,
        "_MATHAMR_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(shlex.split(words)) - 1),
    }
    code = "import sys; sys.argv = ['mathamr']; from mathamr.cli import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.stdout.split() == offered


@pytest.mark.parametrize("verb", LABORATORY)
def test_a_verb_of_the_laboratory_says_how_to_install_it(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    with pytest.raises(MissingExtraError, match=r"pip install \./lab"):
        cli._command(verb)


def test_exit_codes_tell_errors_from_wrong_usage() -> None:
    assert started("--version").stdout == f"mathamr {__version__}\n"
    assert started("no-such-verb").returncode == 2
    missing = started("posts", "no-such-folder")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr == "mathamr: no-such-folder: no such file or folder\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_data_are_unicode_and_a_terminal_without_a_sign_gets_its_number(encoding: str) -> None:
    command = [sys.executable, "-m", "mathamr", "posts", "-", "--format", "text", "--jsonl"]
    sent = "Let ε ≤ 1 be small.".encode()
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    ended = subprocess.run(command, input=sent, env=environment, capture_output=True, check=True)
    assert "ε ≤ 1" in json.loads(ended.stdout)["body"]
    screen, terminal = os.openpty()
    subprocess.run(command, input=sent, env=environment, stdout=terminal, check=True)
    os.close(terminal)
    assert b"\\u2264" in os.read(screen, 1 << 16)
    os.close(screen)


def test_a_query_that_begins_with_a_minus_sign_says_what_to_type(mathamr: Command) -> None:
    wrong = mathamr("search", "notes.index", "-x + 1")
    assert wrong.returncode == 2
    assert "behind --, as in -- '-x + 1'" in wrong.stderr
    assert "behind --" not in mathamr("search", "notes.index", "--no-such-option").stderr
    assert "behind --" not in mathamr("posts", "-q").stderr
