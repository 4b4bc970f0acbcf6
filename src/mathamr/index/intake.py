"""Reading inputs into the catalogue: what is new, changed, unchanged or gone since the last time.

A post belongs to the input that brought it first. Only posts of the inputs that are read can disappear, and only when
an input was read to its end: of a damaged one nothing is deleted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mathamr.errors import MathAMRError
from mathamr.index.catalogue import Catalogue, digest_of
from mathamr.index.entries import visual_keys
from mathamr.index.manifest import InputRecord
from mathamr.index.point import LONGEST_ID, check_id
from mathamr.index.stages import batches
from mathamr.posts.files import STDIN
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.progress import Progress

BATCH = 200
LONGEST_POST_ID = LONGEST_ID - 96
"""So that the ids of a post's formulas, which may be made of its own, are not too long."""
HIGHEST_SCORE = 2**53 - 1
NOT_WHOLE = ("damaged archive", "unreadable", "unreadable input", "file too large")
"""Causes in a reader's report that mean: there may be posts that were not seen."""


@dataclass(slots=True)
class IntakeCounts:
    """What the inputs brought; `held_back` counts posts that are gone from an input that could not be read whole."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    deleted: int = 0
    held_back: int = 0
    others: int = 0
    """Posts whose id belongs to another input."""
    reports: dict[str, Report] = field(default_factory=dict)

    @property
    def read(self) -> int:
        """How many posts of the inputs are in the index."""
        return self.new + self.changed + self.unchanged


def input_record(path: Path, format: str | None = None, beside: Iterable[Path] = ()) -> InputRecord:
    """How an input is remembered: by its full path, so that it is the same from wherever it is named."""
    if path != STDIN and not path.exists():
        raise MathAMRError(f"{path}: no such file or folder")
    return InputRecord(_named(path), format, tuple(_named(each) for each in beside))


def _named(path: Path) -> str:
    return str(path) if path == STDIN else os.fsencode(path.resolve()).decode("utf-8", "replace")


def take_in(
    catalogue: Catalogue,
    path: Path,
    record: InputRecord,
    counts: IntakeCounts,
    report: Report,
    progress: Progress | None = None,
) -> None:
    """Brings the catalogue to what the input holds now; a kill leaves it somewhere between then and now."""
    counts.reports[record.path] = report
    posts = read_posts(path, report, record.format, [Path(each) for each in record.beside])
    if progress is not None:
        shown = progress
        report.on_bytes = lambda: shown.advance(0)
    missing = {
        owner for owner in catalogue.inputs() if owner not in ("", record.path) and not Path(owner).exists()
    }
    seen = bytearray()  # a byte for every number of a post
    for batch in batches(_usable(posts, report), BATCH):
        with catalogue.transaction():
            for post in batch:
                number = _take(catalogue, post, record.path, missing, counts, report)
                if number is not None:
                    seen.extend(bytes(max(0, number + 1 - len(seen))))
                    seen[number] = 1
        if progress is not None:
            progress.advance(len(batch))
    gone = [
        post_id
        for number, post_id in catalogue.of_input(record.path)
        if number >= len(seen) or not seen[number]
    ]
    if any(report.skipped[cause] for cause in NOT_WHOLE):
        counts.held_back += len(gone)
        return
    for ids in batches(gone, BATCH):
        with catalogue.transaction():
            counts.deleted += sum(catalogue.delete(post_id) for post_id in ids)


def _take(
    catalogue: Catalogue, post: Post, source: str, missing: set[str], counts: IntakeCounts, report: Report
) -> int | None:
    """Adds or replaces one post where that is needed; its number, or `None` where it belongs to another input."""
    known = catalogue.known(post.id)
    if known is not None:
        number, digest, owner = known
        if owner != source and owner not in missing:
            counts.others += 1
            report.skip(
                "id of another input",
                f"the post {post.id!r} is in the index already, from {owner or 'no file'}",
            )
            return None
        if digest == digest_of(post):
            counts.unchanged += 1
            if owner != source:
                catalogue.move(number, source)
            return number
        counts.changed += 1
    else:
        counts.new += 1
    return catalogue.put(post, source, visual_keys(post))


def forget(catalogue: Catalogue, record: InputRecord) -> int:
    """Deletes all posts of an input; how many."""
    gone = [post_id for _, post_id in catalogue.of_input(record.path)]
    with catalogue.transaction():
        return sum(catalogue.delete(post_id) for post_id in gone)


def _usable(posts: Iterable[Post], report: Report) -> Iterator[Post]:
    """The posts that an engine can hold."""
    for post in posts:
        try:
            check_usable(post)
        except MathAMRError as error:
            report.skip("not usable", str(error))
            continue
        yield post


def check_usable(post: Post) -> None:
    """Refuses a post that no engine could hold."""
    check_id(post.id)
    if len(post.id) > LONGEST_POST_ID:
        raise MathAMRError(
            f"the id {post.id[:40]!r}… has {len(post.id):,} characters, more than {LONGEST_POST_ID:,}"
        )
    if post.score is not None and abs(post.score) > HIGHEST_SCORE:
        raise MathAMRError(f"the score of {post.id[:100]!r} is out of range: {str(post.score)[:40]}")
