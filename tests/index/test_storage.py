from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.index.catalogue.catalogue import CATALOGUE
from mathamr.index.chosenmodel import check_model
from mathamr.index.indexing.builder import build_index
from mathamr.index.indexing.stages import IndexStages
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.manifest import MANIFEST, Manifest
from mathamr.index.storage import IndexStorage
from mathamr.posts.inputs import INDEX_FILES
from mathamr.systems.mathamrplus.system import MathAMRPlusSystem
from tests.index.kills import content, differences
from tests.index.small import build
from tests.models import sample_posts
from tests.otheruser import Reader, allow_writing, open_folder


def test_an_archive_for_reading_cannot_be_changed(index: Path) -> None:
    with IndexStorage.open(index) as archive:
        assert archive.read_only
        with pytest.raises(MathAMRError, match="was opened for reading only"):
            archive.engine.delete("posts", ["101"])
        with pytest.raises(MathAMRError), archive.catalogue.transaction():
            archive.catalogue.delete("101")
        assert "101" in archive.catalogue


def test_an_index_that_was_never_finished_says_so(index: Path) -> None:
    replace(Manifest.read(index), finished=False).write(index)
    for kind in (IndexStorage, IndexWriter):
        with pytest.raises(MathAMRError, match="is not finished; finish it with: mathamr index --out"):
            kind.open(index)
    build_index([], index)
    IndexStorage.open(index).close()


class KilledError(BaseException):
    """Stands for the end of a process: nothing catches it."""


def test_an_index_that_is_being_made_is_refused_and_keeps_its_vectors_if_the_build_is_killed(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: Counter[str] = Counter()
    encode, make = MathAMRPlusSystem.encode, IndexStages.make_vectors

    def counting(self: MathAMRPlusSystem, items: Any) -> Iterator[Any]:
        for made in encode(self, items):
            encoded[made.id] += 1
            yield made

    def killed(*given: Any) -> None:
        make(*given)
        with pytest.raises(MathAMRError, match="is still being made by"):
            IndexStorage.open(tmp_path / "index")
        raise KilledError

    monkeypatch.setattr(MathAMRPlusSystem, "encode", counting)
    with monkeypatch.context() as patch:
        patch.setattr(IndexStages, "make_vectors", killed)
        with pytest.raises(KilledError):
            build(tmp_path / "index", sample_posts(3), model_folder)
    with pytest.raises(MathAMRError, match="is not finished; finish it with: mathamr index --out"):
        IndexStorage.open(tmp_path / "index")
    build(tmp_path / "index", sample_posts(3), model_folder)
    assert set(encoded.values()) == {1}
    IndexStorage.open(tmp_path / "index").close()


def test_a_model_that_moved_is_named_again(
    index: Path, model_folder: Path, other_model_folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(model_folder, tmp_path / "moved")
    manifest = Manifest.read(index)
    replace(manifest, model=replace(manifest.model, folder=str(tmp_path / "gone"))).write(index)
    with IndexStorage.open(index, device="cpu") as archive:
        assert len(archive.catalogue) == 5
        with pytest.raises(
            MathAMRError,
            match=r"cannot be loaded: .* is not a model folder.*name it, or the folder it is in now, with --model",
        ):
            _ = archive.system
    with IndexStorage.open(index, device="cpu", model=tmp_path / "moved") as archive:
        assert archive.system.fingerprint == archive.manifest.model.fingerprint
    with (
        IndexStorage.open(index, device="cpu", model=other_model_folder) as archive,
        pytest.raises(MathAMRError, match="was made with the model"),
    ):
        _ = archive.system


def test_a_model_of_the_box_that_changed_or_is_gone_is_reported_as_such(index: Path) -> None:
    manifest = Manifest.read(index)
    with IndexStorage.open(index, device="cpu") as archive:
        system = archive.system
    before = replace(manifest, model=replace(manifest.model, folder=None, fingerprint="before"))
    with pytest.raises(
        MathAMRError,
        match=r"made with other weights of \S+ \(before\).*: mathamr index --out \S+ --rebuild \(",
    ):
        check_model(before, system, index)
    check_model(manifest, system, index)
    gone = replace(manifest, model=replace(before.model, name="mathamr-1"))
    with pytest.raises(
        MathAMRError,
        match=r"the model mathamr-1, which this version of mathamr does not bring; .* --model \S+ --rebuild \(",
    ):
        check_model(gone, system, index)


def test_a_read_only_folder_can_be_read_and_says_why_it_cannot_be_written(model_folder: Path) -> None:
    with open_folder() as place:
        build(place / "index", sample_posts(5), model_folder)
        before = content(place / "index")
        allow_writing(place / "index", allowed=False)
        with closing(Reader(place / "index")) as reader:
            assert sample_posts(1)[0].id in reader.search(sample_posts(1)[0].title)
            assert not differences(content(place / "index"), before)
            assert f"cannot write in {place / 'index'}" in reader.write()


def test_an_index_is_known_by_its_files_when_the_notes_around_it_are_read(index: Path) -> None:
    assert {MANIFEST, CATALOGUE} == set(INDEX_FILES)
    assert all((index / name).is_file() for name in INDEX_FILES)
