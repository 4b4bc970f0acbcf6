"""`Occurrences`: looks up the formulas of a catalogue by id, by post and by visual class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from mathamr.core.errors import MathAMRError
from mathamr.core.sqlite import Database
from mathamr.formulas.parse import is_command
from mathamr.index.catalogue.journal import VisualStage, unpacked
from mathamr.posts.formats.latex.definitions import macros_in
from mathamr.posts.post import Formula

_PLACES = "FROM formulas f JOIN posts p ON p.number = f.post"
_LIVING = f"{_PLACES} WHERE gone = 0 AND deleted = 0"
"""The current formulas of existing posts, each with its post."""


@dataclass(frozen=True, slots=True)
class FormulaEntry:
    """One occurrence of a formula: its id in the index, its post, and the formula itself.

    `visual` is the key of its visual class, `formula.visual_id` the input's name for that class. `id` is the formula's
    own id, unless another post already has a formula of that id.
    """

    id: str
    post: str
    position: int
    visual: str
    formula: Formula
    macros: tuple[str, ...] = ()
    """The macros of its post, with which it is parsed."""


class Occurrences(Database):
    """Formulas as they occur in posts; the same one may occur in many."""

    def formula(self, formula_id: str) -> FormulaEntry:
        """Return the formula with that id."""
        found = self.formulas([formula_id]).get(formula_id)
        if found is None:
            raise MathAMRError(f"no formula {formula_id!r} in the index {self.path.parent}")
        return found

    def formulas(self, ids: Sequence[str]) -> dict[str, FormulaEntry]:
        """Return formulas by id; missing ones are left out."""
        once = cache(unpacked)  # several may be of one post
        sql = f"SELECT f.id, p.id, position, visual, p.post {_LIVING} AND f.id IN "
        return {
            name: FormulaEntry(
                name, post_id, position, visual, once(blob).formulas[position], once(blob).macros
            )
            for name, post_id, position, visual, blob in self._chosen(sql, ids)
        }

    def formulas_of(self, post_id: str) -> list[FormulaEntry]:
        """Return the formulas of a post, in their order."""
        # The post itself is in one row before those of its formulas.
        sql = (
            "SELECT NULL, -1 AS place, NULL, post FROM posts WHERE deleted = 0 AND id = ?1 UNION ALL"
            f" SELECT f.id, position, visual, NULL {_LIVING} AND p.id = ?1 ORDER BY place"
        )
        rows = self._rows(sql, (post_id,))
        if not rows:
            return []
        post = unpacked(rows[0][3])
        return [
            FormulaEntry(name, post_id, position, visual, post.formulas[position], post.macros)
            for name, position, visual, _ in rows[1:]
        ]

    def posts_of_formulas(self, ids: Sequence[str]) -> set[str]:
        """Return the ids of the posts that have these formulas, or had them."""
        sql = f"SELECT p.id {_PLACES} WHERE f.id IN "
        return {post_id for (post_id,) in self._chosen(sql, ids)}

    def count_formulas(self) -> int:
        """Return the number of formulas."""
        return int(self._value(f"SELECT count(*) {_LIVING}"))

    def visuals_of(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the visual classes of formulas by id."""
        return dict(self._chosen(f"SELECT f.id, visual {_LIVING} AND f.id IN ", ids))

    def visual_keys(self) -> Iterator[str]:
        """Yield all visual classes that a formula has, in order."""
        last = ""
        sql = f"SELECT DISTINCT visual {_LIVING} AND visual > ? ORDER BY visual LIMIT 2000"
        while rows := self._rows(sql, (last,)):
            last = rows[-1][0]
            yield from (visual for (visual,) in rows)

    def keys_of(self, ids: Sequence[str]) -> dict[str, dict[int, str]]:
        """Return the visual classes of the formulas of posts, by their positions."""
        found: dict[str, dict[int, str]] = {}
        sql = f"SELECT p.id, position, visual {_LIVING} AND p.id IN "
        for post_id, position, visual in self._chosen(sql, ids):
            found.setdefault(post_id, {})[position] = visual
        return found

    def with_visual(self, key: str) -> list[str]:
        """Return the ids of the formulas of that visual class."""
        return self._formulas_by("visual", key)

    def posts_with(self, visuals: Sequence[str], most: int) -> dict[str, list[str]]:
        """Return the ids of the posts that have a formula of each visual class, at most so many of each, in the order of the index."""
        found: dict[str, list[str]] = {}
        sql = (
            "SELECT visual, id FROM (SELECT visual, p.id AS id, row_number() OVER (PARTITION BY visual ORDER BY p.number) AS place"
            f" {_LIVING} AND visual IN "
        )
        order = f" GROUP BY visual, p.number) WHERE place <= {int(most)} ORDER BY visual, place"
        for visual, post_id in self._chosen(sql, visuals, order):
            found.setdefault(visual, []).append(post_id)
        return found

    def every_occurrence(self) -> Iterator[tuple[str, str]]:
        """Yield every visual class with each of its posts, in the order of the index."""
        names = dict(self._rows("SELECT number, id FROM posts WHERE deleted = 0"))
        for visual, post in self._rows(
            "SELECT DISTINCT visual, post FROM formulas WHERE gone = 0 ORDER BY post"
        ):
            if post in names:
                yield visual, names[post]

    def every_place(self) -> Iterator[tuple[int, str, int]]:
        """Yield number, visual class and number of the post of every formula, in the order of the index."""
        return self._each("SELECT number, number, visual, post FROM formulas WHERE gone = 0")

    def formula_ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """Return the ids of formulas by number."""
        return dict(self._chosen("SELECT number, id FROM formulas WHERE gone = 0 AND number IN ", numbers))

    def position_of(self, post_id: str, visual: str) -> int | None:
        """Return the position of the first formula of a visual class in a post; None if it has none."""
        rows = self._rows(f"SELECT min(position) {_LIVING} AND visual = ? AND p.id = ?", (visual, post_id))
        return None if rows[0][0] is None else int(rows[0][0])

    def with_visual_id(self, visual_id: str) -> list[str]:
        """Return the ids of the formulas with that visual id in the input."""
        return self._formulas_by("visual_id", visual_id)

    def _formulas_by(self, column: str, value: str) -> list[str]:
        sql = f"SELECT f.id {_LIVING} AND {column} = ? ORDER BY f.number"
        return [formula_id for (formula_id,) in self._rows(sql, (value,))]

    def visuals(self, keys: Sequence[str]) -> dict[str, list[tuple[str, str, str | None]]]:
        """Return visual classes by key: for each visual id in the input, the first formula, its post, and that id.

        Nearly every visual class has at most one visual id.
        """
        found: dict[str, list[tuple[str, str, str | None]]] = {}
        sql = f"SELECT visual, f.id, p.id, visual_id, min(f.number) {_LIVING} AND visual IN "
        for visual, formula_id, post_id, visual_id, _ in self._chosen(
            sql, keys, " GROUP BY visual, visual_id ORDER BY min(f.number)"
        ):
            found.setdefault(visual, []).append((formula_id, post_id, visual_id))
        return found

    def choose_representatives(self, stage: VisualStage) -> None:
        """Find for each stale visual class the post whose formula represents it, always the first by id.

        The visual classes stay stale; `representatives` uses the most recent choice.
        """
        # With min(), SQLite takes the other columns from the row that has the minimum.
        self._rows(
            "INSERT OR REPLACE INTO representatives SELECT visual, number FROM (SELECT visual, p.number AS number, min(p.id)"
            f" {_LIVING} AND visual IN (SELECT visual FROM visuals WHERE {stage} = 0) GROUP BY visual)"
        )

    def representatives(self, visuals: Sequence[str]) -> dict[str, tuple[Formula, tuple[str, ...]]]:
        """Return the formula, with its macros, that represents each stale visual class of an existing post."""
        # By visual class (`+` keeps SQLite from the other index): a post may have thousands of formulas.
        sql = (
            "SELECT visual, post, (SELECT min(position) FROM formulas f WHERE f.visual = r.visual AND +f.post = r.post"
            " AND gone = 0) FROM representatives r WHERE visual IN "
        )
        chosen = [row for row in self._chosen(sql, visuals) if row[2] is not None]
        sql = "SELECT number, post FROM posts WHERE deleted = 0 AND number IN "
        numbers = sorted({number for _, number, _ in chosen})
        posts = {number: unpacked(blob) for number, blob in self._chosen(sql, numbers)}
        return {
            visual: (posts[number].formulas[place], posts[number].macros)
            for visual, number, place in chosen
            if number in posts
        }

    def represented_words(self, visuals: Sequence[str]) -> dict[str, str | None]:
        """Return for each existing visual class the id of the post whose formula gave its words; `None` if the words are
        outdated or that is not known.

        It is `None` where the words are outdated or it is not known of which post they are.
        """
        sql = (
            "SELECT v.visual, CASE WHEN v.lexical = 1 THEN p.id END FROM visuals v"
            " LEFT JOIN representatives r ON r.visual = v.visual LEFT JOIN posts p ON p.number = r.post AND p.deleted = 0"
            " WHERE v.visual IN "
        )
        return dict(self._chosen(sql, visuals))

    def mark_represented(self, chosen: Iterable[tuple[str, int]], same: Iterable[str]) -> None:
        """Record which post's formula gave the words of each visual class, and mark those of `same` as still valid."""
        chosen = list(chosen)
        self._db.executemany("INSERT OR REPLACE INTO representatives VALUES (?, ?)", chosen)
        self._db.executemany(
            "UPDATE visuals SET lexical = 1 WHERE visual = ?",
            ((visual,) for visual in (*dict(chosen), *same)),
        )


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
