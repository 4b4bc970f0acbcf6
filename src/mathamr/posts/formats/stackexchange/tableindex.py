"""`TableIndex`: formula, MathML and link tables of any size, indexed on disk while the posts are read."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mathamr.core.batches import batches
from mathamr.core.closing import Closing
from mathamr.core.errors import MathAMRError
from mathamr.core.zstd import zstd
from mathamr.posts.formats.stackexchange.dumprows import DumpRows
from mathamr.posts.formats.stackexchange.tables import TableKind, table
from mathamr.posts.inputs import Input, bare_name, display_path
from mathamr.posts.post import Formula, Link, LinkType
from mathamr.posts.report import Report

LINK_TYPES: dict[str, LinkType] = {"1": "related", "3": "duplicate"}

_PRESENTATION = re.compile(
    r"<(?:\w+:)?m(?:i|n|o|row|text|s|space|style|sub|sup|subsup|frac|table|over|under)\b"
)
_CONTENT = re.compile(r"<(?:\w+:)?(?:apply|ci|cn|csymbol|cerror|bind|share)\b")
_SCHEMA = """
    PRAGMA temp_store = FILE;
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA cache_size = -32768;
    CREATE TABLE formula (id PRIMARY KEY, number INTEGER, visual, expected INTEGER) WITHOUT ROWID;
    CREATE TABLE presentation (visual PRIMARY KEY, mathml BLOB) WITHOUT ROWID;
    CREATE TABLE content (visual PRIMARY KEY, mathml BLOB) WITHOUT ROWID;
    CREATE TABLE link (post, target TEXT, type TEXT);
    CREATE INDEX link_of_post ON link (post);
"""
_LOOK_UP = """
    SELECT formula.id, number, expected, formula.visual, presentation.mathml, content.mathml
    FROM json_each(?) AS wanted JOIN formula ON formula.id = wanted.value
    LEFT JOIN presentation ON presentation.visual = formula.visual
    LEFT JOIN content ON content.visual = formula.visual
"""
_Row = tuple[int | str, int, int, int | str | None, bytes | None, bytes | None]


class TableIndex(Closing):
    """What the tables beside a dump say of its formulas and links, in a temporary SQLite database.

    The database is a private file that vanishes with the connection, also when the process is killed. ARQMath's
    tables hold 28 million formulas in 9 million visual classes: MathML is stored once for each visual id.
    """

    BATCH = 20_000

    def __init__(self, report: Report) -> None:
        self._report = report
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(_SCHEMA)
        self._formulas = self._links = 0
        self._found = bytearray()  # a bit for each formula of the tables
        self._drawn = {"presentation": _SeenNumbers(), "content": _SeenNumbers()}

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def load(self, companions: Iterable[tuple[TableKind, Path]]) -> None:
        """Load the tables; the report counts the rows of each kind."""
        loaders = {"formulas": self._load_formulas, "mathml": self._load_mathml, "links": self._load_links}
        for kind, path in companions:
            with _enough_disk():
                self._database.execute("BEGIN")
                self._report.companions[f"{kind}_rows"] += loaders[kind](path)
                self._database.execute("COMMIT")
        self._found = bytearray(self._formulas // 8 + 1)

    def enriched(self, formulas: tuple[Formula, ...]) -> tuple[Formula, ...]:
        """Return the formulas of a post with the visual ids and the MathML that the tables know."""
        if not self._formulas or not formulas:
            return formulas
        identifiers = json.dumps([_key(formula.id) for formula in formulas])
        rows: Iterable[_Row] = self._database.execute(_LOOK_UP, (identifiers,))
        known = {str(row[0]): row for row in rows}
        return tuple(
            self._enrich(formula, known[formula.id]) if formula.id in known else formula
            for formula in formulas
        )

    def links(self, post: str) -> tuple[Link, ...]:
        """Return the links of a post, in the order of the table."""
        if not self._links:
            return ()
        query = "SELECT target, type FROM link WHERE post = ? ORDER BY rowid"
        return tuple(Link(target, type) for target, type in self._database.execute(query, (_key(post),)))

    def finish(self) -> None:
        """Report, after the last post, how many of the listed formulas the posts contain, and which are missing."""
        if not self._formulas:
            return
        report, found, listed = self._report, 0, 0
        report.at("")
        for identifier, number in self._database.execute("SELECT id, number FROM formula WHERE expected"):
            listed += 1
            if self._found[number >> 3] >> (number & 7) & 1:
                found += 1
            else:
                report.miss(
                    "formula in no post", f"the tables list the formula {identifier}, which no post contains"
                )
        report.companions["formulas_listed"] = listed
        report.companions["formulas_found"] = found

    def _enrich(self, formula: Formula, row: _Row) -> Formula:
        _, number, _, visual, presentation, content = row
        self._found[number >> 3] |= 1 << (number & 7)
        return Formula(
            formula.id,
            formula.latex,
            formula.display,
            formula.visual_id if visual is None else str(visual),
            self._unpack(presentation) or formula.presentation_mathml,
            self._unpack(content) or formula.content_mathml,
        )

    def _load_formulas(self, path: Path) -> int:
        count = 0
        for batch in batches(table(path, self._report), self.BATCH):
            formulas: list[tuple[int | str, int, int | str | None, bool]] = []
            drawn: list[tuple[int | str, str]] = []
            for row in batch:
                identifier = _key(row["id"])
                visual = _key(row["visual_id"]) if row.get("visual_id") else None
                if "<math" in row["formula"][:200]:
                    visual = f"formula {identifier}" if visual is None else visual
                    drawn.append((visual, row["formula"]))
                expected = row.get("type") != "comment" and not row.get("issue", "").strip()
                formulas.append((identifier, self._formulas, visual, expected))
                self._formulas += 1
            self._database.executemany("INSERT OR IGNORE INTO formula VALUES (?, ?, ?, ?)", formulas)
            self._add_mathml(drawn)
            count += len(batch)
        return count

    def _load_mathml(self, path: Path) -> int:
        count = 0
        for batch in batches(table(path, self._report), self.BATCH):
            self._add_mathml((_key(row["visual_id"]), row["mathml"]) for row in batch)
            count += len(batch)
        return count

    def _add_mathml(self, drawn: Iterable[tuple[int | str, str]]) -> None:
        """Store the MathML of each visual class once; the tables repeat it for every formula."""
        rows: dict[str, list[tuple[int | str, bytes]]] = {"presentation": [], "content": []}
        for visual, mathml in drawn:
            kind = "content" if _is_content(mathml) else "presentation"
            if self._drawn[kind].add(visual):
                rows[kind].append((visual, zstd.compress(mathml.encode(), level=1)))
        for kind, packed in rows.items():
            self._database.executemany(f"INSERT OR IGNORE INTO {kind} VALUES (?, ?)", packed)

    def _load_links(self, path: Path) -> int:
        before = self._links
        for batch in batches(self._link_rows(path), self.BATCH):
            self._database.executemany("INSERT INTO link VALUES (?, ?, ?)", batch)
            self._links += len(batch)
        return self._links - before

    def _link_rows(self, path: Path) -> Iterator[tuple[int | str, str, LinkType]]:
        for post, target, code in _links(path, self._report):
            if not post or not target:
                self._report.skip("damaged link", "a link without one of its posts")
            elif code in LINK_TYPES:
                yield _key(post), target, LINK_TYPES[code]
            else:
                self._report.skip("other link type", f"a link of type {code!r}; 1 is related, 3 is duplicate")

    def _unpack(self, packed: bytes | None) -> str | None:
        return None if packed is None else zstd.decompress(packed).decode()


class _SeenNumbers:
    """A bit set of the small numbers seen so far; any other id always counts as new."""

    LARGEST = 1 << 28

    def __init__(self) -> None:
        self._bits = bytearray()

    def add(self, identifier: int | str) -> bool:
        if not isinstance(identifier, int) or identifier >= self.LARGEST:
            return True
        place, bit = identifier >> 3, 1 << (identifier & 7)
        if place >= len(self._bits):
            self._bits.extend(bytes(place + (place >> 2) + 1024 - len(self._bits)))
        if self._bits[place] & bit:
            return False
        self._bits[place] |= bit
        return True


def _links(path: Path, report: Report) -> Iterator[tuple[str, str, str]]:
    if bare_name(path).endswith(".xml"):
        with Input(path, report) as stream:
            for row in DumpRows(stream, display_path(path), report):
                yield row.get("PostId", ""), row.get("RelatedPostId", ""), row.get("LinkTypeId", "1")
    else:
        for row in table(path, report):
            yield (
                row["post_id"],
                row["related_post_id"],
                row.get("link_type") or row.get("link_type_id") or "1",
            )


def _is_content(mathml: str) -> bool:
    """Return whether Content MathML comes first; parallel markup counts as what it shows."""
    content = _CONTENT.search(mathml)
    return content is not None and not _PRESENTATION.search(mathml, 0, content.start())


def _key(identifier: str) -> int | str:
    """Return an id as the database keeps it: numbers as numbers, which are smaller and sort as they come."""
    return (
        int(identifier)
        if identifier.isascii() and identifier.isdigit() and _is_plain(identifier)
        else identifier
    )


def _is_plain(digits: str) -> bool:
    return len(digits) < 19 and (digits[0] != "0" or digits == "0")


@contextmanager
def _enough_disk() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise MathAMRError(
            f"the disk has no room for the temporary index of the formula tables ({error}); "
            "point SQLITE_TMPDIR at a folder with more space, or leave the MathML tables out"
        ) from error
