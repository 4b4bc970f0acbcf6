"""The study of a formal library, on a small one of our own."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

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


def test_names_of_the_maps_are_counted_and_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "data" / "mathlib"
    folder.mkdir(parents=True)
    for name, text in (("A", COMPACT), ("B", SUMS)):
        (tmp_path / f"{name}.lean").write_text(text, encoding="utf-8")
    with tarfile.open(folder / "Mathlib.tar.xz", "w:xz") as archive:
        for name in ("A", "B"):
            archive.add(tmp_path / f"{name}.lean", f"Mathlib/{name}.lean")
    for name in MAPS:
        (folder / f"{name}.yaml").write_text(MAP if name in MAPS[:2] else TOPICS, encoding="utf-8")
    monkeypatch.setattr(library, "data_folder", lambda: tmp_path / "data")
    monkeypatch.setenv("MATHAMR_OTHERS", "all")
    library.run()
    printed = capsys.readouterr().out
    assert "9 declarations" in printed
    assert "3 of 4 names of the maps are found (75.0%); not: Nat.absent" in printed
    assert "6 queries" in printed
    lines = [line.split() for line in printed.splitlines()]
    hybrid = next(line for line in lines if line[:5] == ["maps", "(6)", "hybrid", "of", "libraries"])
    assert "1.000" in hybrid
    assert [line[0] for line in lines if "difference" in line] == ["held"]
