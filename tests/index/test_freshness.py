"""What a search says of files that changed since they were indexed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mathamr.index.freshness import FileChanges
from mathamr.index.indexing.builder import build_index
from mathamr.search.searcher import Index
from tests.cli.conftest import Command, mathamr
from tests.folders import write_files
from tests.index.small import options

__all__ = ["mathamr"]

NOTES = {
    f"{name}.md": f"# On the {name}\n\nThe {name} of Burchell satisfies $x^{power}+x=1$.\n"
    for power, name in enumerate(("zebra", "quagga", "okapi"), 2)
}


@pytest.fixture
def notes(model_folder: Path, tmp_path: Path) -> Path:
    """A folder of notes that was indexed."""
    write_files(tmp_path / "notes", NOTES)
    update(tmp_path / "notes", model_folder)
    return tmp_path / "notes"


def update(notes: Path, model: Path) -> None:
    build_index([notes], notes.with_name("notes.index"), options(model))


def changes(notes: Path) -> FileChanges:
    with Index.open(notes, device="cpu") as index:
        return index.file_changes()


def test_changed_new_and_deleted_files_are_counted_until_the_index_is_updated(
    notes: Path, model_folder: Path
) -> None:
    assert not changes(notes)
    os.utime(notes / "zebra.md", (1, 1))
    assert not changes(notes), "the same content"
    write_files(notes, {"zebra.md": "Another text.\n", "gnu.md": "A gnu.\n", "picture.png": "no note"})
    (notes / "okapi.md").unlink()
    assert changes(notes) == FileChanges(changed=1, new=1, deleted=1)
    assert str(changes(notes)) == "1 changed, 1 new, 1 deleted"
    update(notes, model_folder)
    assert not changes(notes)


def test_a_file_that_has_no_posts_is_new_only_until_the_index_is_updated(
    notes: Path, model_folder: Path
) -> None:
    write_files(notes, {"empty.md": "\n"})
    assert changes(notes) == FileChanges(new=1)
    update(notes, model_folder)
    assert not changes(notes)


def test_notes_that_are_on_another_machine_count_as_unchanged(notes: Path) -> None:
    notes.rename(notes.with_name("away"))
    assert not changes(notes)
    with Index.open(notes, device="cpu") as index:
        assert not any(hit.is_deleted for hit in index.search("quagga"))


def test_a_deleted_note_is_no_strong_match(notes: Path) -> None:
    with Index.open(notes, device="cpu") as index:
        first = index.search("On the quagga")
        assert (first[0].id, first[0].match, first.found) == ("quagga.md", "strong", "strong")
        (notes / "quagga.md").unlink()
        first = index.search("On the quagga")
        assert (first[0].id, first[0].match) == ("quagga.md", "weak")
        assert first[0].caution == "its file was deleted after it was indexed"
        assert first.found != "strong"
        assert not first[1].is_deleted


def test_no_door_states_as_a_fact_what_an_old_index_says(notes: Path) -> None:
    with Index.open(notes, device="cpu") as index:
        fresh = index.search("aardvark")
        assert fresh.absence == "The collection does not mention “aardvark”."
        (notes / "aardvark.md").write_text("An aardvark.")
        stale = index.search("aardvark")
        assert stale.absence == "The collection did not mention “aardvark” when it was indexed."
        assert (fresh.found, stale.found) == ("nothing", "similar")
        checked = stale.to_json()["checked"]
        assert (checked["new_files"], checked["changed_files"], checked["deleted_files"]) == (1, 0, 0)
        assert checked["text"].endswith("files since then: 1 new")


def test_a_search_says_what_changed_and_what_to_do(notes: Path, mathamr: Command) -> None:
    found = mathamr("search", notes, "aardvark")
    assert "The collection does not mention “aardvark”." in found.stdout
    assert "since they were indexed" not in found.stdout
    (notes / "aardvark.md").write_text("An aardvark.")
    found = mathamr("search", notes, "aardvark")
    assert "files since they were indexed: 1 new; bring the index up to date with: mathamr index" in " ".join(
        found.stdout.split()
    )
    assert "The collection did not mention “aardvark” when it was indexed." in " ".join(found.stdout.split())
