"""Cells in the binary form of COPY, compared with what Postgres itself makes of text."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr.core.settings import POSTGRES_URL
from mathamr.index.engines.postgres import copying
from tests.index.engines.entries import postgres_server


def test_cells_are_those_that_postgres_writes() -> None:
    postgres_server()
    psycopg = pytest.importorskip("psycopg", reason="needs mathamr[postgres]")
    numbers = np.array([1.5, -0.25, 3.0], np.float32)
    cells = [
        copying.text("ζ"),
        copying.texts(["a", "", "'\\"]),
        copying.texts([]),
        copying.number(-7),
        copying.real(2.5),
        copying.vector(numbers),
        None,
    ]
    asked = (
        "SELECT 'ζ'::text, ARRAY['a', '', '''\\']::text[], ARRAY[]::text[], -7::bigint, 2.5::float8,"
        " '[1.5,-0.25,3]'::vector, NULL::text"
    )
    with psycopg.connect(POSTGRES_URL.value) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        with connection.cursor().copy(f"COPY ({asked}) TO STDOUT (FORMAT BINARY)") as rows:
            written = b"".join(bytes(part) for part in rows)
        connection.rollback()
    assert written == copying.HEAD + copying.copied(cells) + copying.END


@pytest.mark.parametrize(
    "word", ["", "a", "\0", "\ue000", "\ue000\ue001", "\0\ue000\ue000\0", "\ue001\0\ue001"]
)
def test_every_text_comes_back_from_what_can_be_kept(word: str) -> None:
    assert "\0" not in copying.escaped(word)
    assert copying.unescaped(copying.escaped(word)) == word
