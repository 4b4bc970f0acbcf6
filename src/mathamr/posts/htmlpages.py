"""HTML pages with MathML or MathJax: one page is one note."""

from __future__ import annotations

import codecs
import posixpath
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote, urlsplit

from mathamr.posts.files import STDIN, Head, read_bytes, shown
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Link, Post
from mathamr.posts.reader import Collection
from mathamr.posts.report import Report
from mathamr.posts.text import cleaned, decoded

_SUFFIXES = (".html", ".htm", ".xhtml")
_OTHER_SUFFIXES = (".md", ".markdown", ".tex", ".xml", ".txt", ".json", ".jsonl", ".tsv", ".svg")
_PAGE = re.compile(
    r"\s*(?:<\?xml[^<>]*>\s*)?(?><!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_CHARSET = re.compile(rb"<meta[^>]{0,500}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_TITLE = re.compile(r"<title\b[^>]{0,500}>([^<]*)</title", re.IGNORECASE)
_HEADING = re.compile(r"<h1\b[^>]{0,500}>(.{1,2000}?)</h1", re.IGNORECASE | re.DOTALL)
_OPENING = {
    name: re.compile(rf"<{name}\b[^>]{{0,2000}}>", re.IGNORECASE) for name in ("main", "article", "body")
}
_CLOSING = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in ("main", "article", "body")}
_HREF = re.compile(r"<a\b[^>]{0,2000}?\bhref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']+))", re.IGNORECASE)


class HtmlReader:
    """Reads pages whole: the id is the path in the folder, the title that of the page or its first heading.

    Of a page with one `main` or `article` element only that is the post: menus and footers are not mathematics.
    Links to other pages of the folder become links of the post.
    """

    description: ClassVar[str] = "HTML pages with MathML or MathJax: a page, or a folder of pages"

    @classmethod
    def recognises(cls, head: Head) -> bool:
        """Named so, or starting as a page does."""
        if head.suffix in _SUFFIXES:
            return True
        return head.suffix not in _OTHER_SUFFIXES and _PAGE.match(head.text) is not None

    def read(self, collection: Collection, report: Report) -> Iterator[Post]:
        """One note a page."""
        ids = {_identifier(file, collection.root) for file in collection.files}
        for file in collection.files:
            report.at(shown(file))
            data = read_bytes(file, report)
            if data is None:
                continue
            page = _page(data, report)
            identifier = _identifier(file, collection.root)
            title, body = _title(page), _body(page)
            yield Post(
                id=identifier,
                kind="note",
                body=body,
                title=title,
                links=tuple(_links(body, identifier, ids)),
                source=shown(file),
                formulas=formulas_of(identifier, title, body, "html", report.note),
            )


def _identifier(file: Path, root: Path) -> str:
    return "page" if file == STDIN else file.relative_to(root).as_posix()


def _page(data: bytes, report: Report) -> str:
    """The text of a page: UTF-8, or what it declares where it is not UTF-8."""
    declared = _CHARSET.search(data, 0, 4096)
    try:
        return cleaned(data.decode("utf-8-sig"), report)
    except UnicodeDecodeError:
        encoding = _encoding(declared[1].decode()) if declared else None
        return (
            decoded(data, report) if encoding is None else cleaned(data.decode(encoding, "replace"), report)
        )


def _encoding(name: str) -> str | None:
    try:
        found = codecs.lookup(name)
    except LookupError:
        return None
    return found.name if found.name != "utf-8" and found._is_text_encoding else None


def _title(page: str) -> str:
    for pattern in (_TITLE, _HEADING):
        if (match := pattern.search(page)) and (title := match[1].strip()):
            return title
    return ""


def _body(page: str) -> str:
    for name in ("main", "article", "body"):
        opening = _OPENING[name].search(page)
        if opening is None or (name != "body" and _OPENING[name].search(page, opening.end())):
            continue
        closings = list(_CLOSING[name].finditer(page, opening.end()))
        return page[opening.end() : closings[-1].start() if closings else len(page)]
    return page


def _links(body: str, identifier: str, ids: set[str]) -> Iterator[Link]:
    """The pages of the same folder that a page leads to, each once."""
    seen = {identifier}
    for match in _HREF.finditer(body):
        address = unescape(match[1] or match[2] or match[3] or "")
        try:
            parts = urlsplit(address)
        except ValueError:
            continue  # not an address at all, so no page of ours
        if parts.scheme or parts.netloc or not parts.path:
            continue
        target = posixpath.normpath(posixpath.join(posixpath.dirname(identifier), unquote(parts.path)))
        if target in ids and target not in seen:
            seen.add(target)
            yield Link(target, "mention")
