"""Documents in formats that are archives or objects: those of the examples, and others written from their parts."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

EXAMPLES = Path(__file__).parent / "examples"
LIMITS_AS_BOOK = (EXAMPLES / "epub" / "limits.epub").read_bytes()
LIMITS_AS_PDF = (EXAMPLES / "pdf" / "limits.pdf").read_bytes()


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    """An archive of these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def pdf(*objects: str) -> bytes:
    """A PDF file of these objects, of which the first is the catalogue."""
    written, offsets = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(written))
        written += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    start = len(written)
    written += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
    return (
        written
        + f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    )


def stream(content: str, dictionary: str = "") -> str:
    """An object that is a stream."""
    return f"<< /Length {len(content)} {dictionary} >>\nstream\n{content}\nendstream"


def page_text(*lines: str) -> str:
    """The content of a page with these lines."""
    shown = "".join(f"({line}) Tj 0 -20 Td " for line in lines)
    return stream(f"BT /F1 12 Tf 50 700 Td {shown}ET")
