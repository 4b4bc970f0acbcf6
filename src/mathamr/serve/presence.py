"""Finds the running server of an index, so that a command need not load an index that a server has already loaded.

Each server of a user writes a file into a folder that only this user can write to. It is never in the index: somebody
else's index must not decide where queries are sent. Only addresses of this machine are accepted.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from urllib.parse import urlsplit

from mathamr.serve.access import is_loopback


def _folder() -> Path | None:
    """Return the user's runtime folder; `None` if another user could have written to it."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(runtime) / "mathamr" if runtime else Path(tempfile.gettempdir()) / f"mathamr-{user}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    is_ours = not folder.is_symlink() and found.st_uid == user and not found.st_mode & 0o022
    return folder if is_ours or not hasattr(os, "getuid") else None


def _file(index: Path) -> Path | None:
    folder = _folder()
    name = blake2b(os.fsencode(index.resolve()), digest_size=16).hexdigest()
    return folder / f"{name}.json" if folder is not None else None


@contextmanager
def announced(index: Path, address: str) -> Iterator[None]:
    """Let commands of the same user find the server of an index, until the context ends."""
    file = _file(index)
    if file is not None:
        entry = json.dumps({"index": str(index.resolve()), "address": address, "process": os.getpid()})
        with suppress(OSError):
            file.write_text(entry, encoding="utf-8")
    try:
        yield
    finally:
        if file is not None and running_at(file) == (address, os.getpid()):
            with suppress(OSError):
                file.unlink()


def running_at(file: Path) -> tuple[str, int] | None:
    """Return the address and the process id in a file; `None` if the address is not of this machine."""
    try:
        entry = json.loads(file.read_text(encoding="utf-8"))
        address, process = str(entry["address"]), int(entry["process"])
        host = urlsplit(address).hostname or ""
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return (address, process) if is_loopback(host) and address.startswith("http://") else None


def server_of(index: Path) -> str | None:
    """Return the address of this user's running server of an index on this machine, if there is one."""
    file = _file(index)
    found = running_at(file) if file is not None else None
    return found[0] if found is not None and _is_alive(found[1]) else None


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (OSError, OverflowError):
        return False
    return True
