"""A file belongs to the first input that holds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.indexing.builder import build_index
from mathamr.index.indexing.buildpool import BuildPool
from mathamr.index.indexing.earlierinputs import CAUSE
from mathamr.index.indexing.intake import IntakeCounts, input_record, take_in
from mathamr.index.storage import IndexStorage
from mathamr.posts.report import Report
from tests.folders import write_files
from tests.index.small import options


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_files(
        tmp_path / "notes", {"a.md": "One $x$.", "sub/b.md": "Two $y$.", "sub/deep/c.md": "Three $z$."}
    )


def sources(out: Path) -> list[str]:
    with IndexStorage.open(out) as archive:
        return sorted(Path(post.source).name for post in archive.catalogue.every_post())


@pytest.mark.parametrize("inside", ["sub", "sub/b.md"])
def test_a_folder_inside_an_earlier_one_adds_nothing_and_says_so(
    inside: str, notes: Path, model_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "index"
    build_index([notes], out, options(model_folder))
    summary = build_index([notes / inside], out, options(model_folder))
    assert (summary.intake.new, summary.intake.deleted) == (0, 0)
    report = summary.intake.reports[str((notes / inside).resolve())]
    assert report.ignored[CAUSE] == (2 if inside == "sub" else 1)
    assert str(notes.resolve()) in report.examples[CAUSE][0].message
    assert sources(out) == ["a.md", "b.md", "c.md"]
    (notes / "sub" / "b.md").unlink()
    assert build_index([], out, options(model_folder), again=True).intake.deleted == 1
    assert sources(out) == ["a.md", "c.md"]


def test_a_folder_around_an_earlier_one_leaves_its_files_to_it(
    notes: Path, model_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "index"
    build_index([notes / "sub"], out, options(model_folder))
    assert build_index([notes], out, options(model_folder)).intake.new == 1
    assert sources(out) == ["a.md", "b.md", "c.md"]
    build_index([], out, options(model_folder), without=[notes / "sub"])
    assert build_index([notes], out, options(model_folder)).intake.new == 2
    assert sources(out) == ["a.md", "b.md", "c.md"]


def test_both_in_one_command_give_each_file_once(notes: Path, model_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "index"
    assert build_index([notes, notes / "sub"], out, options(model_folder)).intake.new == 3
    assert sources(out) == ["a.md", "b.md", "c.md"]


def test_what_the_earlier_input_leaves_out_belongs_to_the_later(
    notes: Path, model_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "index"
    build_index([notes], out, options(model_folder, exclude=("deep/",)))
    assert build_index([notes / "sub"], out, options(model_folder)).intake.new == 1
    assert sources(out) == ["a.md", "b.md", "c.md"]


def test_an_index_that_has_files_twice_loses_the_second_ones(notes: Path, tmp_path: Path) -> None:
    with Catalogue(tmp_path / "catalogue.db", create=True) as catalogue:

        def taken(folder: Path, *earlier: Path) -> IntakeCounts:
            counts = IntakeCounts()
            records = [input_record(each) for each in earlier]
            take_in(catalogue, folder, input_record(folder), counts, Report(), BuildPool(), earlier=records)
            return counts

        taken(notes)
        assert taken(notes / "sub").new == 2  # as a version that did not look at earlier inputs did
        assert taken(notes / "sub", notes).deleted == 2
        assert sorted(catalogue.ids()) == ["a.md", "sub/b.md", "sub/deep/c.md"]
