"""XML dumps of MediaWiki, streamed page by page: an article is one post, or one for each section."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from lxml import etree

from mathamr.posts.decoding import clean_text
from mathamr.posts.format import Collection
from mathamr.posts.formats.document import Document
from mathamr.posts.formats.wikipedia.wikitext import write_wikitext
from mathamr.posts.inputs import Input, display_path
from mathamr.posts.post import Post
from mathamr.posts.report import Report

LONGEST_PAGE = 4 << 20


def read_wikipedia(collection: Collection, report: Report) -> Iterator[Post]:
    """Read articles with their `<math>`: the id is the title; links between articles become links of the posts."""
    for file in collection.files:
        report.at(display_path(file))
        with Input(file, report) as stream:
            for page in _pages(io.BufferedReader(stream, 1 << 18), report):
                report.at(display_path(file), page.sourceline)
                document = _document(page, display_path(file) if file.name == "-" else file.name, report)
                if document is not None:
                    yield from document.posts(file, report, known=None)


def _pages(stream: io.BufferedReader, report: Report) -> Iterator[Any]:
    """Yield the pages of a dump, one in memory at a time; a truncated dump gives the pages before its end."""
    try:
        context = etree.iterparse(
            stream,
            events=("end",),
            tag=("{*}page", "page"),
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
        )
        for _, page in context:
            yield page
            page.clear()
            while page.getprevious() is not None:
                del page.getparent()[0]
    except etree.XMLSyntaxError as error:
        report.skip("truncated XML", f"the dump breaks off or is damaged here ({error.msg})")


def _document(page: Any, path: str, report: Report) -> Document | None:
    found = {child.tag.rpartition("}")[2]: child for child in page if isinstance(child.tag, str)}
    title = clean_text(" ".join((_text(found.get("title"))).split()), report)
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
    document = Document(title, title, date=date, first="article", line=int(page.sourceline or 1), file=path)
    write_wikitext(document, clean_text(source, report), report)
    return document


def _text(element: Any) -> str:
    return (element.text or "") if element is not None else ""
