"""Converts entries to Qdrant's points: id, named vectors and payload.

Every field of a kind is a named vector of its points (thesis, 3.5.1); a field with many rows is a multivector, compared by
MaxSim. Qdrant identifies points by number or UUID: here the UUID is derived from the id, and the payload holds the id and the
part that each row represents. The distance is the dot product of unit vectors, which is their cosine, and zero for a zero vector,
which Qdrant's own cosine does not support.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from hashlib import sha1
from typing import Any

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.index.engines.entry import Entry, Payload
from mathamr.systems.field import Field
from mathamr.systems.vectors import Vectors

FIELDS, ROWS = "fields", "rows"
"""The payload keys for an entry's fields and the parts that their rows represent."""
_NAMES = uuid.UUID("6f1d7d2e-3f0b-5c1c-9a6e-6d6174686d72").bytes


def point_uuid(identifier: str) -> str:
    """Return the UUID of an entry's point."""
    word = bytearray(sha1(_NAMES + identifier.encode(), usedforsecurity=False).digest()[:16])
    # Equal to `uuid.uuid5`, in a third of its time.
    word[6] = word[6] & 0x0F | 0x50
    word[8] = word[8] & 0x3F | 0x80
    text = word.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def payload_row(entry: Entry) -> dict[str, Any]:
    """Return a payload as a Qdrant payload; unknown values are left out."""
    payload = entry.payload
    row = {
        "id": entry.id,
        "kind": payload.kind,
        "tags": list(payload.tags),
        "source": payload.source,
        "post": payload.post,
        "visual": payload.visual,
        "date": payload.date,
        "time": payload.time,
        "score": payload.score,
        FIELDS: list(entry.rows),
        ROWS: {
            name: {"levels": rows.levels.tolist(), "references": list(rows.references)}
            for name, rows in entry.rows.items()
        },
    }
    return {name: value for name, value in row.items() if value is not None}


def read_payload(row: dict[str, Any]) -> Payload:
    """Return the inverse of `payload_row`."""
    return Payload(
        kind=row["kind"],
        tags=tuple(row["tags"]),
        date=row.get("date"),
        score=row.get("score"),
        source=row["source"],
        post=row["post"],
        visual=row["visual"],
    )


def read_rows(row: dict[str, Any], vectors: Any, field: Field) -> Vectors:
    """Return the rows of a field, from a payload and the named vector."""
    about = row[ROWS][field.name]
    return Vectors(
        np.asarray(vectors, np.float32).reshape(-1, field.size),
        np.array(about["levels"], np.int8),
        tuple(about["references"]),
    )


def named_vectors(entries: Sequence[Entry], fields: Sequence[Field]) -> list[dict[str, FloatArray]]:
    """Return the named vectors of entries."""
    return [
        {
            field.name: entry.rows[field.name].vectors if field.many else entry.rows[field.name].vectors[0]
            for field in fields
            if field.name in entry.rows
        }
        for entry in entries
    ]
