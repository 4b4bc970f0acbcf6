"""Examples in docstrings: modules that `make test` leaves out, or whose library is absent, are not imported."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import is_slow

OTHERS = {"pyterrier": "pyterrier.py", "llama_index": "llamaindex.py"}
collect_ignore = [
    f"mathamr/adapters/{name}" for library, name in OTHERS.items() if find_spec(library) is None
]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave slow modules alone when slow tests are not wanted."""
    return True if config.option.markexpr == "not slow" and is_slow(collection_path) else None
