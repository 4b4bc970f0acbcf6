"""A disk without room: what is there is searched as before, and what cannot be written is told as that.

The operating system refuses every byte that would make a file grow (`RLIMIT_FSIZE`), as a full disk does.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.sqlite import DamagedDatabaseError
from mathamr.core.storage import durable
from mathamr.index.admin.check import check_index
from mathamr.index.indexing.writer import IndexWriter
from mathamr.search.searcher import Index
from tests.bounded import full_disk
from tests.index.small import note, options

FULL = "disk is full|No space|too large|disk .* full"


def found(index: Index) -> list[str]:
    return [hit.id for hit in index.search("group $x^2$", strategy="lexical")]


def test_an_index_is_opened_and_searched_on_a_full_disk(index: Path) -> None:
    with Index.open(index, device="cpu") as reader:
        wanted = found(reader)
    assert wanted
    for beside in [*index.glob("catalogue.db-*"), *index.glob("graphs/graphs.db-*")]:
        assert beside.name.endswith("-shm") or not beside.stat().st_size
        beside.unlink()  # so that the next reader has to make them, as the first after a writer does
    with full_disk(), Index.open(index, device="cpu") as reader:
        assert found(reader) == wanted
        assert reader.archive.graph(wanted[0]).texts
    with Index.open(index, device="cpu") as reader:
        assert found(reader) == wanted


def test_a_write_on_a_full_disk_is_reported_and_searches_go_on(index: Path, model_folder: Path) -> None:
    zebra = note("zebra", "A zebra of order $n$.")
    with IndexWriter.open(index, device="cpu") as writer, Index.open(index, device="cpu") as reader:
        both = (Index(writer), reader)
        before = [found(each) for each in both]
        with full_disk():
            for attempt in range(2):
                with pytest.raises(MathAMRError, match=FULL) as caught:
                    writer.put([zebra])
                assert not isinstance(caught.value, DamagedDatabaseError), attempt
                assert "damaged" not in str(caught.value)
                assert [found(each) for each in both] == before
            with Index.open(index, device="cpu") as fresh:
                assert found(fresh) == before[0]
        assert "zebra" not in writer.catalogue
        writer.put([zebra])
        assert [hit.id for hit in reader.search("zebra", strategy="lexical")] == ["zebra"]
    assert check_index(index, options(model_folder)).problems == []


def test_a_full_disk_is_reported_as_such_and_not_as_damage(index: Path) -> None:
    with full_disk(), pytest.raises(MathAMRError, match=FULL) as caught:
        IndexWriter.open(index, device="cpu")
    assert "damaged" not in str(caught.value)


def test_no_change_begins_that_could_not_be_taken_back_for_want_of_room(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = SimpleNamespace(total=1 << 40, used=(1 << 40) - (3 << 20), free=3 << 20)
    with IndexWriter.open(index, device="cpu") as writer:
        posts = list(writer.catalogue.ids())
        with monkeypatch.context() as patch:
            patch.setattr(
                durable, "shutil", SimpleNamespace(disk_usage=lambda _: usage, rmtree=shutil.rmtree)
            )
            with pytest.raises(MathAMRError, match="nearly full: 3 MB are free"):
                writer.put([note("zebra", "A zebra.")])
            with pytest.raises(MathAMRError, match="nearly full"):
                writer.delete(posts[:1])
        assert list(writer.catalogue.ids()) == posts
