"""Connections leave room for the files of the index."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr.index.indexing.writer import IndexWriter
from mathamr.search.searcher import Index
from mathamr.serve.connections import OWN_FILES, fit_to_files
from mathamr.serve.limits import Limits
from tests.index.small import build, note


@pytest.fixture(autouse=True)
def limit_kept() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_connections_are_as_many_as_there_are_descriptors_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    for given, connections in ((256, 96), (100, 8), (500 + OWN_FILES, 500), (resource.RLIM_INFINITY, 500)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, given=given: (given, given))
        assert fit_to_files(Limits()).connections == connections


def test_more_descriptors_are_asked_of_the_system_where_it_has_them() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 500 + OWN_FILES:
        pytest.skip(f"this user may open {hard} files at most, and 500 connections need {500 + OWN_FILES}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    assert fit_to_files(Limits()).connections == 500
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 500 + OWN_FILES


@pytest.mark.slow
def test_open_files_do_not_grow_with_writes(model_folder: Path, tmp_path: Path) -> None:
    """A writer and a reader in one process, which is more than a server has."""
    build(tmp_path / "index", [note("first", "The first $x$.")], model_folder)

    def opened() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before, most = opened(), 0
    with (
        IndexWriter.open(tmp_path / "index", device="cpu") as writer,
        Index.open(tmp_path / "index", device="cpu") as reader,
    ):
        for number in range(12):
            writer.put([note(f"n{number}", f"Zebra {number} and $z_{{{number}}}$.")])
            assert reader.search("zebra", strategy="lexical", k=50).hits
            most = max(most, opened() - before)
    assert most < OWN_FILES // 2
    assert opened() <= before + 2
