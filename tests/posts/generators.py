"""`python -m tests.posts.generators [SIZE]`: what texts that mean no good cost and give, as a table in Markdown.

Each generator of `test_linear.py` and each document of `test_bounds.py` is read in a process of its own. Of a generator there are a
quarter, a half and the whole of the size.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bounded import bounded
from tests.posts.formats.test_linear import GENERATORS
from tests.posts.test_bounds import DOCUMENTS

_READ = """
import json, sys, time
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
list(read_posts(sys.argv[1], Report()))
report, begun, posts, written = Report(), time.process_time(), 0, 0
for post in read_posts(sys.argv[2], report):
    posts, written = posts + 1, written + len(post.title) + len(post.body) + sum(map(len, (*post.tags, *post.macros, *post.keywords)))
print(json.dumps({
    "seconds": time.process_time() - begun, "memory": int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) >> 10,
    "posts": posts, "written": written, "skipped": dict(report.skipped),
}))
"""


def measure(name: str, text: str | bytes) -> dict[str, Any]:
    """Seconds, megabytes and posts of reading one document; a small note is read before, and beside it."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder, "words.md")  # what is no document is not read without one beside it
        small.write_text("Words.")
        Path(folder, name).write_bytes(text if isinstance(text, bytes) else text.encode())
        done = bounded(_READ, str(small), folder, seconds=120)
    found: dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {}
    return found | {"size": len(text)}


def rows(size: int) -> Iterator[str]:
    """One row of the table for each generator and document."""
    yield "| generator | format | characters | seconds | MB | posts | characters out | left out |\n|---|---|---|---|---|---|---|---|"
    cases: list[tuple[str, str, list[str | bytes]]] = [
        (case, name, [text(size // part) for part in (4, 2, 1)]) for case, (name, text) in GENERATORS.items()
    ]
    cases += [("names that repeat", name, [text]) for name, text in DOCUMENTS.items()]
    for case, name, texts in cases:
        found = [measure(name, text) for text in texts]
        last = found[-1]
        seconds = " · ".join(f"{each['seconds']:.2f}" if "seconds" in each else "ended" for each in found)
        left = ", ".join(f"{cause} {count:,}" for cause, count in last.get("skipped", {}).items())
        counts = " | ".join(f"{last[key]:,}" if key in last else "" for key in ("memory", "posts", "written"))
        yield f"| {case} | {name} | {last['size']:,} | {seconds} | {counts} | {left} |"


if __name__ == "__main__":
    for line in rows(int(sys.argv[1]) if len(sys.argv) > 1 else 40_000):
        print(line, flush=True)
