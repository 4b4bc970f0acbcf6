"""`following`: keeps the index that is served up to date with its files, in a process of its own that ends with the server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.terminal import visible
from mathamr.core.workers import processors
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.index.indexing.watching import changes
from mathamr.index.manifest import Manifest


@contextmanager
def following(index: Path, device: str, *, quiet: bool = False) -> Iterator[None]:
    """Update an index whenever one of its files changes, until the block ends or this process does.

    The work is another process's, since a server forks its workers before it has threads, and none of them may wait for it.
    """
    command = [sys.executable, "-m", __name__, str(index.resolve()), device, *(["quiet"] if quiet else [])]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stdin is not None
    try:
        yield
    finally:
        process.stdin.close()
        process.wait()


def follow(index: Path, device: str, *, quiet: bool = False) -> None:
    """Update an index whenever one of its files changes; what happens is told on stderr."""
    options = BuildOptions(workers=processors(), device=device)

    def tell(message: str) -> None:
        if not quiet:
            print(visible(f"mathamr: {message}"), file=sys.stderr, flush=True)

    inputs = Manifest.read(index).inputs
    tell(f"watching {', '.join(record.path for record in inputs)}; --no-watch leaves the index as it is")
    for changed in changes(inputs, index):
        try:
            counts = build_index([], index, options, again=True).intake
        except MathAMRError as error:  # such as an input that is away: the next change may bring it back
            print(visible(f"mathamr: {error}; still watching"), file=sys.stderr, flush=True)
            continue
        tell(
            f"{', '.join(changed)}: {counts.new} new, {counts.changed} changed, {counts.deleted} deleted entries"
        )


def _end_with_server() -> None:
    sys.stdin.buffer.read()  # returns when the server closes it, or has ended
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_end_with_server, daemon=True).start()
    try:
        follow(Path(sys.argv[1]), sys.argv[2], quiet="quiet" in sys.argv[3:])
    except MathAMRError as error:
        sys.exit(visible(f"mathamr: {error}"))
    except KeyboardInterrupt:
        pass
