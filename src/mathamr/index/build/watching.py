"""Watches the inputs of an index and reports changes in batches."""

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
    """Yields the names of some changed files once no more changes arrive, until `stop` is set.

    The index itself may lie inside a watched folder; changes in it are ignored.
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
