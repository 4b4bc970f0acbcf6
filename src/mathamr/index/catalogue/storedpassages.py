"""`StoredPassages`: stores what a hit shows of each post, so that a search reads neither the text of its hits nor its markup.

Previews are computed when an index is built and depend on the post alone. If one is missing, as for a post that was added later or in an
index of an older version, or belongs to another version of the post or of the splitting rules, it is computed from the post; the next
`mathamr index` stores it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, get_args, overload

from mathamr.core.cache import Cache
from mathamr.core.errors import MathAMRError
from mathamr.core.pickling import pickle_by_fields
from mathamr.core.sqlite import Database, inflated
from mathamr.index.catalogue.journal import LARGEST_POST, unpacked
from mathamr.posts.markup import formulas_of
from mathamr.posts.passage import Passage, Sentence, passage, passage_fingerprint
from mathamr.posts.post import Formula, Markup, Post

PASSAGES_SCHEMA = """
CREATE TABLE IF NOT EXISTS passages (
    post INTEGER PRIMARY KEY, digest BLOB NOT NULL, rules TEXT NOT NULL, passage BLOB NOT NULL);
"""
FORMAT = 2
"""The version of what is stored; rows of another one count as missing."""
MARKUPS: tuple[Markup, ...] = get_args(Markup)
_AT_A_TIME = 200
_RULES = "passages by"
"""The note of the rules by which all previews were made."""
_INSERT = "INSERT OR REPLACE INTO passages VALUES (?, ?, ?, ?)"


class FormulaRows(Sequence[Formula]):
    """The formulas of a post as rows of JSON, of which objects are made where they are needed: a hit shows few of them."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._rows = rows
        self.latex: dict[str, str] = {row["id"]: row["latex"] for row in rows}

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Formula: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Formula]: ...

    def __getitem__(self, place: int | slice) -> Formula | Sequence[Formula]:
        if isinstance(place, slice):
            return tuple(Formula(**row) for row in self._rows[place])
        return Formula(**self._rows[place])

    def of(self, sentence: Sentence) -> dict[str, Formula]:
        """Return the formulas of a sentence by their ids."""
        wanted = {place.formula for place in sentence.placeholders}
        return {row["id"]: Formula(**row) for row in self._rows if row["id"] in wanted}


class Preview:
    """What a hit shows: a post without text and formulas, these, and its sentences, of which objects are made only where they are needed."""

    def __init__(self, post: Post, formulas: FormulaRows, sentences: str) -> None:
        """`sentences` is a passage as JSON."""
        self.post, self.formulas, self._sentences = post, formulas, sentences

    @classmethod
    def of(cls, post: Post, read: Passage | None = None) -> Preview:
        """Return the preview of a post that has none in the index; `read` are its sentences if they are known."""
        listed = post.formulas or formulas_of(post.id, post.title, post.body, post.markup)
        rows = [{"id": each.id, "latex": each.latex, "display": each.display} for each in listed]
        return cls(replace(post, formulas=()), FormulaRows(rows), (read or passage(post)).to_json())

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The sentences as rows of JSON: most are looked at and not shown."""
        rows: list[dict[str, Any]] = json.loads(self._sentences)["sentences"]
        return rows

    @property
    def text(self) -> str:
        """The sentences, one a line."""
        return "\n".join(row["text"] for row in self.rows)

    def sentence(self, number: int) -> Sentence:
        """Return one sentence."""
        return Sentence.from_row(self.rows[number])


_previews: Cache[bytes, tuple[Preview, int]] = Cache(512, weight=64 << 20, weigh=lambda _, found: found[1])
"""Limits of the cache of previews that were read recently, since good posts are found repeatedly."""


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class StoredPassage:
    """The preview of a post as it is stored: the rules by which its sentences were split, and the packed post and sentences."""

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
        sql = (
            "SELECT p.id, k.rules, k.passage FROM posts p JOIN passages k"
            " ON k.post = p.number AND k.digest = p.digest WHERE p.deleted = 0 AND p.id IN "
        )
        rows = self._chosen(sql, ids)
        found = ((post_id, _read(blob)) for post_id, rules, blob in rows if in_force(rules))
        return {post_id: read for post_id, read in found if read is not None}

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
    """Identify a markup, the rules by which its posts are split into sentences, and the version of what is stored."""
    return f"{markup}:{FORMAT}:{passage_fingerprint(markup)}"


def in_force(rules: str) -> bool:
    """Return True if posts are still split and stored by these rules; load only the markup that they name."""
    return any(rules.startswith(f"{markup}:") and rules == rules_of(markup) for markup in MARKUPS)


def stored_passage(post: Post, read: Passage) -> StoredPassage:
    """Return the preview of a post in the form in which it is stored: two lines, the post and its sentences.

    MathML and the text are left out; numbered references of LaTeX are looked up in the text when they are shown.
    """
    is_referring = post.markup == "latex" and any(link.label and link.number for link in post.links)
    listed = post.formulas or formulas_of(post.id, post.title, post.body, post.markup)
    formulas = tuple(Formula(each.id, each.latex, each.display) for each in listed)
    shown = replace(post, body=post.body if is_referring else "", formulas=formulas)
    content = f"{shown.to_json()}\n{read.to_json()}".encode("utf-8", "surrogatepass")
    return StoredPassage(rules_of(post.markup), zlib.compress(content, 6))


def _passage_rows(number: int, digest: bytes, blob: bytes) -> Iterator[tuple[int, bytes, str, bytes]]:
    """Yield the row of a post; none for an unreadable post, which a check of the index reports."""
    with suppress(MathAMRError):
        post = unpacked(blob)
        stored = stored_passage(post, passage(post))
        yield number, digest, stored.rules, stored.packed


def read_passage(stored: StoredPassage) -> Passage | None:
    """Return the sentences of a stored preview, if it is not damaged and its rules are still in force."""
    if in_force(stored.rules):
        with suppress(zlib.error, ValueError, TypeError, KeyError, AttributeError):
            content = inflated(stored.packed, 2 * LARGEST_POST).decode("utf-8", "surrogatepass")
            return Passage.from_json(content.partition("\n")[2])
    return None


def _read(blob: bytes) -> Preview | None:
    """Return the preview of a row, if it is not damaged."""
    found = _previews.get(blob)
    if found is None:
        with suppress(zlib.error, ValueError, TypeError, KeyError, AttributeError):
            content = inflated(blob, 2 * LARGEST_POST)
            post, sentences = content.decode("utf-8", "surrogatepass").split("\n")
            row = json.loads(post)
            formulas = FormulaRows(row.pop("formulas", ()))
            found = Preview(Post.from_row(row), formulas, sentences), len(content)
            _previews.put(blob, found)
    return found and found[0]
