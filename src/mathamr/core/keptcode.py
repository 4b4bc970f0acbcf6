"""Machine code that was made before: a file for each program in the folder of caches, so that the next process need not make it.

Its name is a digest of what it was made from (the program, the processor, LLVM's version). It is run as it is, and is therefore taken only
from a file of this very user that nobody else can write to, and only where its own digest says that it is whole.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from mathamr.core.settings import CACHE

FOLDER, MOST, LARGEST = "code", 100, 8_000_000
"""Where the files are, how many stay, and how large one may be."""
_DIGEST = hashlib.sha256().digest_size


def kept_code(key: str) -> bytes | None:
    """The code that was kept under a key; None where there is none, or none to be trusted."""
    with suppress(OSError), os.fdopen(_opened(_path(key)), "rb") as file:
        about = os.fstat(file.fileno())  # of the very file that is read, whoever puts another in its place
        is_own = not hasattr(os, "getuid") or about.st_uid == os.getuid()
        if is_own and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and about.st_size <= LARGEST:
            data = file.read(LARGEST)
            if hashlib.sha256(data[_DIGEST:]).digest() == data[:_DIGEST]:
                return data[_DIGEST:]
    return None


def keep_code(key: str, code: bytes) -> None:
    """Keeps code, where the folder of caches can be written; the oldest of too many files go."""
    with suppress(OSError):
        path = _path(key)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside = path.with_name(f".{uuid4().hex}")
        beside.write_bytes(hashlib.sha256(code).digest() + code)
        beside.chmod(0o600)
        beside.replace(path)
        files = sorted(path.parent.iterdir(), key=lambda each: each.stat().st_mtime)
        for old in files[:-MOST]:
            old.unlink(missing_ok=True)


def _opened(path: Path) -> int:
    """A file for reading, through no link."""
    return os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))


def _path(key: str) -> Path:
    return CACHE.path / FOLDER / key
