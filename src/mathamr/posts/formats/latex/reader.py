"""Folders of LaTeX: sections, theorems and their proofs become linked posts.

For search, a theorem-like statement has the role of a question and its proof that of an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.posts.format import Collection
from mathamr.posts.formats.latex.auxiliary import numbers_in
from mathamr.posts.formats.latex.commands import REFERENCE_WORDS
from mathamr.posts.formats.latex.labels import label_words
from mathamr.posts.formats.latex.numbering import Numbered, Numbering
from mathamr.posts.formats.latex.outline import LatexPart, Outline, is_cut
from mathamr.posts.formats.latex.papers import Paper, paper_of, read_metadata
from mathamr.posts.formats.latex.source import Source, Sources
from mathamr.posts.formats.outline import labelled
from mathamr.posts.identifiers import stable_name, unique
from mathamr.posts.inputs import STDIN, display_path, read_text, stem
from mathamr.posts.markup import pieces
from mathamr.posts.markup.piece import Piece
from mathamr.posts.post import Link, Post
from mathamr.posts.report import Report

_REFERS = re.compile(r"\\(?:[A-Za-z]*ref|[A-Za-z]*cite[A-Za-z]*)\b")
_LAST_WORD = re.compile(r"([^\W\d_]+)\.?[\s(]*\Z")
_BLUEPRINT = re.compile(r"\\(lean|uses)\s*+\{([^{}]*+)\}")
_WITH_WORDS = frozenset(["hyperref", "hyperlink", "nameref"])
"""Commands whose words are the author's, or the name of the target."""
_UNNUMBERED = Numbered("", "")
BEGINNING = 300
"""Characters of a statement without a label that go into the digest of its id."""


def read_latex(collection: Collection, report: Report) -> Iterator[Post]:
    """Read LaTeX documents: ids are `path#label`, or `path#lemma-3f9a12` where a part has no label.

    The digits are a digest of the headings above and of how the part begins: they stay when something else is
    inserted. `\\input` is followed inside the folder only. The macros a post uses are handed on in `macros`.
    """
    known = read_metadata(collection.root, (file.as_posix() for file in collection.files))
    yield from read_documents(collection, collection.root.name, known, report)


def read_documents(
    collection: Collection, name: str, known: Mapping[str, Mapping[str, str]], report: Report
) -> Iterator[Post]:
    """Read the documents of a folder or archive of this name, with what is known of papers by their numbers."""
    root = collection.root
    for source in Sources(root, collection.files, collection.macros).read(report):
        path = _relative(source.file, root, "document")
        yield from _posts(source, root, report, paper_of(f"{name}/{path}", source.text, known))


def _posts(source: Source, root: Path, report: Report, paper: Paper | None) -> Iterator[Post]:
    document = _relative(source.file, root, "document")
    numbering = Numbering(source.text, source.theorems, source.counters)
    numbering.correct(_written_numbers(source))
    name = stem(Path(document))
    parts = Outline(source.text, name, source.theorems, report, numbering.at).parts()
    if is_cut(source.text):
        report.at(display_path(source.file))
        report.skip("document without an end", "it has no \\end{document}: it may be cut off")
    labels = _identify(parts, document)
    for part in _telling(parts, name):
        file, part.line = source.place(part.start)
        mentions = [
            *_mentions(part.body, labels, numbering.labels, report),
            *_blueprint_links(part.body, labels, numbering.labels),
        ]
        yield part.post(
            "latex",
            _relative(file, root, "document"),
            display_path(file),
            report,
            title=part.numbered_title,
            links=[link for link in mentions if link.target != part.id or link.number],
            macros=source.macros_for(f"{part.title}\n{part.body}"),
            tags=paper.tags if paper else (),
            date=paper.date if paper else None,
        )


def _telling(parts: list[LatexPart], name: str) -> list[LatexPart]:
    """Return the parts that say something, if only by a title that no other part shows: of a section that is still to be written."""
    shown: set[tuple[str, ...]] = set()
    for part in parts:
        above = part.headings if part.has_text else part.headings[:-1]
        shown.update(above[:depth] for depth in range(1, len(above) + 1))
    found = [
        part
        for part in parts
        if part.has_text or (part.own_name and not (part.kind == "section" and part.headings in shown))
    ]
    return found or [part for part in parts[:1] if part.title != name]


def _written_numbers(source: Source) -> dict[str, Numbered]:
    """Return the numbers that LaTeX wrote beside the files of a document when it was compiled."""
    found: dict[str, Numbered] = {}
    for file in source.auxiliary_files:
        try:
            found |= numbers_in(read_text(file, Report()) or "")
        except (MathAMRError, OSError):
            continue  # not LaTeX's own: the numbers are counted
    return found


def _relative(file: Path, root: Path, unnamed: str) -> str:
    if file == STDIN:
        return unnamed
    inside = root if file.is_relative_to(root) else root.resolve()
    return file.relative_to(inside).as_posix()


def _identify(parts: list[LatexPart], document: str) -> dict[str, LatexPart]:
    """Give every part its id; return the part that each label of the document leads to."""
    taken = {document: 1}
    parts[0].id = document
    for part in parts[1:]:
        name = f"{document}#{part.label}"
        if part.statement is not None:
            name = f"{part.statement.id}/proof" + (f"-{part.number}" if part.number > 1 else "")
        elif not part.label or name in taken:
            name = f"{document}#{_anchor(part)}"
        part.id = unique(name, taken)
    return labelled(parts)


def _anchor(part: LatexPart) -> str:
    """Return a name for a part without a label: what it is, and a digest of where it is and how it begins."""
    if part.kind == "section":
        name, beginning = part.headings[-1] if part.headings else "section", ""
    else:
        name, beginning = (
            part.name,
            f"{part.title}\0{' '.join(part.body[: 2 * BEGINNING].split())[:BEGINNING]}",
        )
    return stable_name(name, *part.headings, part.name, beginning)


def _mentions(
    body: str, labels: dict[str, LatexPart], numbers: dict[str, Numbered], report: Report
) -> Iterator[Link]:
    """Yield the links of a text: each reference, with the words that stand in its place: the kind of thing, and its label's."""
    if not _REFERS.search(body):
        return
    open_link: Piece | None = None
    words, before = "", ""
    for piece in [*pieces(body, "latex"), Piece("close", len(body), len(body), "a")]:
        is_end = piece.kind == "close" and piece.text == "a"
        if open_link is not None and (is_end or piece.kind == "link"):
            yield from _references(open_link, words, before, labels, numbers, report)
            open_link, words = None, ""
        if piece.kind == "link" and piece.text.startswith("#"):
            open_link = piece
        elif piece.kind == "text" and open_link is None:
            before = (before + piece.text)[-60:]
        elif open_link is not None and piece.kind in ("text", "formula"):
            words += piece.text
        elif piece.kind == "break" and open_link is None:
            before = ""


def _blueprint_links(body: str, labels: dict[str, LatexPart], numbers: dict[str, Numbered]) -> Iterator[Link]:
    """Yield the links of a blueprint: `\\lean{Full.name}` to declarations, `\\uses{label}` to what a statement or proof needs."""
    for match in _BLUEPRINT.finditer(body):
        for name in match[2].split(","):
            name = name.strip()
            if not name:
                continue
            if match[1] == "lean":
                yield Link("", "mention", name[:200], name)
            elif (target := labels.get(name)) is not None:
                number = numbers.get(name, _UNNUMBERED)
                words = (
                    f"{number.kind[:1].upper()}{number.kind[1:]} {number.number}"
                    if number.number
                    else target.kind
                )
                yield Link(target.id, "mention", words, name, number.number)


def _references(
    piece: Piece,
    words: str,
    before: str,
    labels: dict[str, LatexPart],
    numbers: dict[str, Numbered],
    report: Report,
) -> Iterator[Link]:
    command = dict(piece.attributes).get("class", "")
    is_citation, has_words = "cite" in command, command in _WITH_WORDS
    wanted = [each.strip() for each in piece.text.removeprefix("#").split(",")]
    called = label_words(piece.text)
    if called and not is_citation and not has_words and not labels.keys().isdisjoint(wanted):
        words = words.replace(called, "").replace("()", "").strip()
    if not is_citation and (word := _LAST_WORD.search(before)):
        named = word.group(1).lower() in REFERENCE_WORDS.values()
        words = f"{word.group(1)} {words}".strip() if named or not words else words
    for label in filter(None, wanted):
        if label not in labels and not is_citation:
            report.miss("reference to no label", f"no part of the document has the label {label[:100]!r}")
        target = labels.get(label)
        shown_words = (
            target.kind
            if target is not None and words in ("reference", "")
            else " ".join(words.split())[:200]
        )
        numbered = numbers.get(label, _UNNUMBERED)
        if target is not None and target.label == label and target.own_name and not has_words:
            shown_words = f"{target.kind} ({target.own_name})"
        if numbered.number and not has_words:
            kind = numbered.kind[:1].upper() + numbered.kind[1:]
            shown_words = (
                f"({numbered.number})" if kind == "Equation" else f"{kind} {numbered.number}".strip()
            )
        yield Link(target.id if target is not None else "", "mention", shown_words, label, numbered.number)
