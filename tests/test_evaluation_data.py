"""Evaluation data that are expected and missing fail the tests that need them; elsewhere these skip."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import evaluation_data


def test_missing_data_are_a_failure_where_somebody_expects_them(tmp_path: Path) -> None:
    root, folder = tmp_path / "checkout", Path("../shared/data")
    root.mkdir()
    with pytest.raises(pytest.skip.Exception, match=r"no folder .*/shared/data \(set MATHAMR_DATA\)"):
        evaluation_data(folder, root, is_named=False)
    with pytest.raises(pytest.fail.Exception, match="no folder"):
        evaluation_data(folder, root, is_named=True)
    (tmp_path / "shared").mkdir()
    with pytest.raises(pytest.fail.Exception, match="no folder"):
        evaluation_data(folder, root, is_named=False)
    (tmp_path / "shared" / "data").mkdir()
    assert evaluation_data(folder, root, is_named=False) == tmp_path / "shared" / "data"
