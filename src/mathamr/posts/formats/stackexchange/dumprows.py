"""DumpRows of a Stack Exchange dump (`<row Id="1" … />`): a scanner that survives damage.

A dump is XML of one shape: a root element with millions of empty `row` elements. `<` cannot stand inside an
attribute, so every `<row` in the file starts a row, and a damaged row ends where the next one starts: nothing
after it is lost. What stands between rows is passed over, so that no entity of a document type is expanded or fetched.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from mathamr.posts.decoding import clean_text, decode
from mathamr.posts.report import Report

CHUNK = 1 << 20
LARGEST_ROW = 32 << 20

_MARK = b"<row"
_AFTER_MARK = (b" ", b"\t", b"\r", b"\n", b"/", b">", b"")
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r") + b"\x7f"
_ATTRIBUTE = re.compile(r"\s+([A-Za-z_:][\w:.-]*)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_ROW_END = re.compile(r"\s*(?:/>|>(?:\s*</row\s*>)?)")
_REFERENCE = re.compile(r"&(?:#[xX]([0-9a-fA-F]{1,8});|#([0-9]{1,9});|(lt|gt|amp|quot|apos);)?")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


class DumpRows:
    """Iterates over the rows of a stream as dictionaries of their attributes, which are still escaped.

    What a caller reads of a row goes through `text`, which resolves the references: most attributes of a dump
    are never looked at. `report.row` is the number of the row, from 1.
    """

    MOST_NAMES = 1000
    LONGEST_NAME = 200

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
        self._names: dict[str, str] = {}
        self._last = False  # whether what we read is the end of the file
        self._ended = False  # whether the root was closed, or its end reported as missing

    def __iter__(self) -> Iterator[dict[str, str]]:
        report, number = self._report, 0
        report.at(self._file)
        pieces = self._pieces()
        self._ended |= b"</" in (next(pieces) or b"")
        for piece in pieces:
            if piece is not None and piece[:1] not in _AFTER_MARK:
                self._ended |= b"</" in piece
                continue
            number += 1
            report.at(self._file, number)
            if piece is None:
                report.skip("row too large", f"a row of more than {self._largest_row >> 20} MB")
            elif (row := self._row(self._decode(piece))) is not None:
                yield row
        report.at(self._file, number or None)
        if not self._ended:
            report.repair("truncated XML", "the file ends without a closing tag; rows may be missing")

    def text(self, value: str) -> str:
        """Return an attribute's value with its references resolved; an entity that XML does not define stays text."""
        if "\n" in value or "\t" in value or "\r" in value:
            value = value.replace("\r\n", " ").replace("\n", " ").replace("\t", " ").replace("\r", " ")
        if "&" not in value:
            return value
        simple = value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"')
        simple = simple.replace("&#xA;", "\n").replace("&#xD;", "\r")
        if "&" not in simple:
            return simple
        if simple.count("&") == simple.count("&amp;"):
            return simple.replace("&amp;", "&")
        return self._resolve(value)

    def _resolve(self, value: str) -> str:
        unknown: list[int] = []

        def resolve(match: re.Match[str]) -> str:
            hexadecimal, decimal, name = match.groups()
            if name:
                return _NAMED[name]
            if hexadecimal or decimal:
                code = int(hexadecimal, 16) if hexadecimal else int(decimal)
                return chr(code) if 0 < code < 0x110000 else "\0"
            unknown.append(match.start())
            return "&"

        text = _REFERENCE.sub(resolve, value)
        if unknown:
            entity = value[unknown[0] : unknown[0] + 20]
            self._report.repair("unknown entity", f"not a reference of XML: {entity!r}; left as text")
        return clean_text(text, self._report)

    def _pieces(self) -> Iterator[bytes | None]:
        """Yield what comes before the first `<row`, then what follows each; `None` for a row that is too large."""
        rest, started, dropped = b"", False, False
        while chunk := self._stream.read(self._chunk):
            *done, last = (rest + chunk).split(_MARK)
            if started:
                del done[0]  # nothing stands before the mark with which `rest` starts
            elif done:
                started = True
            if done and dropped:
                yield None
                del done[0]
                dropped = False
            yield from done
            rest = _MARK + last if started else last
            if len(rest) > self._largest_row:
                rest, dropped = rest[: len(_MARK)] if started else b"", started
        self._last = True
        if not started:
            yield rest
        else:
            yield None if dropped else rest[len(_MARK) :]

    def _decode(self, piece: bytes) -> str:
        if len(piece.translate(None, _CONTROLS)) == len(piece):
            try:
                return piece.decode()
            except UnicodeDecodeError:
                pass  # `decoded` replaces and reports invalid bytes
        return decode(piece, self._report)

    def _row(self, text: str) -> dict[str, str] | None:
        """Return the attributes of a row, given what is between its `<row` and the next."""
        *parts, tail = text.split('"')
        names = self._names
        if not len(parts) % 2 and "<" not in text and tail.strip() == "/>":
            try:
                row = {names[name]: value for name, value in zip(parts[::2], parts[1::2], strict=True)}
            except KeyError:
                pass  # a new attribute name, or a row in an unusual or damaged form
            else:
                if 2 * len(row) == len(parts):
                    return row
        return self._row_step_by_step(text)

    def _row_step_by_step(self, text: str) -> dict[str, str] | None:
        row: dict[str, str] = {}
        position = 0
        while match := _ATTRIBUTE.match(text, position):
            position = match.end()
            name, double, single = match.groups()
            value = double if double is not None else single
            if "<" in value:
                self._report.repair("unescaped <", f"the attribute {name} has an unescaped '<'")
            if row.setdefault(name, value) is not value:
                self._report.repair(
                    "repeated attribute", f"the attribute {name} occurs twice; the first one counts"
                )
            written = match.group()[: -len(value) - 2]
            if double is not None and len(self._names) < self.MOST_NAMES and len(written) < self.LONGEST_NAME:
                self._names[written] = name
        end = _ROW_END.match(text, position)
        if end:
            self._ended |= "</" in text[end.end() :]
            return row
        known = f"the row with Id {row['Id'][:40]!r}" if "Id" in row else "a row"
        shown = text[position : position + 60]
        if self._last:
            self._ended = True
            self._report.skip("truncated XML", f"the file ends inside {known}: {shown!r}")
        else:
            self._report.skip("damaged row", f"{known} is not XML from here on: {shown!r}")
        return None
