"""`KeptPassages`: the sentences of posts, kept beside them, so that a search does not cut its hits into sentences again.

They are made when an index is built and follow from the post alone: where there are none (an index of an earlier version,
a post that was put since), or those that are there belong to another content of the post or to other rules of cutting,
whoever asks makes them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from itertools import islice

from mathamr.errors import MathAMRError
from mathamr.index.catalogue.journal import unpacked
from mathamr.index.storage.database import Database
from mathamr.posts.passage import Passage, passage, passage_fingerprints
from mathamr.sqlite import inflated

PASSAGES_SCHEMA = """
CREATE TABLE IF NOT EXISTS passages (
    post INTEGER PRIMARY KEY, digest BLOB NOT NULL, rules TEXT NOT NULL, passage BLOB NOT NULL);
"""
REMEMBERED = 512
"""Passages that were read last: good posts are found again and again."""
_AT_A_TIME = 200


class KeptPassages(Database):
    """Passages of posts by the posts' ids."""

    def passages(self, ids: Sequence[str]) -> dict[str, Passage]:
        """What is kept of some posts as they are now; damaged rows are taken for none."""
        if not self._keeps_passages:
            return {}
        sql = (
            "SELECT p.id, k.passage FROM posts p JOIN passages k ON k.post = p.number AND k.digest = p.digest"
            f" WHERE p.deleted = 0 AND k.rules = '{passage_rules()}' AND p.id IN "
        )
        found = ((post_id, _read(blob)) for post_id, blob in self._chosen(sql, ids))
        return {post_id: read for post_id, read in found if read is not None}

    def keep_passages(self, told: Callable[[int], None] = lambda count: None) -> int:
        """Makes the passages that are missing or outdated, and forgets those of posts that are gone; how many were made."""
        with self.transaction():
            self._db.execute("DELETE FROM passages WHERE post NOT IN (SELECT number FROM posts)")
        missing = iter(
            self._rows(
                "SELECT number FROM posts p WHERE deleted = 0 AND NOT EXISTS (SELECT 1 FROM passages k"
                " WHERE k.post = p.number AND k.digest = p.digest AND k.rules = ?)",
                (passage_rules(),),
            )
        )
        made = 0
        while numbers := [number for (number,) in islice(missing, _AT_A_TIME)]:
            rows = list(
                self._chosen(
                    "SELECT number, digest, post FROM posts WHERE deleted = 0 AND number IN ", numbers
                )
            )
            kept = [(number, digest, passage_rules(), _packed(blob)) for number, digest, blob in rows]
            with self.transaction():
                self._db.executemany("INSERT OR REPLACE INTO passages VALUES (?, ?, ?, ?)", kept)
            made += len(kept)
            told(len(kept))
        return made

    @cached_property
    def _keeps_passages(self) -> bool:
        return bool(self._rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'passages'"))


@cache
def passage_rules() -> str:
    """One word for how posts are cut into sentences, whatever their markup."""
    rules = ",".join(f"{markup}={word}" for markup, word in sorted(passage_fingerprints().items()))
    return blake2b(rules.encode(), digest_size=8).hexdigest()


def _packed(blob: bytes) -> bytes:
    """The passage of a post, both as rows hold them; of a post that cannot be read, nothing."""
    try:
        read = passage(unpacked(blob))
    except MathAMRError:
        return b""
    return zlib.compress(read.to_json().encode("utf-8", "surrogatepass"), 6)


@lru_cache(maxsize=REMEMBERED)
def _read(blob: bytes) -> Passage | None:
    try:
        return Passage.from_json(inflated(blob).decode("utf-8", "surrogatepass"))
    except (zlib.error, ValueError, TypeError, KeyError, AttributeError):
        return None
