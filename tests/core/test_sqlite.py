"""A database of a stranger is data: nothing in it acts."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.sqlite import connect, inflated


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
