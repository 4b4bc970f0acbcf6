"""Jupyter notebooks: the Markdown cells form one note; code and its output are left out."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from mathamr.posts.decoding import clean_text
from mathamr.posts.format import NOTEBOOK_SUFFIXES, Collection
from mathamr.posts.formats.markdown.frontmatter import FrontMatter
from mathamr.posts.formats.markdown.links import Notes
from mathamr.posts.formats.markdown.outline import outline
from mathamr.posts.formats.markdown.reader import note_posts
from mathamr.posts.inputs import LARGEST_DOCUMENT, read_text, stem
from mathamr.posts.post import Post
from mathamr.posts.report import Report

MOST_VALUES = 2_000_000
"""Most objects and lists in a notebook: each takes far more memory than the two characters that write it."""
LARGEST_TEXT = 8 << 20
"""Characters of Markdown that are read from one notebook."""


def read_notebook(collection: Collection, report: Report, largest_text: int = LARGEST_TEXT) -> Iterator[Post]:
    """Read notebooks of format 3 and 4: the id is the path in the folder, with `#anchor` for a section.

    The line of a post is the number of the cell in which it begins.
    """
    notes = Notes(collection, NOTEBOOK_SUFFIXES, partial(_join, largest=largest_text))
    for file, note, source in collection.texts(report, LARGEST_DOCUMENT, accounted=False):
        found = _markdown_cells(source, report, largest_text)
        if found is None:
            continue
        cells = [cell for _, cell in found]
        text = "\n\n".join(cells)
        if not text.strip():
            report.ignore("no text in a notebook", "the notebook has no Markdown cells")
            continue
        front = FrontMatter.read(text, report)
        parts = outline(text, front, stem(Path(note)))
        ends = list(accumulate(cell.count("\n") + 2 for cell in cells))
        for part in parts:
            part.line = part.cell = found[bisect_left(ends, part.line)][0]
        yield from note_posts(front, parts, notes, note, file, report)


def _join(file: Path, report: Report, largest: int) -> str | None:
    """Return the Markdown of a notebook as one text."""
    source = read_text(file, report, LARGEST_DOCUMENT)
    cells = None if source is None else _markdown_cells(source, report, largest)
    return None if cells is None else "\n\n".join(cell for _, cell in cells)


def _markdown_cells(source: str, report: Report, largest: int) -> list[tuple[int, str]] | None:
    """Return the Markdown cells, up to `largest` characters, each with its number among all cells, from 1; `None`, with a report, if the file is not a notebook."""
    if source.count("{") + source.count("[") > MOST_VALUES:
        report.skip("damaged notebook", f"more than {MOST_VALUES:,} objects and lists in one notebook")
        return None
    try:
        notebook = json.loads(source)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        report.skip("damaged notebook", f"not JSON ({why})")
        return None
    if not isinstance(notebook, dict):
        report.skip("damaged notebook", "not an object")
        return None
    found: list[tuple[int, str]] = []
    size = 0
    for number, cell in enumerate(_cells(notebook), 1):
        written = cell.get("source", cell.get("input"))
        lines = written if isinstance(written, list) else [written]
        report.took("".join(line for line in lines if isinstance(line, str)), 0)
        text = _text(cell)
        if text is None:
            continue
        size += len(text)
        if size > largest:
            report.skip("damaged notebook", f"more than {largest >> 20} MB of Markdown; the rest is left out")
            break
        found.append((number, clean_text(text, report).strip("\n")))
    return found


def _cells(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the cells of a notebook of format 4, or of the worksheets of format 3."""
    sheets = notebook.get("worksheets")
    holders = [notebook, *(sheets if isinstance(sheets, list) else [])]
    for holder in holders:
        cells = holder.get("cells") if isinstance(holder, dict) else None
        yield from (cell for cell in (cells if isinstance(cells, list) else []) if isinstance(cell, dict))


def _text(cell: dict[str, Any]) -> str | None:
    """Return the Markdown of a cell; `None` for code, raw text and what is damaged."""
    source = cell.get("source")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return None
    if cell.get("cell_type") == "heading":  # format 3
        level = cell.get("level")
        return (
            f"{'#' * (level if isinstance(level, int) and 1 <= level <= 6 else 1)} {' '.join(source.split())}"
        )
    return source if cell.get("cell_type") == "markdown" else None
