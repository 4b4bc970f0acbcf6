"""A process that reads an index without permission to write it, also where the tests run as root."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534
_WRITE = "open it for writing"
_READER = """
import json, os, shutil, sys, tempfile
from mathamr.index.indexing.writer import IndexWriter
from mathamr.search.searcher import Index

def found(index, query):
    return sorted(hit.id for hit in index.search(query, strategy="lexical", k=100))

def attempt(index, query):
    if query != WRITE:
        return found(index, query)
    IndexWriter.open(folder, device="cpu").close()

folder, user, WRITE = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with tempfile.TemporaryDirectory() as place:  # whoever may write leaves files beside the catalogue
    copy = shutil.copytree(folder, place + "/index")
    with Index.open(copy, device="cpu") as index:
        found(index, "x")  # imports what a search needs while it may still be read
if user:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
assert not os.access(folder, os.W_OK)
with Index.open(folder, device="cpu") as index:
    print("ready", flush=True)
    for query in sys.stdin:
        try:
            print(json.dumps(attempt(index, query.rstrip())), flush=True)
        except Exception as error:
            print(json.dumps(str(error)), flush=True)
"""


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter; those of pytest belong to the one who runs it."""
    folder = Path(tempfile.mkdtemp(prefix="mathamr-tests-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        allow_writing(folder, allowed=True)
        shutil.rmtree(folder)


def allow_writing(folder: Path, *, allowed: bool) -> None:
    """Let the user who runs the tests write in a folder, or nobody but root."""
    for each in (folder, *folder.rglob("*")):
        if each.is_dir():
            each.chmod(0o755 if allowed else 0o555)


class Reader:
    """An open index in a process of a user who cannot write it: nobody where root runs the tests."""

    def __init__(self, folder: Path) -> None:
        user = 0 if os.getuid() else NOBODY
        self._process = subprocess.Popen(
            [sys.executable, "-c", _READER, str(folder), str(user), _WRITE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        output = self._process.stdout
        assert output is not None
        assert output.readline() == "ready\n"

    def search(self, query: str) -> list[str] | str:
        """The ids that a search finds, or the message of its error."""
        return self._ask(query)

    def write(self) -> list[str] | str:
        """The message of the error when it opens the index for writing."""
        return self._ask(_WRITE)

    def _ask(self, query: str) -> list[str] | str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(query + "\n")
        self._process.stdin.flush()
        answer: list[str] | str = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
