"""What `mathamr index` says about clusters before it reaches for one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mathamr.cli import app
from mathamr.core.errors import MissingExtraError


def test_without_ray_the_error_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    posts = tmp_path / "posts.jsonl"
    posts.write_text('{"id": "a", "kind": "note", "body": "x"}\n')
    result = CliRunner().invoke(app, ["index", str(posts), "--out", str(tmp_path / "i"), "--ray", "local"])
    assert isinstance(result.exception, MissingExtraError)
    assert "mathamr[ray]" in str(result.exception)
    assert not (tmp_path / "i").exists()


def test_a_cluster_that_is_not_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'mathamr[ray]'")

    def gone(**_: object) -> None:
        raise ConnectionError("nobody answers")

    monkeypatch.setattr(ray, "init", gone)
    posts = tmp_path / "posts.jsonl"
    posts.write_text('{"id": "a", "kind": "note", "body": "x"}\n')
    asked = ["index", str(posts), "--out", str(tmp_path / "i"), "--ray", "h:1"]
    result = CliRunner().invoke(app, asked)
    assert str(result.exception) == "cannot reach the Ray cluster 'h:1': nobody answers"
