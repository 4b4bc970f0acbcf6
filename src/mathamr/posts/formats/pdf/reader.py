"""PDF files: a page is a post. Formulas are found only if the file carries them as LaTeX or MathML."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mathamr.posts.bounds import LONGEST_PATH, cut_title
from mathamr.posts.decoding import clean_text
from mathamr.posts.format import Collection
from mathamr.posts.formats.document import element, math, text
from mathamr.posts.inputs import display_path, read_bytes, stem
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Place, Post
from mathamr.posts.report import Report

SECONDS = 20
"""Processor time for a small file."""
BYTES_A_SECOND = 10_000
"""A larger one has a second more for each, so that few bytes cannot take minutes."""
MOST_SECONDS = 300
MEMORY = 3 << 30
_HYPHEN = re.compile(r"([^\W\d_])-\n(?=[a-zß-ÿ])")
_MATHML = re.compile(r"<(?:mml:)?math[\s>].*</(?:mml:)?math>", re.S)


def read_pdf(collection: Collection, report: Report, seconds: int = SECONDS) -> Iterator[Post]:
    """Read the text of each page: the id is `file.pdf#page=3`, the line of a place is the page.

    The characters of a formula are in a PDF, but out of order and without structure; the report says so for every
    file that does not carry the sources of its formulas.
    """
    for file in collection.files:
        report.at(display_path(file))
        data = read_bytes(file, report)
        if data is not None:
            limit = min(seconds + len(data) // BYTES_A_SECOND, MOST_SECONDS)
            yield from _posts(data, file, collection.path_of(file, "file.pdf"), report, limit)


def _posts(data: bytes, file: Path, name: str, report: Report, seconds: int) -> Iterator[Post]:
    title, formulas, pages = stem(Path(name)), 0, 0
    for row in _rows(data, report, seconds):
        if "error" in row:
            report.skip("PDF not read", f"it {row['error']}"[:300])
        elif "pages" in row:
            if not row["pages"]:
                report.skip("PDF not read", "no pages were found")
            title = cut_title(clean_text(row["title"], report), report, LONGEST_PATH) or title
        else:
            pages += 1
            formulas += len(row["formulas"])
            report.at(display_path(file), row["page"])
            if post := _page(row, file, name, title, report):
                yield post
    report.at(display_path(file))
    if pages and not formulas:
        report.skip(
            "formulas of a PDF",
            "its text is read, its formulas are lost: the file holds only their characters",
        )


def _page(row: dict[str, Any], file: Path, name: str, title: str, report: Report) -> Post | None:
    if row["text"] is None:
        report.skip("damaged page", f"page {row['page']} cannot be read")
        return None
    words = _HYPHEN.sub(r"\1", clean_text(row["text"], report))
    report.took(words)
    blocks = [element("p", text(part.strip())) for part in re.split(r"\n\s*\n", words) if part.strip()]
    for formula in row["formulas"]:
        blocks.append(element("p", _formula(formula)))
    if not blocks:
        report.skip("page without text", f"page {row['page']} has no text; it may be a picture")
        return None
    body = "\n".join(blocks)
    own = f"{name}#page={row['page']}"
    return Post(
        id=own,
        kind="page",
        body=body,
        title=title,
        markup="html",
        source=display_path(file),
        formulas=formulas_of(own, title, body, "html", report.note),
        place=Place(name, row["page"]),
    )


def _formula(formula: dict[str, str]) -> str:
    if "latex" in formula:
        return math(formula["latex"], display=True)
    found = _MATHML.search(formula["mathml"])
    return found.group() if found else ""


def _rows(data: bytes, report: Report, seconds: int) -> Iterator[dict[str, Any]]:
    """Yield the output of the process that reads the file; the process has limits on processor time and memory."""
    command = [sys.executable, "-m", "mathamr.posts.formats.pdf.extraction"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=_bounds(seconds),
    ) as process:
        try:
            said, _ = process.communicate(data, timeout=4 * MOST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            said, _ = process.communicate()
    for line in said.decode("utf-8", "replace").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            break  # the process was ended in this line
    if process.returncode:
        report.skip(
            "PDF not read",
            f"reading it took more than {seconds} s or {MEMORY >> 30} GB; the rest is left out",
        )


def _bounds(seconds: int) -> Callable[[], None] | None:
    """Return what limits the processor time and memory of a process about to start; None if the system has no such limits."""
    try:
        import resource
    except ImportError:
        return None

    def limit() -> None:
        for what, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, MEMORY)):
            allowed = resource.getrlimit(what)[1]  # which only root may raise
            own = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
            resource.setrlimit(what, (own, own))

    return limit
