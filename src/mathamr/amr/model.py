"""Functions that the adapters to third-party parsers share: reading Penman texts and identifying models."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from mathamr.amr.graph import Amr
from mathamr.amr.parser import Failure, all_graphs
from mathamr.core.errors import ParseError


def results_of(texts: Iterable[str | None]) -> list[Amr]:
    """Reads the graphs that a third-party parser wrote; invalid ones are reported in a `PartialParseError`."""
    return all_graphs([_result(text) for text in texts])


def _result(text: str | None) -> Amr | Failure:
    if text is None or text.strip() in ("", "()"):
        return Failure("no graph", "the model's output is not a graph")
    try:
        return Amr.from_penman(text)
    except ParseError as error:
        return Failure("invalid graph", error.message)


def model_fingerprint(label: str, model: Path | None) -> str:
    """`label` and a short hash of the model's files, from their names, sizes and times: weights are too large to read."""
    digest = hashlib.blake2b(label.encode("utf-8", "surrogatepass"), digest_size=8)
    if model is not None:
        files = sorted(path for path in model.rglob("*") if path.is_file()) if model.is_dir() else [model]
        for path in files:
            stat = path.stat()
            name = path.name if model == path else str(path.relative_to(model))
            digest.update(f"\0{name}\0{stat.st_size}\0{stat.st_mtime_ns}".encode("utf-8", "surrogatepass"))
    return f"{label}-{digest.hexdigest()}"
