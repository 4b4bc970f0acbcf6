"""A small index that a test may change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.index.small import build
from tests.models import sample_posts


@pytest.fixture
def index(model_folder: Path, tmp_path: Path) -> Path:
    """The index of five posts."""
    build(tmp_path / "index", sample_posts(5), model_folder)
    return tmp_path / "index"
