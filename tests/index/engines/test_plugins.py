"""Engines of other packages are found through their entry points."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.index.engines.engine import ENGINES, create_engine, open_engine
from mathamr.systems.field import Field
from tests.packages import install

FIELDS = (Field(name="document", of="posts", size=4),)
MODULE = """
from mathamr.index.engines.flat.engine import FlatEngine

class ShelfEngine(FlatEngine):
    name = "shelf"
"""


def test_an_engine_of_another_package_is_created_and_opened_by_name_and_replaces_none_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown engine 'shelf'; known: .*flat"):
        ENGINES["shelf"]
    install(
        tmp_path / "site",
        "mathamr-shelf",
        "[mathamr.engines]\nshelf = mathamr_shelf_test:ShelfEngine\nbroken = mathamr_shelf_lost:Engine\n"
        "flat = mathamr_shelf_test:ShelfEngine\n",
    )
    (tmp_path / "site" / "mathamr_shelf_test.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert {"flat", "qdrant", "postgres", "shelf"} <= set(ENGINES)
    create_engine(tmp_path / "engine", FIELDS, "shelf").close()
    opened = open_engine(tmp_path / "engine", read_only=True)
    assert (type(opened).__name__, opened.fields) == ("ShelfEngine", FIELDS)
    opened.close()
    assert ENGINES["flat"].__module__ == "mathamr.index.engines.flat.engine"
    with pytest.raises(MathAMRError, match="cannot be loaded from"):
        ENGINES["broken"]
