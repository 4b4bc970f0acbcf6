"""Word documents (.docx): headings, paragraphs, lists and tables; formulas of Word's editor become MathML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mathamr.core.listing import names
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
_STRICT = {
    b"http://purl.oclc.org/ooxml/wordprocessingml/main": WORD[1:-1].encode(),
    b"http://purl.oclc.org/ooxml/officeDocument/math": MATH[1:-1].encode(),
    b"http://purl.oclc.org/ooxml/officeDocument/relationships": _RELATION[1:].partition("}")[0].encode(),
}
_CORE = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
_HEADING = re.compile(r"heading\s*([1-9])", re.ASCII)
_NOTES = {"footnote": "footnotes", "endnote": "endnotes", "comment": "comments"}
"""What stands at the end of a page or at its edge, each with the part of the file that holds all of its kind."""
_WITHOUT_TEXT = names("settings webSettings styles stylesWithEffects numbering fontTable theme people")
_UNSEEN = names("del moveFrom instrText delText delInstrText")
"""What was deleted or moved away, and the codes of fields; beside these all properties."""
_SPACES = {"tab": " ", "ptab": " ", "br": "<br>", "cr": "<br>", "noBreakHyphen": "-"}
_SYMBOLS = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ",
        strict=True,
    )
)
"""The letters of the font Symbol."""


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
        self._read: set[str] = set()
        self._styles = dict(self._style_names())
        self._addresses = dict(self._relations())
        self._notes = {key: note for kind in _NOTES for key, note in self._notes_of(kind)}
        self._later: list[Any] = []
        """Notes and text boxes of the paragraph that is being written: they stand behind it."""
        self._paragraphs = 0
        self._has_title = False
        self._statement: PostKind | None = None

    def write(self) -> None:
        """Write the whole document; its title and date come from the properties."""
        self._properties()
        root = self._xml("word/document.xml")
        body = None if root is None else root.find(f"{WORD}body")
        if body is None:
            self._report.skip("no text", "the Word document has no text")
            return
        for block in body:
            try:
                self._block(block)
            except RecursionError:
                self._report.skip(
                    "nested too deeply", "a paragraph or table is nested too deeply; of it the words are read"
                )
                self._document.write(element("p", text(_words(block))))
        self._end_statement()
        unused = list(self._notes.values())
        self._notes.clear()
        self._write_later(*unused)
        self._report_other_parts()

    def _xml(self, name: str) -> Any:
        """Return a member as a tree; namespaces of the strict variant of the standard are replaced by the usual ones."""
        self._read.add(name)
        data = self._archive.read(name)
        if data is None:
            return None
        self._report.characters += len(data)
        for strict, usual in _STRICT.items():
            data = data.replace(strict, usual)
        root = xml_root(data, name, self._report)
        if root is not None and name.startswith("word/"):
            self._report.took(" ".join(_texts(root, "{*}t", "{*}delText")), 0)
        return root

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

    def _notes_of(self, kind: str) -> Iterator[tuple[tuple[str, str], Any]]:
        root = self._xml(f"word/{_NOTES[kind]}.xml")
        for note in root if root is not None else ():
            if note.get(f"{WORD}type", "normal") == "normal":
                yield (kind, str(note.get(f"{WORD}id", ""))), note

    def _properties(self) -> None:
        root = self._xml("docProps/core.xml")
        if root is None:
            return
        title, created = root.findtext(f"{_CORE}title"), root.findtext(f"{_TERMS}created")
        if title and title.strip():
            self._document.title = title.strip()
        if created:
            self._document.date = created.strip()

    def _report_other_parts(self) -> None:
        for name in self._archive.names():
            bare = name.removeprefix("word/").removesuffix(".xml")
            if bare == name.removesuffix(".xml") or not name.endswith(".xml") or name in self._read:
                continue
            if bare.partition("/")[0] not in _WITHOUT_TEXT and (root := self._xml(name)) is not None:
                words = _words(root)
                if any(map(str.isalpha, words)):
                    self._report.skip(
                        "part not read", f"{name[:100]!r} has text beside the document's: {words[:60]!r}"
                    )

    # -- blocks

    def _block(self, block: Any) -> None:
        name = _name(block)
        if name == "p":
            self._paragraph(block)
        elif name == "tbl":
            for line in _within(block, "tr"):
                self._document.write(row(self._cell(cell) for cell in _within(line, "tc")))
            self._write_later()
        elif name == "altChunk":
            self._report.skip("insertion not followed", "the document includes a file of another format")
        elif name not in _UNSEEN and not name.endswith("Pr"):
            for child in _chosen(block) if name == "AlternateContent" else block:
                self._block(child)

    def _paragraph(self, paragraph: Any) -> None:
        self._paragraphs += 1
        self._write_paragraph(paragraph, self._inline(paragraph))
        self._write_later()

    def _write_paragraph(self, paragraph: Any, written: str) -> None:
        style = paragraph.find(f"{WORD}pPr/{WORD}pStyle")
        identity = "" if style is None else str(style.get(f"{WORD}val", ""))
        name = self._styles.get(identity, identity.lower())
        if not written.strip():
            return
        if name == "title" and not self._document.current.html:
            said = plain(written)
            self._document.title = f"{self._document.title} {said}" if self._has_title else said
            self._has_title = True
            return
        if heading := _HEADING.fullmatch(name):
            self._end_statement()
            label = next(iter(self._bookmarks(paragraph)), "")
            self._document.heading(int(heading[1]), plain(written), self._paragraphs, label)
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

    def _write_later(self, *others: Any) -> None:
        """Write the paragraphs of notes and text boxes, without regard to their styles."""
        self._later += others
        while self._later:
            for paragraph in _within(self._later.pop(0), "p"):
                self._document.write(element("p", self._inline(paragraph)))

    def _cell(self, cell: Any) -> str:
        return " ".join(map(self._inline, _within(cell, "p")))

    def _end_statement(self) -> None:
        if self._statement is not None:
            self._document.end()
            self._statement = None

    @staticmethod
    def _bookmarks(paragraph: Any) -> list[str]:
        names = (str(mark.get(f"{WORD}name", "")) for mark in paragraph.iter(f"{WORD}bookmarkStart"))
        return [name for name in names if name and name != "_GoBack"]

    # -- text

    def _inline(self, parent: Any) -> str:
        return "".join(map(self._one, parent))

    def _one(self, node: Any) -> str:
        """Return one element of a paragraph; of one that is not known what is in it."""
        name = _name(node)
        if name == "t":
            return text(node.text or "")
        if name in _SPACES:
            return _SPACES[name]
        if name == "oMath":
            return self._formula(node)
        if name == "oMathPara":
            return "".join(self._formula(each, display=True) for each in _within(node, "oMath"))
        if name == "hyperlink":
            return self._link(node)
        if name == "ruby":
            base, above = (
                "".join(map(self._inline, node.findall(f"{WORD}{part}"))) for part in ("rubyBase", "rt")
            )
            return base + (f" ({above})" if above else "")
        if name == "sym":
            return self._symbol(node)
        if name == "AlternateContent":
            return "".join(map(self._one, _chosen(node)))
        if name in ("txbxContent", "tbl"):
            self._later.append(node)
        elif name.endswith("Reference") and (kind := name.removesuffix("Reference")) in _NOTES:
            note = self._notes.pop((kind, str(node.get(f"{WORD}id", ""))), None)
            self._later += [] if note is None else [note]
        elif name == "object" or (name == "instrText" and (node.text or "").split()[:1] == ["EQ"]):
            self._report.skip(
                "formula as a picture",
                "an embedded object of another program, such as an equation of an old editor, or a field of Word",
            )
        elif name and name not in _UNSEEN and not name.endswith("Pr"):
            return self._inline(node) + " " * (name == "p")
        return f" {text(words)} " if name == "docPr" and (words := node.get("descr")) else ""

    def _formula(self, formula: Any, *, display: bool = False) -> str:
        try:
            return mathml(formula, display=display)
        except RecursionError:
            self._report.skip("nested too deeply", "a formula is nested too deeply; of it the signs are read")
            return text(_words(formula))

    def _symbol(self, symbol: Any) -> str:
        font, code = (str(symbol.get(f"{WORD}{name}", "")) for name in ("font", "char"))
        try:
            sign = chr(int(code, 16) % 0xF000)
        except ValueError:
            sign = ""
        if font == "Symbol" and sign in _SYMBOLS:
            return _SYMBOLS[sign]
        self._report.skip("sign of a font", f"a sign that only the font {font[:40]!r} shows")
        return ""

    def _link(self, link: Any) -> str:
        inside = self._inline(link)
        if target := link.get(f"{WORD}anchor"):
            self._document.refer(f"#{target}", plain(inside))
            return anchor(f"#{target}", inside)
        address = self._addresses.get(link.get(_RELATION, ""), "")
        return anchor(address, inside) if address else inside


def _name(node: Any) -> str:
    """Return the name of an element without its namespace; empty for a comment."""
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


def _within(node: Any, name: str) -> Iterator[Any]:
    """Yield the elements of a name in another one, not those in each other, whatever else holds them; of text boxes none."""
    for child in _chosen(node) if _name(node) == "AlternateContent" else node:
        own = _name(child)
        if own == name:
            yield child
        elif own not in _UNSEEN and (own != "p" or name == "p") and not own.endswith("Pr"):
            yield from _within(child, name)


def _chosen(node: Any) -> Any:
    """Return what is read of alternatives: the first that has text, else the first."""
    return next((each for each in node if next(_texts(each), "")), node[0] if len(node) else ())


def _words(node: Any) -> str:
    """Return the words of an element, and of all in it."""
    return " ".join(_texts(node))


def _texts(node: Any, *names: str) -> Iterator[str]:
    return (each.text for each in node.iter(*names or ["{*}t"]) if each.text and each.text.strip())
