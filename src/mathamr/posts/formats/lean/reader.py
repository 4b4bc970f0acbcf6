"""`read_lean`: every declaration of Lean files as a post, and what modules say about themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mathamr.posts.format import Collection
from mathamr.posts.formats.declaration.posts import declaration_post, documentation_post, report_nothing
from mathamr.posts.formats.lean.bullets import bullets
from mathamr.posts.formats.lean.commands import declarations, learn_translations
from mathamr.posts.formats.lean.source import LeanSource
from mathamr.posts.formats.lean.translation import Translations
from mathamr.posts.post import Post
from mathamr.posts.report import Report

UP_TO = "the text up to the next command is not read"
_TRANSLATED = ("to_additive", "to_dual")
_WORD_AT_MOST = re.compile(r"\s*+\w*+\s*+")


def read_lean(collection: Collection, report: Report, learned: Sequence[Any] | None = None) -> Iterator[Post]:
    """Read declarations, documented or not, under their full names, and `/-! … -/`, in which Lean writes Markdown.

    A first pass learns which types have a counterpart by `to_additive`, since these are namespaces of names that
    other files make; `learned` is its result.
    """
    if learned is None:
        learned = [learn_lean(text) for _, _, text in collection.texts(Report())]
    known = Translations()
    for each in learned:
        for attribute, name, given in each or ():
            known.add(attribute, name, given)
    for file, path, text in collection.texts(report):
        source = LeanSource(text)
        for start in source.unclosed:
            report.skip(
                "unclosed comment", f"the comment that begins at offset {start} is never closed; {UP_TO}"
            )
        if (begin := source.unclosed_string) is not None:
            why = f"the string that begins at offset {begin} is never closed; the rest is not read"
            report.skip("unclosed string", why)
        if _is_cut(source):
            report.skip(
                "truncated entry", "the last documentation belongs to nothing: the file may be cut off"
            )
        yield from report_nothing(_posts(source, file, path, known, report), report)


def _is_cut(source: LeanSource) -> bool:
    """Return True if the last documentation comment, which Lean wants a declaration behind, has no more than a word behind it."""
    last = source.comments[-1] if source.comments else None
    return (
        last is not None and not last.is_module and _WORD_AT_MOST.fullmatch(source.text, last.end) is not None
    )


def learn_lean(text: str) -> list[tuple[str, str, str]] | None:
    """Return the counterparts of a file's types and definitions; `None` if it has no attribute that makes them."""
    if not any(attribute in text for attribute in _TRANSLATED):
        return None
    found = Translations()
    learn_translations(found, LeanSource(text))
    return [(attribute, name, given) for attribute, own in found.known.items() for name, given in own.items()]


def _posts(source: LeanSource, file: Path, path: str, known: Translations, report: Report) -> Iterator[Post]:
    taken: dict[str, int] = {}
    comments = iter([comment for comment in source.comments if comment.is_module])
    comment = next(comments, None)
    line = counted = 0
    found = list(declarations(source, known))
    said = bullets(source.comments, (declared.name for declared in found))
    for declared in found:
        while comment is not None:
            line += source.text.count("\n", counted, comment.start)
            counted = comment.start
            if line + 1 > declared.line:
                break
            yield from documentation_post(comment.text, line + 1, file, path, taken, report)
            comment = next(comments, None)
        if (bullet := said.get(declared.name)) is not None:
            declared = replace(declared, doc=f"{declared.doc.strip()}\n\n{bullet}")
        yield declaration_post(declared, "lean", file, path, taken, report)
    while comment is not None:
        line += source.text.count("\n", counted, comment.start)
        counted = comment.start
        yield from documentation_post(comment.text, line + 1, file, path, taken, report)
        comment = next(comments, None)
