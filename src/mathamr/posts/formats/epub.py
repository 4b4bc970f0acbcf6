"""EPUB books: the pages of the spine in their order, each read as the HTML it is."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from mathamr.posts.format import Collection
from mathamr.posts.formats.html.reader import page_posts
from mathamr.posts.formats.names import DocumentNames
from mathamr.posts.formats.ziparchive import BrokenArchiveError, ZipArchive
from mathamr.posts.inputs import display_path
from mathamr.posts.post import Place, Post
from mathamr.posts.report import Report

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document")
_MARKS = ("nav", "toc")


def read_epub(collection: Collection, report: Report) -> Iterator[Post]:
    """Read books: the id of a page is `book.epub/path/of/page.xhtml`, and its line is the number of the page."""
    for file in collection.files:
        report.at(display_path(file))
        try:
            with ZipArchive(file, report) as archive:
                yield from _pages(archive, file, collection.path_of(file, "book"), report)
        except BrokenArchiveError as error:
            report.skip("damaged archive", str(error))


def _pages(archive: ZipArchive, file: Path, name: str, report: Report) -> Iterator[Post]:
    package = _package(archive)
    root = archive.xml(package) if package else None
    if root is None:
        report.skip("no text", "the book has no list of its pages")
        return
    folder = posixpath.dirname(package)
    members = list(dict.fromkeys(posixpath.normpath(posixpath.join(folder, href)) for href in _spine(root)))
    encrypted = set(_encrypted(archive))
    known = DocumentNames(frozenset(f"{name}/{member}" for member in members), lambda _page: [])
    for number, member in enumerate(members, 1):
        report.at(display_path(file), number)
        if member in encrypted:
            report.skip("encrypted page", f"the page {member[:100]!r} is encrypted; its text cannot be read")
            continue
        data = archive.read(member)
        if data is None:
            report.miss(
                "page not in the book", f"the book lists the page {member[:100]!r} but does not contain it"
            )
            continue
        for post in page_posts(data, f"{name}/{member}", name, display_path(file), known, report):
            yield replace(post, place=Place(name, number, member))


def _package(archive: ZipArchive) -> str:
    root = archive.xml(_CONTAINER)
    found = None if root is None else next(_named(root, "rootfile"), None)
    return "" if found is None else unquote(str(found.get("full-path", "")))


def _encrypted(archive: ZipArchive) -> Iterator[str]:
    """Yield the members that only a reader with a key shows; fonts are often among them."""
    root = archive.xml(_ENCRYPTION)
    for reference in _named(root, "CipherReference") if root is not None else ():
        yield posixpath.normpath(unquote(str(reference.get("URI", ""))))


def _spine(root: Any) -> Iterator[str]:
    items = {str(item.get("id", "")): item for item in _named(root, "item")}
    for reference in _named(root, "itemref"):
        item = items.get(str(reference.get("idref", "")))
        if item is None or item.get("media-type") not in _PAGES:
            continue
        if not set(str(item.get("properties", "")).split()) & set(_MARKS):
            yield unquote(str(item.get("href", "")))


def _named(root: Any, name: str) -> Iterator[Any]:
    return (each for each in root.iter() if isinstance(each.tag, str) and each.tag.rpartition("}")[2] == name)
