"""Watches the inputs of an index and reports changes in batches."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.settings import FOLDER_FILE
from mathamr.index.manifest import InputRecord
from mathamr.posts.ignorerules import GITIGNORE, IGNORE_FILE, IgnoreRules
from mathamr.posts.report import Report

SETTLED = 800
"""Milliseconds without a further change after which changes are reported: an editor writes a file in several steps."""
NAMED = 3


def changes(
    inputs: Sequence[InputRecord], out: Path, stop: threading.Event | None = None, *, settled: int = SETTLED
) -> Iterator[list[str]]:
    """Yield the names of some changed files once no more changes arrive, until `stop` is set.

    The index itself may lie inside a watched folder; changes in it are ignored, and so are files that rules leave out.
    """
    from watchfiles import watch

    there = {path: record for record in inputs if (path := Path(record.path)).exists()}
    if not there:
        raise MathAMRError(
            "there is nothing to follow: the inputs of the index are not files or folders any more"
        )
    own = out.resolve()

    def foreign(_: object, path: str) -> bool:
        changed = Path(path)
        if changed == own or own in changed.parents:
            return False
        return changed.name in (IGNORE_FILE, GITIGNORE, FOLDER_FILE) or not _is_left_out(changed, there)

    for found in watch(*there, watch_filter=foreign, debounce=4 * settled, step=settled, stop_event=stop):
        names = sorted({Path(path).name for _, path in found})
        yield [*names[:NAMED], *(["…"] if len(names) > NAMED else [])]


def _is_left_out(changed: Path, inputs: Mapping[Path, InputRecord]) -> bool:
    """Return True if the rules of every watched folder that contains a file leave it out, as they are written now."""
    around = [(root, record) for root, record in inputs.items() if root in changed.parents]
    return bool(around) and all(
        IgnoreRules(root, Report(), record.exclude).leaves_out(changed) for root, record in around
    )
