"""Checks the files of a model by their hashes before they are read."""

from __future__ import annotations

import hashlib
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.storage.plainfiles import LARGEST, open_regular


def checked_file(path: Path, hashes: dict[str, str]) -> None:
    """Raise an error if a file of a model is missing or its hash differs from the expected one."""
    expected = hashes.get(path.name)
    try:
        if path.suffix != ".safetensors" and path.stat().st_size > LARGEST:
            raise MathAMRError(f"{path} has more than {LARGEST >> 20} MB, which no list of a model has")
        found = file_hash(path)
    except OSError as error:
        raise MathAMRError(f"the model is not complete: cannot read {path} ({error.strerror})") from error
    if found != expected:
        raise MathAMRError(
            f"{path} is damaged, or not the file that belongs to config.json: its SHA-256 is {found[:12]}…,"
            f" expected {(expected or 'none')[:12]}…"
        )


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a regular file."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
