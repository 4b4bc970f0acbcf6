"""Files that belong to posts without being posts: formula tables, MathML tables and link tables."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from mathamr.core.errors import MathAMRError
from mathamr.posts.inputs import STDIN, Head, Input, bare_name, bounded_lines, display_path, head, walk
from mathamr.posts.report import Report

TableKind = Literal["formulas", "mathml", "links"]

LARGEST_LINE = 4 << 20
_TABLE_FOLDER = re.compile(r"formula|representation|latex|slt|opt|mathml", re.IGNORECASE)
_TABLE_SUFFIXES = (".tsv", ".txt", ".xml")
_LINK_ROW = re.compile(rb"<row\s[^<]*\sRelatedPostId\s*=")


def table_kind(file_head: Head) -> TableKind | None:
    """Return what a file beside posts holds, recognised by its header; `None` if it is not such a table."""
    if _LINK_ROW.search(file_head.start):
        return "links"
    columns = set(columns_of(file_head.text.split("\n", 1)[0]))
    if {"id", "formula"} <= columns:
        return "formulas"
    if {"visual_id", "mathml"} <= columns:
        return "mathml"
    if {"post_id", "related_post_id"} <= columns:
        return "links"
    return None


def columns_of(header: str) -> list[str]:
    """Return the names of a header line, in lower case; empty where the line is not a table's.

    >>> columns_of("id\\tpost_id\\tFormula\\r")
    ['id', 'post_id', 'formula']
    """
    names = [name.strip().strip('"').lower() for name in header.split("\t")]
    return names if len(names) > 1 else []


def tables_beside(posts: Path, beside: Iterable[Path], report: Report) -> list[tuple[TableKind, Path]]:
    """Return the tables of a file of posts: those in its folder, in folders of tables there, and those that the user named.

    A file named by the user that is not such a table is an error; other files in the folder are ignored.
    """
    found = dict(_kinds(_around(posts, report), report)) if posts != STDIN else {}
    for path in beside:
        named = dict(_kinds(walk(path, report) if path.is_dir() else [path], report))
        if not named:
            raise MathAMRError(
                f"{path}: not a formula, MathML or link table; the header of one has the columns id and formula, "
                "visual_id and mathml, or post_id and related_post_id"
            )
        found.update(named)
    return [(kind, path) for path, kind in found.items()]


def _around(posts: Path, report: Report) -> Iterator[Path]:
    """Yield the files that may be tables of these posts, by their names and those of their folders."""
    try:
        entries = sorted(posts.parent.iterdir())
    except OSError as error:
        report.at(str(posts.parent))
        report.skip("unreadable", f"no tables were looked for in this folder ({error.strerror})")
        return
    for path in entries:
        if path.is_dir() and _TABLE_FOLDER.search(path.name):
            yield from walk(path, report)
        elif path.is_file() and path != posts and bare_name(path).endswith(_TABLE_SUFFIXES):
            yield path


def _kinds(paths: Iterable[Path], report: Report) -> Iterator[tuple[Path, TableKind]]:
    for path in paths:
        try:
            kind = table_kind(head(path))
        except MathAMRError as error:
            report.at(display_path(path))
            report.skip("unreadable", str(error))
            continue
        if kind:
            yield path.resolve(), kind


def table(path: Path, report: Report) -> Iterator[dict[str, str]]:
    """Yield the rows of a tab-separated file by the names of its header, quoted as Python's `csv` does or not at all.

    A line break inside a quoted last field is kept. A line with too few columns is skipped and reported.
    """
    with Input(path, report) as stream:
        buffered = io.BufferedReader(stream, 1 << 18)
        lines = _logical_lines(
            line.rstrip("\r\n")
            for line in bounded_lines(buffered, display_path(path), report, LARGEST_LINE, "damaged table row")
        )
        columns = columns_of(next(lines, ""))
        width = len(columns)
        for line in lines:
            fields = line.split("\t", width - 1) if columns else []
            if len(fields) < width or not columns:
                report.skip("damaged table row", f"{len(fields)} columns where the header has {width}")
                continue
            if '"' in line:
                fields = [_unquote(field) if field[:1] == '"' else field for field in fields]
            yield dict(zip(columns, fields, strict=True))


def _logical_lines(lines: Iterator[str]) -> Iterator[str]:
    """Yield lines joined again that were cut by a line break inside a quoted last field.

    A quotation mark that is never closed takes nothing with it: a line with all columns starts a row in any case.
    """
    tabs, pending = 0, ""
    for line in lines:
        tabs = tabs or line.count("\t")
        if pending:
            if line.count("\t") < tabs and len(pending) < LARGEST_LINE:
                line, pending = f"{pending}\n{line}", ""
            else:
                yield pending
                pending = ""
        if '"' in line and _is_open(line.rsplit("\t", 1)[-1]):
            pending = line
        elif line:
            yield line
    if pending:
        yield pending


def _is_open(field: str) -> bool:
    return field.startswith('"') and field.count('"') % 2 == 1


def _unquote(field: str) -> str:
    if len(field) < 2 or not field.endswith('"'):
        return field
    inner = field[1:-1].replace('""', "\0")
    return field if '"' in inner else inner.replace("\0", '"')
