"""A server of notes follows them, unless it is told not to."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import psutil
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.settings import API_KEY
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.serve.launch import serve
from tests.cli.conftest import Command, mathamr
from tests.folders import write_files
from tests.serve.test_workers import Served, within

__all__ = ["mathamr"]


@pytest.fixture
def notes(model_folder: Path, tmp_path: Path) -> Path:
    """A folder of notes beside their index."""
    write_files(tmp_path / "notes", {"zebra.md": "# Zebras\n\nA zebra satisfies $x^2=1$.\n"})
    build_index(
        [tmp_path / "notes"], tmp_path / "notes.index", BuildOptions(model=model_folder, device="cpu")
    )
    return tmp_path / "notes"


def test_a_server_of_notes_finds_a_new_one_and_its_watcher_ends_with_it(notes: Path) -> None:
    served = Served(notes, "--limit", "seconds=120")
    children = psutil.Process(served.process.pid).children(recursive=True)

    def found() -> bool:
        with urllib.request.urlopen(
            f"{served.address}v1/search?q=quagga&strategy=lexical", timeout=60
        ) as answer:
            return [hit["id"] for hit in json.load(answer)["hits"]] == ["quagga.md"]

    try:
        assert served.address
        assert not found()
        tries = iter(range(10_000))

        def found_after_a_write() -> bool:  # the first ones may come before it watches
            write_files(notes, {"quagga.md": f"# Quaggas\n\nA quagga satisfies $x^3={next(tries)}$.\n"})
            return within(10, found)

        assert within(300, found_after_a_write)
    finally:
        served.process.kill()
        served.process.communicate()
    assert len(children) >= 3, "two workers and the watcher"
    assert within(60, lambda: not any(each.is_running() and each.status() != "zombie" for each in children))


def test_notes_are_watched_by_default_and_an_index_or_a_server_that_takes_writes_is_not(
    notes: Path, mathamr: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def served(*_: Any, watch: bool, **__: Any) -> None:
        seen.append(watch)

    monkeypatch.setattr("mathamr.serve.launch.serve", served)
    index = notes.with_name("notes.index")
    for arguments in ([notes], [notes, "--no-watch"], [index], [index, "--watch"]):
        assert mathamr("serve", *arguments).returncode == 0
    monkeypatch.setenv(API_KEY.name, "k" * 20)
    assert mathamr("serve", notes).returncode == 0
    assert seen == [True, False, False, True, False]


def test_a_server_that_takes_writes_does_not_watch(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(API_KEY.name, "k" * 20)
    with pytest.raises(MathAMRError, match="cannot watch files"):
        serve(notes.with_name("notes.index"), port=0, watch=True)
