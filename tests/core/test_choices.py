"""What a folder of somebody else may choose is one list, and every key of it refuses what could be more than data."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from mathamr.core import choices
from mathamr.core.errors import MathAMRError
from mathamr.core.modelfolder import read_config
from mathamr.core.rules import Rule
from mathamr.index import manifest
from mathamr.index.manifest import EngineRecord, InputRecord, Manifest, ModelRecord, ParserRecord
from mathamr.systems.encoders.cleancopy import make_clean_copy
from mathamr.systems.field import Field
from tests.cases import cases
from tests.systems.encoders.test_cleancopy import change, plain_folder

HOSTILE: tuple[object, ...] = (
    {"os.abort": [["os.abort"]]},
    [[{"__reduce__": "os.abort"}]],
    {"auto_map": {"AutoModel": {"evil": "stranger/code--evil.Evil"}}},
)
"""No key takes any of them."""
SECURE = Path(__file__).parents[2] / "docs" / "secure.md"
OWN = Manifest(
    model=ModelRecord(
        name="a", system="text", fingerprint="a", fields=(Field(name="document", of="posts", size=3),)
    ),
    parser=ParserRecord("builtin", "builtin-1"),
    engine=EngineRecord("flat"),
    inputs=(InputRecord("/notes"),),
)
LEVELS: dict[str, tuple[dict[str, Rule], type]] = {
    "": (choices.MANIFEST, Manifest),
    "model": (choices.MANIFEST_MODEL, ModelRecord),
    "parser": (choices.MANIFEST_PARSER, ParserRecord),
    "engine": (choices.MANIFEST_ENGINE, EngineRecord),
    "inputs": (choices.MANIFEST_INPUT, InputRecord),
}


def told(change: Callable[[dict[str, Any]], None]) -> str:
    """A manifest in which something was changed, with the right checksum."""
    row = json.loads(OWN.to_json())
    del row["checksum"]
    change(row)
    return json.dumps(row | {"checksum": manifest._checksum(row)})


def level(row: dict[str, Any], where: str) -> dict[str, Any]:
    found = row if not where else row[where]
    return found[0] if isinstance(found, list) else found


@cases("where", LEVELS)
def test_every_field_of_a_manifest_is_on_the_list(where: str) -> None:
    rules, kind = LEVELS[where]
    assert rules.keys() == {each.name for each in fields(kind)}
    assert Manifest.from_json(told(lambda row: None)) == OWN


@cases(("where", "key"), [(where, key) for where in LEVELS for key in (*LEVELS[where][0], "evil")])
def test_a_key_of_a_manifest_takes_nothing_but_data(where: str, key: str) -> None:
    for value in HOSTILE:
        with pytest.raises(MathAMRError, match=r"damaged|another version"):
            Manifest.from_json(told(lambda row, value=value: level(row, where).update({key: value})))


@cases("key", choices.MODEL)
def test_a_key_of_a_model_card_takes_nothing_but_data(tmp_path: Path, key: str) -> None:
    values = [*HOSTILE, "../x", "/etc/passwd", "http://stranger", "os.abort"]
    free = {"name", "base"}  # a text for people, and a name with a fingerprint
    for value in values[: len(HOSTILE)] if key in free else values:
        (tmp_path / "config.json").write_text(json.dumps({"format": 1, key: value}))
        if key == "graphs" and value == "os.abort":
            continue  # the name of a configuration of graphs, which is looked up among ours
        with pytest.raises(MathAMRError, match=f"says {key} is .* which such a file may not choose"):
            read_config(tmp_path)


FILES: dict[str, Mapping[str, Rule]] = {
    "config.json": choices.NETWORK,
    "config_sentence_transformers.json": choices.ENCODER,
    "sentence_bert_config.json": choices.TRANSFORMER,
    "tokenizer_config.json": choices.TOKENIZER,
    "special_tokens_map.json": choices.SPECIAL_TOKENS,
    "artifact.metadata": choices.COLBERT,
    "1_Pooling/config.json": choices.MODULE_CONFIGS["Pooling"],
    "2_Dense/config.json": choices.MODULE_CONFIGS["Dense"],
    "3_Normalize/config.json": choices.MODULE_CONFIGS["Normalize"],
    "4_LayerNorm/config.json": choices.MODULE_CONFIGS["LayerNorm"],
    "5_Dropout/config.json": choices.MODULE_CONFIGS["Dropout"],
    "6_MultiVectorMask/config.json": choices.MODULE_CONFIGS["MultiVectorMask"],
}


def with_module(folder: Path, file: str) -> Path:
    """The plain encoder, with the module to which a file belongs."""
    plain_folder(folder)
    place = file.rpartition("/")[0]
    kind = place.partition("_")[2]
    if kind and not (folder / place).exists():
        (folder / place).mkdir()
        (folder / place / "model.safetensors").touch()
        rows = json.loads((folder / "modules.json").read_bytes())
        rows.append({"idx": len(rows), "name": place, "path": place, "type": choices.CANONICAL[kind]})
        (folder / "modules.json").write_text(json.dumps(rows))
    return folder


@cases("file", FILES)
def test_a_key_of_an_encoder_takes_nothing_but_data(tmp_path: Path, file: str) -> None:
    folder, copy = with_module(tmp_path / "encoder", file), tmp_path / "copy"
    copy.mkdir()
    sound = (folder / file).read_bytes() if (folder / file).exists() else b"{}"
    for key, value in product(FILES[file], HOSTILE):
        (folder / file).write_bytes(sound)
        change(folder / file, **{key: value})
        with pytest.raises(MathAMRError, match=f"says {key} is .* which such a file may not choose"):
            make_clean_copy(folder, copy)


@cases("key", choices.MODULE)
def test_a_key_of_a_list_of_modules_takes_nothing_but_data(tmp_path: Path, key: str) -> None:
    folder, copy = plain_folder(tmp_path / "encoder"), tmp_path / "copy"
    copy.mkdir()
    for value in HOSTILE:
        rows = json.loads((folder / "modules.json").read_bytes())
        rows[1][key] = value
        (folder / "modules.json").write_text(json.dumps(rows))
        with pytest.raises(MathAMRError, match=f"says {key} is .* which such a file may not choose"):
            make_clean_copy(folder, copy)


@pytest.mark.parametrize("rules", [choices.MANIFEST, choices.MANIFEST_MODEL, choices.MODEL])
def test_the_docs_name_every_key(rules: dict[str, Rule]) -> None:
    text = SECURE.read_text(encoding="utf-8")
    assert not [key for key in rules if f"`{key}`" not in text]


def test_every_row_of_the_docs_names_tests_that_exist() -> None:
    text = SECURE.read_text(encoding="utf-8")
    _, _, rest = text.partition("## What a stranger's folder may choose")
    rows = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("| ")][1:]
    folders = {row.split("|")[1].split(",")[0].strip() for row in rows}
    assert {"index", "model", "encoder", "collection", "server of embeddings"} <= folders
    root = SECURE.parents[1]
    for row in rows:
        *_, tests, _ = row.split("|")
        named = re.findall(r"`([^`]+)`", tests)
        assert named, f"no test: {row}"
        for each in named:
            files = [root / each] if each.endswith(".py") else sorted((root / each).rglob("test_*.py"))
            assert files, f"{each} has no tests"
            assert all("def test_" in file.read_text(encoding="utf-8") for file in files), each


def test_every_test_that_the_docs_name_exists() -> None:
    text = SECURE.read_text(encoding="utf-8")
    root = SECURE.parents[1]
    files = list((root / "tests").rglob("test_*.py"))
    sources = "\n".join(file.read_text(encoding="utf-8") for file in files)
    names = {file.name for file in files}
    for each in re.findall(r"`(tests/[^`]+)`", text):
        assert (root / each).exists(), each
    for each in re.findall(r"`(test_[^`/]+)`", text):
        assert each in names if each.endswith(".py") else f"def {each}(" in sources, each
