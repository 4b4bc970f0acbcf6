"""What the doctor reports of an installation."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.cli.environment import examine


def test_optional_packages_are_all_reported() -> None:
    names = {finding.name for finding in examine().findings if finding.topic == "optional"}
    assert {"torch", "mathamr-lab", "mcp", "langchain-core", "qdrant-client", "psycopg"} <= names


def test_settings_have_a_tick_only_if_they_are_in_force(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MATHAMR_MINILM", str(tmp_path))
    monkeypatch.setenv("MATHAMR_DATA", str(tmp_path / "absent"))
    monkeypatch.delenv("MATHAMR_QDRANT_URL", raising=False)
    states = {finding.name: finding for finding in examine().findings if finding.topic == "setting"}
    assert states["MATHAMR_MINILM"].state == "ok"
    assert states["MATHAMR_DATA"].value.endswith("absent does not exist")
    assert {states["MATHAMR_DATA"].state, states["MATHAMR_QDRANT_URL"].state} == {"optional"}
    assert states["MATHAMR_QDRANT_URL"].value == "not set"
