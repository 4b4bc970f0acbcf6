"""Ctrl-C: one sentence says what is kept, and the same command goes on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mathamr.core.interruption import STOPPED
from tests.cli.conftest import Command


def _heed_interrupts() -> None:
    """Undo what shells do to their jobs in the background, which ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
def test_ctrl_c_says_what_an_index_keeps_and_the_same_command_goes_on(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(120):
        text = " ".join(
            f"The sequence {number} of {place} tends to $\\frac{{{number}}}{{n^{place}}}$."
            for place in range(40)
        )
        (notes / f"{number}.md").write_text(f"# Limit {number}\n\n{text}\n", "utf-8")
    command = [sys.executable, "-m", "mathamr", "index", str(notes), "--workers", "2"]
    running = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_heed_interrupts,
    )
    catalogue = tmp_path / "notes.index" / "catalogue.db"
    while not catalogue.exists() and running.poll() is None:
        time.sleep(0.05)
    time.sleep(2)
    os.killpg(running.pid, signal.SIGINT)
    try:
        _, said = running.communicate(timeout=120)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode == STOPPED, said
    assert "Traceback" not in said
    assert re.search(r"mathamr: stopped; (nothing is kept in|.* keeps [\d,]+ entr)", said), said
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "120 entries" in ended.stdout


@pytest.mark.parametrize(
    ("verb", "place", "arguments", "kept"),
    [
        ("index", "mathamr.index.indexing.builder.build_index", [], "nothing is kept in .*notes.index yet"),
        (
            "graph",
            "mathamr.graphs.corpus.build_graphs",
            ["--out", "store"],
            "graphs that were made are kept in",
        ),
    ],
)
def test_ctrl_c_says_what_long_commands_keep(
    verb: str,
    place: str,
    arguments: list[str],
    kept: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mathamr: Command,
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(place, stopped)
    monkeypatch.chdir(tmp_path)
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("A limit $a_n$.", "utf-8")
    ran = mathamr(verb, notes, *arguments)
    assert ran.returncode == STOPPED
    assert re.search(f"mathamr: stopped; {kept}", ran.stderr), ran.stderr


def test_ctrl_c_in_any_command_is_one_sentence(monkeypatch: pytest.MonkeyPatch, mathamr: Command) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mathamr.cli.posts.read_posts", stopped)
    ran = mathamr("posts", ".")
    assert (ran.returncode, ran.stderr) == (STOPPED, "mathamr: stopped\n")
