"""The study of a formal library, on a small one of our own."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.systems.ranking import Belongs, Lexical, Promote
from mathamr_lab.studies import library
from mathamr_lab.systems.text.mathlib import MAPS
from tests.leanproject import COMPACT, SUMS

MAP = """
1:
  title: Heine–Borel theorem
  decl: Topology.Toy.isCompact_iff_isClosed_bounded
2:
  title: Sums
  decls:
    - Nat.sum_range_id
    - Nat.absent
3:
  title: Not formalised
"""
TOPICS = "Algebra:\n  Sums:\n    disjoint sums: 'Nat.sum_union'\n    elsewhere: 'https://example.org/x'\n    none: ''\n"


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the sources; the maps and the archive lie where the study looks for them."""
    folder = tmp_path / "data" / "mathlib"
    folder.mkdir(parents=True)
    (tmp_path / "sources").mkdir()
    for name, text in (("A", COMPACT), ("B", SUMS)):
        (tmp_path / "sources" / f"{name}.lean").write_text(text, encoding="utf-8")
    with tarfile.open(folder / "Mathlib.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "sources", "Mathlib")
    for name in MAPS:
        (folder / f"{name}.yaml").write_text(MAP if name in MAPS[:2] else TOPICS, encoding="utf-8")
    monkeypatch.setattr(library, "data_folder", lambda: tmp_path / "data")
    return tmp_path / "sources"


def test_names_of_the_maps_are_counted(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library.run()
    printed = capsys.readouterr().out
    assert "9 declarations" in printed
    assert "3 of 4 names of the maps are found (75.0%); not: Nat.absent" in printed


def test_an_index_is_asked_for_what_the_maps_name(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build_index([sources], tmp_path / "index", BuildOptions(model="mathamr-3"))
    monkeypatch.setenv("MATHAMR_LIBRARY", str(tmp_path / "index"))
    library.run()
    printed = capsys.readouterr().out
    assert "6 queries" in printed
    line = next(
        line for line in printed.splitlines() if line.startswith("maps (6)") and "library ranking" in line
    )
    assert "1.000" in line
    assert "theorems (6)" in printed
    assert "library ranking without members" in printed


def test_only_members_are_taken_from_the_ranking_of_a_library() -> None:
    ranking = Promote(Belongs(first=Lexical()), pool=7)
    assert library.without_members(ranking) == Promote(Lexical(), pool=7)
    assert library.without_members(Promote(Lexical())) == Promote(Lexical())
