"""Models by name: which is the default, and models that take a part from another one."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from mathamr.amr.builtin.model import WEIGHTS, ParserModel
from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.core.integrity import checked_file, file_hash
from mathamr.core.storage.plainfiles import LARGEST
from mathamr.index.chosenmodel import recorded_model
from mathamr.index.manifest import ModelRecord
from mathamr.posts.post import Post
from mathamr.systems import models
from mathamr.systems.models import (
    IN_MORE,
    WITHDRAWN,
    boxed,
    checked_model,
    load_system,
    model_folder,
    part_of,
)
from mathamr.systems.system import Item
from mathamr.systems.text.system import TextSystem
from mathamr.text.torchfolder import save_text_encoder
from tests.bounded import bounded
from tests.packages import install
from tests.text.small import small_text_encoder


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(models, "box", lambda: tmp_path)
    save_text_encoder(tmp_path / "mathamr-2" / "text", small_text_encoder(projection=8))
    describe(tmp_path / "mathamr-2", name="mathamr-2")
    describe(tmp_path / "mathamr-3", name="mathamr-3", text="mathamr-2")
    return tmp_path


def describe(folder: Path, **row: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"format": 1, "system": "text", **row}), encoding="utf-8")


def test_the_default_comes_first(box: Path) -> None:
    assert boxed()[0] == load_system(None, "cpu").name == "mathamr-3"
    (box / "mathamr-3" / "config.json").unlink()
    with pytest.raises(MathAMRError, match="no bundled model is installed"):
        load_system(None, "cpu")


def test_a_part_that_another_model_has_is_read_there_and_checked_there(box: Path) -> None:
    assert part_of(box / "mathamr-3", "text") == box / "mathamr-2" / "text"
    ours, theirs = load_system("mathamr-3", "cpu"), load_system("mathamr-2", "cpu")
    assert isinstance(ours, TextSystem)
    assert (ours.fingerprint, ours.name) == (theirs.fingerprint, "mathamr-3")
    post = Post("a", "note", "let x be prime", markup="text")
    (one,), (other,) = ours.encode([Item(post=post)]), theirs.encode([Item(post=post)])
    assert np.array_equal(one.post["document"].vectors, other.post["document"].vectors)
    assert checked_model("mathamr-3").bytes == checked_model("mathamr-2").bytes > 0
    weights = box / "mathamr-2" / "text" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    with pytest.raises(MathAMRError, match="damaged"):
        checked_model("mathamr-3")


@pytest.mark.parametrize("name", ["../mathamr-2", "{box}/mathamr-2", "text/..", "\0", "a" * 10_000])
def test_a_model_names_no_path_as_the_model_of_a_part(
    box: Path, name: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = tmp_path_factory.mktemp("stranger")
    monkeypatch.chdir(stranger)
    describe(stranger / "model", name="other", text=name.format(box=box))
    for use in (lambda: load_system(stranger / "model", "cpu"), lambda: checked_model(stranger / "model")):
        with pytest.raises(MathAMRError, match=r"unknown model|such a file may not choose"):
            use()


@pytest.mark.parametrize("name", ["wordpieces.txt", "vocabulary.txt", "relations.txt"])
def test_a_list_of_a_terabyte_is_refused_before_it_is_hashed(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(MathAMRError, match=r"more than 64 MB"):
        checked_file(tmp_path / name, {name: "0" * 64})


@pytest.mark.parametrize("name", ["config.json", "weights.safetensors", "wordpieces.txt"])
@pytest.mark.parametrize("kind", ["pipe", "device", "sparse"])
def test_no_file_of_a_model_keeps_a_reader_waiting(box: Path, name: str, kind: str) -> None:
    path = box / "mathamr-2" / "text" / name
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(1 << 40 if name == "config.json" else LARGEST + 1)
        hashes = path.with_name("config.json")
        if path != hashes:
            row = json.loads(hashes.read_text(encoding="utf-8"))
            row["sha256"][name] = file_hash(path)
            hashes.write_text(json.dumps(row), encoding="utf-8")
    for use in (load_system, checked_model) if kind != "sparse" else (load_system,):
        code = f"import sys\nfrom mathamr.systems.models import {use.__name__} as use\nuse(sys.argv[1])"
        ended = bounded(code, str(box / "mathamr-2"))
        assert ended.returncode == 1, ended
        assert "MathAMRError" in ended.stderr
        assert str(path) in ended.stderr


def test_graphs_of_operations_in_a_model_folder_are_not_read(
    box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ONNX Runtime gets the graph that this package writes, as bytes: no file of a model describes operations."""
    for name in ("model.onnx", "model.onnx.data"):
        os.mkfifo(box / "mathamr-2" / "text" / name)
    given: list[object] = []
    session = onnxruntime.InferenceSession
    monkeypatch.setattr(
        onnxruntime,
        "InferenceSession",
        lambda model, *more, **named: (given.append(model), session(model, *more, **named))[1],
    )
    system = load_system(box / "mathamr-2", "cpu", "onnx")
    list(system.encode([Item(post=Post("a", "note", "let x be prime", markup="text"))]))
    assert [type(model) for model in given] == [bytes]


def test_an_encoder_with_too_few_positions_is_refused(box: Path) -> None:
    path = box / "mathamr-2" / "text" / "config.json"
    row = json.loads(path.read_text(encoding="utf-8"))
    row["transformer"]["positions"] = 200
    path.write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(MathAMRError, match="at least 256 positions, this one has 200"):
        load_system("mathamr-2", "cpu")


def test_a_package_can_bring_models_which_are_found_by_name_behind_those_in_the_box(
    box: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path_factory.mktemp("site")
    brought = site / "more_models"
    describe(brought / "mathamr-9", name="mathamr-9", text="mathamr-2")
    describe(brought / "mathamr-2", name="impostor", text="mathamr-2")
    (brought / "__init__.py").touch()
    install(site, "more-models", "[mathamr.models]\nmore = more_models\n")
    monkeypatch.syspath_prepend(str(site))
    assert boxed() == ["mathamr-3", "mathamr-2", "mathamr-9"]
    assert models.model_folder("mathamr-9") == brought / "mathamr-9"
    assert load_system("mathamr-9", "cpu").fingerprint == load_system("mathamr-2", "cpu").fingerprint
    assert models.model_folder("mathamr-2") == box / "mathamr-2"  # no package takes another's name
    broken = tmp_path_factory.mktemp("broken")
    install(broken, "broken-models", "[mathamr.models]\nbroken = no_such_package\n")
    monkeypatch.syspath_prepend(str(broken))
    with pytest.raises(MathAMRError, match="'broken' declares models"):
        boxed()


def test_what_the_wheel_leaves_out_is_in_the_package_of_further_models() -> None:
    root = Path(__file__).parents[2]
    product = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    more = tomllib.loads((root / "packages/models/pyproject.toml").read_text())["tool"]["hatch"]["build"]
    left_out = {path.removeprefix("/src/mathamr/systems/box/") for path in product["wheel"]["exclude"]}
    assert product["wheel"]["exclude"] == product["sdist"]["exclude"]
    brought = {path.rpartition("/")[2] for path in more["targets"]["wheel"]["force-include"]} - {"NOTICE"}
    assert brought == left_out == set(IN_MORE)
    assert ParserModel.load(WEIGHTS).tables["encoder"] not in left_out, "the AMR parser reads with it"
    assert set(boxed()) - set(IN_MORE) == {"mathamr-3", "formula-graph"}


def test_a_model_of_the_other_package_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "boxes", lambda: iter([tmp_path]))
    for name in ("mathamr-2", "ssemb", "marf"):
        with pytest.raises(
            MissingExtraError, match=f"the model {name} is not installed.*pip install mathamr-models"
        ):
            model_folder(name)
    with pytest.raises(MathAMRError, match="mathamr train text"):
        model_folder("text")


@pytest.mark.parametrize("name", WITHDRAWN)
def test_a_withdrawn_model_says_what_to_take_instead(name: str) -> None:
    with pytest.raises(
        MathAMRError, match=f"{name} is no longer part of mathamr; st:all-mpnet-base-v2 finds"
    ):
        model_folder(name)
    with pytest.raises(MathAMRError, match="--model st:all-mpnet-base-v2 --rebuild"):
        recorded_model(ModelRecord(name=name, system="text", fingerprint="text-0", fields=()))
    assert name not in boxed()


@pytest.mark.parametrize("named", [["maxsim"], {"answers": [1]}, {"answers": "nothing"}, {"x": "maxsim"}])
def test_default_rankings_that_are_none_are_refused(tmp_path: Path, named: object) -> None:
    row = {"system": "mathamrplus", "default_rankings": named}
    (tmp_path / "config.json").write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(MathAMRError, match=r"has no ranking|is not an object"):
        models.default_rankings(tmp_path)
