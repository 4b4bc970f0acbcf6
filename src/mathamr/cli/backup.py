"""`mathamr backup`: write an index to one file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from mathamr.cli.options import IndexFolder


def command(
    folder: IndexFolder,
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="The tar archive to write.", show_default=False)
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Write an index to one file while it stays in use; mathamr restore reads it back."""
    from mathamr.index.admin.backup import backup

    made = backup(folder, path)
    if as_json:
        row = {"file": str(made.path), "posts": made.posts, "bytes": made.bytes, "derived": made.derived}
        print(json.dumps(row, ensure_ascii=False))
        return
    print(f"{made.posts:,} posts in {made.path}, {made.bytes / 2**20:,.1f} MiB", file=sys.stderr)
    if not made.derived:
        print(
            "the index changed during the backup: restoring it computes vectors and lexical entries again",
            file=sys.stderr,
        )
