"""`StoredPassages`: stores the sentences of posts, so that a search need not split its hits into sentences again.

They are computed when an index is built and depend on the post alone. If they are missing, as for a post that was added later,
or belong to another version of the post or of the splitting rules, the caller computes them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import get_args

from mathamr.core.cache import Cache
from mathamr.core.errors import MathAMRError
from mathamr.core.sqlite import Database, inflated
from mathamr.index.catalogue.journal import LARGEST_POST, PendingPost, unpacked
from mathamr.posts.passage import Passage, passage, passage_fingerprint
from mathamr.posts.post import Markup, Post

PASSAGES_SCHEMA = """
CREATE TABLE IF NOT EXISTS passages (
    post INTEGER PRIMARY KEY, digest BLOB NOT NULL, rules TEXT NOT NULL, passage BLOB NOT NULL);
"""
_passages: Cache[bytes, tuple[Passage, int]] = Cache(512, weight=64 << 20, weigh=lambda _, found: found[1])
"""Limits of the cache of passages that were read recently, since good posts are found repeatedly."""
MARKUPS: tuple[Markup, ...] = get_args(Markup)
_AT_A_TIME = 200
_INSERT = "INSERT OR REPLACE INTO passages VALUES (?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """The sentences of a post as they are stored: the rules by which they were split, and the packed sentences."""

    rules: str
    packed: bytes


class StoredPassages(Database):
    """Passages of posts by the posts' ids."""

    def put_passages(self, made: Iterable[tuple[PendingPost, StoredPassage]]) -> None:
        """Stores passages of posts at a given version; `keep_passages` later replaces those of posts that have changed."""
        self._db.executemany(
            _INSERT, ((each.number, each.digest, stored.rules, stored.packed) for each, stored in made)
        )

    def passages(self, ids: Sequence[str]) -> dict[str, Passage]:
        """The stored passages of some posts in their current version; damaged rows count as missing."""
        sql = (
            "SELECT p.id, k.rules, k.passage FROM posts p JOIN passages k"
            " ON k.post = p.number AND k.digest = p.digest WHERE p.deleted = 0 AND p.id IN "
        )
        rows = self._chosen(sql, ids)
        found = ((post_id, _read(blob)) for post_id, rules, blob in rows if in_force(rules))
        return {post_id: read for post_id, read in found if read is not None}

    def keep_passages(self, on_progress: Callable[[int], None] = lambda count: None) -> int:
        """Computes missing and outdated passages, and deletes those of deleted posts; returns how many were computed.

        What a module of a formal library declares is left out: it is short, and there are hundreds of thousands.
        """
        with self.transaction():
            self._db.execute("DELETE FROM passages WHERE post NOT IN (SELECT number FROM posts)")
        places = ", ".join("?" * len(MARKUPS))
        missing = iter(
            self._rows(
                "SELECT number FROM posts p WHERE deleted = 0 AND NOT EXISTS (SELECT 1 FROM passages k"
                f" WHERE k.post = p.number AND k.digest = p.digest AND k.rules IN ({places}))"
                " AND NOT EXISTS (SELECT 1 FROM tags t WHERE t.post = p.number AND t.tag >= 'module:' AND t.tag < 'module;')",
                tuple(map(rules_of, MARKUPS)),
            )
        )
        computed = 0
        while numbers := [number for (number,) in islice(missing, _AT_A_TIME)]:
            sql = "SELECT number, digest, post FROM posts WHERE deleted = 0 AND number IN "
            rows = [row for each in self._chosen(sql, numbers) for row in _passage_rows(*each)]
            with self.transaction():
                self._db.executemany(_INSERT, rows)
            computed += len(rows)
            on_progress(len(rows))
        return computed


def rules_of(markup: Markup) -> str:
    """Identifies a markup and the rules by which its posts are split into sentences."""
    return f"{markup}:{passage_fingerprint(markup)}"


def in_force(rules: str) -> bool:
    """True if posts are still split by these rules; loads only the markup that they name."""
    return any(rules.startswith(f"{markup}:") and rules == rules_of(markup) for markup in MARKUPS)


def stored_passage(post: Post, read: Passage) -> StoredPassage:
    """The passage of a post in the form in which it is stored."""
    content = read.to_json().encode("utf-8", "surrogatepass")
    return StoredPassage(rules_of(post.markup), zlib.compress(content, 6))


def _passage_rows(number: int, digest: bytes, blob: bytes) -> Iterator[tuple[int, bytes, str, bytes]]:
    """The row of a post; none for an unreadable post, which a check of the index reports."""
    with suppress(MathAMRError):
        post = unpacked(blob)
        stored = stored_passage(post, passage(post))
        yield number, digest, stored.rules, stored.packed


def _read(blob: bytes) -> Passage | None:
    """The passage of a row, if it is not damaged."""
    found = _passages.get(blob)
    if found is None:
        with suppress(zlib.error, ValueError, TypeError, KeyError, AttributeError):
            content = inflated(blob, LARGEST_POST)
            found = Passage.from_json(content.decode("utf-8", "surrogatepass")), len(content)
            _passages.put(blob, found)
    return found and found[0]
