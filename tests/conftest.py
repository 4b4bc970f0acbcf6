"""Fixtures for every room: the optional evaluation data, and folders of our own."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

from mathamr.core.settings import CACHE, DATA
from tests.models import (  # noqa: F401  (fixtures)
    model_folder,
    other_model_folder,
    sample_index,
    small_graphs,
    small_index,
)

ROOT = Path(__file__).resolve().parent.parent

# Processes that tests start buffer what they print to a pipe, as those of users do.
os.environ.pop("PYTHONUNBUFFERED", None)

# A busy machine is no failure: property tests have no deadlines. They try the same few examples every time, so that a change
# is judged by what it does; HYPOTHESIS_PROFILE=explore tries many new ones.
settings.register_profile(
    "mathamr", max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "explore", max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "mathamr"))


def pytest_configure(config: pytest.Config) -> None:
    """Gives a run a cache folder of its own: what earlier runs and other checkouts left in the user's decides nothing."""
    if not hasattr(config, "workerinput"):  # worker processes inherit it
        folder = TemporaryDirectory(prefix="mathamr-tests-")
        os.environ[CACHE.name] = folder.name
        config.add_cleanup(folder.cleanup)


def data_folder() -> Path:
    """The evaluation data, which a user's machine does not have."""
    folder = DATA.path
    return folder if folder.is_absolute() else (ROOT / folder).resolve()


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of evaluation data; tests that need it skip where it is absent."""
    folder = data_folder()
    if not folder.is_dir():
        pytest.skip(f"needs the evaluation data: no folder {folder} (set MATHAMR_DATA)")
    return folder


SLOW = (
    "adapters", "amr/test_corpus.py", "amr/test_builtin", "amr/test_parser.py", "amr/test_workers.py", "cli",
    "evaluation/test_topicsearch.py", "formulas/test_alignment.py", "graphs/test_corpus.py", "graphs/test_guarded.py", "index/admin",
    "index/indexing", "index/engines", "index/test_", "lab",
    "plugins", "posts/formats/test_hostile.py", "posts/formats/test_ziparchive.py", "posts/test_inputs.py", "sample", "search", "serve", "systems",
    "test_small_installation.py", "text/",
)  # fmt: skip
"""Tests that build indexes, train models, or start servers, browsers and worker processes: `make check` leaves them out.

So it does with single tests that are marked `slow`: hostile inputs, whole collections, a thousand cases of an oracle.
"""


def is_slow(path: Path) -> bool:
    here = Path(__file__).parent
    return path.is_relative_to(here) and path.relative_to(here).as_posix().startswith(SLOW)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Without the slow tests, their modules are not imported either: that takes longer than many a test."""
    return True if config.option.markexpr == "not slow" and is_slow(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the slow tests by the folder or module they are in."""
    for item in items:
        if is_slow(item.path):
            item.add_marker(pytest.mark.slow)
