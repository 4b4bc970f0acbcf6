"""`read_coq`: the declarations of Coq and Rocq files, with the documentation before them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mathamr.posts.format import Collection
from mathamr.posts.formats.declaration.posts import (
    LONGEST_VALUE,
    MOST_UNCLOSED,
    Declaration,
    declaration_post,
    documentation_post,
    heading_of,
    report_nothing,
)
from mathamr.posts.post import Post
from mathamr.posts.report import Report

LONGEST_STATEMENT = 2_000

_SKIPPED = re.compile(r"\(\*(?P<mark>\*?)(?!\))|\"(?:[^\"]|\"\")*+\"?")
_INSIDE = re.compile(r"\(\*|\*\)")
_VISIBLE = re.compile(r"[^\n]")
_WORDS = r"""Theorem|Lemma|Corollary|Proposition|Fact|Remark|Property|Definition|Fixpoint|CoFixpoint|Inductive|CoInductive
       |Record|Structure|Class|Instance|Axiom|Axioms|Parameter|Hypothesis|Variable|Notation|Example|Function|Conjecture
       |Module(?:\s+Type)?|Section|End"""
_LINE = re.compile(rf"^(?:\(\*|\#\[|(?:{_WORDS}|Require|From)\b)", re.M | re.X)
"""The beginning of a command at the beginning of a line, or of a comment before it."""
_COMMAND = re.compile(
    rf"""(?:\A|(?<=[.\s}}\-+*]))
    (?:\#\[[^\]]{{0,300}}\]\s*+  # attributes, then modifiers
       |(?:Global|Local|Polymorphic|Monomorphic|Program|Private|Canonical)\s++){{0,8}}+
    (?P<word>{_WORDS})\b
    \s++(?P<name>[^\W\d][\w'.]*+|"[^"\n]{{0,200}}")  # a notation is named by its text""",
    re.X,
)
_END = re.compile(r":=|\.(?=\s|\Z)|\n\s*\n")
_STOP = re.compile(r"\.(?=\s|\Z)")
_MODULE_ALIAS = re.compile(r"[^.]{0,200}:=")
_CODE = re.compile(r"\[([^\[\]\n]{1,300})\]")
_LATEX = re.compile(r"%([^%\n]{1,500})%|#[^#\n]{1,500}#")
_TITLE = re.compile(r"(?m)^[ \t]*(\*{1,4})[ \t]+")


def read_coq(collection: Collection, report: Report) -> Iterator[Post]:
    """Read declarations under their full names; the marks of coqdoc in `(** … *)` become Markdown."""
    for file, path, text in collection.texts(report):
        yield from report_nothing(_posts(text, file, path, report), report)


@dataclass(frozen=True, slots=True)
class _Documentation:
    """A documentation comment: [start, end) of the source, and its text in Markdown."""

    start: int
    end: int
    text: str


def _posts(text: str, file: Path, path: str, report: Report) -> Iterator[Post]:
    code, comments = _strip_comments(text, report)
    taken: dict[str, int] = {}
    waiting = list(reversed(comments))
    ends = [match.start() for match in re.finditer("\n", text)]
    for found, declared in _declared(text, code):
        line = 1 + bisect_left(ends, found)
        doc = ""
        while waiting and waiting[-1].end <= found:
            comment = waiting.pop()
            if (not waiting or waiting[-1].end > found) and not code[comment.end : found].strip():
                doc = comment.text
                break
            yield from _note(comment, ends, file, path, taken, report)
        described = Declaration(name=declared[0], word=declared[1], code=declared[2], doc=doc, line=line)
        yield declaration_post(described, "coq", file, path, taken, report)
    for comment in reversed(waiting):
        yield from _note(comment, ends, file, path, taken, report)


def _note(
    comment: _Documentation, ends: list[int], file: Path, path: str, taken: dict[str, int], report: Report
) -> Iterator[Post]:
    if heading_of(comment.text) or len(comment.text) > 80:
        line = 1 + bisect_left(ends, comment.start)
        yield from documentation_post(comment.text, line, file, path, taken, report)


def _declared(text: str, code: str) -> Iterator[tuple[int, tuple[str, str, str]]]:
    """Yield each declaration: its offset, its full name, its word, and its statement under that name."""
    scopes: list[tuple[str, bool]] = []
    position = 0
    while match := _COMMAND.search(code, position):
        position = match.end()
        word, name = match["word"].split()[0], match["name"].rstrip(".")
        if word in ("Module", "Section"):
            if word == "Section" or not _MODULE_ALIAS.match(code, position):
                scopes.append((name, word == "Module"))
        elif word == "End":
            while scopes and scopes.pop()[0] != name:
                pass
        else:
            limit = min(len(code), position + LONGEST_STATEMENT)
            ended = _END.search(code, position, limit)
            end = ended.start() if ended else limit
            full = ".".join((*(scope for scope, is_module in scopes if is_module), name))
            statement = f"{word} {full}{text[position:end].rstrip()}"
            position = end
            if ended and ended.group() == ":=" and word not in ("Theorem", "Lemma"):
                stop = _STOP.search(code, end, min(len(code), end + LONGEST_VALUE))
                if stop:
                    statement += f" {text[end : stop.start()].strip()}"
                    position = stop.end()
            yield match.start("word"), (full.strip('"'), word, statement)


def _strip_comments(text: str, report: Report) -> tuple[str, list[_Documentation]]:
    """Return the text with blanks for comments, which may be nested, and for strings; and its documentation comments."""
    parts: list[str] = []
    comments: list[_Documentation] = []
    done = position = unclosed = 0
    while match := _SKIPPED.search(text, position):
        start, position = match.span()
        if match["mark"] is not None:
            position = _closed(text, match.end())
            if position < 0:
                unclosed += 1
                report.skip(
                    "unclosed comment",
                    f"the comment that begins at offset {start} is never closed; the text up to the next command is not read",
                )
                found = _LINE.search(text, match.end()) if unclosed <= MOST_UNCLOSED else None
                position = found.start() if found else len(text)
            elif match["mark"]:
                comments.append(_Documentation(start, position, _markdown(text[match.end() : position - 2])))
            parts += [text[done:start], _VISIBLE.sub(" ", text[start:position])]
            done = position
        elif position == len(text) and match.group().count('"') % 2:
            report.skip(
                "unclosed string",
                f"the string that begins at offset {start} is never closed; the rest is not read",
            )
    parts.append(text[done:])
    return "".join(parts), comments


def _closed(text: str, start: int) -> int:
    depth = 1
    for mark in _INSIDE.finditer(text, start):
        depth += 1 if mark.group() == "(*" else -1
        if not depth:
            return mark.end()
    return -1


def _markdown(text: str) -> str:
    """Return coqdoc's marks as Markdown: `* Title`, `[code]`, `%LaTeX%`."""
    text = _TITLE.sub(lambda match: "#" * len(match[1]) + " ", text)
    text = _LATEX.sub(lambda match: match[1] or "", text)
    return _CODE.sub(r"`\1`", text)
