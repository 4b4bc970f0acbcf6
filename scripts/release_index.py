"""Makes a small index of this version's own for the test that later versions open it (`tests/index/test_upgrade.py`).

Run it at a release, with that release's mathamr, and commit what it writes (below 1 MB):

    python scripts/release_index.py tests/index/releases/REVISION.tar.gz
    python scripts/release_index.py tests/index/releases/REVISION-postgres.tar.gz --postgres URL

The archive has the inputs (`notes`), the index (`index`), what it answers (`answers.json`) and a backup (`backup.tar`) or, of an
index with its vectors on a Postgres server, a dump of its schema (`vectors.sql`), for which `pg_dump` must be installed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tarfile
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

from mathamr.index.admin.backup import backup
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.sample import folder as sample_folder
from mathamr.search.searcher import Index

POSTS = 8
SCHEMA = "mathamr_release"
QUERIES = ("sum of a geometric series", "$a^2+b^2=c^2$", "squeeze theorem")
NOTES = {
    "squeeze.md": "# Squeeze theorem\n\nIf $a_n \\le b_n \\le c_n$ and $a_n, c_n \\to L$, then $b_n \\to L$.\n\n"
    "```{prf:theorem} Limits\n:label: thm-limits\nLimits of $b_n$ are unique.\n```\n",
    "triangles.md": "# Right triangles\n\nIn them, $a^2 + b^2 = c^2$, see [[squeeze]].\n",
}


def main() -> None:
    """Write the archive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--postgres", metavar="URL", help="keep the vectors in this database")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        write_inputs(root / "notes")
        options: dict[str, Any] = {}
        if arguments.postgres:
            os.environ["MATHAMR_POSTGRES_URL"] = arguments.postgres
            options = {"engine": "postgres", "engine_options": {"schema": SCHEMA}}
        build_index([root / "notes"], root / "index", BuildOptions(**options))
        with Index.open(root / "index") as index:
            answers = {query: [hit.id for hit in index.search(query, k=3)] for query in QUERIES}
        (root / "answers.json").write_text(json.dumps(answers, indent=1), encoding="utf-8")
        if arguments.postgres:
            command = ["pg_dump", "--inserts", "--rows-per-insert=50", "--no-owner", f"--schema={SCHEMA}"]
            with (root / "vectors.sql").open("wb") as dump:
                subprocess.run([*command, arguments.postgres], check=True, stdout=dump)
        else:
            backup(root / "index", root / "backup.tar")
        for left in (*root.rglob("lock"), *root.rglob("*.db-*")):  # of the process that made it
            left.unlink()
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(arguments.out, "w:gz") as archive:
            for entry in sorted(root.iterdir()):
                archive.add(entry, entry.name, filter=_anonymous)


def write_inputs(folder: Path) -> None:
    """Write a few posts of the bundled sample and two notes."""
    folder.mkdir()
    posts = islice(read_posts(sample_folder() / "Posts.xml", Report()), POSTS)
    (folder / "posts.jsonl").write_text("".join(post.to_json() + "\n" for post in posts), encoding="utf-8")
    for name, text in NOTES.items():
        (folder / name).write_text(text, encoding="utf-8")


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    main()
