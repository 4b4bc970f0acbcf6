from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import cases


def test_every_row_of_a_table_is_tried_and_those_that_fail_are_named(tmp_path: Path) -> None:
    tried = []

    @cases(("one", "other"), [(1, 1), (1, 2), (3, 3), (3, 4)])
    def equal(tmp_path: Path, one: int, other: int) -> None:
        assert not list(tmp_path.iterdir())
        (tmp_path / "file").touch()
        tried.append(one)
        assert one == other

    with pytest.raises(ExceptionGroup) as failed:
        equal(tmp_path=tmp_path)
    assert tried == [1, 1, 3, 3]
    assert [each.__notes__ for each in failed.value.exceptions] == [
        ["('one', 'other') are (1, 2)"],
        ["('one', 'other') are (3, 4)"],
    ]
