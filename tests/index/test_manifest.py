from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr.core.errors import MathAMRError
from mathamr.index import manifest
from mathamr.index.manifest import EngineRecord, InputRecord, Manifest, ModelRecord, ParserRecord
from mathamr.systems.field import Field
from tests.cases import cases

FIELDS = (Field(name="document", of="posts", size=32), Field(name="nodes", of="visual", size=8, many=True))
MANIFEST = Manifest(
    model=ModelRecord(
        name="mathamrplus", system="mathamrplus", fingerprint="abc", fields=FIELDS, folder="/models/a"
    ),
    parser=ParserRecord("builtin", "builtin-1"),
    engine=EngineRecord("flat", {"dtype": "float16"}),
    finished=True,
    inputs=(InputRecord("/notes/é\udc80.md", None, ("/notes/formulas.tsv",)),),
    revision=7,
    counts={"posts": 3},
)
BARE = Manifest(model=replace(MANIFEST.model, folder=None), engine=EngineRecord("flat"))
"""Of a system that reads no graphs."""


@pytest.mark.parametrize("given_one", [MANIFEST, BARE])
def test_a_manifest_survives_the_round_trip(tmp_path: Path, given_one: Manifest) -> None:
    written = given_one.write(tmp_path)
    assert Manifest.read(tmp_path) == written
    assert written.created == written.updated != ""
    assert Manifest.read(tmp_path).write(tmp_path).created == written.created


def test_another_format_is_refused_with_what_to_do(tmp_path: Path) -> None:
    row = json.loads(MANIFEST.to_json()) | {
        "format": 99,
        "made_by": "mathamr 9.9",
        "model": "quite different",
    }
    del row["checksum"]
    (tmp_path / "manifest.json").write_text(json.dumps(row))
    with pytest.raises(MathAMRError, match=r"another version of mathamr .*99.* --out NEW_FOLDER"):
        Manifest.read(tmp_path)


def test_a_folder_without_one_is_no_index(tmp_path: Path) -> None:
    with pytest.raises(
        MathAMRError,
        match=r"is not an index: it has no manifest\.json; if it holds your notes, index them with",
    ):
        Manifest.read(tmp_path)
    with pytest.raises(MathAMRError, match="does not exist"):
        Manifest.read(tmp_path / "nowhere")


def test_any_byte_that_was_changed_is_reported(tmp_path: Path) -> None:
    MANIFEST.write(tmp_path)
    path = tmp_path / "manifest.json"
    content = path.read_bytes()
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1
        path.write_bytes(changed)
        try:
            found = Manifest.read(tmp_path)
        except MathAMRError:
            continue
        assert found.to_json() == content.decode("utf-8", "surrogateescape"), f"byte {place}"


@cases(
    ("name", "value"),
    [
        ("counts", "many"),
        ("counts", {"posts": "3"}),
        ("revision", None),
        ("finished", "yes"),
        ("inputs", [{"path": 5, "format": None, "beside": []}]),
        ("engine", {"name": ["flat"], "options": {}}),
        ("engine", {"name": "flat", "options": []}),
        ("model", []),
        ("parser", 7),
        ("format", [2]),
    ],
)
def test_a_value_of_another_type_is_a_clear_error(name: str, value: object) -> None:
    row = json.loads(MANIFEST.to_json()) | {name: value}
    del row["checksum"]
    with pytest.raises(MathAMRError, match=r"is damaged|another version"):
        Manifest.from_json(json.dumps(row | {"checksum": manifest._checksum(row)}))


@given(st.one_of(st.text(), st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps)))
@settings(max_examples=20)
def test_any_other_text_is_a_clear_error(text: str) -> None:
    with pytest.raises(MathAMRError):
        Manifest.from_json(text)
