"""Indexes of the first release: what of them is carried over when they are rebuilt.

Posts, inputs, engine and parser stay what they were, and so does the graph store. The catalogue is copied into one of
this version; vectors and lexical entries are made anew.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from mathamr.batches import batches
from mathamr.errors import MathAMRError
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.catalogue.journal import unpacked
from mathamr.index.making.crew import Crew
from mathamr.index.manifest import (
    FIRST_RELEASE,
    MANIFEST,
    EngineRecord,
    InputRecord,
    Manifest,
    ModelRecord,
    ParserRecord,
)
from mathamr.index.storage.durable import sync_folder
from mathamr.posts.post import Post
from mathamr.sqlite import connect

_CATALOGUE_FORMAT = "1"
_SYSTEM = "mathamrplus"
_BATCH = 200
_NEXT = f"{CATALOGUE}.next"


def outdated_manifest(folder: Path) -> Manifest | None:
    """The manifest of an index of the first release, as one that is not finished; `None` for any other index."""
    path = folder / MANIFEST
    try:
        row = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
        if not isinstance(row, dict) or row.get("format") != FIRST_RELEASE:
            return None
        model, engine = row["model"], row["engine"]
        return Manifest(
            model=ModelRecord(
                name=str(model["name"]),
                system=_SYSTEM,
                fingerprint=str(model["fingerprint"]),
                fields=(),
                folder=None if model["folder"] is None else str(model["folder"]),
            ),
            engine=EngineRecord(str(engine["name"]), _options(engine["options"])),
            parser=ParserRecord(**row["parser"]),
            graphs=str(row["graphs"]),
            inputs=tuple(
                InputRecord(item["path"], item["format"], tuple(item["beside"])) for item in row["inputs"]
            ),
            created=str(row["created"]),
        )
    except OSError as error:
        raise MathAMRError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None  # `Manifest.read` says what is wrong with it


def _options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of an engine by their names of today."""
    return options | ({"hnsw": "single"} if options.get("hnsw") == "doc" else {})


def carry_over(folder: Path, crew: Crew) -> None:
    """Puts a catalogue with all posts in the place of one of the first release; any other stays as it is.

    Killed before its end, it leaves the old one, and is done again.
    """
    path, beside = folder / CATALOGUE, folder / _NEXT
    for name in (_NEXT, f"{_NEXT}-wal", f"{_NEXT}-shm"):
        (folder / name).unlink(missing_ok=True)
    if not path.is_file() or _format(path) != _CATALOGUE_FORMAT:
        return
    with closing(connect(path, read_only=False)) as old, Catalogue(beside, create=True) as new:
        # What the old one kept beside it would be read as a part of the new one.
        old.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        rows = old.execute("SELECT input, post FROM posts WHERE deleted = 0 ORDER BY number")
        for batch in batches(rows, _BATCH):
            posts = _posts([blob for _, blob in batch], path)
            looks = list(crew.taken_in(posts))
            with new.transaction():
                for (source, _), post, own in zip(batch, posts, looks, strict=True):
                    new.put(post, source, own)
    beside.replace(path)
    sync_folder(folder)


def _posts(blobs: list[bytes], path: Path) -> list[Post]:
    try:
        return [unpacked(blob) for blob in blobs]
    except MathAMRError as error:
        raise MathAMRError(
            f"{path} cannot be carried over: a post of it is damaged; index its posts again in another folder"
        ) from error


def _format(path: Path) -> str | None:
    try:
        with closing(connect(path, read_only=True)) as database:
            found = database.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
            return None if found is None else str(found[0])
    except sqlite3.Error as error:
        raise MathAMRError(
            f"{path} cannot be carried over ({error}); index its posts again in another folder"
        ) from error
