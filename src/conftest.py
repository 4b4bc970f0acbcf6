"""Examples in docstrings: modules that `make test` leaves out, or whose library is absent, are not imported."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import is_slow

collect_ignore = [] if find_spec("pyterrier") else ["mathamr/adapters/pyterrier.py"]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave slow modules alone when slow tests are not wanted."""
    return True if config.option.markexpr == "not slow" and is_slow(collection_path) else None
