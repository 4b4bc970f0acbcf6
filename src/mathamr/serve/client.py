"""A search sent to a running server, answered with the same `Hits` as one in this process."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.settings import READ_KEY
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.posts.post import Place
from mathamr.search.fragment import Fragment
from mathamr.search.hits import FormulaHit, Hit, Hits
from mathamr.search.query import Query

SECONDS = 60
_NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class ServerGoneError(MathAMRError):
    """The server does not answer; the index can still be searched without it."""


def search_at(address: str, index: Path, query: Query, options: Mapping[str, Any]) -> Hits:
    """Return the hits that the server at an address finds; `options` is the body of a request to `/v1/search`."""
    headers = {"Content-Type": "application/json"} | ({"X-API-Key": READ_KEY.value} if READ_KEY.value else {})
    request = urllib.request.Request(
        f"{address.rstrip('/')}/v1/search", json.dumps(dict(options)).encode(), headers, method="POST"
    )
    try:
        with _NO_PROXY.open(request, timeout=SECONDS) as response:
            answer = json.load(response)
    except urllib.error.HTTPError as error:
        raise _refused(error) from error
    except (OSError, ValueError) as error:
        raise ServerGoneError(f"the server at {address} does not answer ({error})") from error
    with Catalogue(index / CATALOGUE, read_only=True) as catalogue:
        every = [each["id"] for hit in answer["hits"] for each in (hit, *hit.get("others", ()))]
        sources = {post_id: source for post_id, (_, _, source) in catalogue.origins(every).items()}
    hits = tuple(_hit(row, sources) for row in answer["hits"])
    return Hits(
        query,
        answer["task"],
        answer["strategy"],
        hits,
        answer["offset"],
        answer["more"],
        {name: value for name, value in answer["seconds"].items() if name not in ("total", "render")},
        tuple(answer["query"]["notes"]),
        tuple(answer["absent"]),
        found=answer["found"],
    )


def _refused(error: urllib.error.HTTPError) -> MathAMRError:
    """Return the server's message about a wrong request; `ServerGoneError` if it cannot answer now."""
    try:
        message = json.load(error)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        message = str(error)
    return MathAMRError(message) if error.code in (400, 422) else ServerGoneError(message)


def _hit(row: Mapping[str, Any], sources: Mapping[str, str]) -> Hit:
    formula = row["formula"]
    place = row["place"]
    return Hit(
        row["id"],
        row["rank"],
        row["score"],
        row["kind"],
        tuple(map(_fragment, row["title"])),
        tuple(map(_fragment, row["snippet"])),
        tuple(row["tags"]),
        row["parent"],
        row["date"],
        row["votes"],
        sources.get(row["id"], row["source"]),
        _formula(formula) if formula else None,
        row["evidence"],
        _place(place) if place else None,
        row["share"],
        row["match"],
        tuple(_hit(other, sources) for other in row.get("others", ())),
    )


def _place(row: Mapping[str, Any]) -> Place:
    return Place(row["path"], row["line"], row["label"], tuple(row["inside"]), row["cell"] or 0)


def _formula(row: Mapping[str, Any]) -> FormulaHit:
    fields = {name: row[name] for name in FormulaHit.__slots__}
    fields["matched"] = tuple(tuple(each) for each in row["matched"])
    for name in ("matched_nodes", "taken_nodes"):
        fields[name] = tuple(row[name])
    return FormulaHit(**fields)


def _fragment(piece: Mapping[str, Any]) -> Fragment:
    if piece["kind"] == "formula":
        return Fragment("formula", piece["latex"], piece["id"], piece["display"], piece["matched"])
    return Fragment(piece["kind"], piece["text"], matched=piece["matched"])
