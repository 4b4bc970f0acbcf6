"""Engines of other packages are found through their entry points."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.index.engines.engine import ENGINES, create_engine, open_engine
from mathamr.systems.field import Field

FIELDS = (Field(name="document", of="posts", size=4),)
MODULE = """
from mathamr.index.engines.flat.engine import FlatEngine

class ShelfEngine(FlatEngine):
    name = "shelf"
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages with an engine, and one whose module is missing."""
    folder = tmp_path / "site"
    about = folder / "mathamr_shelf-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mathamr-shelf\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[mathamr.engines]\nshelf = mathamr_shelf_test:ShelfEngine\nbroken = mathamr_shelf_lost:Engine\n"
        "flat = mathamr_shelf_test:ShelfEngine\n"
    )
    (folder / "mathamr_shelf_test.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.mark.usefixtures("packages")
def test_an_engine_of_another_package_is_created_and_opened_by_name(tmp_path: Path) -> None:
    assert {"flat", "qdrant", "postgres", "shelf"} <= set(ENGINES)
    create_engine(tmp_path / "engine", FIELDS, "shelf").close()
    opened = open_engine(tmp_path / "engine", read_only=True)
    assert (type(opened).__name__, opened.fields) == ("ShelfEngine", FIELDS)
    opened.close()


@pytest.mark.usefixtures("packages")
def test_a_package_does_not_replace_an_engine_of_ours() -> None:
    assert ENGINES["flat"].__module__ == "mathamr.index.engines.flat.engine"


@pytest.mark.usefixtures("packages")
def test_a_package_that_cannot_be_loaded_is_a_clear_error() -> None:
    with pytest.raises(MathAMRError, match="cannot be loaded from"):
        ENGINES["broken"]


def test_without_the_package_the_name_is_unknown() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown engine 'shelf'; known: .*flat"):
        ENGINES["shelf"]
