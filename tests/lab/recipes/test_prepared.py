from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from mathamr.core.errors import MathAMRError
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.systems.mathamrplus.postencoder import load_post_encoder
from mathamr.systems.system import SYSTEMS
from mathamr_lab.recipes.prepared import PreparedTraining, prepare, train_prepared
from mathamr_lab.recipes.recipe import RECIPES, TrainingSettings, TrainingSources
from mathamr_lab.training.resources import Resources
from tests.lab.recipes.quick import SETTINGS, prepared, sources
from tests.lab.test_boundaries import with_only_torch

CPU = torch.device("cpu")


def trained(folder: Path, out: Path, minutes: float | None = None) -> tuple[list[dict[str, Any]], str]:
    stream = io.StringIO()
    resources = Resources(device=CPU, threads=0, stream=stream, minutes=minutes)
    return list(train_prepared(folder, out, resources)), stream.getvalue()


def test_a_graph_network_is_joined_with_a_text_encoder_or_stands_alone(
    text_files: Path, tmp_path: Path
) -> None:
    from mathamr.graphs.store import GraphStore

    rows, _ = trained(prepared(text_files, tmp_path / "prepared"), tmp_path / "out")
    assert [row["stage"] for row in rows] == ["graph", "join"]
    assert rows[-1]["shares"] == {"formula": 0.7, "sentence": 0.8, "document": 0.9}
    encoder = load_post_encoder(tmp_path / "out" / "model", "cpu")
    assert encoder.size == 16 + 6
    post = next(iter(read_posts(text_files / "posts.jsonl", Report())))
    with GraphStore(text_files / "graphs") as store:
        tensor = store.tensor(encoder.graphs, post.id)
    (vectors,) = encoder.encode([(post, tensor)])
    assert vectors.vectors.shape == (len(tensor.representatives), 22)
    alone = TrainingSources(path=text_files / "graphs")
    prepare("mathamrplus", alone, SETTINGS, tmp_path / "alone", say=lambda line: None)
    trained(tmp_path / "alone", tmp_path / "graph-alone")
    assert load_post_encoder(tmp_path / "graph-alone" / "model", "cpu").size == 16
    ours, theirs = (
        load_file(tmp_path / name / "weights.safetensors")
        for name in ("graph-alone/model", "out/model/graph")
    )
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_stages_that_are_done_are_not_done_again_and_a_stopped_one_goes_on(
    text_files: Path, tmp_path: Path
) -> None:
    folder = prepared(text_files, tmp_path / "prepared", "graph.epochs=3")
    rows, log = trained(folder, tmp_path / "out", minutes=0)
    assert (rows, "stopped; the same command goes on from here" in log) == ([], True)
    rows, log = trained(folder, tmp_path / "out")
    assert "going on from" in log
    trained(folder, tmp_path / "whole")
    ours, theirs = (
        load_file(tmp_path / of / "model" / "graph" / "weights.safetensors") for of in ("out", "whole")
    )
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)
    trained_weights = tmp_path / "out" / "graph" / "weights.safetensors"
    time = trained_weights.stat().st_mtime_ns
    again, log = trained(folder, tmp_path / "out")
    assert [row for row in again if "loss" not in row] == [row for row in rows if "loss" not in row]
    assert "training on" not in log
    assert time == trained_weights.stat().st_mtime_ns


def test_what_was_prepared_from_the_same_is_kept(text_files: Path, tmp_path: Path) -> None:
    said: list[str] = []
    for settings in (SETTINGS, SETTINGS, replace(SETTINGS, changes=(*SETTINGS.changes, "graph.seed=1"))):
        prepare("mathamrplus", sources(text_files), settings, tmp_path / "p", say=said.append)
    assert [("kept" in line) for line in said] == [False, True, False]
    assert PreparedTraining.load(tmp_path / "p").settings.changes[-1] == "graph.seed=1"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("graph.wings=2", "unknown configuration field 'wings'"),
        ("wings=2", "expected STAGE.FIELD=VALUE"),
        ("soup.epochs=2", "unknown stage 'soup'; known: graph, join"),
        ("join.shares=0.5,0.6", "three numbers"),
        ("join.shares=0.5,0.6,2", "from 0 to 1"),
        ("graph.epochs=0", "from 1 to"),
    ],
)
def test_settings_that_cannot_be_trained_are_refused_at_once(
    text_files: Path, tmp_path: Path, change: str, words: str
) -> None:
    with pytest.raises(MathAMRError, match=words):
        prepared(text_files, tmp_path / "p", change)
    assert not (tmp_path / "p").exists()


def test_what_is_missing_or_does_not_fit_is_named(text_files: Path, tmp_path: Path) -> None:
    bare = sources(text_files)
    with pytest.raises(MathAMRError, match="unknown configuration 'huge'; known: box"):
        prepare("mathamrplus", bare, TrainingSettings(config="huge"), tmp_path / "p")
    with pytest.raises(MathAMRError, match="unknown system to train 'soup'; known: mathamr-plus"):
        prepare("soup", bare, SETTINGS, tmp_path / "p")
    with pytest.raises(MathAMRError, match="no prepared training"):
        PreparedTraining.load(tmp_path)
    folder = prepared(text_files, tmp_path / "alone", stages=("join",))
    with pytest.raises(MathAMRError, match="has no graph network to join"):
        trained(folder, tmp_path / "out")


GIVEN = {
    "posts": (Path("more.jsonl"),),
    "graphs": "opt-none-none",
    "accepted": True,
    "without": (Path("ids.txt"),),
    "base": Path("encoder"),
}


@pytest.mark.parametrize("system", list(RECIPES))
def test_a_source_that_a_recipe_does_not_read_is_refused(system: str, tmp_path: Path) -> None:
    recipe = RECIPES[system]
    settings = TrainingSettings(config=next(iter(recipe.configurations)))
    assert set(recipe.reads) <= set(GIVEN)
    for name in set(GIVEN) - set(recipe.reads):
        given = TrainingSources(path=tmp_path, **{name: GIVEN[name]})  # type: ignore[arg-type]
        with pytest.raises(MathAMRError, match=f"{system} does not use --{name}"):
            prepare(system, given, settings, tmp_path / "p")
    assert not (tmp_path / "p").exists()


def test_two_bases_are_refused(tmp_path: Path) -> None:
    settings = TrainingSettings(config="amr-opt", changes=("model.base=minilm",))
    with pytest.raises(MathAMRError, match="two text encoders"):
        prepare("mathamr", TrainingSources(path=tmp_path, base=tmp_path), settings, tmp_path / "p")


def test_files_that_lie_in_the_folder_already_are_left_alone(text_files: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    folder = prepared(text_files, tmp_path, stages=("graph",))
    assert list(PreparedTraining.load(folder).hashes) == ["pairs.npz"]
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_damaged_prepared_folder_is_refused(text_files: Path, tmp_path: Path) -> None:
    folder = prepared(text_files, tmp_path / "p", stages=("graph",))
    (folder / "pairs.npz").write_bytes(b"nothing")
    with pytest.raises(MathAMRError, match="is damaged"):
        PreparedTraining.load(folder)
    row = json.loads((folder / "training.json").read_text())
    (folder / "training.json").write_text(json.dumps(row | {"sha256": {"../outside": "0"}}))
    with pytest.raises(MathAMRError, match="outside its folder"):
        PreparedTraining.load(folder)
    (folder / "training.json").write_text("[" * 100_000)
    with pytest.raises(MathAMRError, match="does not describe a prepared training"):
        PreparedTraining.load(folder)


def test_training_needs_only_torch_and_numpy(text_files: Path, tmp_path: Path) -> None:
    folder = prepared(text_files, tmp_path / "prepared")
    done = with_only_torch(
        "mathamr_lab.recipes.__main__", folder, "--out", tmp_path / "out", "--device", "cpu"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["model"] == str(tmp_path / "out" / "model")
    assert load_post_encoder(tmp_path / "out" / "model", "cpu").size == 22


def test_every_recipe_names_its_configurations_and_stages() -> None:
    systems = {name.replace("-", "") for name in SYSTEMS}
    for name in RECIPES:
        assert name.replace("-", "") in systems
        recipe = RECIPES[name]
        for config in recipe.configurations:
            settings = TrainingSettings(config=config)
            recipe.check(settings)
            planned = recipe.planned(settings)
            assert planned
            assert set(planned) <= set(recipe.stages)
