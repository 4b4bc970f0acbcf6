"""Following the inputs of an index: what changed, in batches, for as long as anybody wants to know."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from mathamr.core.errors import MathAMRError

SETTLED = 800
"""Milliseconds without a further change after which changes are reported: an editor writes a file in several steps."""
NAMED = 3


def changes(
    paths: Sequence[Path], out: Path, stop: threading.Event | None = None, *, settled: int = SETTLED
) -> Iterator[list[str]]:
    """The names of what changed in these files and folders, a few of them, once things have settled.

    The index itself may stand inside a folder that is followed: what happens there is no change. Ends with `stop`.
    """
    from watchfiles import watch

    there = [path for path in paths if path.exists()]
    if not there:
        raise MathAMRError(
            "there is nothing to follow: the inputs of the index are not files or folders any more"
        )
    own = out.resolve()

    def foreign(_: object, path: str) -> bool:
        changed = Path(path)
        return changed != own and own not in changed.parents and not changed.name.startswith(".~")

    for found in watch(*there, watch_filter=foreign, debounce=4 * settled, step=settled, stop_event=stop):
        names = sorted({Path(path).name for _, path in found})
        yield [*names[:NAMED], *(["…"] if len(names) > NAMED else [])]
