"""`StoredPassages`: stores what a hit shows of each post (`mathamr.index.preview`), so that a search reads neither its text nor its markup.

Previews are computed when an index is built and depend on the post alone. If one is missing, as for a post that was added later or in an
index of an older version, or belongs to another version of the post or of the splitting rules, it is computed from the post; the next
`mathamr index` stores it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from typing import TypeVar, get_args

from mathamr.core.cache import Cache
from mathamr.core.errors import MathAMRError
from mathamr.core.pickling import pickle_by_fields
from mathamr.core.sqlite import Database
from mathamr.index.catalogue.journal import LARGEST_POST, unpacked
from mathamr.index.preview import Preview, PreviewHead, pack_preview, stem_numbers, token_numbers
from mathamr.posts.passage import Passage, passage, passage_fingerprint
from mathamr.posts.post import Markup, Post

PASSAGES_SCHEMA = """
CREATE TABLE IF NOT EXISTS passages (
    post INTEGER PRIMARY KEY, digest BLOB NOT NULL, rules TEXT NOT NULL, passage BLOB NOT NULL);
"""
FORMAT = 3
"""The version of what is stored; rows of another one count as missing."""
MARKUPS: tuple[Markup, ...] = get_args(Markup)
Read = TypeVar("Read")
_AT_A_TIME = 200
_RULES = "passages by"
"""The note of the rules by which all previews were made."""
_DAMAGE = (zlib.error, ValueError, TypeError, KeyError, AttributeError, IndexError)
_INSERT = "INSERT OR REPLACE INTO passages VALUES (?, ?, ?, ?)"


_previews: Cache[bytes, Preview] = Cache(2_048, weight=32 << 20, weigh=lambda _, found: found.weight)
_heads: Cache[bytes, PreviewHead] = Cache(2_048, weight=8 << 20, weigh=lambda packed, _: len(packed))
"""What was read recently, since good posts are found repeatedly, and questions with each of their answers."""


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class StoredPassage:
    """The preview of a post as it is stored, and the rules by which it was made."""

    rules: str
    packed: bytes


class StoredPassages(Database):
    """Previews of posts by the posts' ids."""

    def _put_passages(self, made: Iterable[tuple[int, bytes, StoredPassage | None]]) -> None:
        """Store previews of posts by number, each for the version with that digest."""
        self._db.executemany(
            _INSERT, ((number, digest, each.rules, each.packed) for number, digest, each in made if each)
        )

    def _forget_rules(self) -> None:
        """Record that some previews are missing."""
        self._db.execute("DELETE FROM meta WHERE key = ?", (_RULES,))

    def stored_passages(self, numbers: Sequence[int]) -> dict[int, StoredPassage]:
        """Return the stored previews of some posts in their current version, by number and packed."""
        sql = (
            "SELECT p.number, k.rules, k.passage FROM posts p JOIN passages k"
            " ON k.post = p.number AND k.digest = p.digest WHERE p.deleted = 0 AND p.number IN "
        )
        return {number: StoredPassage(rules, blob) for number, rules, blob in self._chosen(sql, numbers)}

    def stored_previews(self, ids: Sequence[str]) -> dict[str, Preview]:
        """Return the stored previews of some posts in their current version; damaged rows count as missing."""
        return self._stored(ids, _previews, Preview.unpack)

    def stored_heads(self, ids: Sequence[str]) -> dict[str, PreviewHead]:
        """Return the same without sentences and formulas."""
        return self._stored(ids, _heads, PreviewHead.unpack)

    def _stored(
        self, ids: Sequence[str], cache: Cache[bytes, Read], unpack: Callable[[bytes, int], Read]
    ) -> dict[str, Read]:
        sql = (
            "SELECT p.id, k.rules, k.passage FROM posts p JOIN passages k"
            " ON k.post = p.number AND k.digest = p.digest WHERE p.deleted = 0 AND p.id IN "
        )
        rows = [*self._chosen(sql, ids)]
        current = set(filter(in_force, {rules for _, rules, _ in rows}))
        found: dict[str, Read] = {}
        for post_id, rules, packed in rows:
            if rules in current:
                with suppress(*_DAMAGE):
                    found[post_id] = cache.get_or_make(packed, partial(unpack, packed, 2 * LARGEST_POST))
        return found

    def keep_passages(self, on_progress: Callable[[int], None] = lambda _: None) -> int:
        """Compute missing and outdated previews; return how many there were.

        Posts are stored with their previews, so this is for posts that an earlier version stored, or that were read by other rules.
        What a module of a formal library declares is left out: it is short, and there are hundreds of thousands.
        """
        rules = " ".join(map(rules_of, MARKUPS))
        if self.meta(_RULES) == rules:
            return 0
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
        with self.transaction():
            self.set_meta(_RULES, rules)
        return computed


def rules_of(markup: Markup) -> str:
    """Identify a markup, the rules by which its posts become sentences and terms, and the version of what is stored."""
    return f"{markup}:{FORMAT}:{passage_fingerprint(markup)}:{_terms_fingerprint()}"


@cache
def _terms_fingerprint() -> str:
    terms = [
        *stem_numbers("the proofs' non-empty FORMULA_2 sets"),
        *token_numbers(r"\left(\dfrac{x_1}2\right)"),
    ]
    return f"{zlib.crc32(repr(terms).encode()):x}"


def in_force(rules: str) -> bool:
    """Return True if posts are still split and stored by these rules; load only the markup that they name."""
    return any(rules.startswith(f"{markup}:") and rules == rules_of(markup) for markup in MARKUPS)


def stored_passage(post: Post, read: Passage) -> StoredPassage:
    """Return the preview of a post in the form in which it is stored."""
    return StoredPassage(rules_of(post.markup), pack_preview(post, read))


def _passage_rows(number: int, digest: bytes, blob: bytes) -> Iterator[tuple[int, bytes, str, bytes]]:
    """Yield the row of a post; none for an unreadable post, which a check of the index reports."""
    with suppress(MathAMRError):
        post = unpacked(blob)
        stored = stored_passage(post, passage(post))
        yield number, digest, stored.rules, stored.packed


def read_passage(stored: StoredPassage) -> Passage | None:
    """Return the sentences of a stored preview, if it is not damaged and its rules are still in force."""
    if in_force(stored.rules):
        with suppress(*_DAMAGE):
            return Preview.unpack(stored.packed, 2 * LARGEST_POST).passage()
    return None
