"""A prepared index of a library as one file: it is searched where the library itself is absent, and is not believed unchecked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mathamr.adapters.librarytools import by_name
from mathamr.index.admin.backup import backup, restore
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.search.library import narrowed
from mathamr.search.searcher import Index
from tests.leanproject import write_project


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an index whose project is gone."""
    folder = tmp_path_factory.mktemp("shared")
    project = write_project(folder / "project")
    package = project / ".lake" / "packages" / "sums"
    build_index([project, package], folder / "index", BuildOptions(model="mathamr-3", engine="flat"))
    made = backup(folder / "index", folder / "library.tar").path
    shutil.rmtree(project)
    shutil.rmtree(folder / "index")
    return made


def test_a_shared_library_is_searched_by_name_by_words_and_by_module(shared: Path, tmp_path: Path) -> None:
    assert restore(shared, tmp_path / "index").sound
    with Index.open(tmp_path / "index") as index:
        assert index.has_declarations
        assert [post.title for post in by_name(index, "sum_range_id")][:1] == ["Nat.sum_range_id"]
        found = index.search("closed and bounded sets are compact", k=1)
        assert [str(hit.title) for hit in found] == ["Topology.Toy.isCompact_iff_isClosed_bounded"]
        within = index.search("union", where=narrowed(module="Sums"))
        assert within
        assert all("module:Sums" in hit.tags for hit in within)
