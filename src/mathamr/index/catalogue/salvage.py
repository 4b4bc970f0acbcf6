"""`salvage`: reads the posts of a damaged catalogue that are still intact.

A query fails if it touches a damaged page, so ranges of rows are halved until the damaged rows are isolated. A row
counts only if its post has the digest that was stored with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.sqlite import SqliteConnection, connect, foreign_parts
from mathamr.index.catalogue.catalogue import SCHEMA, digest_of
from mathamr.index.catalogue.journal import unpacked
from mathamr.posts.post import Post

AT_A_TIME = 1024
_ROWS = "SELECT id, input, digest, post, deleted FROM posts NOT INDEXED WHERE number BETWEEN ? AND ?"


def salvage(path: Path) -> Iterator[tuple[Post, str]]:
    """(post, input) of every intact post of a catalogue."""
    try:
        connection = connect(path, read_only=True)
    except MathAMRError:
        return
    # Bytes that are not UTF-8 must not hide a row that is otherwise intact.
    connection.text_factory = lambda content: content.decode("utf-8", "replace")
    try:
        foreign = foreign_parts(connection, SCHEMA)
        if "posts" in foreign:
            return  # a column that is computed may cost anything
        for start in range(1, _highest(connection, foreign) + 1, AT_A_TIME):
            for row in _between(connection, start, start + AT_A_TIME - 1):
                found = _intact(*row)
                if found is not None:
                    yield found
    finally:
        connection.close()


def _highest(connection: SqliteConnection, foreign: Sequence[str]) -> int:
    """Return the highest number that a post may have, from the tables that can still be read."""
    highest = 0
    for table, sql in (
        ("posts", "SELECT max(number) FROM posts"),
        ("sqlite_sequence", "SELECT seq FROM sqlite_sequence WHERE name = 'posts'"),
        ("formulas", "SELECT max(post) FROM formulas"),
        ("tags", "SELECT max(post) FROM tags"),
    ):
        if table in foreign:
            continue
        try:
            found = connection.execute(sql).fetchone()
        except MathAMRError:
            continue
        if found and isinstance(found[0], int) and 0 < found[0] < 1 << 40:
            highest = max(highest, found[0])
    return highest


def _between(connection: SqliteConnection, first: int, last: int) -> Iterator[Any]:
    waiting = [(first, last)]
    while waiting:
        low, high = waiting.pop()
        try:
            yield from connection.execute(_ROWS, (low, high)).fetchall()
        except MathAMRError:
            if low < high:
                middle = (low + high) // 2
                waiting += [(middle + 1, high), (low, middle)]


def _intact(post_id: Any, source: Any, digest: Any, blob: Any, deleted: Any) -> tuple[Post, str] | None:
    try:
        post = unpacked(blob)
    except MathAMRError:
        return None
    is_whole = not deleted and post.id == post_id and digest_of(post) == digest
    return (post, str(source)) if is_whole else None
