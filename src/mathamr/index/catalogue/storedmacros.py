"""`StoredMacros`: the LaTeX macros that the posts of an index use, so that a query can use them too."""

from __future__ import annotations

from mathamr.core.sqlite import Database
from mathamr.posts.post import Post
from mathamr.posts.readers.latex.definitions import macros_in

MACROS_SCHEMA = """
CREATE TABLE IF NOT EXISTS macros (
    definition TEXT NOT NULL, post INTEGER NOT NULL, PRIMARY KEY (definition, post)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS macros_post ON macros (post);
"""


class StoredMacros(Database):
    """The part of a catalogue that knows which macros are defined, and how often each definition is used."""

    def macros(self) -> dict[str, str]:
        """The definition of each macro by its name; of several definitions the one that most posts use."""
        found: dict[str, str] = {}
        if not self._rows("SELECT 1 FROM sqlite_master WHERE name = 'macros'"):
            return found  # made by a version that stored none, and opened for reading
        sql = (
            "SELECT definition FROM macros m JOIN posts p ON m.post = p.number WHERE deleted = 0"
            " GROUP BY definition ORDER BY count(*), definition DESC"
        )
        for (definition,) in self._rows(sql):
            macros_in(definition, found)
        return found

    def _put_macros(self, number: int, post: Post) -> None:
        self._db.execute("DELETE FROM macros WHERE post = ?", (number,))
        self._db.executemany(
            "INSERT OR IGNORE INTO macros VALUES (?, ?)",
            ((macro.encode("utf-8", "replace").decode(), number) for macro in post.macros),
        )
