"""Plain text with mathematics between delimiters, and the search for it that every markup shares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from mathamr.posts.markup.delimiters import OPENING, MathScanner, Region
from mathamr.posts.markup.piece import Note, Piece, PieceRun

_PICTURE = re.compile(r"\\begin\s*\{(?:tikzpicture|circuitikz|pspicture|axis)\}|\\tikz(?![A-Za-z])")
"""A drawing, which has no trees."""
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")


def pieces(text: str, note: Note) -> Iterator[Piece]:
    """Yield the pieces of plain text: formulas, and a paragraph break at each empty line."""
    run = PieceRun()
    if text:
        run.add(text, 0, len(text))
    for piece in inline(run, note):
        if piece.kind == "text" and len(piece.text) == piece.end - piece.start:
            yield from _paragraphs(piece)
        else:
            yield piece


def _paragraphs(piece: Piece) -> Iterator[Piece]:
    done = 0
    for gap in _PARAGRAPH.finditer(piece.text):
        if gap.start() > done:
            yield Piece("text", piece.start + done, piece.start + gap.start(), piece.text[done : gap.start()])
        yield Piece("break", piece.start + gap.start(), piece.start + gap.end(), "paragraph")
        done = gap.end()
    if done < len(piece.text):
        yield Piece("text", piece.start + done, piece.end, piece.text[done:])


def inline(run: PieceRun, note: Note, *, money: bool = True) -> Iterator[Piece]:
    """Yield the text and formula pieces of a run of inline text."""
    text = run.text()
    if "$" not in text and "\\" not in text:
        yield from run.pieces(0, len(text))
        return
    scanner = MathScanner(text, money=money)
    done = position = 0
    while match := OPENING.search(text, position):
        start, position = match.span()
        if match.group() == "\\$" or match.group().startswith(("\\ref", "\\eqref")):
            yield from run.pieces(done, start)
            yield Piece("text", *run.origin(start, position), "$" if match.group() == "\\$" else "(*)")
            done = position
            continue
        region = scanner.at(match)
        if region is None:
            continue
        if region == "unclosed":
            note(f"unclosed {match.group()}", run.origin(start, position)[0])
            position = start + 1 if match.group() == "$$" else position
            continue
        yield from run.pieces(done, start)
        yield from formula(run, region, note)
        done = position = region.end
    yield from run.pieces(done, len(text))


def formula(run: PieceRun, region: Region, note: Note) -> Iterator[Piece]:
    """Yield the formula of a region, the formulas held inside it, and the punctuation that ended it as text."""
    start, end = run.origin(region.start, region.end)
    latex = region.latex.replace("\u2028", "\n")
    inside: list[Piece] = []
    if "\0" in latex:
        inside, meanings = run.held(region.start, region.end)
        latex = "".join(
            part for pair in zip_longest(latex.split("\0"), meanings, fillvalue="") for part in pair
        )
    if _PICTURE.search(latex):
        yield Piece("drawing", start, end, latex)
    elif latex:
        yield Piece("formula", start, end, latex, region.display)
    else:
        note("empty formula", start)
    yield from (piece for piece in inside if piece.kind == "formula")
    if region.tail is not None:
        yield from run.pieces(region.tail, region.tail + 1)
