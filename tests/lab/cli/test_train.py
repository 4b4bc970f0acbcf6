from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mathamr import sample
from mathamr.cli import app
from mathamr.core.errors import MathAMRError
from mathamr.systems.models import checked_model
from mathamr_lab.recipes.prepared import PreparedTraining
from mathamr_lab.recipes.recipe import named_recipe
from tests.lab.recipes.quick import CHANGES
from tests.lab.systems.mathamrplus.conftest import text_files

__all__ = ["text_files"]


def invoked(*words: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["train", *map(str, words)])
    return result.exit_code, result.stdout, result.stderr


def system(text_files: Path, *words: object) -> list[object]:
    sets = [word for change in CHANGES for word in ("--set", change)]
    paths = ["mathamr-plus", text_files / "graphs", "--base", text_files / "base"]
    return [*paths, "--config", "small", *sets, *words]


def test_a_system_is_trained_from_its_store(text_files: Path, tmp_path: Path) -> None:
    words = system(text_files, "--out", tmp_path / "out", "--device", "cpu", "--threads", 0)
    code, out, log = invoked(*words)
    assert code == 0, log
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["stage"] for row in rows] == ["graph", "join"]
    assert rows[-1]["model"] == str(tmp_path / "out" / "model")
    again, out_again, log = invoked(*words)
    assert again == 0
    assert out_again == out
    assert "it is kept" in log


def test_a_system_can_only_be_prepared(text_files: Path, tmp_path: Path) -> None:
    code, out, _ = invoked(*system(text_files, "--prepare", tmp_path / "p", "--stages", "graph"))
    assert (code, out) == (0, "")
    assert PreparedTraining.load(tmp_path / "p").settings.stages == ("graph",)


def test_contradictions_are_refused(text_files: Path, tmp_path: Path) -> None:
    out, store = ["--out", tmp_path / "out"], text_files / "graphs"
    for words, said in (
        (["mathamr-plus", store], "give either --out"),
        (["mathamr-plus", store, *out, "--prepare", tmp_path / "p"], "give either --out"),
        ([store, *out], "Missing"),
        (["mathamr-plus", store, "--prepare", tmp_path / "p", "--minutes", 5], "--minutes"),
    ):
        code, _, log = invoked(*words)
        assert code == 2
        assert said.split()[0] in log
    result = CliRunner().invoke(
        app, ["train", "mathamr-plus", str(text_files / "pairs.npz"), "--accepted", *map(str, out)]
    )
    assert "apply only to a store" in str(result.exception)


@pytest.mark.parametrize("module", ["torch", "numpy", "lxml"])
def test_asking_for_help_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, mathamr_lab.cli.train; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_what_an_index_could_not_read_is_refused_before_anything_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MATHAMR_MINILM", str(tmp_path / "nothing"))
    posts = sample.folder() / "Posts.xml"
    words = ["train", "ssemb", str(posts), "--config", "paper", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, words)
    assert "could be trained, and not used" in str(result.exception)
    assert "--set structure.reader=mathamr-2" in str(result.exception)
    assert not (tmp_path / "out").exists()
    few = [
        f"structure.{change}" for change in ("formulas=60", "epochs=1", "validation=10", "reader=mathamr-2")
    ]
    sets = [word for change in few for word in ("--set", change)]
    code, _, log = invoked(*words[1:], *sets, "--device", "cpu")
    assert code == 0, log
    folder = log.splitlines()[-1].rpartition(" ")[2]
    assert log.splitlines()[-1] == f"use it with: mathamr index POSTS --out INDEX --model {folder}"
    assert checked_model(folder).system.kind == "ssemb"


@pytest.mark.parametrize(
    ("system", "words", "said"),
    [
        ("marf", ["--set", "model.base=luck"], "no text encoder 'luck'"),
        ("mathamr", ["--set", "model.base=luck"], "no text encoder 'luck'"),
        ("marf", ["--base", "luck"], "'luck', which neither"),
        ("mathamr", ["--base", "luck"], "'luck', which neither"),
        ("ssemb", ["--set", "structure.reader=luck"], "the encoder of 'luck', which is not installed"),
        ("text", ["--set", "base.start=luck"], "the text encoder 'luck', which cannot be loaded"),
        ("mathamr-plus", ["--base", "luck"], "luck"),
    ],
)
def test_no_training_begins_from_a_text_encoder_that_an_index_could_not_load(
    system: str, words: list[str], said: str, tmp_path: Path, text_files: Path
) -> None:
    path = text_files / "graphs" if system == "mathamr-plus" else sample.folder() / "Posts.xml"
    result = CliRunner().invoke(app, ["train", system, str(path), *words, "--out", str(tmp_path / "out")])
    assert isinstance(result.exception, MathAMRError)
    assert said in str(result.exception)
    made = [each.name for each in (tmp_path / "out").rglob("*") if each.is_file()]
    assert not any(name.startswith(("checkpoint", "learned", "model")) for name in made)


def test_a_step_that_does_not_fit_is_refused_or_computed_in_parts_before_anything_is_learned(
    tmp_path: Path,
) -> None:
    posts, out = sample.folder() / "Posts.xml", tmp_path / "out"
    few = (
        "model.base=mathamr-3",
        "all.epochs=1",
        "all.pairs=8",
        "all.length=48",
        "all.batch_size=8",
        "model.rank=2",
    )
    sets = [word for change in few for word in ("--set", change)]
    words = ["marf", posts, *sets, "--stages", "context", "--out", out, "--device", "cpu"]
    result = CliRunner().invoke(app, ["train", *map(str, words), "--memory", "1MB"])
    assert isinstance(result.exception, MathAMRError)
    assert "a step needs about" in str(result.exception)
    assert "batch_size below 8" in str(result.exception)
    assert not (out / "context" / "learned.safetensors").exists()
    code, _, log = invoked(*words)
    assert code == 0, log
    assert "a step of 8 pairs takes about" in log
    result = CliRunner().invoke(app, ["train", *map(str, words), "--memory", "much"])
    assert "is no amount of memory" in str(result.exception)


def test_a_system_is_known_however_its_name_is_joined() -> None:
    assert [named_recipe(name) for name in ("mathamrplus", "formulagraph", "ssemb", "luck")] == [
        "mathamr-plus",
        "formula-graph",
        "ssemb",
        "luck",
    ]
