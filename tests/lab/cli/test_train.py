from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mathamr.cli import app
from mathamr_lab.recipes.prepared import PreparedTraining
from mathamr_lab.recipes.recipe import RECIPES
from tests.lab.recipes.quick import CHANGES
from tests.lab.systems.mathamrplus.conftest import text_files

__all__ = ["text_files"]


def invoked(*words: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["train", *map(str, words)])
    return result.exit_code, result.stdout, result.stderr


def system(text_files: Path, *words: object) -> list[object]:
    sets = [word for change in CHANGES for word in ("--set", change)]
    paths: list[object] = ["mathamrplus", text_files / "graphs", "--posts", text_files / "posts.jsonl"]
    return [*paths, "--base", text_files / "base", "--config", "small", *sets, *words]


def test_a_system_is_trained_from_its_store_and_posts(text_files: Path, tmp_path: Path) -> None:
    words = system(text_files, "--out", tmp_path / "out", "--device", "cpu", "--threads", 0)
    code, out, log = invoked(*words)
    assert code == 0, log
    rows = [json.loads(line) for line in out.splitlines()]
    assert list(dict.fromkeys(row["stage"] for row in rows)) == ["graph", "text", "join"]
    assert rows[-1]["model"] == str(tmp_path / "out" / "model")
    again, out_again, log = invoked(*words)
    assert again == 0
    assert out_again == out
    assert "it is kept" in log


def test_a_system_can_only_be_prepared(text_files: Path, tmp_path: Path) -> None:
    words = system(text_files, "--prepare", tmp_path / "p", "--stages", "graph")
    refused = CliRunner().invoke(app, ["train", *map(str, words)])
    assert "the graph network reads no text: leave out --posts and --base" in str(refused.exception)
    place = words.index("--posts")
    code, out, _ = invoked(*words[:place], *words[place + 4 :])
    assert (code, out) == (0, "")
    assert PreparedTraining.load(tmp_path / "p").settings.stages == ("graph",)


def test_options_of_the_one_form_are_refused_in_the_other(text_files: Path, tmp_path: Path) -> None:
    out = ["--out", tmp_path / "out"]
    store = text_files / "graphs"
    for words, said in (
        (["mathamrplus", store, *out, "--half"], "--half belongs to the graph network alone"),
        (["mathamrplus", store, *out, "--export", tmp_path / "x"], "--export belongs"),
        (["mathamrplus", store], "give either --out"),
        ([store, *out, "--posts", tmp_path], "belong to a system"),
        ([store, *out, "--stages", "graph"], "belong to a system"),
        (["mathamrplus", store, "more", *out], "expected [SYSTEM] PATH"),
        (["mathamrplus", store, "--prepare", tmp_path / "p", "--minutes", 5], "--minutes"),
        ([store, "--export", tmp_path / "x", "--set", "epochs=2"], "--export does not train"),
        ([tmp_path / "pairs.npz", *out, "--graphs", "opt-none-none"], "--graphs"),
    ):
        code, _, log = invoked(*words)
        assert code == 2
        assert said.split()[0] in log


def test_an_unknown_system_lists_the_known_ones(text_files: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["train", "soup", str(text_files), "--out", str(tmp_path)])
    assert result.exit_code == 1
    for name in RECIPES:
        assert name in str(result.exception) + result.output


@pytest.mark.parametrize("module", ["torch", "numpy", "lxml"])
def test_asking_for_help_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, mathamr_lab.cli.train; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
