from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.text.textvectors import TextTable, TextVectors


def test_a_table_comes_back_from_its_file(tmp_path: Path) -> None:
    table = TextTable(np.eye(3, dtype=np.float16), np.array([2, -1, 0], np.int32))
    table.save(tmp_path / "texts.npz")
    read = TextTable.load(tmp_path / "texts.npz")
    assert read.size == 3
    np.testing.assert_array_equal(read.vectors, table.vectors)
    np.testing.assert_array_equal(read.rows, table.rows)


def test_impossible_tables_and_foreign_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match="rows that do not exist"):
        TextTable(np.eye(2), np.array([2], np.int32))
    with pytest.raises(MathAMRError, match="cannot have text vectors"):
        TextVectors(np.array([0, 1]), np.ones((1, 4)))
    (tmp_path / "foreign.npz").write_bytes(b"PK nothing")
    with pytest.raises(MathAMRError, match="not a table of text vectors"):
        TextTable.load(tmp_path / "foreign.npz")
