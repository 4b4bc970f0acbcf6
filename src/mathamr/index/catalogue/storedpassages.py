"""`StoredPassages`: stores what a hit shows of each post (`mathamr.index.preview`), so that a search reads neither its text nor its markup.

Previews are computed when an index is built and depend on the post alone. If one is missing, as for a post that was added later or in an
index of an older version, or belongs to another version of the post or of the splitting rules, it is computed from the post; the next
`mathamr index` stores it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeVar, get_args

from mathamr.core.cache import Cache
from mathamr.core.pickling import pickle_by_fields
from mathamr.core.sqlite import Database
from mathamr.index.catalogue.journal import LARGEST_POST
from mathamr.index.preview import Preview, PreviewHead, pack_preview, stem_numbers, token_numbers
from mathamr.posts.passage import Passage, passage_fingerprint
from mathamr.posts.post import Markup, Post

PASSAGES_SCHEMA = """
CREATE TABLE IF NOT EXISTS passages (
    post INTEGER PRIMARY KEY, digest BLOB NOT NULL, rules TEXT NOT NULL, passage BLOB NOT NULL);
"""
FORMAT = 3
"""The version of what is stored; rows of another one count as missing."""
MARKUPS: tuple[Markup, ...] = get_args(Markup)
Read = TypeVar("Read")
_RULES = "passages by"
"""The note of the rules by which all previews were made."""
_DAMAGE = (zlib.error, ValueError, TypeError, KeyError, AttributeError, IndexError)

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

    def put_passages(self, made: Iterable[tuple[int, bytes, StoredPassage | None]]) -> None:
        """Store previews of posts by number, each for the version with that digest."""
        self._db.executemany(
            "INSERT OR REPLACE INTO passages VALUES (?, ?, ?, ?)",
            ((number, digest, each.rules, each.packed) for number, digest, each in made if each),
        )

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

    def unmark_outdated_passages(self) -> None:
        """Let posts be analysed again whose previews are missing or were made by other rules."""
        rules = tuple(map(rules_of, MARKUPS))
        if self.meta(_RULES) == " ".join(rules):
            return
        with self.transaction():
            self._db.execute(
                "UPDATE posts SET lexical = 0 WHERE deleted = 0 AND NOT EXISTS (SELECT 1 FROM passages k"
                " WHERE k.post = posts.number AND k.digest = posts.digest"
                f" AND k.rules IN ({', '.join('?' * len(rules))}))",
                rules,
            )
            self.set_meta(_RULES, " ".join(rules))


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


def read_passage(stored: StoredPassage) -> Passage | None:
    """Return the sentences of a stored preview, if it is not damaged and its rules are still in force."""
    if in_force(stored.rules):
        with suppress(*_DAMAGE):
            return Preview.unpack(stored.packed, 2 * LARGEST_POST).passage()
    return None
