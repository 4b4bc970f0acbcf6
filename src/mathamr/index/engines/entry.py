"""`Entry` and `Payload`: the input of an engine; `Filter`: restricts a search."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.core.pickling import pickle_by_fields
from mathamr.index.entryids import check_entry_id
from mathamr.systems.field import Field
from mathamr.systems.vectors import Vectors

_UNIT = 1e-5
"""How far the square of a vector's length may be from one for it to count as a unit vector."""
MOST_LEVEL = 127
"""The highest level; each is stored in one byte."""


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class Payload:
    """The metadata of an entry, by which searches are filtered.

    `post` is the post that contains a formula and `visual` the key of its visual class; both are empty for posts.
    """

    kind: str = ""
    tags: tuple[str, ...] = ()
    date: str | None = None
    score: int | None = None
    source: str = ""
    post: str = ""
    visual: str = ""

    @property
    def time(self) -> float | None:
        """The date in seconds since 1970; None if there is no valid date."""
        try:
            return seconds(self.date) if self.date else None
        except MathAMRError:
            return None


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A post, a formula or a visual class with its vectors by field; some fields of its kind may be missing, but not all."""

    id: str
    rows: Mapping[str, Vectors]
    payload: Payload = field(default_factory=Payload)


@dataclass(frozen=True, slots=True)
class Filter:
    """Restricts a search; an empty field restricts nothing.

    An entry passes if it has one of the `kinds`, all of the `tags`, one of the `sources`, a date from `after` on and
    earlier than `before`, and at least `minimum_score`. An entry without a date or a score passes no bound on it.
    """

    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    after: str | None = None
    before: str | None = None
    minimum_score: int | None = None
    sources: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != Filter()

    @property
    def times(self) -> tuple[float | None, float | None]:
        """The bounds on the date in seconds since 1970."""
        return _bounds(self.after, self.before)

    def passes(self, payload: Payload) -> bool:
        """Return True if an entry with that payload passes; this defines the behaviour of every engine."""
        after, before = self.times
        time = None if after is None and before is None else payload.time
        return (
            (not self.kinds or payload.kind in self.kinds)
            and set(self.tags) <= set(payload.tags)
            and (not self.sources or payload.source in self.sources)
            and (after is None or (time is not None and time >= after))
            and (before is None or (time is not None and time < before))
            and (
                self.minimum_score is None
                or (payload.score is not None and payload.score >= self.minimum_score)
            )
        )


@lru_cache(maxsize=64)
def _bounds(after: str | None, before: str | None) -> tuple[float | None, float | None]:
    return seconds(after) if after else None, seconds(before) if before else None


def seconds(date: str) -> float:
    """Return an ISO date or a year as seconds since 1970; without a time zone it is UTC.

    >>> seconds("2010"), seconds("2010-07-20T19:09:27.200")
    (1262304000.0, 1279652967.2)
    """
    text = date.strip()
    if text.isascii() and text.isdigit() and len(text) == 4:
        text += "-01-01"
    elif len(text) == 7 and text[4] == "-":
        text += "-01"
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        raise MathAMRError(f"{date[:50]!r} is not a date; write it like 2021-05-17 or 2021") from error


def checked(entries: Iterable[Entry], fields: Sequence[Field]) -> Iterator[Entry]:
    """Yield entries with unit vectors of the right sizes; raise an error before any is stored.

    `fields` lists the permitted fields, in the order that entries get.
    """
    entries = list(entries)
    names = [each.name for each in fields]
    are_units = {each.name: _are_units(entries, each) for each in fields}
    for entry in entries:
        check_entry_id(entry.id)
        for name in entry.rows:
            if name not in names:
                raise UnknownNameError("field", name, names)
        if not entry.rows:
            raise MathAMRError(
                f"{entry.id!r} has no vectors; pass vectors for at least one of {', '.join(names)}"
            )
        score = entry.payload.score
        if score is not None and not -(2**53) < score < 2**53:
            raise MathAMRError(f"the score of {entry.id!r} is out of range: {score}")
        rows = {
            each.name: entry.rows[each.name] if are_units[each.name] else _checked_rows(entry, each)
            for each in fields
            if each.name in entry.rows
        }
        yield Entry(entry.id, rows, _valid(entry.payload))


def _are_units(entries: Sequence[Entry], field: Field) -> bool:
    """Return True if nothing has to be changed in the rows of entries in a field: all together are checked much faster than one by one."""
    found = [entry.rows[field.name] for entry in entries if field.name in entry.rows]
    if not found or not all(
        rows.vectors.dtype == np.float32
        and rows.vectors.ndim == 2
        and rows.vectors.shape[1] == field.size
        and rows.vectors.flags.c_contiguous
        and rows.levels.dtype == np.int8
        and len(rows) == len(rows.levels) == len(rows.references) > 0
        and (field.many or len(rows) == 1)
        for rows in found
    ):
        return False
    vectors = np.concatenate([rows.vectors for rows in found])
    apart = np.abs(np.einsum("ij,ij->i", vectors, vectors) - 1).max()
    levels = np.concatenate([rows.levels for rows in found])
    return bool(apart < _UNIT and levels.min() >= 0) and all(
        _is_valid("".join(rows.references)) for rows in found
    )


def _checked_rows(entry: Entry, field: Field) -> Vectors:
    """Return the rows of an entry in a field, normalised to unit length."""
    rows, what = entry.rows[field.name], f"the {field.name} vectors of {entry.id!r}"
    vectors = unit(rows.vectors, field.size, what, dimensions=2)
    if not len(vectors) or (len(vectors) > 1 and not field.many):
        wanted = "one row at least" if field.many else "just one row"
        raise MathAMRError(f"{what}: expected {wanted}, found {len(vectors)}")
    levels = np.asarray(rows.levels)
    if len(levels) != len(vectors) or len(rows.references) != len(vectors):
        raise MathAMRError(
            f"{what}: {len(vectors)} rows, {len(levels)} levels, {len(rows.references)} references"
        )
    if not ((levels >= 0) & (levels <= MOST_LEVEL)).all():
        raise MathAMRError(f"{what}: levels are from 0 to {MOST_LEVEL}")
    return Vectors(vectors, levels.astype(np.int8), tuple(map(_valid_text, rows.references)))


def _valid(payload: Payload) -> Payload:
    """Replace what not every engine can store in a payload: lone surrogates, which file names may have, and the character 0."""
    texts = (payload.kind, payload.date or "", payload.source, payload.post, payload.visual, *payload.tags)
    if _is_valid("".join(texts)):
        return payload
    return replace(
        payload,
        kind=_valid_text(payload.kind),
        tags=tuple(map(_valid_text, payload.tags)),
        date=None if payload.date is None else _valid_text(payload.date),
        source=_valid_text(payload.source),
        post=_valid_text(payload.post),
        visual=_valid_text(payload.visual),
    )


def _is_valid(text: str) -> bool:
    return _valid_text(text) is text


def _valid_text(text: str) -> str:
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()


def unit(vectors: FloatArray, size: int, what: str, *, dimensions: int) -> FloatArray:
    """Normalise vectors to unit length in float32 (zero vectors stay); raise an error for a wrong size or numbers that are
    not finite.
    """
    array = np.asarray(vectors, np.float32)
    if array.ndim != dimensions or array.shape[-1] != size:
        wanted = f"{size}" if dimensions == 1 else f"n × {size}"
        raise MathAMRError(
            f"{what}: expected {wanted} numbers, found {' × '.join(map(str, array.shape)) or 'one'}; "
            "another model made it than the index has"
        )
    squares = np.einsum("...i,...i->...", array, array)
    apart = np.abs(squares - 1).max(initial=0)
    if apart < _UNIT:
        return np.ascontiguousarray(array)
    if not np.isfinite(apart):
        raise MathAMRError(f"{what}: not all numbers are finite; encode the text again")
    lengths = np.sqrt(squares)[..., None]
    return np.ascontiguousarray(
        np.divide(
            array, lengths, out=np.zeros_like(array), where=lengths > math.sqrt(np.finfo(np.float32).tiny)
        )
    )


def unit_query(vectors: FloatArray, size: int) -> FloatArray:
    """Return the vectors of a query, at least one row, normalised to unit length."""
    query = unit(vectors, size, "the query's vectors", dimensions=2)
    if not len(query):
        raise MathAMRError("the query has no vectors")
    return query
