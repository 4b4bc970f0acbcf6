"""The numbers of theorems as readers see them, compared with those that the author's own tools print.

`python -m mathamr_lab.studies.numbers SOURCES TRUTH…` reads a book and prints how many of its statements show a number, and how many of
these, and of the numbers of references, are equal to the truth: `.aux` files that LaTeX wrote, or HTML that PreTeXt or Sphinx made. A
folder stands for all such files in it. `.aux` files beside the sources would be read with them, so build the book in a copy.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from mathamr.evaluation.table import aligned
from mathamr.posts.formats.latex.auxiliary import numbers_in
from mathamr.posts.formats.latex.numbering import Numbered
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

_SHOWN = re.compile(r"(?:[^\W\d_]+[ -]){1,4}((?:\d+[A-Z]?|[A-Z])(?:[.-](?:\d+|[A-Z]))*)(?![\w.-]*\w)")
_NO_STATEMENTS = frozenset(["section", "note", "page", "article", "proof", "solution", "reference"])
_INSIDE = re.compile(r"enum|item|Item|equation|AMS|(?:sub)*(?:section|appendix)\b|chapter|figure|table")
_NUMBER = re.compile(r'<span class="(?:codenumber">|caption-number">[^<>]*?)(?P<number>[\w.]+)[\s.]*</span>')
_ID = re.compile(r'\bid="([^"<>]+)"')
_BEFORE = 500
"""Characters before a number among which its element begins."""


def run(sources: Path, truths: Iterable[Path]) -> None:
    """Print the counts of one book, and the first numbers that differ or are missing."""
    truth: dict[str, Numbered] = {}
    for path in truths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            for label, numbered in _numbers_of(file):
                truth.setdefault(label, numbered)
    counts: dict[str, Counter[str]] = {"statements": Counter(), "references": Counter()}
    wrong: list[str] = []
    for post in read_posts(sources, Report()):
        for kind, label, shown in _shown(post):
            known = truth.get(label)
            if known is not None and kind == "statements" and _INSIDE.match(known.kind):
                known = None  # the label of an item or an equation in it, or of the section around it
            judged = _judge(shown, known)
            counts[kind].update(["all", judged])
            if judged in ("wrong", "none though the truth has one"):
                wrong.append(
                    f"{kind}: {label} is {truth[label].number}, shown as {shown or 'nothing'} ({post.place})"
                )
    columns = ("all", "equal", "wrong", "none though the truth has one", "number without a truth", "neither")
    print(f"{len(truth):,} numbers known")
    print(
        aligned(
            [["", *columns], *([name, *(f"{n[each]:,}" for each in columns)] for name, n in counts.items())]
        )
    )
    print("\n".join(wrong[:40]))


def _numbers_of(file: Path) -> Iterator[tuple[str, Numbered]]:
    """Yield the labels of a file with their numbers."""
    if file.suffix == ".aux":
        yield from numbers_in(file.read_text("utf-8", "replace")).items()
    elif file.suffix in (".html", ".htm"):
        text = file.read_text("utf-8", "replace")
        for match in _NUMBER.finditer(text):
            if ids := _ID.findall(text, max(0, match.start() - _BEFORE), match.start()):
                yield ids[-1], Numbered("", match["number"])


def _shown(post: Post) -> Iterator[tuple[str, str, str]]:
    """Yield what a post says of numbers: of itself, if it is a statement, and of what it refers to."""
    if post.kind not in _NO_STATEMENTS and post.place is not None:
        number = _SHOWN.match(post.title.rpartition(": ")[2] if post.markup == "markdown" else post.title)
        yield "statements", post.place.label, number[1] if number else ""
    for link in post.links:
        if link.label and link.type == "mention":
            yield "references", link.label, link.number


def _judge(shown: str, known: Numbered | None) -> str:
    if known is None or not known.number:
        return "number without a truth" if shown else "neither"
    if not shown:
        return "none though the truth has one"
    return "equal" if shown.strip("().") == known.number.strip("().") else "wrong"


if __name__ == "__main__":
    run(Path(sys.argv[1]), map(Path, sys.argv[2:]))
