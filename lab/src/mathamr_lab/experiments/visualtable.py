"""`VisualTable`: the visual id of every formula of a corpus, in a file, since a dictionary of millions would fill the memory."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.formulas.trees import Trees
from mathamr.search.workbudget import Affords

_SCHEMA = """
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    CREATE TABLE formula (number INTEGER PRIMARY KEY, id TEXT UNIQUE, visual TEXT);
"""
_INDEX = "CREATE INDEX of_visual ON formula (visual)"


class VisualTable:
    """Visual classes by the collection's visual ids, as rankings of formulas ask for them."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise MathAMRError(f"{path} is missing; run the experiment again in another folder")
        self._database = sqlite3.connect(path)

    @classmethod
    @contextmanager
    def writing(cls, path: Path) -> Iterator[Callable[[Iterable[tuple[str, str]]], None]]:
        """Create the table; the function that is returned adds rows of a formula and its visual id."""
        path.unlink(missing_ok=True)
        # Posts may be read by another thread than the one that began.
        database = sqlite3.connect(path, check_same_thread=False)
        try:
            database.executescript(_SCHEMA)

            def add(formulas: Iterable[tuple[str, str]]) -> None:
                database.executemany("INSERT OR IGNORE INTO formula (id, visual) VALUES (?, ?)", formulas)

            yield add
            database.execute(_INDEX)
            database.commit()
        finally:
            database.close()

    def __len__(self) -> int:
        (count,) = self._database.execute("SELECT count(*) FROM formula").fetchone()
        return int(count)

    def visuals_of(self, formulas: Sequence[str]) -> dict[str, str]:
        """Return the visual ids of formulas."""
        query = (
            "SELECT formula.id, visual FROM json_each(?) AS wanted JOIN formula ON formula.id = wanted.value"
        )
        return dict(self._database.execute(query, (json.dumps(formulas),)))

    def with_visual(self, visual: str) -> list[str]:
        """Return the formulas with a visual id."""
        query = "SELECT id FROM formula WHERE visual = ? ORDER BY number"
        return [formula for (formula,) in self._database.execute(query, (visual,))]

    def first_with(self, visuals: Sequence[str]) -> dict[str, str]:
        """Return the first formula with each visual id."""
        query = "SELECT visual, formula.id, min(number) FROM json_each(?) AS wanted JOIN formula ON visual = wanted.value GROUP BY visual"
        found = self._database.execute(query, (json.dumps(visuals),))
        first = {visual: formula for visual, formula, _ in found}
        return {visual: first[visual] for visual in visuals if visual in first}

    def trees(self, _visuals: Sequence[str], _reading: str, _affords: Affords) -> dict[str, Trees]:
        """Return nothing: experiments compare vectors, not trees."""
        return {}
