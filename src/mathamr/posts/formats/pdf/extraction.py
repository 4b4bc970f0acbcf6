"""Extracts the content of a PDF file as JSON lines, in a process of its own that can be ended.

    python -m mathamr.posts.formats.pdf.extraction < FILE

The first line holds the title and the number of pages; one line for each page follows, with its text and formulas. A hostile PDF may crash, hang or fill the memory of its parser: that
ends with this process.
"""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

LONGEST_FORMULA = 20_000
LARGEST_OUTPUT = 32 << 20
"""Bytes of all lines; one stream may stand in a file a thousand times."""
_SOURCES = (".tex", ".latex")


def main() -> None:
    """Read a file from standard input and print its content, at most `LARGEST_OUTPUT` and at most 1 MB plus a hundred times its
    size.
    """
    data = sys.stdin.buffer.read()
    most = left = min(LARGEST_OUTPUT, (1 << 20) + 100 * len(data))
    for row in _rows(data):
        line = json.dumps(row)
        left -= len(line)
        if left < 0:
            line = json.dumps({"error": f"has more than {most >> 20} MB of text; the rest is not read"})
        print(line, flush=True)
        if left < 0:
            return


def _rows(data: bytes) -> Iterator[dict[str, Any]]:
    from pypdf import PdfReader
    from pypdf.errors import PdfReadError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    damages = (
        PdfReadError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        OSError,
        IndexError,
    )
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            yield {"error": "is locked with a password"}
            return
        pages = len(reader.pages)
    except damages as error:
        yield {"error": f"is not a PDF that can be read ({error})"}
        return
    yield {"title": _title(reader), "pages": pages}
    formulas = _attempt(lambda: _formulas(reader)) or {}
    for number in range(pages):
        text = _attempt(lambda page=number: reader.pages[page].extract_text() or "")
        yield {"page": number + 1, "text": text, "formulas": formulas.get(number, [])}


def _attempt(work: Any) -> Any:
    """Return the result of a step; `None` if the file is damaged there."""
    try:
        return work()
    except Exception:  # a damaged part of a file raises anything; the other parts are read
        return None


def _title(reader: Any) -> str:
    found = _attempt(lambda: reader.metadata and reader.metadata.title)
    return str(found).strip() if found else ""


def _formulas(reader: Any) -> dict[int, list[dict[str, str]]]:
    """Return the formulas that a tagged file carries, by page: `Formula` elements with a source, or MathML beside them."""
    root = reader.trailer["/Root"].get("/StructTreeRoot")
    found: dict[int, list[dict[str, str]]] = {}
    if root is None:
        return found
    numbers = {page.indirect_reference.idnum: number for number, page in enumerate(reader.pages)}
    seen: set[int] = set()
    waiting: list[tuple[Any, int]] = [(root.get_object().get("/K"), 0)]
    left = LARGEST_OUTPUT
    while waiting and left > 0:
        reference, page = waiting.pop()
        node = reference.get_object() if hasattr(reference, "get_object") else reference
        if id(node) in seen or node is None or isinstance(node, int):
            continue
        seen.add(id(node))
        if isinstance(node, list):
            waiting += [(child, page) for child in reversed(node)]
            continue
        if not hasattr(node, "get"):
            continue
        page_reference = node.raw_get("/Pg") if "/Pg" in node else None
        page = numbers.get(getattr(page_reference, "idnum", -1), page)
        if node.get("/S") == "/Formula" and (source := _source(node)):
            found.setdefault(page, []).append(source)
            left -= sum(map(len, source.values()))
        elif "/K" in node:
            waiting.append((node.raw_get("/K"), page))
    return found


def _source(node: Any) -> dict[str, str] | None:
    """Return LaTeX or MathML of a formula: of a file associated with it, else of its alternative text."""
    files = node.get("/AF")
    for reference in (files if isinstance(files, list) else [files]) if files is not None else []:
        specification = reference.get_object()
        name = str(specification.get("/UF") or specification.get("/F") or "")
        stream = specification["/EF"].get("/F") or specification["/EF"].get("/UF")
        data = stream.get_object().get_data()[:LONGEST_FORMULA].decode("utf-8", "replace")
        if "<math" in data or "<mml:math" in data:
            return {"mathml": data}
        if name.endswith(_SOURCES) and data.strip():
            return {"latex": data}
    alternative = str(node.get("/ActualText") or node.get("/Alt") or "").strip()
    if "<math" in alternative:
        return {"mathml": alternative[:LONGEST_FORMULA]}
    return (
        {"latex": alternative.strip("$ ")[:LONGEST_FORMULA]}
        if "\\" in alternative or alternative.startswith("$")
        else None
    )


if __name__ == "__main__":
    main()
