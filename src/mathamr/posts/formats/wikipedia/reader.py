"""XML dumps of MediaWiki, streamed page by page: an article is one post, or one for each section."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from mathamr.posts.bounds import LONGEST_PATH, cut_title
from mathamr.posts.decoding import clean_text, decode
from mathamr.posts.format import Collection
from mathamr.posts.formats.document import Document
from mathamr.posts.formats.wikipedia.wikitext import write_wikitext
from mathamr.posts.formats.ziparchive import xml_root
from mathamr.posts.inputs import LARGEST_DOCUMENT, Input, bounded_pieces, display_path
from mathamr.posts.post import Post
from mathamr.posts.report import Report

_TAG = re.compile(r"<[^<>]*>")
LONGEST_PAGE = 4 << 20
"""Characters of an article."""


def read_wikipedia(collection: Collection, report: Report) -> Iterator[Post]:
    """Read articles with their `<math>`: the id is the title; links between articles become links of the posts."""
    for file in collection.files:
        report.at(display_path(file))
        with Input(file, report) as stream:
            for page, line in _pages(stream, display_path(file), report):
                name = display_path(file) if file.name == "-" else file.name
                document = _document(page, line, name, report)
                if document is not None:
                    yield from document.posts(file, report, known=None)


def _pages(
    stream: Input, file: str, report: Report, largest: int = LARGEST_DOCUMENT
) -> Iterator[tuple[Any, int]]:
    """Yield the pages of a dump with their lines, each parsed by itself, so that damage stays in its page.

    `<` cannot stand in a text, so that every `<page>` begins a page.
    """
    line, ends = 1, False
    for number, (piece, is_last) in enumerate(bounded_pieces(stream, b"<page>", largest)):
        report.at(file, line)
        source, closed, after = (piece or b"").rpartition(b"</page>")
        ends = bool(number) and bool(closed or piece is None) and b"</" in after
        if piece is None:
            report.skip("row too large", f"a page of more than {largest >> 20} MB")
        elif number and (closed or not is_last):
            page = decode(source if closed else after, report)
            if (root := xml_root(f"<page>{page}</page>".encode(), "the page", report)) is not None:
                yield root, line
        line += 0 if piece is None else piece.count(b"\n")
    if not ends:
        report.skip("truncated XML", "the dump ends without a closing tag; pages may be missing")


def _document(page: Any, line: int, path: str, report: Report) -> Document | None:
    found = {child.tag.rpartition("}")[2]: child for child in page if isinstance(child.tag, str)}
    title = " ".join((_text(found.get("title"))).split())
    title = cut_title(clean_text(title, report), report, LONGEST_PATH)
    if _text(found.get("ns")).strip() not in ("", "0"):
        report.ignore(
            "no article", "a talk page, a category, a template or another page that is not an article"
        )
        return None
    if "redirect" in found:
        report.ignore("redirect", "the page only leads to another one")
        return None
    revision = found.get("revision")
    source, date = "", None
    for child in revision if revision is not None else ():
        name = child.tag.rpartition("}")[2] if isinstance(child.tag, str) else ""
        if name == "text":
            source = _text(child)
        elif name == "timestamp":
            date = _text(child).strip() or None
    if not title or not source.strip():
        report.skip("no text", f"the page {title[:100]!r} has no title or no text")
        return None
    if len(source) > LONGEST_PAGE:
        report.skip("row too large", f"the page {title[:100]!r} has more than {LONGEST_PAGE >> 20} MB")
        return None
    document = Document(title, title, date=date, first="article", line=line, file=path)
    report.took(f"{title}\n{unescape(_TAG.sub(' ', source))}", 0)
    write_wikitext(document, clean_text(source, report), report)
    return document


def _text(element: Any) -> str:
    return "".join(element.itertext()) if element is not None else ""
