"""Decodes bytes to clean text; invalid bytes and characters are replaced and reported."""

from __future__ import annotations

import codecs
import re

from mathamr.posts.report import Report

REPLACEMENT = "\ufffd"
UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_ENCODINGS = {
    codecs.BOM_UTF8: ("utf-8", "invalid UTF-8"),
    codecs.BOM_UTF16_LE: ("utf-16-le", "invalid UTF-16"),
    codecs.BOM_UTF16_BE: ("utf-16-be", "invalid UTF-16"),
}


def decode(data: bytes, report: Report) -> str:
    """Return UTF-8 (or UTF-16 with a byte order mark) as clean text; invalid bytes are replaced and reported.

    >>> decode(b"\\xef\\xbb\\xbfna\\xefve", report := Report()), dict(report.repaired)
    ('na\ufffdve', {'invalid UTF-8': 1})
    """
    bom = next((bom for bom in _ENCODINGS if data.startswith(bom)), b"") if data[:1] > b"\x7f" else b""
    encoding, cause = _ENCODINGS[bom or codecs.BOM_UTF8]
    data = data[len(bom) :]
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        report.repair(
            cause, f"byte {data[error.start]:#04x} at offset {error.start} is not {cause[8:]}; replaced"
        )
        text = data.decode(encoding, errors="replace")
    report.characters += len(text)
    return clean_text(text, report)


def clean_text(text: str, report: Report) -> str:
    """Return the text with control characters and lone surrogates replaced one for one, so that offsets stay."""
    found = UNWANTED.search(text)
    if found is None:
        return text
    report.repair(
        "control character",
        f"U+{ord(found.group()):04X} at offset {found.start()} is a control character or a surrogate; replaced",
    )
    return UNWANTED.sub(REPLACEMENT, text)
