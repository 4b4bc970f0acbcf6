"""`Descriptions`: what programs said of posts, by the content that they were given, beside an index.

A post that comes again with the same content gets its description again, whatever its file, and no program is asked twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from mathamr.core.sqlite import Database
from mathamr.posts.description import PostDescription, asked_text, without_description
from mathamr.posts.post import Post

DESCRIPTIONS = "descriptions.db"
FORMAT = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS descriptions (
    content BLOB PRIMARY KEY, by TEXT NOT NULL, text TEXT NOT NULL) WITHOUT ROWID;
"""


class Descriptions(Database):
    """The descriptions of an index; one program after another may write them, each instead of what the one before said."""

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        super().__init__(folder / DESCRIPTIONS, _SCHEMA, FORMAT, create=create, read_only=not create)

    def of(self, post: Post) -> PostDescription | None:
        """Return the description of a post with this content, described or not; None if no program was asked."""
        rows = self._rows("SELECT by, text FROM descriptions WHERE content = ?", (content_of(post),))
        return PostDescription.of(str(rows[0][0]), str(rows[0][1])) if rows else None

    def keep(self, described: Mapping[bytes, PostDescription]) -> None:
        """Store descriptions by content; they are on disk when this returns."""
        with self.transaction():
            self._db.executemany(
                "INSERT OR REPLACE INTO descriptions VALUES (?, ?, ?)",
                ((content, each.by, " ".join(each.sentences)) for content, each in described.items()),
            )


def content_of(post: Post) -> bytes:
    """Return a digest of what a program is given of a post."""
    text = asked_text(without_description(post))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@contextmanager
def known_descriptions(folder: Path) -> Iterator[Descriptions | None]:
    """Open the descriptions of an index for reading; None if no program ever described its posts."""
    if not (folder / DESCRIPTIONS).is_file():
        yield None
        return
    with Descriptions(folder) as found:
        yield found
