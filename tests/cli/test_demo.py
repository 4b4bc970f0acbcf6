from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mathamr.cli.demo import QUERIES
from tests.cli import test_cli
from tests.cli.conftest import Command


def test_demo_indexes_the_sample_answers_what_people_type_and_explains_a_hit(
    mathamr: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, model_folder: Path
) -> None:
    arguments = ("demo", "--out", str(tmp_path), "--limit", "6", "--model", str(model_folder), "-j", "1")
    first = test_cli.started(*arguments)
    assert first.returncode == 0, first.stderr
    assert "6 posts (6 new)" in " ".join(first.stdout.split())
    assert "FORMULA_0" in first.stdout
    assert "operators (OPT)" in first.stdout
    assert first.stdout.count("2 hits") == len(QUERIES) + 1
    assert all(what in first.stdout for what in QUERIES)
    assert "does not mention “Navier-Stokes”" in first.stdout
    assert "the mean of the best similarities" in first.stdout
    assert "mathamr demo --serve" in first.stdout
    assert (tmp_path / "post-101.svg").read_text(encoding="utf-8").startswith("<svg")
    assert (tmp_path / "why.svg").read_text(encoding="utf-8").startswith("<svg")
    served: list[tuple[Path, Any]] = []
    monkeypatch.setattr(
        "mathamr.serve.launch.serve", lambda path, *, port, model: served.append((path, port))
    )
    second = mathamr(*arguments, "--serve", "--port", "8123")
    assert "6 posts (6 unchanged)" in " ".join(second.stdout.split())
    assert served == [(tmp_path / "index", 8123)]
