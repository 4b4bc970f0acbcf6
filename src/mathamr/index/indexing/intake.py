"""Reads inputs into the catalogue: finds what is new, changed, unchanged or gone since the last time.

A post belongs to the input that contained it first; a post of another input with the same id gets that input's name as a
prefix. Only posts of the inputs that are read can be deleted, and only if the input was read to its end: a damaged input
deletes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.core.progress import Progress
from mathamr.index.catalogue.catalogue import Catalogue, digest_of
from mathamr.index.catalogue.journal import LARGEST_POST
from mathamr.index.identifiers import LONGEST_ID, check_id
from mathamr.index.indexing.buildpool import BuildPool
from mathamr.index.indexing.uniqueids import UniqueIds
from mathamr.index.manifest import InputRecord
from mathamr.posts.inputs import STDIN
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

BATCH = 200
LONGEST_POST_ID = LONGEST_ID - 96
"""The longest id of a post; it leaves room for the ids of its formulas, which may contain it."""
HIGHEST_SCORE = 2**53 - 1
INCOMPLETE = (
    "damaged archive", "archive too dense", "unreadable", "unreadable input", "file too large", "reader failed",
)  # fmt: skip
"""Causes in a reader's report which mean that some posts may not have been read."""


@dataclass(slots=True)
class IntakeCounts:
    """Counts of the posts of the inputs; `held_back` counts posts missing from an input that could not be read to its end."""

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
        """The number of posts of the inputs in the index."""
        return self.new + self.changed + self.unchanged


def input_record(
    path: Path, format: str | None = None, beside: Iterable[Path] = (), exclude: Iterable[str] = ()
) -> InputRecord:
    """The record of an input under its full path, which does not depend on the working directory."""
    if path != STDIN and not path.exists():
        raise MathAMRError(f"{path}: no such file or folder")
    return InputRecord(_named(path), format, tuple(_named(each) for each in beside), tuple(exclude))


def _named(path: Path) -> str:
    return str(path) if path == STDIN else os.fsencode(path.resolve()).decode("utf-8", "replace")


def take_in(
    catalogue: Catalogue,
    path: Path,
    record: InputRecord,
    counts: IntakeCounts,
    report: Report,
    pool: BuildPool,
    progress: Progress | None = None,
) -> None:
    """Brings the catalogue up to date with the input; if it is killed, part of the changes are stored."""
    counts.reports[record.path] = report
    # The full path, so that a post's source does not depend on the working directory.
    full = path if path == STDIN else path.resolve()
    beside = [Path(each) for each in record.beside]
    posts = read_posts(full, report, record.format, beside, record.exclude)
    if progress is not None:
        shown = progress
        report.on_bytes = lambda: shown.advance(0)
    intake = _Intake(catalogue, record.path, counts, report)
    if path != STDIN:
        naming = UniqueIds(
            catalogue,
            record.path,
            intake.is_another,
            lambda: read_posts(full, Report(), record.format, beside, record.exclude),
        )
        posts = map(naming.named, posts)
    for batch in batches(_usable(posts, report), BATCH * pool.scale):
        wanted = [post for post in batch if intake.wants(post)]
        keys = list(pool.taken_in(wanted))
        with catalogue.transaction():
            intake.take(wanted, keys)
        if progress is not None:
            progress.advance(len(batch))
    gone = intake.gone()
    if any(report.skipped[cause] for cause in INCOMPLETE):
        counts.held_back += len(gone)
        return
    for ids in batches(gone, BATCH):
        with catalogue.transaction():
            counts.deleted += sum(catalogue.delete(post_id) for post_id in ids)


class _Intake:
    """One pass over an input: finds its new and changed posts, and the known ones that it no longer has."""

    def __init__(self, catalogue: Catalogue, source: str, counts: IntakeCounts, report: Report) -> None:
        self._catalogue, self._source = catalogue, source
        self._counts, self._report = counts, report
        self._left = {
            owner for owner in catalogue.inputs() if owner not in ("", source) and not Path(owner).exists()
        }
        """Inputs that no longer exist; another input may take over their posts."""
        self._seen = bytearray()
        """One byte per post number: whether the post was seen."""

    def is_another(self, owner: str) -> bool:
        """True if that input is another existing one: not this input, not posts put one by one, not a missing input."""
        return owner not in ("", self._source) and owner not in self._left

    def wants(self, post: Post) -> bool:
        """True if a post must be written, because it is new or has changed."""
        known = self._catalogue.known(post.id)
        held = self._catalogue.quarantined(post.id) if known is None else None
        if held is not None and held[0] == digest_of(post):
            self._report.skip("quarantined", f"the post {post.id!r} was left out before: {held[1]}")
            return False
        if known is None:
            self._counts.new += 1
            return True
        number, digest, owner = known
        if owner != self._source and owner not in self._left:
            self._counts.others += 1
            self._report.skip(
                "id of another input",
                f"the post {post.id!r} is in the index already, from {owner or 'no file'}",
            )
            return False
        if digest == digest_of(post) and owner == self._source:
            self._counts.unchanged += 1
            self._see(number)
            return False
        self._counts.changed += 1
        return True

    def take(self, posts: Sequence[Post], keys: Sequence[list[str]]) -> None:
        """Writes posts, with the visual classes of their formulas."""
        for post, visuals in zip(posts, keys, strict=True):
            self._see(self._catalogue.put(post, self._source, visuals))

    def gone(self) -> list[str]:
        """The known posts of the input that were not seen."""
        return [
            post_id
            for number, post_id in self._catalogue.of_input(self._source)
            if number >= len(self._seen) or not self._seen[number]
        ]

    def _see(self, number: int) -> None:
        self._seen.extend(bytes(max(0, number + 1 - len(self._seen))))
        self._seen[number] = 1


def forget(catalogue: Catalogue, record: InputRecord) -> int:
    """Deletes all posts of an input; returns their number."""
    gone = [post_id for _, post_id in catalogue.of_input(record.path)]
    with catalogue.transaction():
        return sum(catalogue.delete(post_id) for post_id in gone)


def _usable(posts: Iterable[Post], report: Report) -> Iterator[Post]:
    """The posts that an engine can store."""
    for post in posts:
        try:
            check_usable(post)
        except MathAMRError as error:
            report.skip("not usable", str(error))
            continue
        yield post


def check_usable(post: Post) -> None:
    """Raises an error for a post that no engine could store."""
    check_id(post.id)
    if len(post.id) > LONGEST_POST_ID:
        raise MathAMRError(
            f"the id {post.id[:40]!r}… has {len(post.id):,} characters, more than {LONGEST_POST_ID:,}"
        )
    letters = len(post.body) + len(post.title) + sum(map(len, post.macros))
    if letters > LARGEST_POST // 64 and len(post.to_json().encode("utf-8", "replace")) > LARGEST_POST:
        raise MathAMRError(
            f"the post {post.id[:100]!r} is larger than {LARGEST_POST >> 20} MB; cut it into several posts"
        )
    if post.score is not None and abs(post.score) > HIGHEST_SCORE:
        raise MathAMRError(f"the score of {post.id[:100]!r} is out of range: {str(post.score)[:40]}")
