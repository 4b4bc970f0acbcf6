"""Documents that are archives (Word, EPUB): their members read within bounds, their XML without entities."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from html.entities import html5
from pathlib import Path
from typing import Any

from lxml import etree

from mathamr.core.closing import Closing
from mathamr.core.errors import MathAMRError
from mathamr.posts.inputs import LARGEST_DOCUMENT, LARGEST_TEXT_FILE, MOST_MEMBERS, read_bytes
from mathamr.posts.report import Report

FREELY_UNPACKED = 4 << 20
HIGHEST_RATIO = 50  # the text of books and Word documents unpacks to 3 to 30 times its size
"""An archive unpacks to no more than this many times its size, so that reading takes time linear in what lies on the disk."""
_ENTITY = re.compile(
    rb"""<!\[CDATA\[(?>.*?\]\]>|.*+)  # in which nothing is an entity
    |&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]{0,40});""",
    re.S | re.X,
)
_BREAKS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError)


class BrokenArchiveError(MathAMRError):
    """An archive that cannot be read."""


class ZipArchive(Closing):
    """The members of one archive, each unpacked when it is read, within limits on their size and number."""

    def __init__(
        self,
        file: Path,
        report: Report,
        largest_member: int = LARGEST_DOCUMENT,
        largest_archive: int = LARGEST_TEXT_FILE,
        most_members: int = MOST_MEMBERS,
    ) -> None:
        data = read_bytes(file, report)
        if data is None:
            raise BrokenArchiveError(f"{file}: cannot be read")
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except _BREAKS as error:
            raise BrokenArchiveError(f"{file}: not a ZIP archive ({error})") from error
        members = self._archive.infolist()
        if len(members) > most_members:
            raise BrokenArchiveError(f"{file}: more than {most_members:,} files in one archive")
        self._members = {member.filename: member for member in members}
        self._left = min(largest_archive, max(FREELY_UNPACKED, HIGHEST_RATIO * len(data)))
        self._largest = largest_member
        self._report = report

    def close(self) -> None:
        """Close the archive."""
        self._archive.close()

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def names(self) -> list[str]:
        """Return the names of all members, in order."""
        return list(self._members)

    def read(self, name: str) -> bytes | None:
        """Return a member; `None`, with a report, if it is missing, damaged, encrypted or too large."""
        member = self._members.get(name)
        if member is None:
            return None
        allowed = min(self._largest, self._left)
        try:
            with self._archive.open(member) as stream:
                data = stream.read(allowed + 1)
        except _BREAKS as error:
            self._report.skip("damaged archive", f"{name[:100]!r} cannot be unpacked ({error})")
            return None
        self._left -= len(data)
        if len(data) > allowed:
            self._left = max(self._left, 0)
            self._report.skip(
                "archive too large",
                f"{name[:100]!r} unpacks to more than {allowed / (1 << 20):.1f} MB, which are left for it",
            )
            return None
        return data

    def xml(self, name: str) -> Any:
        """Return the root of a member in XML; `None`, with a report, if it is not XML or defines entities."""
        data = self.read(name)
        if data is not None:
            self._report.characters += len(data)
        return None if data is None else xml_root(data, name, self._report)


def xml_root(data: bytes, name: str, report: Report) -> Any:
    """Return the root of a document in XML, as far as it is XML; one that defines entities is not read.

    Entities of HTML are those signs; others, which nothing defines, stay as they are written.
    """
    if b"<!ENTITY" in data.replace(b"\0", b""):
        report.skip("XML with entities", f"{name[:100]!r} defines entities; it is not read")
        return None
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=True,  # a document is bounded where it is read; its depth still has a limit
        recover=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(_ENTITY.sub(_sign, data), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        report.skip("damaged XML", f"{name[:100]!r} is not XML ({error})")
        return None
    errors = [error for error in parser.error_log.filter_from_errors() if error.domain_name != "NAMESPACE"]
    if root is None:
        report.skip("damaged XML", f"{name[:100]!r} is not XML")
    elif errors:
        why = f"line {errors[0].line}: {errors[0].message}"
        report.skip("damaged XML", f"{name[:100]!r} is read as far as it is XML ({why})")
    return root


def _sign(entity: re.Match[bytes]) -> bytes:
    """Return the sign that an entity of HTML names as XML writes it; of another its name with its ampersand."""
    if entity[1] is None:
        return entity.group()
    sign = html5.get(f"{entity[1].decode()};")
    return b"&amp;" + entity[1] + b";" if sign is None else "".join(f"&#{ord(c)};" for c in sign).encode()
