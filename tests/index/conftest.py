"""A small index that a test may change."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.index.small import build
from tests.models import once_a_run, sample_posts


@pytest.fixture(scope="session")
def five_posts(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Path:
    """The index of five posts; read-only."""

    def make(folder: Path) -> None:
        folder.mkdir()
        build(folder / "index", sample_posts(5), model_folder)

    return once_a_run(tmp_path_factory, "five-posts", make) / "index"


@pytest.fixture
def index(five_posts: Path, tmp_path: Path) -> Path:
    """A copy of the index of five posts."""
    return Path(shutil.copytree(five_posts, tmp_path / "index"))


@pytest.fixture
def read_index(model_folder: Path, tmp_path: Path) -> Path:
    """The index of five posts with their file beside it, which can be read again."""
    build(tmp_path / "index", sample_posts(5), model_folder)
    return tmp_path / "index"
