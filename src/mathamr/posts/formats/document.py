"""`Document`: collects the parts of a document from the reader of its format and turns them into posts.

Formats that have no markup of their own among `posts.markup` are written as plain HTML: paragraphs, lists, code,
links, and formulas in `math-container` elements. A short document is one post, a long one has a post for each
section; theorems, definitions and similar statements are always posts of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape, unescape
from pathlib import Path
from typing import Literal

from mathamr.posts.bounds import bounded_title
from mathamr.posts.formats.names import DocumentNames
from mathamr.posts.formats.outline import Headings, OutlinePart, labelled, stands_alone
from mathamr.posts.identifiers import stable_name, unique
from mathamr.posts.inputs import display_path, stem
from mathamr.posts.markup.piece import Piece
from mathamr.posts.markup.unicodemath import mark_unicode_formulas
from mathamr.posts.post import Link, Post
from mathamr.posts.postkind import ANSWERING, PostKind
from mathamr.posts.report import Report

_TAGS = re.compile(r"<[^<>]*>")
_MEANS_MATH = re.compile(r"\$|\\(?=[(\[]|begin\b|(?:eq)?ref\b)")
_WORD = re.compile(r"\S+")
_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(eq=False)
class DocumentPart(OutlinePart):
    """A part that is being written as HTML; `links` are targets with their words and numbers.

    `name` is what its id is made of, if its title has something else in it: a number.
    """

    html: list[str] = field(default_factory=list)
    links: list[tuple[str, str, str]] = field(default_factory=list)
    name: str = ""

    @property
    def has_text(self) -> bool:
        """True if anything is written in it."""
        return bool("".join(self.html).strip())

    @property
    def is_named(self) -> bool:
        """True for a statement with a name of its own, as `Theorem (Euler)`, which can be found by that."""
        is_statement = self.kind not in ("section", *ANSWERING) and self.statement is None
        return is_statement and len(_LETTERS.findall(self.headings[-1] if self.headings else "")) > 1

    @property
    def words(self) -> int:
        """The number of words in its body."""
        return sum(1 for piece in self.html for _ in _WORD.finditer(_TAGS.sub(" ", piece)))


@dataclass
class Document:
    """One document under construction: a reader calls `heading`, `write`, `begin` and `end` in the order of the text.

    >>> document = Document("a.org", "A")
    >>> document.write(text("Let ") + math("x > 0") + text("."))
    >>> [post.body for post in document.posts(Path("a.org"), Report())]
    ['Let <span class="math-container">$x &gt; 0$</span>.']
    """

    path: str
    title: str
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    date: str | None = None
    first: PostKind = "note"
    line: int = 1
    file: str = ""
    """The file of the document, if it differs from `path`."""

    def __post_init__(self) -> None:
        self._parts = [DocumentPart(self.first, (), self.line)]
        self._section = self._parts[0]
        self._above = Headings()
        self._open: list[DocumentPart] = []
        self._statement: DocumentPart | None = None

    def heading(self, level: int, title: str, line: int, label: str = "", kind: PostKind = "section") -> None:
        """Begin a section; its title is plain text with formulas between dollars."""
        self._section = DocumentPart(kind, self._above.enter(level, title), line, label)
        self._parts.append(self._section)
        self._open.clear()
        self._statement = None

    def begin(self, kind: PostKind, title: str, line: int, label: str = "", name: str = "") -> None:
        """Begin a theorem, a definition or a proof; a proof belongs to the statement before it."""
        part = DocumentPart(kind, (title,) if title else (), line, label, name=name)
        if kind in ANSWERING and self._statement is not None:
            part.statement = self._statement
            self._statement.proofs.append(part)
            part.headings = ()
        elif kind not in ANSWERING:
            self._statement = part
            part.headings = (title or kind.capitalize(),)
        self._parts.append(part)
        self._open.append(part)

    def begin_plain(self) -> None:
        """Begin a block that stays in the current part: a quote, centred text."""
        self._open.append(self.current)

    def end(self) -> None:
        """End the block that began last."""
        if self._open:
            self._open.pop()

    @property
    def current(self) -> DocumentPart:
        """The part that is being written."""
        return self._open[-1] if self._open else self._section

    def write(self, html: str) -> None:
        """Append HTML to the current part."""
        self.current.html.append(html)

    def label(self, name: str) -> None:
        """Add a label to the current part."""
        if name:
            self.current.inside.append(name)

    def index(self, entries: Iterable[str]) -> None:
        """Add entries of an index to the current part."""
        self.current.keywords.extend(entries)

    def refer(self, target: str, words: str, number: str = "") -> None:
        """Add a reference to a label (`#label`) or to a document (`path` or `path#label`, relative to this one)."""
        self.current.links.append((target, " ".join(words.split())[:200], number))

    def posts(self, file: Path, report: Report, known: frozenset[str] | None = frozenset()) -> Iterator[Post]:
        """Yield the posts of the document; `known` are the paths of the documents it may link to, `None` any name."""
        parts = list(self._join())
        labels = self._identify(parts)
        is_titled = self.title not in ("", stem(Path(self.path)))
        telling = [part for part in parts if part.has_text or part.is_named]
        if parts[-1].kind == "section" and parts[-1].headings and not parts[-1].has_text:
            telling.append(parts[-1])  # which no other is joined to
        if not telling and is_titled:
            telling = parts[:1]  # a document that says nothing but its title: it can be found by that
        parts = telling
        for part in parts:
            part.body = "\n".join(part.html)
            title = (
                ""
                if part.statement is not None
                else bounded_title(self._titles(part), report, *part.headings[-1:])
            )
            yield part.post(
                "html",
                self.file or self.path,
                display_path(file),
                report,
                title=title,
                links=(link for link in self._links(part, labels, known) if link.target != part.id),
                tags=self.tags,
                keywords=self.keywords,
                date=self.date,
            )

    def _titles(self, part: DocumentPart) -> Iterable[str]:
        if part.kind not in ("section", "note", "page", "article"):
            return part.headings
        return dict.fromkeys(name for name in (self.title, *part.headings) if name)

    def _join(self) -> Iterator[DocumentPart]:
        """Yield the parts that become posts: short sections, and all sections of a short document, are joined."""
        sections = [part for part in self._parts if part.kind in (self.first, "section")]
        counts = [part.words for part in sections]
        headings = [(place, place) for place in range(1, len(counts))]
        alone = stands_alone(0, headings, len(counts), lambda begin, end: sum(counts[begin:end]))
        joined = {id(part) for part, is_alone in zip(sections[1:], alone, strict=True) if not is_alone}
        kept = self._parts[0]
        for part in self._parts:
            if id(part) in joined:
                if part.headings:
                    kept.html.append(f"<h2>{text(part.headings[-1], dollars=True)}</h2>")
                kept.html += part.html
                kept.inside += [part.label, *part.inside] if part.label else part.inside
                kept.links += part.links
                kept.keywords += part.keywords
            else:
                kept = part if part.kind in (self.first, "section") else kept
                yield part

    def _identify(self, parts: list[DocumentPart]) -> dict[str, str]:
        taken: dict[str, int] = {}
        for place, part in enumerate(parts):
            if part.statement is not None:
                name = f"{part.statement.id}/proof"
            elif place == 0:
                name = self.path
            else:
                name = f"{self.path}#{part.label or _anchor(part)}"
            part.id = unique(name, taken)
        return {label: part.id for label, part in labelled(parts).items()}

    def _links(
        self, part: DocumentPart, labels: dict[str, str], known: frozenset[str] | None
    ) -> Iterator[Link]:
        for target, words, number in part.links:
            path, _, label = target.partition("#")
            if not path:
                yield Link(labels.get(label, ""), "mention", words, label, number)
                continue
            if known is None:
                yield Link(path, "mention", words, label)
                continue
            if (document := DocumentNames(known, lambda _document: ()).document(path, self.path)) is not None:
                yield Link(document if not label else "", "mention", words, label or "")


def _anchor(part: DocumentPart) -> str:
    """Return a name for a part without a label that stays when others are inserted."""
    beginning = "" if part.kind == "section" else " ".join("\n".join(part.html).split())[:300]
    headings = (*part.headings[:-1], part.name) if part.name else part.headings
    return stable_name(headings[-1] if headings else part.kind, *headings, part.kind, beginning)


def text(words: str, *, dollars: bool = False) -> str:
    """Return words as HTML, formulas in Unicode marked; dollars are escaped unless they mark formulas (`dollars`)."""
    if dollars:
        return escape(words, quote=False)
    read = mark_unicode_formulas(iter([Piece("text", 0, len(words), words)]))
    return "".join(
        math(piece.text)
        if piece.kind == "formula"
        else _MEANS_MATH.sub(_unmark, escape(piece.text, quote=False))
        for piece in read
    )


def _unmark(match: re.Match[str]) -> str:
    return "\\$" if match.group() == "$" else "\\\u200b"


def math(latex: str, *, display: bool = False) -> str:
    """Return a formula as HTML."""
    mark = "$$" if display else "$"
    return f'<span class="math-container">{mark}{escape(latex.strip(), quote=False)}{mark}</span>'


def code(words: str, *, block: bool = False) -> str:
    """Return code as HTML."""
    inside = f"<code>{escape(words, quote=False)}</code>"
    return f"<pre>{inside}</pre>" if block else inside


def anchor(target: str, html: str) -> str:
    """Return a link around words that are HTML already."""
    return f'<a href="{escape(target)}">{html}</a>'


def element(name: Literal["p", "li", "blockquote", "h2", "dt", "dd"], html: str) -> str:
    """Return a block element around HTML; empty if the HTML is."""
    if not html.strip():
        return ""
    return f"<ul><li>{html}</li></ul>" if name == "li" else f"<{name}>{html}</{name}>"


def row(cells: Iterable[str]) -> str:
    """Return a row of a table; the cells are HTML already."""
    return "<table><tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr></table>"


def plain(html: str) -> str:
    """Return HTML of this module as a title: plain text with formulas between dollars."""
    return " ".join(unescape(_TAGS.sub("", html)).replace("\\$", "$").replace("\u200b", "").split())
