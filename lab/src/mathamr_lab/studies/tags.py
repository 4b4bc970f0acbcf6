"""Tags and entries of an index, typed as words: is a post that its author listed under them first?

python -m mathamr_lab.studies.tags sample.index 100
python -m mathamr_lab.studies.tags book.index 100 --keywords
python -m mathamr_lab.studies.tags book.index 100 --keywords --posts asked.json

The last writes what it asks to a file, so that an older revision, which does not know the entries, can be asked the same.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from random import Random

from mathamr.index.lexical.terms import words
from mathamr.search.searcher import Index

SEED = 7


def listed(index: Index, *, keywords: bool) -> dict[str, set[str]]:
    """Return the posts of every tag of an index, or of every keyword, as they are typed: as words."""
    found: dict[str, set[str]] = defaultdict(set)
    for post in index.archive.catalogue.every_post():
        if post.markup == "declaration":
            continue
        for name in post.keywords if keywords else post.tags:
            found[_typed(name)].add(post.id)
    return {name: posts for name, posts in found.items() if name}


def _typed(tag: str) -> str:
    return " ".join(words(tag)) if ":" not in tag else ""


def main() -> None:
    """Print how often such a post is first, among the first three and ten, and how often it is denied."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("count", type=int, nargs="?", default=100)
    parser.add_argument("--keywords", action="store_true", help="entries of an index instead of tags")
    parser.add_argument(
        "--posts",
        type=Path,
        help="a file of names and posts; it is written where it is missing",
        metavar="FILE",
    )
    asked = parser.parse_args()
    with Index.open(asked.index) as index:
        if asked.posts and asked.posts.exists():
            posts = {
                name: set(ids) for name, ids in json.loads(asked.posts.read_text(encoding="utf-8")).items()
            }
        else:
            posts = listed(index, keywords=asked.keywords)
        if asked.posts:
            asked.posts.write_text(
                json.dumps({name: sorted(ids) for name, ids in posts.items()}), encoding="utf-8"
            )
        drawn = Random(SEED).sample(sorted(posts), min(asked.count, len(posts)))
        places, denied = [], 0
        for name in drawn:
            hits = index.search(name, k=10)
            found = [place for place, hit in enumerate(hits, 1) if hit.id in posts[name]]
            places.append(found[0] if found else 11)
            denied += hits.found in ("similar", "nothing")
            if places[-1] > 3 or hits.found in ("similar", "nothing"):
                print(f"  {name!r}: {len(posts[name])} posts, place {places[-1]}, {hits.found}")
    shares = ", ".join(f"{sum(place <= most for place in places)} in {most}" for most in (1, 3, 10))
    print(f"{len(drawn)} of {len(posts)}: {shares}, denied {denied}")


if __name__ == "__main__":
    main()
