"""Warm queries of an index by stage, in milliseconds of a processor: a job for the first release and for today's code alike."""

from __future__ import annotations

import json
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from time import process_time
from unittest.mock import patch

from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.sample import folder as sample_folder
from mathamr.search.searcher import Index

QUERIES = 30
BEFORE = 25
"""Others that are asked first: by then a process has made what it makes once."""


def main(index: Path) -> dict[str, float]:
    formulas = [
        post.formulas[0] for post in read_posts(sample_folder() / "Posts.xml", Report()) if post.formulas
    ]
    asked = (f"where is ${formula.latex}$ used, and why does it hold?" for formula in formulas)
    total: Counter[str] = Counter()
    with Index.open(index) as opened, patch("time.perf_counter", process_time):
        opened.warm()
        for query in islice(asked, BEFORE):
            opened.search(query)
        for query in islice(asked, QUERIES):
            started = process_time()
            hits = opened.search(query)
            total.update({"total": process_time() - started, **hits.seconds})
    return {stage: 1e3 * seconds / QUERIES for stage, seconds in total.most_common()}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
