"""Posts of a path that means no good, read in a process with limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.bounded import bounded

_READ = """
import json, sys
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.core.errors import MathAMRError
report = Report()
try:
    found = [[post.id, post.kind, len(post.body), len(post.formulas)] for post in read_posts(sys.argv[1], report)]
except MathAMRError as error:
    found = str(error)
print(json.dumps([found, report.to_dict()]))
"""


def read_bounded(path: Path, seconds: int = 20, megabytes: int = 1024) -> tuple[Any, dict[str, Any]]:
    """(id, kind, length, formulas) of each post, or what the error said; and the report."""
    done = bounded(_READ, str(path), seconds=seconds, megabytes=megabytes)
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    posts, report = json.loads(done.stdout)
    return posts, report
