from __future__ import annotations

from pathlib import Path

from tests.cli.test_cli import mathamr


def test_demo_walks_through_the_rooms_and_keeps_its_graphs(tmp_path: Path) -> None:
    first = mathamr("demo", "--out", str(tmp_path), "--limit", "6")
    assert first.returncode == 0, first.stderr
    assert "6 graphs made, 0 kept" in first.stdout
    assert "FORMULA_0" in first.stdout
    assert "operators (OPT)" in first.stdout
    assert (tmp_path / "post-101.svg").read_text(encoding="utf-8").startswith("<svg")
    second = mathamr("demo", "--out", str(tmp_path), "--limit", "6")
    assert "0 graphs made, 6 kept" in second.stdout
