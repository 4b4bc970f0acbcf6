"""`mathamr open` as a user calls it."""

from __future__ import annotations

from pathlib import Path

from mathamr.search.searcher import Index
from tests.cli.conftest import Command


def test_the_place_of_a_hit_is_printed_and_an_unknown_one_is_told(
    mathamr: Command, sample_index: Path
) -> None:
    with Index.open(sample_index) as index:
        hit = index.search("converge", k=1)[0]
    ran = mathamr("open", sample_index, hit.id, "--print")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == f"{hit.source}:{hit.place.line if hit.place else 1}"
    wrong = mathamr("open", sample_index, "nobody#has-it", "--print")
    assert wrong.returncode == 1
    assert "no post or label 'nobody#has-it'" in wrong.stderr


def test_an_editor_opens_it(mathamr: Command, sample_index: Path, tmp_path: Path) -> None:
    with Index.open(sample_index) as index:
        hit = index.search("converge", k=1)[0]
    editor, seen = tmp_path / "code", tmp_path / "seen"
    editor.write_text(f'#!/bin/sh\necho "$@" > {seen}\n')
    editor.chmod(0o755)
    ran = mathamr("open", sample_index, hit.id, "--editor", editor)
    assert ran.returncode == 0, ran.stderr
    assert seen.read_text().split()[0] == "-g"
