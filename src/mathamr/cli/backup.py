"""`mathamr backup`: an index in one file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The index.", show_default=False)],
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="The new file, a tar archive.", show_default=False)
    ],
    as_json: Annotated[bool, typer.Option("--json", help="What was written as one JSON object.")] = False,
) -> None:
    """Write an index into one file, while it is searched and changed; mathamr restore makes an index of it again."""
    from mathamr.index.admin.backup import backup

    made = backup(folder, path)
    if as_json:
        row = {"file": str(made.path), "posts": made.posts, "bytes": made.bytes, "derived": made.derived}
        print(json.dumps(row, ensure_ascii=False))
        return
    print(f"{made.posts:,} posts in {made.path}, {made.bytes / 2**20:,.1f} MiB", file=sys.stderr)
    if not made.derived:
        print(
            "the index was changed all the while: vectors and lexical entries are made again when it is restored",
            file=sys.stderr,
        )
