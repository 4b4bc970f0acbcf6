"""A database of a stranger is data: nothing in it acts."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing, suppress
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.sqlite import LONGEST, Database, connect, inflated
from tests.cases import cases


def made(path: Path, *statements: str) -> Path:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE posts (id TEXT)")
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return path


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER stranger AFTER INSERT ON posts BEGIN DELETE FROM posts; END",
        "CREATE VIEW stranger AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x FROM n",
        "create virtual table stranger using fts5(text)",
    ],
)
def test_what_acts_by_itself_is_refused(tmp_path: Path, statement: str) -> None:
    path = made(tmp_path / "a.db", statement)
    for read_only in (False, True):
        with pytest.raises(MathAMRError, match="'stranger', which runs when the file is used"):
            connect(path, read_only=read_only)


def test_the_schema_is_not_trusted_and_cells_are_measured(tmp_path: Path) -> None:
    connection = connect(made(tmp_path / "a.db"))
    assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)
    assert connection.execute("PRAGMA cell_size_check").fetchone() == (1,)
    connection.close()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    made(tmp_path / "elsewhere.db")
    (tmp_path / "a.db").symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(MathAMRError, match="is a link"):
        connect(tmp_path / "a.db")


def test_a_name_with_signs_of_its_own_is_only_a_name(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db?mode=memory#x%20y")
    connection = connect(path, read_only=True)
    assert connection.execute("SELECT count(*) FROM posts").fetchone() == (0,)
    with pytest.raises(MathAMRError, match="readonly"):
        connection.execute("DELETE FROM posts")
    connection.close()


@pytest.mark.parametrize(
    "statement", ["CREATE  VIRTUAL TABLE", "CREATE/**/VIRTUAL TABLE", "create\tvirtual\ntable"]
)
def test_no_spelling_of_a_virtual_table_is_opened(tmp_path: Path, statement: str) -> None:
    path = made(tmp_path / "a.db", "CREATE VIRTUAL TABLE stranger USING fts5(text)")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema=ON")
    sql = f"{statement} stranger USING fts5(text)"
    connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'stranger'", (sql,))
    connection.commit()
    connection.close()
    with pytest.raises(MathAMRError, match="'stranger', which runs when the file is used"):
        connect(path)


def test_any_flipped_bit_of_a_schema_is_a_clear_error(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", "CREATE INDEX posts_id ON posts (id)")
    content = path.read_bytes()
    start = content.index(b"CREATE TABLE")
    for place in range(start - 40, start + 40):
        for bit in (1, 128):
            changed = bytearray(content)
            changed[place] ^= bit
            path.write_bytes(changed)
            with suppress(MathAMRError):  # and no other error
                connect(path, read_only=True).close()


def test_a_row_unpacks_to_no_more_than_its_limit() -> None:
    assert inflated(zlib.compress(b"x" * 1000), 1000) == b"x" * 1000
    for blob in (zlib.compress(b"x" * 1001), zlib.compress(b"x" * 500)[:-2], b"", b"rubbish"):
        with pytest.raises(zlib.error):
            inflated(blob, 1000)


SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS posts (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT, post BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS posts_id ON posts (id) WHERE id IS NOT NULL;
"""
META = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)"
POSTS = "CREATE TABLE posts (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT, post BLOB NOT NULL)"


def filled(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in (*statements, "INSERT INTO meta VALUES ('format', '1')"):
            connection.execute(statement)
    return path


@cases(
    "statements",
    [
        (META, POSTS.replace("post BLOB NOT NULL", "post BLOB AS (zeroblob(999000000)) VIRTUAL")),
        (META, POSTS.replace("post BLOB NOT NULL", "post BLOB NOT NULL CHECK (length(hex(post)) > 0)")),
        (META, POSTS.replace("id TEXT", "id TEXT DEFAULT (hex(zeroblob(1000000)))")),
        (META, POSTS.replace("id TEXT", "id TEXT COLLATE NOCASE")),
        (META, POSTS, "CREATE INDEX posts_id ON posts (length(hex(post)))"),
        (META, POSTS, "CREATE INDEX other ON posts (id)"),
        (META, POSTS, "CREATE TABLE other (id TEXT)"),
        (META.replace("value TEXT NOT NULL", "value TEXT AS ('1' || key)"), POSTS),
    ],
)
@cases(("create", "read_only"), [(False, True), (False, False), (True, False)])
def test_a_table_that_is_not_exactly_ours_is_refused_before_a_row_is_read(
    tmp_path: Path, statements: tuple[str, ...], create: bool, read_only: bool
) -> None:
    path = tmp_path / "a.db"
    with suppress(sqlite3.OperationalError):  # nothing can be inserted into computed notes
        filled(path, *statements)
    with pytest.raises(MathAMRError, match="is not as mathamr creates it"):
        Database(path, SCHEMA, 1, create=create, read_only=read_only)


def test_a_table_of_ours_is_opened_whatever_its_blanks(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db", META, POSTS.replace(", ", ",\n        "))
    Database(path, SCHEMA, 1, create=False, read_only=True).close()
    Database(path, SCHEMA, 1, create=True, read_only=False).close()


def test_another_version_is_named_even_if_its_tables_differ(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db", META, "CREATE TABLE posts (id TEXT)")
    with pytest.raises(MathAMRError, match="format 1, this version reads 2"):
        Database(path, SCHEMA, 2, create=False, read_only=True)


def test_no_value_is_longer_than_the_limit(tmp_path: Path) -> None:
    with closing(connect(made(tmp_path / "a.db"))) as connection:
        with pytest.raises(MathAMRError, match="too big"):
            connection.execute("SELECT zeroblob(?)", (LONGEST + 1,))
        assert connection.execute("SELECT length(zeroblob(?))", (LONGEST,)).fetchone() == (LONGEST,)
