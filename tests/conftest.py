"""Fixtures for every room: the optional evaluation data, and folders of our own."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

from mathamr.core.settings import CACHE, CONFIG, DATA
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
    "mathamr", max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "explore", max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("mathamr"), max_examples=20)  # for `make test`
settings.register_profile("few", settings.get_profile("mathamr"), max_examples=10)  # for scripts/mutations.py
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "mathamr"))


def pytest_configure(config: pytest.Config) -> None:
    """Give a run a cache folder and settings of its own: what the user and earlier runs left decides nothing."""
    if config.option.markexpr == "not slow" and "HYPOTHESIS_PROFILE" not in os.environ:
        settings.load_profile("quick")
    if not hasattr(config, "workerinput"):  # worker processes inherit it
        folder = TemporaryDirectory(prefix="mathamr-tests-")
        os.environ[CACHE.name] = folder.name
        os.environ[CONFIG.name] = str(Path(folder.name, "no-config.toml"))
        config.add_cleanup(folder.cleanup)


def evaluation_data(folder: Path, root: Path = ROOT, *, is_named: bool = DATA.name in os.environ) -> Path:
    """Return the folder of evaluation data, which a user's machine does not have.

    Where somebody named it, or there is a folder `shared` for it, its absence is a failure: tests that skip look like tests that pass.
    """
    folder = folder if folder.is_absolute() else (root / folder).resolve()
    if not folder.is_dir():
        reason = f"needs the evaluation data: no folder {folder} (set MATHAMR_DATA)"
        if is_named or (root.parent / "shared").is_dir():
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of evaluation data; tests that need it skip where nobody expects it."""
    return evaluation_data(DATA.path)


SLOW = (
    "tests/adapters/test_langchain.py", "tests/cli/test_index_ray.py", "tests/cli/test_models.py", "tests/cli/test_onebackend.py", "tests/core/test_tensorfile.py", "tests/core/test_unfilled.py", "tests/evaluation/test_topicsearch.py",
    "tests/index/engines/postgres/", "tests/index/engines/qdrant/", "tests/index/engines/test_contract", "tests/index/indexing/cluster/",
    "tests/index/indexing/test_kills.py", "tests/index/indexing/test_longposts.py", "tests/index/test_fulldisk.py", "tests/lab/", "tests/plugins/",
    "tests/posts/formats/test_hostile.py",
    "tests/serve/page/", "tests/serve/test_hostile.py", "tests/serve/test_schema.py", "tests/serve/test_waiting.py",
    "tests/systems/", "tests/test_attacks.py", "tests/test_privacy.py", "tests/test_small_installation.py", "tests/text/",
    "src/mathamr/adapters/", "src/mathamr/core/device.py", "src/mathamr/core/unfilled.py", "src/mathamr/systems/", "src/mathamr/text/",
    "lab/",
)  # fmt: skip
"""What `make test-all` adds to `make test`: the laboratory, networks in PyTorch, browsers, kills, servers of others, clusters.

So it does with single tests that are marked `slow`: hostile inputs, whole collections, a thousand cases of an oracle.
"""
HEAVY = ("torch", "ray", "spacy", "playwright", "transformers")
"""Packages that `make test` neither needs nor imports."""


@cache
def is_slow(path: Path) -> bool:
    """True if `make test` leaves out this folder or module."""
    return path.is_relative_to(ROOT) and f"{path.relative_to(ROOT).as_posix()}/".startswith(SLOW)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave slow modules alone when slow tests are not wanted: to import them takes longer than many a test."""
    return True if config.option.markexpr == "not slow" and is_slow(collection_path) else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in docstrings where there are some, which is in no file of tests."""
    found = yield
    return [each for each in found if not (isinstance(each, DoctestModule) and file_path.match("test_*.py"))]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the garbage collector the thousands of tests, which live as long as the run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow tests by the folder or module they are in."""
    for item in items:
        if is_slow(item.path):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def _nothing_heavy(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail `make test` if one of its tests imports a heavy package: then it belongs to the slow ones."""
    yield
    if request.config.option.markexpr == "not slow":
        assert not (imported := [name for name in HEAVY if sys.modules.get(name)]), (
            f"a test of `make test` imports {imported}; mark it slow"
        )
