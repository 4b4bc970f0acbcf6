"""`StoredMacros`: the LaTeX macros that the posts of an index use, so that a query can use them too."""

from __future__ import annotations

from mathamr.core.sqlite import Database
from mathamr.formulas.parse import is_command
from mathamr.posts.formats.latex.definitions import macros_in

MACROS_SCHEMA = """
CREATE TABLE IF NOT EXISTS macros (
    definition TEXT NOT NULL, post INTEGER NOT NULL, PRIMARY KEY (definition, post)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS macros_post ON macros (post);
"""


class StoredMacros(Database):
    """The part of a catalogue that knows which macros are defined, and how often each definition is used."""

    def macros(self) -> dict[str, str]:
        """Return the definition of each macro by its name; of several definitions the one that most posts use.

        A command of LaTeX keeps its meaning unless most posts give it another: one document that calls interiors `\\int` must not
        take away everybody's integrals.
        """
        found: dict[str, str] = {}
        if not self._rows("SELECT 1 FROM sqlite_master WHERE name = 'macros'"):
            return found  # made by a version that stored none, and opened for reading
        sql = (
            "SELECT definition, count(*) AS often FROM macros m JOIN posts p ON m.post = p.number WHERE deleted = 0"
            " GROUP BY definition ORDER BY often, definition DESC"
        )
        total = int(self._value("SELECT count(*) FROM posts WHERE deleted = 0"))
        for definition, often in self._rows(sql):
            own: dict[str, str] = {}
            macros_in(definition, own)
            found |= {
                name: each for name, each in own.items() if 2 * often > total or not _redefines(name, each)
            }
        return found


def _redefines(name: str, definition: str) -> bool:
    """Return True if a definition gives a command of LaTeX another meaning; `\\newcommand` cannot."""
    return is_command(f"\\{name}") and not definition.startswith(("\\newcommand", "\\providecommand"))
