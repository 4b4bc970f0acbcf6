"""Settings reach the commands: options take them as defaults, and notes say in `mathamr.toml` how they are indexed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from mathamr.core.settings import CONFIG, SETTINGS
from mathamr.index.manifest import Manifest
from tests.cli.conftest import Command
from tests.cli.test_cli import _app
from tests.folders import write_files

NOTES = {"a.md": "The reals $\\RR$ are complete.", "drafts/b.md": "A draft about $y$."}


def _read(mathamr: Command, folder: Path) -> list[dict[str, object]]:
    ran = mathamr("posts", folder, "--jsonl")
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_notes_name_their_macros_and_what_is_left_out(tmp_path: Path, mathamr: Command) -> None:
    notes = write_files(tmp_path / "notes", NOTES)
    assert [row["id"] for row in _read(mathamr, notes)] == ["a.md", "drafts/b.md"]
    (notes / "mathamr.toml").write_text("exclude = ['drafts/']\n[macros]\nRR = '\\mathbb{R}'\n", "utf-8")
    (row,) = _read(mathamr, notes)
    assert row["macros"] == ["\\newcommand{\\RR}{\\mathbb{R}}"]
    counted = mathamr("posts", notes, "--json").stdout
    assert "drafts/ (mathamr.toml)" in counted
    assert ".toml" not in counted.replace("mathamr.toml)", "")


def test_patterns_of_the_user_hold_in_every_folder_and_notes_bring_files_back(
    tmp_path: Path, mathamr: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = write_files(tmp_path / "notes", NOTES)
    monkeypatch.setenv("MATHAMR_EXCLUDE", "drafts/")
    assert [row["id"] for row in _read(mathamr, notes)] == ["a.md"]
    (notes / "mathamr.toml").write_text("exclude = ['!drafts/']\n", "utf-8")
    assert [row["id"] for row in _read(mathamr, notes)] == ["a.md", "drafts/b.md"]


def test_a_new_index_has_the_model_of_the_settings_and_an_old_one_keeps_its_own(
    tmp_path: Path, mathamr: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = write_files(tmp_path / "notes", NOTES)
    index = tmp_path / "notes.index"
    (notes / "mathamr.toml").write_text('model = "http://example.org#model"\n', "utf-8")
    refused = mathamr("index", notes)
    assert refused.returncode == 1
    assert "notes may come from anybody and choose only among the installed models" in refused.stderr
    assert not (index / "manifest.json").exists()
    (notes / "mathamr.toml").unlink()
    monkeypatch.setenv("MATHAMR_MODEL", "no-such-model")
    assert "unknown model 'no-such-model'" in mathamr("index", notes).stderr
    monkeypatch.setenv("MATHAMR_MODEL", "")
    assert mathamr("index", notes).returncode == 0
    monkeypatch.setenv("MATHAMR_MODEL", "no-such-model")
    assert mathamr("index", notes).returncode == 0
    assert Manifest.read(index).model.name == "mathamr-3"


def test_an_option_has_the_settings_as_its_default_and_counts_more(
    tmp_path: Path, mathamr: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.toml"
    file.write_text('workers = 0\neditor = "no-such-editor"\n', "utf-8")
    monkeypatch.setenv(CONFIG.name, str(file))
    wrong = mathamr("index", write_files(tmp_path / "notes", NOTES))
    assert wrong.returncode == 2
    assert "--workers" in wrong.stderr
    assert mathamr("index", tmp_path / "notes", "--workers", 1).returncode == 0
    assert "no-such-editor" in mathamr("search", tmp_path / "notes", "complete").stderr
    assert mathamr("search", tmp_path / "notes", "complete", "--editor", "vscode").returncode == 0


def test_every_setting_names_options_that_its_commands_have() -> None:
    for setting in SETTINGS:
        assert bool(setting.option) == bool(setting.verbs), setting.name
        for verb in setting.verbs:
            options = [option for each in typer.main.get_command(_app(verb)).params for option in each.opts]
            assert setting.option in options, (setting.name, verb)
