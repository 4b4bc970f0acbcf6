"""`StoredPassages`: the sentences of posts, kept beside them, so that a search does not cut its hits into sentences again.

They are made when an index is built and depend on the post alone: where there are none (a post that was added since),
or those that are stored belong to another version of the post or to other rules for cutting, the caller makes them.
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
"""The passages that were read last, with their sizes as text: good posts are found again and again."""
MARKUPS: tuple[Markup, ...] = get_args(Markup)
_AT_A_TIME = 200
_INSERT = "INSERT OR REPLACE INTO passages VALUES (?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """The sentences of a post as they are kept: by which rules they were cut, and packed."""

    rules: str
    packed: bytes


class StoredPassages(Database):
    """Passages of posts by the posts' ids."""

    def put_passages(self, made: Iterable[tuple[PendingPost, StoredPassage]]) -> None:
        """Keeps passages that somebody made of posts as they were then; the next keeping finds those that have changed since."""
        self._db.executemany(
            _INSERT, ((each.number, each.digest, kept.rules, kept.packed) for each, kept in made)
        )

    def passages(self, ids: Sequence[str]) -> dict[str, Passage]:
        """What is kept of some posts as they are now; damaged rows are taken for none."""
        sql = (
            "SELECT p.id, k.rules, k.passage FROM posts p JOIN passages k"
            " ON k.post = p.number AND k.digest = p.digest WHERE p.deleted = 0 AND p.id IN "
        )
        rows = self._chosen(sql, ids)
        found = ((post_id, _read(blob)) for post_id, rules, blob in rows if in_force(rules))
        return {post_id: read for post_id, read in found if read is not None}

    def keep_passages(self, on_progress: Callable[[int], None] = lambda count: None) -> int:
        """Makes the passages that are missing or outdated, and forgets those of posts that are gone; how many were made."""
        with self.transaction():
            self._db.execute("DELETE FROM passages WHERE post NOT IN (SELECT number FROM posts)")
        places = ", ".join("?" * len(MARKUPS))
        missing = iter(
            self._rows(
                "SELECT number FROM posts p WHERE deleted = 0 AND NOT EXISTS (SELECT 1 FROM passages k"
                f" WHERE k.post = p.number AND k.digest = p.digest AND k.rules IN ({places}))",
                tuple(map(rules_of, MARKUPS)),
            )
        )
        made = 0
        while numbers := [number for (number,) in islice(missing, _AT_A_TIME)]:
            sql = "SELECT number, digest, post FROM posts WHERE deleted = 0 AND number IN "
            kept = [row for each in self._chosen(sql, numbers) for row in _kept(*each)]
            with self.transaction():
                self._db.executemany(_INSERT, kept)
            made += len(kept)
            on_progress(len(kept))
        return made


def rules_of(markup: Markup) -> str:
    """A word for a markup and for how posts in it are cut into sentences."""
    return f"{markup}:{passage_fingerprint(markup)}"


def in_force(rules: str) -> bool:
    """Whether posts are still cut like this; other markups than the one in question are not loaded to know it."""
    return any(rules.startswith(f"{markup}:") and rules == rules_of(markup) for markup in MARKUPS)


def stored_passage(post: Post, read: Passage) -> StoredPassage:
    """The passage of a post, to be kept."""
    content = read.to_json().encode("utf-8", "surrogatepass")
    return StoredPassage(rules_of(post.markup), zlib.compress(content, 6))


def _kept(number: int, digest: bytes, blob: bytes) -> Iterator[tuple[int, bytes, str, bytes]]:
    """The row of a post; none of one that cannot be read, which a check of the index tells."""
    with suppress(MathAMRError):
        post = unpacked(blob)
        kept = stored_passage(post, passage(post))
        yield number, digest, kept.rules, kept.packed


def _read(blob: bytes) -> Passage | None:
    """The passage of a row, if it is not damaged."""
    found = _passages.get(blob)
    if found is None:
        with suppress(zlib.error, ValueError, TypeError, KeyError, AttributeError):
            content = inflated(blob, LARGEST_POST)
            found = Passage.from_json(content.decode("utf-8", "surrogatepass")), len(content)
            _passages.put(blob, found)
    return found and found[0]
