"""The index that most tests of search ask."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr import Index


@pytest.fixture(scope="session")
def index(sample_index: Path) -> Iterator[Index]:
    """The whole sample; a module that asks other posts has an index of its own."""
    with Index.open(sample_index, device="cpu") as opened:
        yield opened
