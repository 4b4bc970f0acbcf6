"""`Journal`: which derived parts (graph, vectors, lexical entry) follow the posts of a catalogue already.

A post's row is unmarked together with the change of the post, in one transaction, and marked again only after the part
was flushed: so whatever moment a process is killed at, the rows tell what has still to be made. A deleted post keeps
its row, unseen by readers, until it is gone from all parts; so do the formulas that a changed post no longer has.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from mathamr.errors import MathAMRError
from mathamr.index.storage.database import Database
from mathamr.posts.post import Post

Stage = Literal["graph", "vectors", "lexical"]
STAGES: tuple[Stage, ...] = ("graph", "vectors", "lexical")
_AT_A_TIME = 500


@dataclass(frozen=True, slots=True)
class Waiting:
    """A post that a derived part has still to follow: the post as it is now, or `None` when it was deleted.

    `formulas` are the ids its formulas have in the index, in the order of `post.formulas`, with their visual keys;
    `gone` the ids of formulas it had before.
    """

    number: int
    id: str
    digest: bytes
    post: Post | None
    formulas: tuple[tuple[str, str], ...] = ()
    gone: tuple[str, ...] = ()


class Journal(Database):
    """What has still to be done for which posts, and that it has been done."""

    def count_waiting(self, stage: Stage) -> int:
        """How many posts that part does not follow yet, deleted ones included."""
        return int(self._value(f"SELECT count(*) FROM posts WHERE {stage} = 0"))

    @property
    def settled(self) -> bool:
        """Whether all parts follow all posts."""
        return not any(self.count_waiting(stage) for stage in STAGES) and not self.stale_visuals(1)

    def stale_visuals(self, most: int) -> list[str]:
        """Some of the visual keys whose lexical entry does not follow the formulas yet."""
        sql = "SELECT visual FROM stale_visuals ORDER BY visual LIMIT ?"
        return [visual for (visual,) in self._rows(sql, (most,))]

    def count_stale_visuals(self) -> int:
        """How many visual keys there are whose lexical entry does not follow the formulas yet."""
        return int(self._value("SELECT count(*) FROM stale_visuals"))

    def waiting(self, stage: Stage) -> Iterator[Waiting]:
        """The posts that part does not follow yet, in order; they may be marked while this is read."""
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
                    yield Waiting(number, post_id, digest, None, (), left + tuple(name for name, _ in own))
                else:
                    yield Waiting(number, post_id, digest, unpacked(blob), own, left)

    def follows(self, stage: Stage, post_id: str) -> bool:
        """Whether that part follows that post."""
        return bool(self._rows(f"SELECT 1 FROM posts WHERE id = ? AND {stage} = 1", (post_id,)))

    def sketches(self) -> Iterator[tuple[str, int, float]]:
        """(id, number of vectors, sketch of their values) of every post whose vectors are up to date."""
        yield from self._each("SELECT number, id, rows, sketch FROM posts WHERE deleted = 0 AND vectors = 1")

    def mark(self, stage: Stage, waiting: Iterable[Waiting]) -> None:
        """That part now follows these posts, unless they were changed again meanwhile."""
        self._db.executemany(
            f"UPDATE posts SET {stage} = 1 WHERE number = ? AND digest = ? AND deleted = ?",
            ((each.number, each.digest, int(each.post is None)) for each in waiting),
        )

    def mark_vectors(self, each: Waiting, rows: int, sketch: float, formulas: Iterable[str]) -> None:
        """The engine now has the vectors of this post: how many, the sketch of their values, of which formulas."""
        self._db.execute(
            "UPDATE posts SET vectors = 1, rows = ?, sketch = ? WHERE number = ? AND digest = ? AND deleted = ?",
            (rows, sketch, each.number, each.digest, int(each.post is None)),
        )
        self._db.execute("UPDATE formulas SET placed = 0 WHERE post = ?", (each.number,))
        self._db.executemany(
            "UPDATE formulas SET placed = 1 WHERE id = ? AND post = ?",
            ((formula_id, each.number) for formula_id in formulas),
        )

    def mark_visuals(self, visuals: Iterable[str]) -> None:
        """The lexical index now follows the formulas that look like these."""
        self._db.executemany("DELETE FROM stale_visuals WHERE visual = ?", ((each,) for each in visuals))

    def unmark_visuals(self, visuals: Iterable[str]) -> None:
        """The lexical index has lost these visual keys."""
        self._db.executemany("INSERT OR IGNORE INTO stale_visuals VALUES (?)", ((each,) for each in visuals))

    def unmark(self, stage: Stage, ids: Iterable[str] | None = None) -> None:
        """That part has lost these posts, or all of them."""
        if ids is None:
            self._db.execute(f"UPDATE posts SET {stage} = 0")
        else:
            self._db.executemany(f"UPDATE posts SET {stage} = 0 WHERE id = ?", ((each,) for each in ids))

    def purge(self) -> None:
        """Forgets deleted posts, and formulas their posts no longer have, once all parts have let go of them."""
        gone = "SELECT number FROM posts WHERE deleted = 1 AND graph = 1 AND vectors = 1 AND lexical = 1"
        self._db.execute(f"DELETE FROM formulas WHERE post IN ({gone})")
        self._db.execute(f"DELETE FROM tags WHERE post IN ({gone})")
        self._db.execute(f"DELETE FROM labels WHERE post IN ({gone})")
        self._db.execute(f"DELETE FROM posts WHERE number IN ({gone})")
        self._db.execute(
            "DELETE FROM formulas WHERE gone = 1 AND post IN"
            " (SELECT number FROM posts WHERE vectors = 1 AND lexical = 1)"
        )

    def placed_formulas(self) -> Iterator[str]:
        """The ids of the formulas that have a vector in the engine."""
        for (formula_id,) in self._each("SELECT number, id FROM formulas WHERE placed = 1"):
            yield formula_id


def packed(post: Post) -> bytes:
    """A post as a row holds it."""
    return zlib.compress(post.to_json().encode("utf-8", "surrogatepass"), 6)


def unpacked(blob: bytes) -> Post:
    """The inverse of `packed`."""
    try:
        return Post.from_json(zlib.decompress(blob).decode("utf-8", "surrogatepass"))
    except (zlib.error, ValueError, TypeError, KeyError, AttributeError) as error:
        raise MathAMRError(
            f"a post of the catalogue is damaged ({error}); check it with: mathamr index --check"
        ) from error
