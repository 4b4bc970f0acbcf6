"""A point as Qdrant keeps it: its name, its named vectors and its payload.

Points have the named vectors of the thesis (3.5.1): `doc`, the document's or formula's, and for posts `all`, every
representative, compared by MaxSim. Qdrant numbers points or names them by UUID: here the UUID is made from the id, and
the id stands in the payload. The distance is the dot product of vectors that have length one: their cosine, and zero
for a vector of zeros, which Qdrant's own cosine has no place for.
"""

from __future__ import annotations

import uuid
from hashlib import sha1
from typing import Any

from mathamr.index.engines.point import Floats, Payload, Point

DOC, ALL = "doc", "all"
_NAMES = uuid.UUID("6f1d7d2e-3f0b-5c1c-9a6e-6d6174686d72").bytes


def point_uuid(identifier: str) -> str:
    """The UUID under which Qdrant knows a point."""
    word = bytearray(sha1(_NAMES + identifier.encode(), usedforsecurity=False).digest()[:16])
    # Version 5 of the standard, as `uuid.uuid5` makes it, in a third of its time.
    word[6] = word[6] & 0x0F | 0x50
    word[8] = word[8] & 0x3F | 0x80
    text = word.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def payload_row(identifier: str, payload: Payload) -> dict[str, Any]:
    """A payload as Qdrant keeps it; what is unknown is left out."""
    row = {
        "id": identifier,
        "kind": payload.kind,
        "tags": list(payload.tags),
        "source": payload.source,
        "post": payload.post,
        "visual": payload.visual,
        "date": payload.date,
        "time": payload.time,
        "score": payload.score,
    }
    return {name: value for name, value in row.items() if value is not None}


def read_payload(row: dict[str, Any]) -> Payload:
    """The inverse of `payload_row`."""
    return Payload(
        kind=row["kind"],
        tags=tuple(row["tags"]),
        date=row.get("date"),
        score=row.get("score"),
        source=row["source"],
        post=row["post"],
        visual=row["visual"],
    )


def vectors_of(point: Point) -> dict[str, Floats]:
    """The named vectors of a point."""
    return {DOC: point.vector} | ({} if point.vectors is None else {ALL: point.vectors})
