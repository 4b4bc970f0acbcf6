"""Functions that the adapters to third-party parsers share: importing packages, reading Penman texts, identifying models."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from mathamr.amr.graph import Amr
from mathamr.amr.parser import Failure, all_graphs
from mathamr.core.errors import MissingExtraError, ParseError


def imported(module: str, what: str, install: str) -> Any:
    """Return the module of a parser; an error says whether the parser or a package that it needs is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing == module.partition(".")[0]:
            raise MissingExtraError(what, install) from error
        raise missing_part(missing, what) from error


def missing_part(package: str | None, whose: str) -> MissingExtraError:
    """Return the error about a package that a parser needs."""
    return MissingExtraError(f"{package}, which {whose} needs,", f"pip install {package}")


def quiet() -> AbstractContextManager[TextIO]:
    """Send to stderr what a parser prints while it loads and parses: stdout is data."""
    return redirect_stdout(sys.stderr)


def results_of(texts: Iterable[str | None]) -> list[Amr]:
    """Read the graphs that a third-party parser wrote; invalid ones are reported in a `PartialParseError`."""
    return all_graphs([_result(text) for text in texts])


def _result(text: str | None) -> Amr | Failure:
    if text is None or text.strip() in ("", "()"):
        return Failure("no graph", "the model's output is not a graph")
    try:
        return Amr.from_penman(text)
    except ParseError as error:
        return Failure("invalid graph", error.message)


def model_fingerprint(label: str, model: Path | None) -> str:
    """Return `label` with a short hash of the model's files, from their names, sizes and times: weights are too large to read."""
    digest = hashlib.blake2b(label.encode("utf-8", "surrogatepass"), digest_size=8)
    if model is not None:
        files = sorted(path for path in model.rglob("*") if path.is_file()) if model.is_dir() else [model]
        for path in files:
            stat = path.stat()
            name = path.name if model == path else str(path.relative_to(model))
            digest.update(f"\0{name}\0{stat.st_size}\0{stat.st_mtime_ns}".encode("utf-8", "surrogatepass"))
    return f"{label}-{digest.hexdigest()}"
