"""A renamed or copied file is not encoded again: its posts take over what is derived from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mathamr.index.admin.check import check_index
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.indexing.builder import BuildOptions, BuildSummary, build_index
from mathamr.index.storage import IndexStorage
from mathamr.search.searcher import Index
from mathamr.systems.models import model_folder, system_of
from tests.folders import write_files

MODEL = "mathamr-3"
OPTIONS = BuildOptions(model=MODEL, engine="flat", device="cpu")
NOTES = {
    "limits.md": "# Limits\n\nIf $a_n \\to a$ then $a_n + b \\to a + b$.\n",
    "series/basel.md": "# The Basel problem\n\nThe sum is $\\frac{\\pi^2}{6}$. Euler knew it.\n",
    "series/plain.md": "# Words alone\n\nA note without any formula in it.\n",
}


@pytest.fixture
def encodes(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each post became vectors."""
    counted: Counter[str] = Counter()
    kind: Any = system_of(model_folder(MODEL))
    encode = kind.encode

    def counting(self: object, items: Any) -> Iterator[Any]:
        for made in encode(self, items):
            counted[made.id] += 1
            yield made

    monkeypatch.setattr(kind, "encode", counting)
    return counted


def read(folder: Path, index: Path) -> BuildSummary:
    return build_index([folder], index, OPTIONS)


def state(index: Path) -> dict[str, Any]:
    """Everything that is derived from the posts of an index."""
    found: dict[str, Any] = {}
    with IndexStorage.open(index, device="cpu") as archive:
        for post_id in archive.catalogue.ids():
            names = [entry.id for entry in archive.catalogue.formulas_of(post_id)]
            rows = {
                (field.name, name): own
                for field in archive.engine.fields
                for name, own in archive.engine[field.name].fetch([post_id, *names]).items()
            }
            found[post_id] = (
                {name: (own.references, own.levels.tolist()) for name, own in rows.items()},
                {name: own.vectors for name, own in rows.items()},
            )
    return found


def test_renaming_files_and_folders_encodes_nothing_and_gives_the_same_index(
    tmp_path: Path, encodes: Counter[str]
) -> None:
    notes, index = tmp_path / "notes", tmp_path / "index"
    write_files(notes, NOTES)
    read(notes, index)
    assert sum(encodes.values()) == 3
    encodes.clear()
    (notes / "series").rename(notes / "sums")
    (notes / "limits.md").rename(notes / "convergence.md")
    summary = read(notes, index)
    assert not encodes
    assert (summary.intake.new, summary.intake.deleted) == (3, 3)
    with Index.open(index, device="cpu") as reader:
        assert {hit.id for hit in reader.search("Basel problem sum")} == {
            "convergence.md",
            "sums/basel.md",
            "sums/plain.md",
        }
    assert check_index(index, OPTIONS).problems == []
    read(notes, tmp_path / "fresh")
    renamed, fresh = state(index), state(tmp_path / "fresh")
    assert renamed.keys() == fresh.keys()
    for post_id, (names, vectors) in fresh.items():
        assert renamed[post_id][0] == names
        for name, own in vectors.items():
            np.testing.assert_allclose(renamed[post_id][1][name], own, atol=1e-3)


def test_names_that_move_on_in_a_circle_and_copies_encode_nothing(
    tmp_path: Path, encodes: Counter[str]
) -> None:
    notes, index = tmp_path / "notes", tmp_path / "index"
    one, two, three = NOTES.values()
    write_files(notes, {"1.md": one, "2.md": two, "3.md": three})
    read(notes, index)
    encodes.clear()
    write_files(notes, {"1.md": two, "2.md": three, "3.md": one, "copy.md": one})
    read(notes, index)
    assert not encodes
    assert check_index(index, OPTIONS).problems == []
    with Index.open(index, device="cpu") as reader:
        assert reader.search("Euler knew it")[0].id == "1.md"
        assert reader.explain("Euler", "1.md").post[0].label(200)


def test_a_renamed_file_that_was_also_changed_is_encoded(tmp_path: Path, encodes: Counter[str]) -> None:
    notes, index = tmp_path / "notes", tmp_path / "index"
    write_files(notes, NOTES)
    read(notes, index)
    encodes.clear()
    (notes / "limits.md").unlink()
    write_files(notes, {"new.md": NOTES["limits.md"] + "One more sentence.\n"})
    read(notes, index)
    assert encodes == {"new.md": 1}


def test_a_note_without_a_heading_is_called_by_its_file_which_its_vectors_depend_on(
    tmp_path: Path, encodes: Counter[str]
) -> None:
    notes, index = tmp_path / "notes", tmp_path / "index"
    write_files(notes, {"cauchy.md": "Words of a note that has no title of its own.\n"})
    read(notes, index)
    encodes.clear()
    (notes / "cauchy.md").rename(notes / "schwarz.md")
    read(notes, index)
    assert encodes == {"schwarz.md": 1}


def test_vectors_that_were_written_but_not_marked_are_not_taken_over(
    tmp_path: Path, encodes: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that ends between writing and marking leaves other vectors than those of the content that was known."""
    notes, index = tmp_path / "notes", tmp_path / "index"
    write_files(notes, NOTES)
    read(notes, index)
    write_files(notes, {"limits.md": NOTES["limits.md"].replace("b", "c")})
    with monkeypatch.context() as patch:
        patch.setattr(Catalogue, "mark_vectors", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            read(notes, index)
    encodes.clear()
    write_files(notes, NOTES)
    read(notes, index)
    assert encodes == {"limits.md": 1}
    assert check_index(index, OPTIONS).problems == []


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
