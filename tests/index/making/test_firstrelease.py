"""Indexes of the first release are told how to be brought up to date, and nothing of them is lost on the way."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks._kills import content, differences
from mathamr.errors import MathAMRError
from mathamr.index.archive import Archive
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.catalogue.journal import packed
from mathamr.index.making import builder
from mathamr.index.making.builder import BuildOptions, build_index
from mathamr.index.making.check import check_index
from mathamr.index.making.firstrelease import outdated_manifest
from mathamr.index.making.writer import IndexWriter
from tests.index.small import build, note, options
from tests.models import sample_posts

CATALOGUE = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE posts (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, parent TEXT,
    input TEXT NOT NULL, digest BLOB NOT NULL, deleted INTEGER NOT NULL DEFAULT 0,
    graph INTEGER NOT NULL DEFAULT 0, vectors INTEGER NOT NULL DEFAULT 0, lexical INTEGER NOT NULL DEFAULT 0,
    rows INTEGER NOT NULL DEFAULT 0, sketch REAL NOT NULL DEFAULT 0, post BLOB NOT NULL);
CREATE TABLE tags (tag TEXT NOT NULL, post INTEGER NOT NULL, PRIMARY KEY (tag, post)) WITHOUT ROWID;
CREATE TABLE formulas (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, post INTEGER NOT NULL, position INTEGER NOT NULL,
    visual TEXT NOT NULL, visual_id TEXT, gone INTEGER NOT NULL DEFAULT 0, placed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE stale_visuals (visual TEXT PRIMARY KEY) WITHOUT ROWID;
"""
"""As the first release made it."""


def of_first_release(index: Path) -> None:
    """Puts back what the first release would have written: the catalogue, the manifest, the engine's head."""
    with Catalogue(index / "catalogue.db", read_only=True) as catalogue:
        posts = [(post, (catalogue.known(post.id) or (0, b"", ""))[2]) for post in catalogue.every_post()]
    for name in ("catalogue.db", "catalogue.db-wal", "catalogue.db-shm"):
        (index / name).unlink(missing_ok=True)
    old = sqlite3.connect(index / "catalogue.db", isolation_level=None)
    old.executescript("PRAGMA journal_mode=WAL;" + CATALOGUE)
    old.execute("INSERT INTO meta VALUES ('format', '1'), ('graphs by', 'whoever'), ('lexical by', 'nobody')")
    gone = note("gone", "Deleted while the process was killed.")
    rows = [(post, source, 0) for post, source in posts] + [(gone, "", 1)]
    old.executemany(
        "INSERT INTO posts (id, kind, parent, input, digest, deleted, graph, vectors, lexical, post)"
        " VALUES (?, ?, ?, ?, x'00', ?, 1, 1, 1, ?)",
        ((post.id, post.kind, post.parent, source, deleted, packed(post)) for post, source, deleted in rows),
    )
    old.close()
    path = index / "manifest.json"
    row: dict[str, Any] = json.loads(path.read_text())
    del row["checksum"]
    row["model"] = {
        "name": row["model"]["name"],
        "fingerprint": row["model"]["fingerprint"],
        "size": row["model"]["fields"][0]["size"],
        "folder": row["model"]["folder"],
    }
    path.write_text(json.dumps(row | {"format": 1, "made_by": "mathamr 0.1.0"}))
    head = index / "vectors" / "engine.json"
    head.write_text(json.dumps({"engine": "flat", "size": 32, "options": {}, "format": 1}))


@pytest.fixture
def old(index: Path) -> Path:
    with IndexWriter.open(index, device="cpu") as archive:
        archive.put([note("mine", "Put by hand: $e^{i x}$.", tags=("own",))])
    of_first_release(index)
    return index


def test_an_index_of_the_first_release_is_told_in_one_sentence_how_to_go_on(old: Path) -> None:
    told = rf"mathamr 0\.1\.0 made; bring it up to date, .* with: mathamr index --out {old} --rebuild$"
    for opening in (Archive.open, IndexWriter.open, check_index):
        with pytest.raises(MathAMRError, match=told):
            opening(old)
    with pytest.raises(MathAMRError, match=told):
        build_index([], old, BuildOptions(device="cpu"))


def test_a_rebuild_keeps_graphs_inputs_and_posts_put_by_hand(
    old: Path, model_folder: Path, tmp_path: Path
) -> None:
    summary = build_index([], old, options(model_folder, rebuild=True))
    assert summary.log.posts["graphs"] == 0
    assert summary.log.posts["vectors"] == 6
    build_index([tmp_path / "posts.jsonl"], tmp_path / "fresh", options(model_folder))
    with IndexWriter.open(tmp_path / "fresh", device="cpu") as archive:
        archive.put([note("mine", "Put by hand: $e^{i x}$.", tags=("own",))])
    assert not differences(content(old), content(tmp_path / "fresh"))
    assert not content(old)["problems"]
    assert build(old, sample_posts(5), model_folder).intake.unchanged == 5


@pytest.mark.parametrize("call", [1, 2])
def test_a_rebuild_that_is_killed_is_done_again(
    old: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    """Before the new catalogue is in its place, and after that but before the manifest is written."""

    class KilledError(BaseException):
        """What stands for a kill."""

    def die(*_: object, **__: object) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        if call == 1:
            patch.setattr("mathamr.index.making.firstrelease.sync_folder", die)
            patch.setattr(Path, "replace", die)
        else:
            patch.setattr(builder, "prepare_parts", die)
            patch.setattr(builder.Manifest, "write", die)
        with pytest.raises(KilledError):
            build_index([], old, options(model_folder, rebuild=True))
    summary = build_index([], old, options(model_folder, rebuild=True))
    assert summary.log.posts["graphs"] == 0
    assert summary.manifest.counts["posts"] == 6
    assert not content(old)["problems"]


def test_options_of_the_engine_keep_their_meaning(old: Path) -> None:
    path = old / "manifest.json"
    row = json.loads(path.read_text())
    row["engine"] = {"name": "edge", "options": {"hnsw": "doc", "ef": 64}}
    path.write_text(json.dumps(row))
    manifest = outdated_manifest(old)
    assert manifest is not None
    assert manifest.engine.options == {"hnsw": "single", "ef": 64}
    assert not manifest.finished


def test_a_damaged_post_is_told_and_nothing_is_changed(old: Path, model_folder: Path) -> None:
    database = sqlite3.connect(old / "catalogue.db", isolation_level=None)
    database.execute("UPDATE posts SET post = x'00' WHERE id = 'mine'")
    database.close()
    before = (old / "manifest.json").read_text()
    with pytest.raises(MathAMRError, match="cannot be carried over: a post of it is damaged"):
        build_index([], old, replace(options(model_folder), rebuild=True))
    assert (old / "manifest.json").read_text() == before
