"""PreTeXt documents: divisions, statements with their proofs, formulas and cross references."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mathamr.core.listing import names
from mathamr.posts.format import Collection
from mathamr.posts.formats.document import Document, anchor, code, element, math, plain, row, text
from mathamr.posts.formats.indexentries import entry_of
from mathamr.posts.formats.pretextnumbers import (
    BLOCKS,
    DEEPEST,
    PROJECTS,
    Numbers,
    Place,
    levels_of,
    numbers_of,
)
from mathamr.posts.formats.ziparchive import xml_root
from mathamr.posts.inputs import LARGEST_DOCUMENT, STDIN, display_path, head, read_bytes, stem
from mathamr.posts.post import Post
from mathamr.posts.postkind import PostKind, kind_named
from mathamr.posts.report import Report

LONGEST_REFERENCE = 100
"""Characters of the title of its target in a reference."""
LONGEST_BEGINNING = 60
"""Characters of a statement that stand in its title, if it has none of its own."""

_ID = "{http://www.w3.org/XML/1998/namespace}id"
_LEVELS = {
    "part": 1, "chapter": 2, "appendix": 2, "preface": 2, "section": 3, "subsection": 4, "subsubsection": 5, "exercises": 4,
    "worksheet": 4, "reading-questions": 4, "references": 4, "glossary": 4, "solutions": 4,
}  # fmt: skip
_STATEMENTS = BLOCKS | PROJECTS | {"exercise", "task", "case"}
_OTHER_KINDS: dict[str, PostKind] = {
    "identity": "theorem", "heuristic": "observation", "insight": "remark", "technology": "remark", "computation": "example",
    "data": "example", "openproblem": "problem", "openquestion": "problem", "openconjecture": "conjecture", "task": "exercise",
    **dict.fromkeys(PROJECTS, "exercise"),
}  # fmt: skip
"""What statements are whose names are no kinds themselves."""
_ANSWERS: dict[str, PostKind] = {
    "proof": "proof", "solution": "solution", "answer": "solution", "hint": "solution",
}  # fmt: skip
_SKIPPED = names("""
    docinfo idx notation index title subtitle shorttitle creator author date bibinfo image latex-image
    description sage
    """)
_FORMULAS = frozenset(["me", "men", "md", "mdn"])
_SIGNS = {
    "nbsp": " ", "ellipsis": "…", "ndash": "–", "mdash": "—", "lq": "“", "rq": "”", "lsq": "‘", "rsq": "’", "times": "×",
    "percent": "%", "ampersand": "&", "dollar": "$", "hash": "#", "underscore": "_", "tilde": "~", "copyright": "©",
    "latex": "LaTeX", "tex": "TeX", "pretext": "PreTeXt", "eg": "e.g.", "ie": "i.e.", "etc": "etc.", "minus": "−", "degree": "°",
}  # fmt: skip
_ATOM = re.compile(r"(?:\$[^$]*\$|[^\s$])+")
_BOOKS = ("pretext", "mathbook", "book", "article")
_DOLLARS = re.compile(r"(?<![\\$])\$(?![\s\d$])[^$<>]{1,200}(?<!\s)\$(?!\d)")
_QUOTED = {"q": ("“", "”"), "sq": ("‘", "’"), "angles": ("⟨", "⟩"), "fn": (" (", ")")}
_LATEX = (("\\amp", "&"), ("\\lt", "<"), ("\\gt", ">"))


class _Target(NamedTuple):
    """What a cross reference leads to: its kind, its title and its number."""

    kind: str
    title: str
    number: str


def read_pretext(collection: Collection, report: Report) -> Iterator[Post]:
    """Read PreTeXt: `xml:id` are labels, `xref` become links."""
    targets: dict[str, _Target] = {}
    numbers = _numbers(collection)
    for file in collection.files:
        root = _root(file, Report())
        if root is not None:
            _collect(root, targets, numbers_of(numbers, file, root))
    for file in collection.files:
        report.at(display_path(file))
        root = _root(file, report)
        if root is None or _name(root) == "macros":
            continue
        path = collection.path_of(file, "document")
        document = Document(path, _document_title(root) or stem(Path(path)))
        if _uses_dollars(root):
            report.repair(
                "formulas between dollars", f"{path} writes formulas as $x$; PreTeXt has <m> for them"
            )
        _Pretext(document, targets, numbers_of(numbers, file, root)).division(root, 0)
        yield from document.posts(file, report, collection.paths)


def _numbers(collection: Collection) -> dict[Place, str]:
    """Return the numbers in all books of the input; an element with two numbers has none."""
    inside = collection.root.resolve()
    publications = [
        root for file in _publications(collection.root) if (root := _root(file, Report())) is not None
    ]
    levels = levels_of(root.find("numbering") for root in publications if _name(root) == "publication")
    if levels is None:
        return {}

    def read(file: Path) -> Any | None:
        is_inside = file.resolve().is_relative_to(inside) and file.is_file()
        return _root(file, Report()) if is_inside else None

    found: dict[Place, str] = {}
    for book in collection.known or collection.files:
        if book == STDIN or head(book).root not in _BOOKS:
            continue
        for place, number in Numbers(book, read, levels).found.items():
            found[place] = number if found.get(place, number) == number else ""
    return found


def _publications(folder: Path) -> Iterator[Path]:
    """Yield the publication files of a folder, which say how deep numbers are."""
    for name in ("publication", "publisher", "."):
        for file in sorted((folder / name).glob("*.[xp][mt][lx]")):
            if "<publication" in head(file).text:
                yield file


def _uses_dollars(root: Any) -> bool:
    """Return whether a file writes most of its formulas between dollars, and not as PreTeXt does."""
    written = sum(1 for _ in root.iter("m", "me", "men", "md", "mdn"))
    return sum(len(_DOLLARS.findall(text)) for text in root.itertext()) > max(2, written)


def _root(file: Path, report: Report) -> Any | None:
    """Return the root of a file; inclusions are left alone, and damaged XML is read as far as it goes."""
    data = read_bytes(file, report, LARGEST_DOCUMENT)
    root = None if data is None else xml_root(data, display_path(file), report)
    report.took("" if root is None else " ".join(root.itertext()), len(data or b""))
    return root


def _name(node: Any) -> str:
    return node.tag if isinstance(node.tag, str) else ""


def _collect(root: Any, targets: dict[str, _Target], numbers: Mapping[Any, str]) -> None:
    for node in root.iter():
        if (label := node.get(_ID)) and label not in targets:
            targets[label] = _Target(
                _name(node), _words(node.find("title"))[:LONGEST_REFERENCE], numbers.get(node, "")
            )


def _words(node: Any | None) -> str:
    """Return the text of a title, formulas between dollars."""
    if node is None:
        return ""
    parts = [node.text or ""]
    for child in node:
        inside = "".join(child.itertext()) if _name(child) else ""  # a comment has no text
        parts += [f"${inside}$" if _name(child) == "m" else inside, child.tail or ""]
    return " ".join("".join(parts).split())


def _entry(node: Any) -> str:
    """Return an entry of the index: `<h>` for each level, or the text of the element itself."""
    return entry_of(*(map(_words, levels) if (levels := node.findall("h")) else [_words(node)])).replace(
        "$", ""
    )


def _document_title(root: Any) -> str:
    top = next((node for node in root.iter("book", "article", "slideshow")), root)
    return _words(top.find("title"))


class _Pretext:
    """Writes the elements of one file to its document."""

    def __init__(
        self, document: Document, targets: Mapping[str, _Target], numbers: Mapping[Any, str]
    ) -> None:
        self._document, self._targets, self._numbers = document, targets, numbers

    def division(self, node: Any, depth: int) -> None:
        """Write a division, or a block in one."""
        name = _name(node)
        if name == "idx":
            self._document.index([_entry(node)])
        if not name or name in _SKIPPED:
            return
        if depth > DEEPEST:
            self._document.write(element("p", text(" ".join("".join(node.itertext()).split()))))
        elif name in _LEVELS and depth == 0:  # a file of its own: its title is the document's
            self._document.label(node.get(_ID) or "")
            self._children(node, depth)
        elif name in _LEVELS:
            title = _words(node.find("title")) or name.replace("-", " ").capitalize()
            self._document.heading(_LEVELS[name], title, node.sourceline or 1, node.get(_ID) or "")
            self._children(node, depth)
        elif name in _STATEMENTS:
            self._statement(node, name, depth)
        elif name in _ANSWERS:
            self._document.begin(
                _ANSWERS[name], _words(node.find("title")), node.sourceline or 1, node.get(_ID) or ""
            )
            self._children(node, depth)
            self._document.end()
        else:
            self._block(node, name, depth)

    def _children(self, node: Any, depth: int) -> None:
        for child in node:
            self.division(child, depth + 1)

    def _statement(self, node: Any, name: str, depth: int) -> None:
        kind = _OTHER_KINDS.get(name) or kind_named(name) or "statement"
        title, label = _words(node.find("title")), node.get(_ID) or ""
        called = f"{name.capitalize()} ({title})" if title else name.capitalize()
        number = self._numbers.get(node, "")
        shown = f"{name.capitalize()} {number}".strip()
        beginning = "" if title else _beginning(node)
        shown += f" ({title})" if title else f": {beginning}" if beginning else ""
        self._document.begin(kind, shown, node.sourceline or 1, label, called)
        for child in node:
            if _name(child) not in _ANSWERS:
                self.division(child, depth + 1)
        self._document.end()
        for child in node:
            if _name(child) in _ANSWERS:
                self.division(child, depth + 1)

    def _block(self, node: Any, name: str, depth: int) -> None:
        if label := node.get(_ID):
            self._document.label(label)
        if name in ("p", "caption", "mrow") or name in _FORMULAS:
            written = self._formula(node) if name in _FORMULAS else self._inline(node, depth)
            self._document.write(element("p", written))
        elif name in ("ul", "ol", "dl"):
            for item in node:
                self._item(item, depth)
        elif name in ("pre", "program", "console", "cd", "input", "output"):
            self._document.write(code("".join(node.itertext()), block=True))
        elif name == "row":
            self._document.write(row(self._inline(cell, depth) for cell in node))
        elif name in ("url", "xref", "m", "em", "term", "c", "q"):
            self._document.write(element("p", self._one(node, name, depth)))
        else:
            if name in ("paragraphs", "assemblage", "aside", "figure", "table", "blockquote", "li"):
                title = _words(node.find("title"))
                self._document.write(element("p", text(title, dollars=True)) if title else "")
            self._children(node, depth)

    def _item(self, item: Any, depth: int) -> None:
        """Write an item of a list: paragraphs and lists in it are blocks, text by itself is an item."""
        if label := item.get(_ID):
            self._document.label(label)
        blocks = [
            child
            for child in item
            if _name(child) in ("p", "ul", "ol", "dl", "figure", "pre", "program", "me", "md")
        ]
        if not blocks:
            self._document.write(element("li", self._inline(item, depth)))
            return
        for child in item:
            if _name(child) == "p":
                self._document.write(element("li", self._inline(child, depth)))
            else:
                self.division(child, depth + 1)

    # -- text

    def _inline(self, node: Any, depth: int) -> str:
        if depth > DEEPEST:
            return text("".join(node.itertext()))
        parts = [text(node.text or "")]
        for child in node:
            parts.append(self._one(child, _name(child), depth + 1))
            parts.append(text(child.tail or ""))
        return "".join(parts)

    def _one(self, node: Any, name: str, depth: int) -> str:
        """Return one element in text."""
        if name == "idx":
            self._document.index([_entry(node)])
        if not name or name in _SKIPPED:
            return ""
        if label := node.get(_ID):
            self._document.label(label)
        if name == "m":
            return math(_latex("".join(node.itertext())))
        if name in _FORMULAS:
            return self._formula(node)
        if name == "xref":
            return self._reference(node, depth)
        if name in ("c", "cline"):
            return code("".join(node.itertext()))
        if name in _SIGNS and not len(node) and not (node.text or "").strip():
            return text(_SIGNS[name])
        if name == "url":
            words = self._inline(node, depth) or text(node.get("visual") or node.get("href") or "")
            return anchor(node.get("href") or "", words)
        if name in ("em", "term", "alert", "pubtitle"):
            tag: Literal["em", "b"] = "b" if name == "term" else "em"
            return f"<{tag}>{self._inline(node, depth)}</{tag}>"
        if name in _QUOTED:
            before, after = _QUOTED[name]
            return before + self._inline(node, depth) + after
        if name in ("ul", "ol", "dl"):
            items = (f"<li>{self._inline(item, depth + 1)}</li>" for item in node)
            return f"<ul>{''.join(items)}</ul>"
        return self._inline(node, depth)

    def _formula(self, node: Any) -> str:
        """Return a displayed formula; the lines of `md` are aligned."""
        rows = [child for child in node if _name(child) == "mrow"]
        for each in (node, *rows):
            if label := each.get(_ID):
                self._document.label(label)
        if not rows:
            return math(_latex("".join(node.itertext())), display=True)
        lines = " \\\\ ".join(_latex("".join(each.itertext())) for each in rows)
        kind = "aligned" if "&" in lines else "gathered"
        return math(f"\\begin{{{kind}}} {lines} \\end{{{kind}}}", display=True)

    def _reference(self, node: Any, depth: int) -> str:
        """Return a cross reference: its own words, else the title of its target, else what the target is."""
        written = []
        own = self._inline(node, depth).strip()
        for label in re.split(r"[\s,]+", node.get("ref") or node.get("first") or ""):
            if not label:
                continue
            target = self._targets.get(label)
            kind = target.kind.replace("-", " ") if target else "reference"
            kind = "equation" if kind in ("men", "mrow", "me") else "item" if kind == "li" else kind
            number = target.number if target else ""
            if number:
                named = f"({number})" if kind == "equation" else f"{kind.capitalize()} {number}"
            else:
                named = f"{kind} ({target.title})" if target and target.title else kind
            words = own or text(named, dollars=True)
            self._document.refer(f"#{label}", plain(words), number)
            written.append(anchor(f"#{label}", words))
        return ", ".join(written) or own


def _beginning(node: Any) -> str:
    """Return the first words of a statement, formulas between dollars."""
    paragraph = next(node.iter("p"), None)
    if paragraph is None:
        return ""
    written = ""
    for word in _ATOM.findall(_words(paragraph)):
        if len(written) + len(word) > LONGEST_BEGINNING:
            return f"{written.rstrip(' ,;:')}…" if written else ""
        written += f" {word}" if written else word
    return written.rstrip(" .:;,")


def _latex(source: str) -> str:
    """Return LaTeX as PreTeXt writes it, with the signs that XML reserves."""
    for name, sign in _LATEX:
        source = re.sub(rf"\{name}(?![A-Za-z])", sign, source)
    return source.strip()
