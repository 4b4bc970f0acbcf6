"""A search sees one revision of all parts, and the next search moves on by itself."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.index.admin.check import check_index
from mathamr.index.indexing.stages import IndexStages, WordWriter
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.snapshot import CatalogueSnapshot
from mathamr.search.searcher import Index
from tests.index.small import build, note, options
from tests.models import sample_posts

WORDS = "zebra quagga"
Opened = Callable[[], Index]


def pair(version: int) -> list[object]:
    """Two posts that always say the same version."""
    return [note(name, f"The {WORDS} of version {version} in {name}.") for name in ("left", "right")]


@pytest.fixture
def folder(model_folder: Path, tmp_path: Path) -> Path:
    build(tmp_path / "index", [*sample_posts(4), *pair(0)], model_folder)  # type: ignore[list-item]
    return tmp_path / "index"


@pytest.fixture
def writer(folder: Path) -> Iterator[IndexWriter]:
    with IndexWriter.open(folder, device="cpu") as archive:
        yield archive


@pytest.fixture(params=["another process's reader", "the writer itself"])
def reader(request: pytest.FixtureRequest, writer: IndexWriter, folder: Path) -> Iterator[Index]:
    if request.param == "the writer itself":
        yield Index(writer)
        return
    with Index.open(folder, device="cpu") as opened:
        yield opened


def versions(index: Index) -> list[str]:
    """The versions that one search finds, after it was looked at whether its hits hold together."""
    hits = index.search(WORDS, strategy="lexical", k=20)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    text = [str(piece) for hit in hits for piece in hit.snippet]
    return re.findall(r"version (\d+)", "".join(text))


def test_a_reader_moves_on_by_itself(reader: Index, writer: IndexWriter) -> None:
    assert versions(reader) == ["0", "0"]
    writer.put(pair(1))  # type: ignore[arg-type]
    assert versions(reader) == ["1", "1"]
    writer.put([note("third", f"Another {WORDS} of version 1.")])
    assert versions(reader) == ["1", "1", "1"]
    assert reader.explain(WORDS, "third").post_id == "third"
    writer.delete(["left", "right"])
    assert versions(reader) == ["1"]


def test_a_reader_sees_the_state_before_while_the_next_is_being_made(
    folder: Path, writer: IndexWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    with Index.open(folder, device="cpu") as reader:
        assert versions(reader) == ["0", "0"]
        for stage, name in ((WordWriter, "write"), (IndexStages, "make_vectors")):
            make = getattr(stage, name)

            def made(*given: object, make: Callable[..., None] = make) -> None:
                seen.append(versions(reader))
                make(*given)
                seen.append(versions(reader))

            monkeypatch.setattr(stage, name, made)
        writer.put(pair(1))  # type: ignore[arg-type]
        assert seen[:3] == [["0", "0"]] * 3
        assert seen[3] in (["0", "0"], ["1", "1"]), "never a bit of each"
        assert versions(reader) == ["1", "1"]


@pytest.mark.parametrize(("stage", "name"), [(WordWriter, "write"), (IndexStages, "make_vectors")])
def test_the_first_search_of_a_reader_waits_for_the_end_of_a_small_write(
    folder: Path, writer: IndexWriter, monkeypatch: pytest.MonkeyPatch, stage: type, name: str
) -> None:
    looked, seen = threading.Event(), []
    make = getattr(stage, name)

    class Seen(CatalogueSnapshot):
        def __init__(self, path: Path) -> None:
            super().__init__(path)
            looked.set()

    def read() -> None:
        try:
            with Index.open(folder, device="cpu") as reader:
                seen.append((versions(reader), reader.explain(WORDS, "third").post_id))
        except Exception as error:
            seen.append(error)

    thread = threading.Thread(target=read)

    def made(*given: object) -> None:
        if not looked.is_set():
            thread.start()
            assert looked.wait(60)
        make(*given)

    with writer.reading():  # it takes its own snapshot now
        pass
    monkeypatch.setattr("mathamr.index.snapshot.CatalogueSnapshot", Seen)
    monkeypatch.setattr("mathamr.index.snapshot.LONGEST_WAIT", 60.0)
    monkeypatch.setattr(stage, name, made)
    writer.put([*pair(1), note("third", f"Another {WORDS} of version 1.")])  # type: ignore[list-item]
    thread.join()
    assert seen == [(["1", "1", "1"], "third")]


def test_what_a_killed_writer_left_is_searched_until_it_is_completed(
    folder: Path, writer: IndexWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    with writer.catalogue.transaction():  # all that a process does that is killed then
        writer.catalogue.put(note("third", f"Another {WORDS} of version 0."), "", [])
    monkeypatch.setattr("mathamr.index.snapshot.holder_of", lambda _: None)
    with Index.open(folder, device="cpu") as reader:
        assert versions(reader) == ["0", "0"]
        with reader.archive.reading():
            assert reader.archive.settled_state is None, "answers of this state must not be kept"
        writer.update_parts()
        assert versions(reader) == ["0", "0", "0"], "the same revision, complete now"


def test_damage_to_what_a_killed_writer_left_is_told_at_once(folder: Path, writer: IndexWriter) -> None:
    with writer.catalogue.transaction():
        writer.catalogue.put(note("third", "A post without vectors and words."), "", [])
    writer.close()
    for path in (folder / "vectors").glob("*.safetensors"):
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    with Index.open(folder, device="cpu") as reader, pytest.raises(MathAMRError, match="is damaged"):
        versions(reader)


@pytest.mark.slow
def test_every_search_is_answered_from_one_state_while_posts_are_replaced(
    reader: Index, writer: IndexWriter
) -> None:
    done, wrong, found = threading.Event(), [], set()

    def visual() -> None:
        while not done.is_set():
            try:
                seen = versions(reader)
                reader.explain(WORDS, "left")
                reader.search("$x^2$", "formulas")
            except Exception as error:
                wrong.append(error)
                return
            found.add(seen[0] if seen else "none")
            if len(seen) != 2 or len(set(seen)) != 1:
                wrong.append(seen)

    threads = [threading.Thread(target=visual) for _ in range(2)]
    for thread in threads:
        thread.start()
    for version in range(1, 9):
        writer.put(pair(version))  # type: ignore[arg-type]
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert versions(reader) == ["8", "8"]


def test_a_write_that_fails_is_not_stored(
    reader: Index, writer: IndexWriter, folder: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush = writer.engine.flush
    failures = iter([True])

    def fail() -> None:
        if next(failures, False):
            raise MathAMRError("no room is left")
        flush()

    monkeypatch.setattr(writer.engine, "flush", fail)
    with pytest.raises(MathAMRError, match="no room"):
        writer.put([*pair(7), note("new", f"A new {WORDS} of version 7.")])  # type: ignore[list-item]
    assert "new" not in writer.catalogue
    assert versions(reader) == ["0", "0"]
    writer.put(pair(1))  # type: ignore[arg-type]
    assert versions(reader) == ["1", "1"]
    reader.close()
    writer.close()
    assert check_index(folder, options(model_folder)).problems == []


def test_an_index_that_is_read_again_is_followed(folder: Path, model_folder: Path) -> None:
    with Index.open(folder, device="cpu") as reader:
        assert versions(reader) == ["0", "0"]
        build(folder, [*sample_posts(2), *pair(5)], model_folder)  # type: ignore[list-item]
        assert versions(reader) == ["5", "5"]
        assert len(reader.search(WORDS, k=50)) <= 4
