"""`Journal`: records which derived parts (graph, vectors, lexical entry) are up to date with the posts and visual classes.

A post's row is unmarked in the same transaction as the change of the post, and marked again only after the part was flushed:
whenever a process is killed, the rows show what must still be derived. A deleted post keeps its row, invisible to readers, until
it is gone from all parts; so do the formulas that a changed post no longer has.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Literal

from mathamr.core.errors import MathAMRError
from mathamr.core.sqlite import Database, inflated
from mathamr.core.storage.plainfiles import DAMAGED
from mathamr.posts.identifiers import give_id
from mathamr.posts.post import Markup, Post

Stage = Literal["graph", "vectors", "lexical"]
STAGES: tuple[Stage, ...] = ("graph", "vectors", "lexical")
VisualStage = Literal["vectors", "lexical"]
VISUAL_STAGES: tuple[VisualStage, ...] = ("vectors", "lexical")
_AT_A_TIME = 500
_FAILED = "failed"


@dataclass(frozen=True)
class PendingPost:
    """A post for which a derived part is outdated: the current post, or `None` if it was deleted.

    `formulas` are the ids its formulas have in the index, in the order of `post.formulas`, with their visual classes;
    `gone` the ids of formulas it had before.
    """

    number: int
    id: str
    digest: bytes
    packed: bytes | None
    formulas: tuple[tuple[str, str], ...] = ()
    gone: tuple[str, ...] = ()

    @cached_property
    def post(self) -> Post | None:
        """The current post, unpacked when it is first needed."""
        return None if self.packed is None else unpacked(self.packed)

    @property
    def is_deleted(self) -> bool:
        """True if the post was deleted."""
        return self.packed is None

    @property
    def formula_ids(self) -> tuple[str, ...]:
        """The ids in the index of the formulas that it has or had."""
        return (*self.gone, *(name for name, _ in self.formulas))


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A post whose content is or was the same as another's: its id, and the numbers of its rows and of its formulas' in the engine."""

    id: str
    rows: int
    formulas: int


class Journal(Database):
    """Queries and updates the marks of posts and visual classes."""

    def count_pending(self, stage: Stage) -> int:
        """Return the number of posts for which that part is outdated, including deleted ones."""
        return int(self._value(f"SELECT count(*) FROM posts WHERE {stage} = 0"))

    @property
    def settled(self) -> bool:
        """True if all parts are up to date with all posts and visual classes."""
        return not any(map(self.count_pending, STAGES)) and not any(
            self.stale_visuals(stage, 1) for stage in VISUAL_STAGES
        )

    @property
    def has_words(self) -> bool:
        """True if the lexical entries are up to date with all posts and visual classes, so that words can be searched."""
        return not self.count_pending("lexical") and not self.stale_visuals("lexical", 1)

    def count_vectors_waiting(self) -> int:
        """Return the number of posts or of visual classes for which vectors are outdated, whichever is larger."""
        return max(self.count_pending("vectors"), self.count_stale_visuals("vectors"))

    def stale_visuals(self, stage: VisualStage, most: int) -> list[str]:
        """Return some of the visual classes for which that part is outdated."""
        sql = f"SELECT visual FROM visuals WHERE {stage} = 0 ORDER BY visual LIMIT ?"
        return [visual for (visual,) in self._rows(sql, (most,))]

    def count_stale_visuals(self, stage: VisualStage) -> int:
        """Return the number of visual classes for which that part is outdated."""
        return int(self._value(f"SELECT count(*) FROM visuals WHERE {stage} = 0"))

    def pending(self, stage: Stage) -> Iterator[PendingPost]:
        """Yield the posts for which that part is outdated, in order; the caller may mark them meanwhile."""
        last = 0
        sql = (
            "SELECT number, id, digest, deleted, post FROM posts"
            f" WHERE {stage} = 0 AND number > ? ORDER BY number LIMIT {_AT_A_TIME}"
        )
        while rows := self._rows(sql, (last,)):
            last = rows[-1][0]
            formulas: dict[int, list[tuple[str, str]]] = {}
            gone: dict[int, list[str]] = {}
            each = "SELECT post, id, visual, gone FROM formulas WHERE post IN "
            for post, formula_id, visual, is_gone in self._chosen(
                each, [row[0] for row in rows], " ORDER BY post, position"
            ):
                if is_gone:
                    gone.setdefault(post, []).append(formula_id)
                else:
                    formulas.setdefault(post, []).append((formula_id, visual))
            for number, post_id, digest, deleted, blob in rows:
                own = tuple(formulas.get(number, ()))
                left = tuple(gone.get(number, ()))
                if deleted:
                    yield PendingPost(
                        number, post_id, digest, None, (), left + tuple(name for name, _ in own)
                    )
                else:
                    yield PendingPost(number, post_id, digest, blob, own, left)

    def post_rows(self) -> Iterator[tuple[str, int]]:
        """Yield the number of rows of every post whose vectors are up to date."""
        return self._each("SELECT number, id, rows FROM posts WHERE deleted = 0 AND vectors = 1")

    def formula_rows(self) -> Iterator[tuple[str, int]]:
        """Yield the number of rows of every formula that has vectors in the engine."""
        return self._each("SELECT number, id, rows FROM formulas WHERE rows > 0")

    def visual_rows(self) -> dict[str, int]:
        """Return the number of rows of every visual class whose vectors are up to date."""
        return dict(self._rows("SELECT visual, rows FROM visuals WHERE vectors = 1 AND gone = 0"))

    def visuals_made_of(self, visuals: Sequence[str]) -> dict[str, bytes]:
        """Return the digest of the formula from which the vectors of each visual class were computed, if there are any."""
        return dict(
            self._chosen("SELECT visual, made_of FROM visuals WHERE made_of NOT NULL AND visual IN ", visuals)
        )

    def mark(self, stage: Stage, pending: Iterable[PendingPost]) -> None:
        """Mark that part as up to date with these posts, unless they were changed again meanwhile."""
        self._db.executemany(
            f"UPDATE posts SET {stage} = 1 WHERE number = ? AND digest = ? AND deleted = ?",
            ((each.number, each.digest, int(each.is_deleted)) for each in pending),
        )

    def mark_vectors(self, marks: Iterable[tuple[PendingPost, bytes | None, int, Mapping[str, int]]]) -> None:
        """Record how many rows of posts and of some of their formulas the engine has, and from what content they were made."""
        marks = list(marks)
        self._db.executemany(
            "UPDATE posts SET vectors = 1, rows = ? WHERE number = ? AND digest = ? AND deleted = ?",
            ((own, each.number, each.digest, int(each.is_deleted)) for each, _, own, _ in marks),
        )
        self._db.executemany(
            "INSERT OR REPLACE INTO encoded VALUES (?, ?, ?, ?)",
            (
                (each.number, made_of, own, sum(formulas.values()))
                for each, made_of, own, formulas in marks
                if made_of
            ),
        )
        without = [
            (name, each.number)
            for each, _, _, formulas in marks
            for name in each.formula_ids
            if name not in formulas
        ]
        self._db.executemany("UPDATE formulas SET rows = 0 WHERE id = ? AND post = ? AND rows > 0", without)
        self._db.executemany(
            "UPDATE formulas SET rows = ? WHERE id = ? AND post = ?",
            ((rows, name, each.number) for each, _, _, formulas in marks for name, rows in formulas.items()),
        )

    def forget_meanings(self, posts: Iterable[PendingPost]) -> None:
        """Forget from what content the engine's vectors of these posts were made, so that no post takes them over."""
        self._db.executemany("DELETE FROM encoded WHERE post = ?", ((each.number,) for each in posts))

    def duplicates(self, pending: Iterable[PendingPost]) -> dict[str, Duplicate]:
        """Return for posts the one with the same content that has vectors in the engine: itself, or else another."""
        wanted = {each.id: meaning_of(each.post) for each in pending if each.post is not None}
        sql = (
            "SELECT e.meaning, p.id, e.rows, e.formulas FROM encoded e"
            " JOIN posts p ON p.number = e.post WHERE e.meaning IN "
        )
        known: dict[bytes, dict[str, Duplicate]] = {}
        for meaning, *row in self._chosen(sql, list(set(wanted.values()))):
            known.setdefault(meaning, {})[row[0]] = Duplicate(*row)
        found = {name: known[meaning] for name, meaning in wanted.items() if meaning in known}
        return {name: those.get(name) or next(iter(those.values())) for name, those in found.items()}

    @property
    def has_vectors(self) -> bool:
        """True if the engine has vectors of any post."""
        return bool(self._rows("SELECT 1 FROM encoded LIMIT 1"))

    def mark_visuals(self, stage: VisualStage, visuals: Iterable[str], gone: Iterable[str] = ()) -> None:
        """Mark that part as up to date with these visual classes, and `gone` as removed from it."""
        self._db.executemany(
            f"UPDATE visuals SET {stage} = 1 WHERE visual = ?", ((each,) for each in visuals)
        )
        self._db.executemany(
            f"UPDATE visuals SET {stage} = 1, gone = 1 WHERE visual = ?", ((each,) for each in gone)
        )

    def mark_visual_vectors(self, visual: str, made_of: bytes, rows: int) -> None:
        """Record that the engine has the vectors of this visual class, computed from that formula."""
        self._db.execute(
            "UPDATE visuals SET vectors = 1, made_of = ?, rows = ? WHERE visual = ?", (made_of, rows, visual)
        )

    def unmark_visuals(self, stage: VisualStage, visuals: Iterable[str] | None = None) -> None:
        """Mark visual classes, or all of them, as missing from the part of a stage."""
        lost = f"{stage} = 0" + (", made_of = NULL, rows = 0" if stage == "vectors" else "")
        if visuals is None:
            self._db.execute(f"UPDATE visuals SET {lost}")
        else:
            self._db.executemany(f"UPDATE visuals SET {lost} WHERE visual = ?", ((each,) for each in visuals))

    def skip(self, stage: Stage) -> None:
        """Mark that part as up to date with all posts, because nothing is derived for it."""
        self._db.execute(f"UPDATE posts SET {stage} = 1 WHERE {stage} = 0")

    def skip_visuals(self, stage: VisualStage) -> None:
        """Mark that part as up to date with all visual classes, because nothing is derived for it."""
        self._db.execute(f"UPDATE visuals SET {stage} = 1 WHERE {stage} = 0")

    def unmark(self, stage: Stage, ids: Iterable[str] | None = None) -> None:
        """Mark posts, or all of them, as missing from the part of a stage."""
        if ids is None:
            self._db.execute(f"UPDATE posts SET {stage} = 0")
            if stage == "vectors":
                self._db.execute("DELETE FROM encoded")
            return
        for each in ids:
            self._db.execute(f"UPDATE posts SET {stage} = 0 WHERE id = ?", (each,))
            if stage == "vectors":
                lost = "DELETE FROM encoded WHERE post IN (SELECT number FROM posts WHERE id = ?)"
                self._db.execute(lost, (each,))

    def unmark_empty(self) -> None:
        """Let the vectors of posts that have none be computed: an earlier version left out those with hardly a word."""
        self._db.execute("UPDATE posts SET vectors = 0 WHERE rows = 0 AND deleted = 0")

    def remember_failed(self, ids: Iterable[str]) -> None:
        """Remember posts whose graphs or vectors could not be computed, so that the next build tries again."""
        failed = {*json.loads(self.meta(_FAILED) or "[]"), *ids}
        self.set_meta(_FAILED, json.dumps(sorted(failed)))

    def retry_failed(self) -> None:
        """Unmark the posts whose graphs or vectors could not be computed."""
        if failed := json.loads(self.meta(_FAILED) or "[]"):
            with self.transaction():
                self.unmark("graph", failed)
                self.unmark("vectors", failed)
                self.set_meta(_FAILED, "[]")

    def purge(self) -> None:
        """Remove deleted posts, and formulas and visual classes without a post, once they are gone from all parts."""
        gone = "SELECT number FROM posts WHERE deleted = 1 AND graph = 1 AND vectors = 1 AND lexical = 1"
        self._db.execute(f"DELETE FROM formulas WHERE post IN ({gone})")
        self._db.execute(f"DELETE FROM tags WHERE post IN ({gone})")
        self._db.execute(f"DELETE FROM labels WHERE post IN ({gone})")
        self._db.execute(f"DELETE FROM macros WHERE post IN ({gone})")
        self._db.execute(f"DELETE FROM encoded WHERE post IN ({gone})")
        self._db.execute(f"DELETE FROM passages WHERE post IN ({gone})")
        self._db.execute(f"DELETE FROM kept WHERE post IN ({gone})")
        self._db.execute(f"DELETE FROM posts WHERE number IN ({gone})")
        self._db.execute(
            "DELETE FROM formulas WHERE gone = 1 AND post IN"
            " (SELECT number FROM posts WHERE vectors = 1 AND lexical = 1)"
        )
        left = self._db.execute(
            "DELETE FROM visuals WHERE gone = 1 AND vectors = 1 AND lexical = 1"
            " AND NOT EXISTS (SELECT 1 FROM formulas WHERE formulas.visual = visuals.visual)"
            " RETURNING visual"
        ).fetchall()
        self._db.executemany("DELETE FROM representatives WHERE visual = ?", left)


def meaning_of(post: Post) -> bytes:
    """Return a digest of the content from which vectors are computed: without votes, tags, place and id."""
    said = replace(
        give_id(post, ""),
        parent=None,
        accepted_answer=None,
        tags=(),
        links=(),
        score=None,
        date=None,
        source="",
        place=None,
        aliases=(),
        keywords=(),
    )
    return blake2b(said.to_json().encode("utf-8", "surrogatepass"), digest_size=16).digest()


LARGEST_POST = 32 << 20
"""The largest size of a post as JSON, in bytes; no reader returns a larger one, so a row that unpacks to more is damaged."""


def unpacked(blob: bytes) -> Post:
    """Return the post that packed bytes hold."""
    return unpacked_with_content(blob)[0]


def unpacked_with_content(blob: bytes) -> tuple[Post, bytes]:
    """Return the post of a row, and the bytes that were digested."""
    with _readable():
        content = inflated(blob, LARGEST_POST)
        return Post.from_json(content.decode("utf-8", "surrogatepass")), content


def unpacked_text(blob: bytes) -> tuple[str, Markup]:
    """Return the body of a post and its markup alone."""
    with _readable():
        row = json.loads(inflated(blob, LARGEST_POST).decode("utf-8", "surrogatepass"))
        return row["body"], row.get("markup", "html")


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (zlib.error, *DAMAGED) as error:
        raise MathAMRError(
            f"a post of the catalogue is damaged ({error}); check it with: mathamr index --check"
        ) from error
