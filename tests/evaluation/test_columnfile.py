from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.evaluation.columnfile import FormatError, Row, read_rows
from mathamr.evaluation.qrels import read_qrels
from mathamr.evaluation.runs import read_run


def test_lines_keep_their_numbers_when_blank_ones_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"a b c\r\n\r\n\td\t e \tf\tg\t\n")
    assert list(read_rows(path)) == [Row(1, ("a", "b", "c")), Row(3, ("", "d", "e", "f", "g"))]


def test_a_long_row_is_shown_short() -> None:
    assert len(str(Row(1, ("x" * 5000, "y")))) < 100


field = st.sampled_from(
    ["A.1", "A.2", "Q0", "7", "8", "1", "-1", "2.5", "nan", "1e999", "", "é", "x y", "\x00"]
)
line = st.lists(field, max_size=7).map(lambda fields: "\t".join(fields).encode())
content = st.one_of(st.binary(max_size=200), st.lists(line, max_size=6).map(b"\n".join))


@given(content)
def test_any_bytes_give_a_run_and_judgments_or_a_clear_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("rows") / "file"
    path.write_bytes(data)
    with suppress(FormatError):
        assert read_run(path).rankings
    with suppress(FormatError):
        assert read_qrels(path).grades
