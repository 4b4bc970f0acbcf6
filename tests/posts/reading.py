"""Posts of small files, by their ids, with the report of the reading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.folders import write_files


def read(path: Path, **options: Any) -> tuple[dict[str, Post], Report]:
    """Read a file or folder."""
    report = Report()
    return {post.id: post for post in read_posts(path, report, **options)}, report


def read_files(folder: Path, **files: str) -> tuple[dict[str, Post], Report]:
    """Write files into a folder and read it; `sub__note_md` is named `sub/note.md`."""
    return read(write_files(folder, {_name(key): text for key, text in files.items()}))


def _name(key: str) -> str:
    place, _, suffix = key.replace("__", "/").rpartition("_")
    return f"{place}.{suffix}"
