"""Coq: documentation comments with the declarations they stand before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from mathamr.posts.identifiers import stable_name, unique
from mathamr.posts.inputs import Head, shown, stem
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Link, Place, Post
from mathamr.posts.postkind import PostKind
from mathamr.posts.reader import Collection
from mathamr.posts.report import Report

LONGEST_STATEMENT = 2000

_COQ_COMMENT = re.compile(r"\(\*(?P<mark>\*?)(?!\))|\"(?:[^\"]|\"\")*+\"")
_COQ_INSIDE = re.compile(r"\(\*|\*\)")
_COQ_DECLARATION = re.compile(
    r"\s*+(?:#\[[^\]]{0,300}\]\s*+|(?:Global|Local|Polymorphic|Monomorphic|Program|#\w+)\s++)*+"
    r"(?P<word>Theorem|Lemma|Corollary|Proposition|Fact|Remark|Property|Definition|Fixpoint|CoFixpoint|Inductive|CoInductive"
    r"|Record|Structure|Class|Instance|Axiom|Axioms|Parameter|Hypothesis|Variable|Notation|Example|Function|Conjecture)"
    r"\b\s*+(?P<name>[\w'.]*+)"
)
_STATEMENT_END = re.compile(r":=|\.(?=\s)|\n\s*\n|\(\*\*")
_KINDS: dict[str, PostKind] = {
    "theorem": "theorem", "lemma": "lemma", "corollary": "corollary", "proposition": "proposition", "fact": "fact",
    "remark": "remark", "property": "proposition", "axiom": "axiom", "axioms": "axiom", "parameter": "axiom",
    "hypothesis": "axiom", "example": "example", "conjecture": "conjecture", "notation": "notation",
    "instance": "declaration", "alias": "declaration", "variable": "axiom",
}  # fmt: skip
_HEADING = re.compile(r"(?m)^#{1,6}[ \t]+(\S.*)$")
_COQ_CODE = re.compile(r"\[([^\[\]\n]{1,300})\]")
_COQ_LATEX = re.compile(r"%([^%\n]{1,500})%|#[^#\n]{1,500}#")
_COQ_TITLE = re.compile(r"(?m)^[ \t]*(\*{1,4})[ \t]+")
_BACKTICKED = re.compile(r"`([\w'.₀-₉]{2,100})`|\[([\w'.]{2,100})\]")
_LICENCE = re.compile(r"\A\s*(?:Copyright|\*{5,}|Released under|This file is)", re.I)


@dataclass(frozen=True)
class _Comment:
    """A documentation comment: its text, its line, and the offset of what follows it."""

    text: str
    line: int
    end: int


class CoqReader:
    """Reads `(** … *)` with the declaration that follows; the marks of coqdoc become Markdown."""

    description: ClassVar[str] = "Coq: documentation comments and what they document"

    @classmethod
    def recognises(cls, head: Head) -> bool:
        """True if the suffix is `.v` and the text looks like Coq; Verilog has the same suffix."""
        if not head.is_text(".v"):
            return False
        return (
            "endmodule" not in head.text
            and re.search(r"\(\*|\bRequire\b|\bProof\b|\.\s*$", head.text) is not None
        )

    def read(self, collection: Collection, report: Report) -> Iterator[Post]:
        """The documented declarations of each file in the order of its text."""
        yield from _read(collection, report)


def _read(collection: Collection, report: Report) -> Iterator[Post]:
    for file, path, source in collection.texts(report):
        posts = list(_posts(source, file, path, report))
        if not posts:
            report.ignore("nothing documented", "the file has no documentation comment")
        yield from posts


def _posts(source: str, file: Path, name: str, report: Report) -> Iterator[Post]:
    taken: dict[str, int] = {}
    for comment in _comments(source, report):
        body = comment.text.strip()
        if not body.strip() or _LICENCE.match(body):
            continue
        body = _markdown(body)
        found = _COQ_DECLARATION.match(source, comment.end)
        label = found["name"].strip() if found else ""
        heading = _HEADING.search(body)
        kind: PostKind = "note"
        title = heading[1].strip() if heading else stem(Path(name))
        line = comment.line
        if found:
            word = found["word"]
            kind = _KINDS.get(word.lower(), "definition")
            title = f"{word} {label}".strip()
            line += source.count("\n", comment.end, found.start("word")) + comment.text.count("\n")
            body += f"\n\n```coq\n{_statement(source, found.start('word'))}\n```\n"
        anchored = f"{name}#{label or stable_name(title, body[:300])}" if label or taken else name
        own = unique(anchored, taken)
        mentioned = (first or second for first, second in _BACKTICKED.findall(comment.text))
        yield Post(
            id=own,
            kind=kind,
            body=body,
            title=title,
            markup="markdown",
            links=tuple(
                Link("", "mention", other, other) for other in dict.fromkeys(mentioned) if other != label
            ),
            source=shown(file),
            formulas=formulas_of(own, title, body, "markdown", report.note),
            place=Place(name, line, label),
        )


def _comments(source: str, report: Report) -> Iterator[_Comment]:
    """The documentation comments, which may be nested; strings and other comments are skipped."""
    position, line, counted = 0, 1, 0
    while match := _COQ_COMMENT.search(source, position):
        position = match.end()
        if not match.group().startswith("(*"):
            continue
        depth = 1
        for mark in _COQ_INSIDE.finditer(source, match.end()):
            depth += 1 if mark.group() == "(*" else -1
            if not depth:
                break
        else:
            report.repair(
                "unclosed comment", f"the comment that begins at offset {match.start()} is never closed"
            )
            return
        position = mark.end()
        line += source.count("\n", counted, match.start())
        counted = match.start()
        if match["mark"]:
            yield _Comment(source[match.end() : mark.start()], line, mark.end())


def _statement(source: str, start: int) -> str:
    """A declaration up to its proof or definition."""
    end = _STATEMENT_END.search(source, start, start + LONGEST_STATEMENT)
    return source[start : end.start() if end else start + LONGEST_STATEMENT].strip()


def _markdown(text: str) -> str:
    """coqdoc's marks as Markdown: `* Title`, `[code]`, `%LaTeX%`."""
    text = _COQ_TITLE.sub(lambda match: "#" * len(match[1]) + " ", text)
    text = _COQ_LATEX.sub(lambda match: match[1] or "", text)
    return _COQ_CODE.sub(r"`\1`", text)
