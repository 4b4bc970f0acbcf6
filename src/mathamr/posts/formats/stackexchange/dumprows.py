"""Rows of a Stack Exchange dump (`<row Id="1" … />`), each parsed by itself, so that damage stays in its row.

A dump is XML of one shape: a root element with millions of empty `row` elements. `<` cannot stand inside an
attribute, so every `<row` in the file starts a row, and a damaged row ends where the next one starts: nothing
after it is lost. What stands between rows is passed over, so that no entity of a document type is expanded or fetched.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from lxml import etree

from mathamr.posts.decoding import clean_text, decode
from mathamr.posts.inputs import bounded_pieces
from mathamr.posts.report import Report

CHUNK = 1 << 20
LARGEST_ROW = 32 << 20
MOST_ATTRIBUTES = 1000
"""Attributes of a row; libxml2 takes time in the square of their number."""

_VALUE = re.compile(r"=\s*+[\"']")
_MARK = b"<row"
_AFTER_MARK = (b" ", b"\t", b"\r", b"\n", b"/", b">", b"")


class DumpRows:
    """Iterates over the rows of a stream as dictionaries of their attributes; `report.row` is the number of the row, from 1."""

    def __init__(
        self,
        stream: io.RawIOBase,
        file: str,
        report: Report,
        *,
        chunk: int = CHUNK,
        largest_row: int = LARGEST_ROW,
    ) -> None:
        self._stream, self._file, self._report = stream, file, report
        self._chunk, self._largest_row = chunk, largest_row
        self._last = False
        """True if what is read is the end of the file."""
        self._parser = etree.XMLParser(
            recover=True, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True
        )

    def __iter__(self) -> Iterator[dict[str, str]]:
        report, number = self._report, 0
        report.at(self._file)
        pieces = bounded_pieces(self._stream, _MARK, self._largest_row, self._chunk)
        last, self._last = next(pieces)
        for last, self._last in pieces:
            if last is not None and b"\0" in last:  # it may have been the rest of a row, or other rows
                report.incomplete.add(self._file)
            if last is not None and last[:1] not in _AFTER_MARK:
                continue
            number += 1
            report.at(self._file, number)
            if last is None:
                report.skip("row too large", f"a row of more than {self._largest_row >> 20} MB")
                continue
            if (row := self._row(decode(last, report))) is not None:
                yield row
        report.at(self._file, number or None)
        if last is not None and b"</" not in last and (b"/>" in last) == (number > 0):
            report.skip("truncated XML", "the file ends without a closing tag; rows may be missing")

    def _row(self, text: str) -> dict[str, str] | None:
        """Return the attributes of a row, given what is between its `<row` and the next, as far as it is XML."""
        row, closed, _ = text.rpartition("/>")
        too_many = len(_VALUE.findall(text)) > MOST_ATTRIBUTES
        if too_many or (not closed and "</row" not in text):
            cause = "truncated XML" if self._last else "damaged row"
            why = "too many attributes" if too_many else "no end"
            self._report.skip(cause, f"a row with {why}: {text[:60]!r}")
            return None
        try:
            root = etree.fromstring(f"<row{row if closed else text}{closed}".encode(), self._parser)
            values = dict(root.items())
        except (etree.XMLSyntaxError, UnicodeDecodeError) as error:
            self._report.skip("damaged row", f"it cannot be read ({error}): {text[:60]!r}")
            return None
        if errors := self._parser.error_log:
            message = f"read as far as it is XML ({errors[0].message}): {text[:60]!r}"
            self._report.repair("damaged row", message)
            return {name: clean_text(value, self._report) for name, value in values.items()}
        return values
