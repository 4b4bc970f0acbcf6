"""Word documents (.docx): headings, paragraphs, lists and tables; formulas of Word's editor become MathML."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mathamr.posts.format import Collection
from mathamr.posts.formats.document import Document, anchor, element, plain, row, text
from mathamr.posts.formats.word.omml import MATH, mathml
from mathamr.posts.formats.ziparchive import BrokenArchiveError, ZipArchive, xml_root
from mathamr.posts.inputs import display_path, stem
from mathamr.posts.post import Post
from mathamr.posts.postkind import PostKind, kind_named
from mathamr.posts.report import Report

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_COMPATIBLE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_STRICT = {
    b"http://purl.oclc.org/ooxml/wordprocessingml/main": WORD[1:-1].encode(),
    b"http://purl.oclc.org/ooxml/officeDocument/math": MATH[1:-1].encode(),
    b"http://purl.oclc.org/ooxml/officeDocument/relationships": _RELATION[1:].partition("}")[0].encode(),
}
_CORE = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"


def read_word(collection: Collection, report: Report) -> Iterator[Post]:
    """Read Word documents; the line of a post is the number of its paragraph."""
    for file in collection.files:
        report.at(display_path(file))
        try:
            with ZipArchive(file, report) as archive:
                document = Document(path := collection.path_of(file), stem(Path(path)))
                _WordBody(archive, document, report).write()
        except BrokenArchiveError as error:
            report.skip("damaged archive", str(error))
            continue
        yield from document.posts(file, report, collection.paths)


class _WordBody:
    """Writes the body of one Word file into a `Document`."""

    def __init__(self, archive: ZipArchive, document: Document, report: Report) -> None:
        self._archive, self._document, self._report = archive, document, report
        self._styles = dict(self._style_names())
        self._addresses = dict(self._relations())
        self._paragraphs = 0
        self._statement: PostKind | None = None

    def write(self) -> None:
        """Write the whole document; its title and date come from the properties."""
        self._properties()
        root = self._xml("word/document.xml")
        body = None if root is None else root.find(f"{WORD}body")
        if body is None:
            self._report.skip("no text", "the Word document has no text")
            return
        self._blocks(body)
        self._end_statement()

    def _xml(self, name: str) -> Any:
        """Return a member as a tree; namespaces of the strict variant of the standard are replaced by the usual ones."""
        data = self._archive.read(name)
        if data is None:
            return None
        for strict, usual in _STRICT.items():
            data = data.replace(strict, usual)
        return xml_root(data, name, self._report)

    def _style_names(self) -> Iterator[tuple[str, str]]:
        root = self._xml("word/styles.xml")
        for style in root.iter(f"{WORD}style") if root is not None else ():
            name = style.find(f"{WORD}name")
            if name is not None:
                yield str(style.get(f"{WORD}styleId", "")), str(name.get(f"{WORD}val", "")).lower()

    def _relations(self) -> Iterator[tuple[str, str]]:
        root = self._xml("word/_rels/document.xml.rels")
        for relation in root if root is not None else ():
            if str(relation.get("Type", "")).endswith("/hyperlink"):
                yield str(relation.get("Id", "")), str(relation.get("Target", ""))

    def _properties(self) -> None:
        root = self._xml("docProps/core.xml")
        if root is None:
            return
        title, created = root.findtext(f"{_CORE}title"), root.findtext(f"{_TERMS}created")
        if title and title.strip():
            self._document.title = title.strip()
        if created:
            self._document.date = created.strip()

    def _blocks(self, parent: Any) -> None:
        for block in parent:
            if block.tag == f"{WORD}p":
                self._paragraph(block)
            elif block.tag == f"{WORD}tbl":
                for line in block.findall(f"{WORD}tr"):
                    cells = (
                        " ".join(self._inline(p) for p in cell.iter(f"{WORD}p"))
                        for cell in line.findall(f"{WORD}tc")
                    )
                    self._document.write(row(cells))
            elif block.tag in (f"{WORD}sdt", f"{WORD}sdtContent", f"{WORD}ins", f"{WORD}customXml"):
                self._blocks(block)

    def _paragraph(self, paragraph: Any) -> None:
        self._paragraphs += 1
        style = paragraph.find(f"{WORD}pPr/{WORD}pStyle")
        identity = "" if style is None else str(style.get(f"{WORD}val", ""))
        name = self._styles.get(identity, identity.lower())
        written = self._inline(paragraph)
        if not written.strip():
            return
        if name == "title" and not self._document.current.html:
            self._document.title = plain(written)
            return
        if name.startswith("heading") and name[7:].strip().isdigit():
            self._end_statement()
            label = next(iter(self._bookmarks(paragraph)), "")
            self._document.heading(int(name[7:]), plain(written), self._paragraphs, label)
            return
        kind = kind_named(name) if name != "comment" else None
        if kind != self._statement:
            self._end_statement()
            if kind is not None:
                self._document.begin(kind, kind.capitalize(), self._paragraphs)
                self._statement = kind
        for bookmark in self._bookmarks(paragraph):
            self._document.label(bookmark)
        is_item = paragraph.find(f"{WORD}pPr/{WORD}numPr") is not None or name.startswith("list")
        self._document.write(element("li" if is_item else "p", written))

    def _end_statement(self) -> None:
        if self._statement is not None:
            self._document.end()
            self._statement = None

    @staticmethod
    def _bookmarks(paragraph: Any) -> list[str]:
        names = (str(mark.get(f"{WORD}name", "")) for mark in paragraph.iter(f"{WORD}bookmarkStart"))
        return [name for name in names if name and name != "_GoBack"]

    def _inline(self, parent: Any) -> str:
        parts: list[str] = []
        for child in parent:
            tag = child.tag if isinstance(child.tag, str) else ""
            if tag == f"{WORD}r":
                parts.append(self._run(child))
            elif tag == f"{MATH}oMathPara":
                parts += [mathml(formula, display=True) for formula in child.findall(f"{MATH}oMath")]
            elif tag == f"{MATH}oMath":
                parts.append(mathml(child))
            elif tag == f"{WORD}hyperlink":
                parts.append(self._link(child))
            elif tag in (
                f"{WORD}ins",
                f"{WORD}smartTag",
                f"{WORD}sdt",
                f"{WORD}sdtContent",
                f"{WORD}fldSimple",
            ):
                parts.append(self._inline(child))
        return "".join(parts)

    def _run(self, run: Any) -> str:
        parts: list[str] = []
        for child in run:
            tag = child.tag if isinstance(child.tag, str) else ""
            if tag == f"{WORD}t":
                parts.append(text(child.text or ""))
            elif tag in (f"{WORD}tab", f"{WORD}br", f"{WORD}cr"):
                parts.append(" " if tag == f"{WORD}tab" else "<br>")
            elif tag == f"{WORD}noBreakHyphen":
                parts.append("-")
            elif tag == f"{WORD}object":
                self._report.skip(
                    "formula as a picture",
                    "an embedded object of another program, such as an equation of an old editor",
                )
            elif tag == f"{_COMPATIBLE}AlternateContent":
                choice = child.find(f"{_COMPATIBLE}Choice")
                parts.append(self._inline(choice) if choice is not None else "")
        return "".join(parts)

    def _link(self, link: Any) -> str:
        inside = self._inline(link)
        if target := link.get(f"{WORD}anchor"):
            self._document.refer(f"#{target}", plain(inside))
            return anchor(f"#{target}", inside)
        address = self._addresses.get(link.get(_RELATION, ""), "")
        return anchor(address, inside) if address else inside
