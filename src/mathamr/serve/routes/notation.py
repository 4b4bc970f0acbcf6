"""The notation of an index: what each symbol is introduced as, how often it is used, and which are never introduced.

The page `/notation` shows all of it, and the search page what the symbols of one formula are introduced as.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import islice
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, JSONResponse

from mathamr.posts.formats.latex.definitions import definitions_for
from mathamr.posts.markup import marked_pieces
from mathamr.posts.post import Formula
from mathamr.posts.rendering.drawing import draw
from mathamr.search.introductions import Introduction
from mathamr.search.notation import NotationEntry, introductions, symbols_in
from mathamr.serve.answers import IntroducedAnswer
from mathamr.serve.indexnotation import LONGEST_POST, IndexNotation
from mathamr.serve.pieces import shown_pieces
from mathamr.serve.requests import Id
from mathamr.serve.service import Reader, Service, of_index

router = APIRouter()
answers = APIRouter(tags=["formulas"])

MOST_ROWS, MOST_MEANINGS = 1_000, 4
"""Symbols on the page, and what is told of each."""
MOST_PIECES = 200
"""Runs of text and formulas of a sentence that are shown."""
LONGEST_ASKED, MOST_ASKED = 20_000, 12
"""Characters of a formula, and symbols of it that are told what they are introduced as."""
_SHARE = 0.1
"""Part of a request's time in which the first posts are read; the others are read in the background."""
_HEAD = """<!doctype html>
<html lang="en"><head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">
<title>Notation · mathamr</title>
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="base.css"><link rel="stylesheet" href="formulas.css"><link rel="stylesheet" href="notation.css">
<script src="early.js"></script><script src="notation.js" type="module"></script>
</head><body>
<header class="top"><a class="name" href="./" aria-label="mathamr, start page"><img src="icon.svg" alt="" width="26" height="26">mathamr</a></header>
<main class="notation"><h1>Notation</h1>"""


@router.get("/notation", include_in_schema=False)
async def page(service: Reader) -> HTMLResponse:
    """Return the page of the posts that are read; the page asks again until that is all of them."""
    return HTMLResponse(await service.read(lambda: of_index(lambda: _page(service))))


@answers.get("/introduced", response_model=IntroducedAnswer)
async def introduced(
    service: Reader,
    latex: Annotated[str, Query(max_length=LONGEST_ASKED)],
    formula: Annotated[Id | None, Query()] = None,
) -> Any:
    """Return what the symbols of a formula are introduced as; in the post of `formula`, a formula of the index, first."""
    return await service.read(lambda: JSONResponse(of_index(lambda: _introduced(service, latex, formula))))


def _introduced(service: Service, latex: str, formula: str | None) -> dict[str, Any]:
    known = _notation(service)
    by_symbol = {entry.symbol: entry for entry in known.entries() if entry.introductions}
    macros = definitions_for(latex, service.index.macros)
    near = _introduced_beside(service, formula) if formula else {}
    shown: list[dict[str, Any]] = []
    for symbol in symbols_in(Formula("", latex), macros):
        own = near.get(symbol, [])
        found = by_symbol.get(symbol, NotationEntry(symbol, symbol, "letter", own, len(own)))
        if not found.introductions or len(shown) == MOST_ASKED:
            continue
        usual = (next(each for each in found.introductions if each.said == said) for said in found.meanings)
        first: dict[str, Introduction] = {}
        for each in (*own[:MOST_MEANINGS], *islice(usual, MOST_MEANINGS)):
            first.setdefault(each.said, each)
        meanings = [
            {
                "pieces": list(shown_pieces(islice(marked_pieces(each.said, "text"), MOST_PIECES), macros)),
                "post": each.post,
                "place": each.place,
            }
            for each in islice(first.values(), MOST_MEANINGS)
        ]
        shown.append({"symbol": symbol, "meanings": meanings, "introduced": found.introduced})
    return {"symbols": shown, "posts": known.count, "of": known.total, "is_whole": known.is_whole}


def _introduced_beside(service: Service, formula: str) -> dict[str, list[Introduction]]:
    """Return what the post of a formula introduces, by symbol; it need not be among those whose notation is known."""
    entry = service.archive.catalogue.formulas([formula]).get(formula)
    found: dict[str, list[Introduction]] = {}
    posts = service.archive.catalogue.posts([entry.post]).values() if entry else ()
    for each in introductions((post for post in posts if len(post.body) <= LONGEST_POST), parser=None):
        found.setdefault(each.symbol, []).append(each)
    return found


def _notation(service: Service) -> IndexNotation:
    """Return the notation of an index as far as it is read, and have the rest read in the background."""
    service.notation = service.notation or IndexNotation(service.archive)
    service.notation.keep_reading(service.limits.seconds * _SHARE, service.drawing.start)
    return service.notation


def _page(service: Service) -> str:
    known = _notation(service)
    entries = known.entries()
    known.page = known.page or _made(service, known, entries)
    return known.page


def _made(service: Service, found: IndexNotation, entries: Sequence[NotationEntry]) -> str:
    known = [entry for entry in entries if entry.introductions]
    unknown = sorted((entry for entry in entries if not entry.introductions), key=lambda entry: -entry.uses)
    macros = service.index.macros
    size = "all posts" if found.is_whole else f"{found.count:,} of {found.total:,} posts"
    more = "" if found.is_read else " The others are being read; this page goes on by itself."
    left_out = f" {found.left_out:,} posts are left out: too long, or damaged." if found.left_out else ""
    parts = [
        _HEAD,
        f'<p class="faint" role="status" data-read="{found.is_read}">{len(known):,} symbols are introduced in {size};'
        f" {len(unknown):,} are used and never introduced.{more}{left_out}</p>",
        '<table><thead><tr><th scope="col">Symbol</th><th scope="col">Introduced as</th><th scope="col">Formulas</th></tr></thead><tbody>',
        *(_row(entry, macros) for entry in islice(known, MOST_ROWS)),
        "</tbody></table>",
        "<h2>Never introduced</h2>",
        f'<p class="symbols">{" ".join(_symbol(entry, macros) for entry in unknown[:MOST_ROWS])}</p>',
        "</main></body></html>",
    ]
    return "\n".join(parts)


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
