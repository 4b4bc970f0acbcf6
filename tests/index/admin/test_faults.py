"""What `mathamr index --check` finds of faults that earlier versions left in an index, and what repairs each.

| fault of an earlier version | what it left in an index | found by `--check` | repaired by |
|---|---|---|---|
| 1. keys of formulas outlived their code | old keys in the catalogue, new ones among the words | "formulas under keys that this version does not make" | `--check`, or `index --rebuild` |
| 1., still to come: the code changes | keys of another version | named as made by another version | the next `index` |
| 2. `tune` blinded open readers | nothing: the weights are right | nothing to find | opening it again |
| 3. readers without write permission saw no update | nothing | nothing to find | nothing needed |
| 4. filters were slow | nothing | nothing to find | nothing needed |
| 5. a broken file froze all deletions | posts whose files are gone | no: it reads no input | the next `index` |
| 5. a damaged file lost its own posts | nothing: the posts are gone | no | repairing the file, then `index` |
| 5. today: posts that outlive their damaged file | marked posts | counted | repairing or deleting the file, then `index` |

A row of the table that leaves something behind is a test here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from mathamr.formulas import visualkey
from mathamr.index.admin.check import check_index
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.catalogue.readfiles import hash_of, stamp_of
from mathamr.index.indexing import analysis, fingerprints, intake
from mathamr.index.indexing.builder import build_index
from mathamr.index.manifest import Manifest
from mathamr.index.storage import IndexStorage
from tests.folders import write_files
from tests.index.small import options

NOTES = {
    "a.md": "The sum $a+b$ is known.",
    "b.md": "A product $xy$ and $a+b$.",
    "gone.md": "It was here: $z$.",
}


@dataclass(frozen=True)
class Notes:
    """An index, the folder it was made from, and the model."""

    folder: Path
    out: Path
    model: Path

    @property
    def source(self) -> str:
        return str(self.folder.resolve())

    def build(self, **more: object) -> None:
        build_index([self.folder], self.out, options(self.model, **more))

    def check(self) -> list[str]:
        """What a check without repairs says, but for the verdict."""
        return check_index(self.out, repair=False).lines()[:-1]

    def repair(self) -> None:
        assert check_index(self.out, options(self.model)).sound

    def ids(self) -> set[str]:
        with IndexStorage.open(self.out) as archive:
            return set(archive.catalogue.ids())

    def keys(self) -> tuple[set[str], set[str]]:
        with IndexStorage.open(self.out) as archive:
            return set(archive.catalogue.visual_keys()), set(archive.lexical.formulas.ids())


def forget_fingerprints() -> None:
    fingerprints.formulas_fingerprint.cache_clear()


@pytest.fixture
def notes(model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Notes]:
    monkeypatch.setattr(intake, "RACY", 0)
    made = Notes(write_files(tmp_path / "notes", NOTES), tmp_path / "index", model_folder)
    made.build()
    yield made
    monkeypatch.undo()
    forget_fingerprints()


def change_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what another version does: give every formula another key."""
    monkeypatch.setattr(analysis, "visual_key", lambda slt: "new-" + visualkey.visual_key(slt))
    monkeypatch.setattr(fingerprints, "sources_digest", lambda: "another")
    forget_fingerprints()


def leave_old_keys(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave old keys in the catalogue and words under new ones, with nothing stored that says so."""
    change_keys(monkeypatch)
    with IndexStorage.open(notes.out) as archive:
        needs = archive.needs
    build_index([], notes.out, options(notes.model))
    with Catalogue(notes.out / CATALOGUE) as catalogue:
        with catalogue.transaction():
            for key in set(catalogue.visual_keys()):
                old = key.removeprefix("new-")
                for table in ("formulas", "visuals", "representatives"):
                    catalogue._db.execute(f"UPDATE {table} SET visual = ? WHERE visual = ?", (old, key))
        fingerprints.Fingerprints(catalogue, needs).remember()


@pytest.mark.parametrize("repair", [Notes.repair, lambda notes: notes.build(rebuild=True)])
def test_keys_that_no_code_makes_are_found_and_repaired(
    repair: Callable[[Notes], None], notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_old_keys(notes, monkeypatch)
    catalogue, words = notes.keys()
    assert catalogue.isdisjoint(words)
    assert any(
        "3 posts have formulas under keys that this version does not make" in line for line in notes.check()
    )
    repair(notes)
    assert notes.check() == []
    catalogue, words = notes.keys()
    assert catalogue == words
    assert all(key.startswith("new-") for key in words)


def test_keys_of_another_version_are_named_and_made_again_by_the_next_build(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_keys(monkeypatch)
    assert any(
        "made again by the next mathamr index" in line and "formulas" in line for line in notes.check()
    )
    notes.build()
    assert notes.check() == []


def test_weights_of_a_tuned_index_are_no_fault(notes: Notes) -> None:
    manifest = Manifest.read(notes.out)
    model = replace(manifest.model, weights={"lexical": {"question": 2.0}})
    replace(manifest, model=model).write(notes.out)
    assert notes.check() == []


def test_posts_whose_deletion_was_frozen_go_with_the_next_build(notes: Notes) -> None:
    gone = notes.folder / "gone.md"
    gone.unlink()
    with Catalogue(notes.out / CATALOGUE) as catalogue, catalogue.transaction():
        catalogue.forget_units(notes.source, [str(gone.resolve())])  # as the version did that kept the post
    assert notes.check() == []
    notes.build()
    assert notes.ids() == {"a.md", "b.md"}


def test_posts_that_a_damaged_file_lost_come_back_with_the_file(notes: Notes) -> None:
    path = notes.folder / "gone.md"
    whole = path.read_bytes()
    path.write_bytes(b"")
    with Catalogue(notes.out / CATALOGUE) as catalogue, catalogue.transaction():
        catalogue.delete("gone.md")
        unit = catalogue.read_units(notes.source)[str(path.resolve())]
        catalogue.keep_units(notes.source, [replace(unit, posts=())])
        name = str(path.resolve())
        catalogue.keep_files(notes.source, [(name, stamp_of(name), hash_of(name))])
    build_index([], notes.out, options(notes.model))
    assert notes.ids() == {"a.md", "b.md"}
    assert notes.check() == []
    path.write_bytes(whole)
    notes.build()
    assert notes.ids() == set(NOTES)


def test_posts_that_outlive_their_file_are_counted_until_it_is_repaired(notes: Notes) -> None:
    path = notes.folder / "gone.md"
    path.write_bytes(b"")
    notes.build()
    assert any("older than their files, which can no longer be read: 1;" in line for line in notes.check())
    assert check_index(notes.out, repair=False).sound
    write_files(notes.folder, {"gone.md": NOTES["gone.md"]})
    notes.build()
    assert notes.check() == []
