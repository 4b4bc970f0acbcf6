"""The page of an index's notation: what each symbol is introduced as, how often it is used, and which are never introduced."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from html import escape
from itertools import islice
from urllib.parse import quote

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from mathamr.posts.formats.latex.definitions import definitions_for
from mathamr.posts.markup import marked_pieces
from mathamr.posts.post import Post
from mathamr.posts.rendering.drawing import draw
from mathamr.search.notation import NotationEntry, notation
from mathamr.serve.service import Reader, Service, of_index

router = APIRouter()

MOST_ROWS, MOST_MEANINGS = 1_000, 4
"""Symbols on the page, and what is told of each."""
MOST_PIECES = 200
"""Runs of text and formulas of a sentence that are shown."""
_SHARE = 0.5
"""Part of a request's time in which posts are read; the rest is for drawing."""
_HEAD = """<!doctype html>
<html lang="en"><head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">
<title>Notation · mathamr</title>
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="base.css"><link rel="stylesheet" href="formulas.css"><link rel="stylesheet" href="notation.css">
<script src="early.js"></script>
</head><body>
<header class="top"><a class="name" href="./" aria-label="mathamr, start page"><img src="icon.svg" alt="" width="26" height="26">mathamr</a></header>
<main class="notation"><h1>Notation</h1>"""


@router.get("/notation", include_in_schema=False)
async def page(service: Reader) -> HTMLResponse:
    """Return the page; it is made once for each state of the index, from as many posts as can be read in time."""
    return HTMLResponse(await service.read(lambda: of_index(lambda: _page(service))))


def _page(service: Service) -> str:
    state = f"notation {service.archive.manifest.updated} {len(service.archive.catalogue)}"
    if state not in service.pages:
        service.pages.clear()
        service.pages[state] = _made(service)
    return service.pages[state]


def _made(service: Service) -> str:
    reading = _InTime(service.index.posts(), service.limits.seconds * _SHARE)
    entries = notation(reading, parser=None)
    known = [entry for entry in entries if entry.introductions]
    unknown = sorted((entry for entry in entries if not entry.introductions), key=lambda entry: -entry.uses)
    macros = service.index.macros
    size = (
        "all posts" if reading.is_whole else f"the first {reading.count:,} posts, which could be read in time"
    )
    parts = [
        _HEAD,
        f'<p class="faint">{len(known):,} symbols are introduced in {size}; {len(unknown):,} are used and never introduced.</p>',
        '<table><thead><tr><th scope="col">Symbol</th><th scope="col">Introduced as</th><th scope="col">Formulas</th></tr></thead><tbody>',
        *(_row(entry, macros) for entry in islice(known, MOST_ROWS)),
        "</tbody></table>",
        "<h2>Never introduced</h2>",
        f'<p class="symbols">{" ".join(_symbol(entry, macros) for entry in unknown[:MOST_ROWS])}</p>',
        "</main></body></html>",
    ]
    return "\n".join(parts)


class _InTime:
    """Posts until a time is over; `count` of them were read."""

    def __init__(self, posts: Iterator[Post], seconds: float) -> None:
        self._posts, self._seconds = posts, seconds
        self.count, self.is_whole = 0, False

    def __iter__(self) -> Iterator[Post]:
        end = time.monotonic() + self._seconds
        for post in self._posts:
            yield post
            self.count += 1
            if time.monotonic() > end:
                return
        self.is_whole = True


def _row(entry: NotationEntry, macros: Mapping[str, str]) -> str:
    told: list[str] = []
    meanings = entry.meanings
    for meaning in meanings[:MOST_MEANINGS]:
        where = next(each for each in entry.introductions if each.said == meaning)
        address = quote(where.post, safe="")
        told.append(
            f'<li>{_drawn(meaning, macros)} <a class="faint" href="./?post={address}">{escape(where.place)}</a>'
            f'<div class="faint sentence">{_drawn(where.sentence, macros)}</div></li>'
        )
    more = len(meanings) - MOST_MEANINGS
    told += [f'<li class="faint">and {more:,} more</li>'] if more > 0 else []
    symbol = _formula(entry.latex, macros)
    return f'<tr><th scope="row">{symbol}</th><td><ul>{"".join(told)}</ul></td><td>{entry.uses:,}</td></tr>'


def _symbol(entry: NotationEntry, macros: Mapping[str, str]) -> str:
    return f'<span>{_formula(entry.latex, macros)} <span class="faint">{entry.uses:,}</span></span>'


def _drawn(text: str, macros: Mapping[str, str]) -> str:
    """Return words with their formulas as HTML."""
    return "".join(
        _formula(piece.text, macros) if piece.kind == "formula" else escape(piece.text)
        for piece in islice(marked_pieces(text, "text"), MOST_PIECES)
    )


def _formula(latex: str, macros: Mapping[str, str]) -> str:
    written = (
        latex if "\\" in latex or len(latex) == 1 else rf"\mathrm{{{latex}}}" if latex.isalpha() else latex
    )
    mathml = draw(written, definitions_for(written, macros)).mathml
    return mathml if mathml is not None else f"<code>{escape(latex)}</code>"
