"""HTML pages with MathML or MathJax: a page becomes one post, or one for each section of a long page."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote, urlsplit

from mathamr.core.listing import names
from mathamr.posts.bounds import LONGEST_WORDS, bounded_title
from mathamr.posts.decoding import clean_text, decode
from mathamr.posts.format import Collection
from mathamr.posts.formats.html.outline import outline
from mathamr.posts.formats.html.pieces import TOKEN, Tag
from mathamr.posts.formats.names import DocumentNames
from mathamr.posts.formats.outline import OutlinePart
from mathamr.posts.inputs import LARGEST_DOCUMENT, STDIN, display_path, read_bytes
from mathamr.posts.post import Link, Post
from mathamr.posts.report import Report

_NO_CHARSETS = names("utf_8 utf_7 punycode idna unicode_escape raw_unicode_escape undefined")
"""Encodings of Python that no browser knows, some of which take quadratic time; and the one that was tried."""
_UNSEEN = re.compile(r"<(script|style)\b.*?(?:</\1|\Z)|<!--.*?(?:-->|\Z)|<[^<>]*>", re.I | re.S)
_CONTROL = bytes(set(range(32)) - set(b"\t\n\f\r\x1b"))
_CHARSET = re.compile(rb"<meta[^>]{0,500}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)


def read_html(collection: Collection, report: Report) -> Iterator[Post]:
    """Read pages: the id is the path in the folder, with `#anchor` for a section of a long one.

    Navigation, menus, permalinks and the name of the site are left out. Links to other pages of the folder become links
    of the post.
    """
    files = {collection.path_of(file, "page"): file for file in collection.files}

    def parts(page: str) -> list[OutlinePart]:
        file = files[page]
        data = None if file == STDIN else read_bytes(file, Report(), LARGEST_DOCUMENT)
        return [] if data is None else outline(_page(data, Report()))

    known = DocumentNames(files, parts)
    for page, file in files.items():
        report.at(display_path(file))
        data = read_bytes(file, report, LARGEST_DOCUMENT)
        if data is not None:
            path = file.name if file == STDIN else page
            yield from page_posts(data, page, path, display_path(file), known, report)


def page_posts(
    data: bytes, page: str, path: str, source: str, known: DocumentNames, report: Report
) -> Iterator[Post]:
    """Yield the posts of one page with the id `page`, from the file `path`."""
    if _is_noise(data):
        report.skip("damaged page", "it is not text: it is damaged or encrypted")
        return
    text = _page(data, report)
    if not text.strip():
        return
    report.took(unescape(_UNSEEN.sub(" ", text)), 0)
    for part in outline(text):
        own = (Link(page),) if part.id else ()
        part.id = f"{page}#{part.id}" if part.id else page
        links_of_part = (*own, *_links(part.body, page, part.id, known))
        yield part.post(
            "html", path, source, report, title=bounded_title(part.headings, report), links=links_of_part
        )


def _is_noise(data: bytes) -> bool:
    """Return whether bytes are no text in any encoding: a text has hardly any control characters."""
    unwanted = len(data) - len(data.translate(None, _CONTROL))
    return unwanted > len(data) // 50 and data[:2] not in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _page(data: bytes, report: Report) -> str:
    """Return the text of a page: UTF-8, or what it declares where it is not UTF-8."""
    declared = _CHARSET.search(data, 0, 4096)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        encoding = _encoding(declared[1].decode()) if declared else None
        if encoding is None:
            return decode(data, report)
        text = data.decode(encoding, "replace")
    report.characters += len(text)
    return clean_text(text, report)


def _encoding(name: str) -> str | None:
    try:
        found = codecs.lookup(name)
    except LookupError:
        return None
    return (
        found.name if found._is_text_encoding and found.name.replace("-", "_") not in _NO_CHARSETS else None
    )


def _links(body: str, page: str, identifier: str, known: DocumentNames) -> Iterator[Link]:
    """Yield the posts that a text of a page leads to, each once for the words it is shown by."""
    for address, words in dict.fromkeys(_hrefs(body)):
        try:
            parts = urlsplit(address)
        except ValueError:
            continue  # not a valid address
        if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
            continue
        document = known.document(unquote(parts.path), page)
        target = known.post(document, unquote(parts.fragment)) if document is not None else identifier
        if target != identifier:
            yield Link(target, "mention", words, address)


def _hrefs(body: str) -> Iterator[tuple[str, str]]:
    """Yield the addresses of a page's links, and the words each begins with."""
    for match in TOKEN.finditer(body):
        if match.lastgroup == "tag" and match.group()[:2].lower() == "<a":
            tag = Tag.parse(match.group())
            if tag.name == "a" and (address := tag.attributes.get("href")):
                end = body.find("<", match.end())
                words = body[match.end() : end if end >= 0 else len(body)][:LONGEST_WORDS]
                yield address, " ".join(unescape(words).split())
