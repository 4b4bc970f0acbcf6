"""Column files: runs and judgments read line by line; errors name the file and the line."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mathamr.core.errors import MathAMRError
from mathamr.posts.inputs import Input, display_path
from mathamr.posts.report import Report

LARGEST_LINE = 1 << 16
LARGEST_FILE = 64 << 20
_SHOWN = 60
_WORD = re.compile(r"[a-z]+")


class FormatError(MathAMRError):
    """Raised for a malformed file; the message names the file, the line, and what was expected there."""

    def __init__(self, path: Path, line: int | None, message: str) -> None:
        self.path, self.line, self.message = path, line, message
        super().__init__(f"{place(path, line)}: {message}")


class Row(NamedTuple):
    """The columns of one line, and its number from 1."""

    line: int
    columns: tuple[str, ...]

    def __str__(self) -> str:
        text = " ".join(self.columns)
        return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def place(path: Path, line: int | None) -> str:
    """Return the place of a line for messages, `FILE, line N`."""
    return display_path(path) if line is None else f"{display_path(path)}, line {line}"


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the lines of a file that are not blank, split at tabs, or at spaces if a line has too few tabs.

    The file may be compressed; `-` is standard input.
    """
    report = Report()
    with Input(path, report) as stream, io.BufferedReader(stream, 1 << 16) as lines:
        number = 0
        while data := lines.readline(LARGEST_LINE):
            number += 1
            if len(data) == LARGEST_LINE:
                raise FormatError(
                    path, number, f"the line has more than {LARGEST_LINE >> 10} kB; expected columns"
                )
            try:
                text = data.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                found = data[error.start]
                raise FormatError(path, number, f"expected UTF-8 text, found the byte {found:#04x}") from None
            if text.strip():
                yield Row(number, _columns(text))
    if report.skipped:
        problem = next(iter(report.examples.values()))[0]
        raise FormatError(path, number + 1, problem.message)


def read_file(path: Path) -> bytes:
    """Return a whole file, decompressed; a file above `LARGEST_FILE` bytes raises an error."""
    report = Report()
    with Input(path, report) as stream:
        data = stream.read(LARGEST_FILE + 1) or b""
    if report.skipped:
        raise FormatError(path, None, next(iter(report.examples.values()))[0].message)
    if len(data) > LARGEST_FILE:
        raise FormatError(path, None, f"more than {LARGEST_FILE >> 20} MB; expected a file of topics")
    return data


def _columns(text: str) -> tuple[str, ...]:
    columns = tuple(column.strip() for column in text.strip("\r\n").rstrip("\t").split("\t"))
    return columns if len(columns) > 3 else tuple(text.split())


def header_names(row: Row) -> tuple[str, ...] | None:
    """Return the names of a header line in lower case without punctuation; `None` if the line has values.

    A header is a line of words without digits.

    >>> header_names(Row(1, ("Query_Id", "Post_Id", "Rank", "Score", "Run_Number")))
    ('queryid', 'postid', 'rank', 'score', 'runnumber')
    >>> header_names(Row(1, ("A.1", "0", "17", "3"))) is None
    True
    """
    names = tuple("".join(_WORD.findall(column.lower())) for column in row.columns)
    has_digit = any(character.isdigit() for column in row.columns for character in column)
    return names if len(names) > 2 and all(names) and not has_digit else None


def header_places(
    path: Path, row: Row, names: Sequence[str], known: Mapping[str, Sequence[str]]
) -> tuple[int, ...]:
    """Return the position of each meaning in a header; `known` lists the names of every meaning."""
    found: list[int] = []
    for meaning, options in known.items():
        place = next((names.index(name) for name in options if name in names), None)
        if place is None:
            raise FormatError(path, row.line, f"the header {row} names no {meaning} ({', '.join(options)})")
        found.append(place)
    return tuple(found)
