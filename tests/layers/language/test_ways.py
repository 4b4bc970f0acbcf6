from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr.errors import MathAMRError
from mathamr.layers.language import ways
from mathamr.layers.language.configuration import TransformerConfiguration
from mathamr.layers.language.ways import ONNX, Floats, Ways, machine_key, quickest, remember, remembered

SHAPE = TransformerConfiguration(pieces=8, size=16, layers=1, heads=2, inner=32, positions=16)


class Doubling:
    """Computes something in so many steps."""

    def __init__(self, factor: float = 2.0, steps: int = 1) -> None:
        self.factor, self.steps = factor, steps

    def __call__(self, embedded: Floats, added: Floats | None = None) -> Floats:
        for _ in range(self.steps):
            states = embedded * np.float32(self.factor)
        return states


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATHAMR_CACHE", str(tmp_path))
    monkeypatch.delenv("MATHAMR_TEXT", raising=False)


def test_the_quickest_is_taken_unless_it_computes_something_else() -> None:
    slow, quick, wrong = Doubling(steps=2000), Doubling(), Doubling(-2.0)
    assert quickest({ONNX: slow, "quick": quick, "wrong": wrong}, SHAPE) == "quick"
    assert quickest({ONNX: slow, "wrong": wrong, "nothing": Doubling(float("nan"))}, SHAPE) == ONNX


def test_what_was_measured_once_is_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []

    def measuring(given: dict[str, Doubling], shape: TransformerConfiguration) -> str:
        measured.append(",".join(given))
        return "compiled"

    monkeypatch.setattr(ways, "fits", lambda shape: True)
    monkeypatch.setattr(ways, "OnnxTransformer", lambda shape, weights: Doubling(2))
    monkeypatch.setattr(ways, "CompiledTransformer", lambda shape, weights: Doubling(3))
    monkeypatch.setattr(ways, "processor_features", dict)
    monkeypatch.setattr(ways, "quickest", measuring)

    def factors(*pieces: int) -> list[float]:
        here = Ways(SHAPE, {})
        return [here.chosen(count).factor for count in pieces]  # type: ignore[attr-defined]

    assert factors(10, ways.MANY - 11, 1, 1) == [2, 2, 3, 3]
    assert factors(ways.MANY) == [3]
    assert measured == ["onnx,compiled"]
    monkeypatch.setenv("MATHAMR_TEXT", "onnx")
    assert factors(ways.MANY) == [2]
    monkeypatch.setenv("MATHAMR_TEXT", "compiled")
    assert factors(1) == [3]


def test_a_way_that_is_not_there_cannot_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "fits", lambda shape: False)
    monkeypatch.setenv("MATHAMR_TEXT", "compiled")
    with pytest.raises(MathAMRError, match="llvmlite"):
        Ways(SHAPE, {}).chosen(1)


def test_a_damaged_record_is_as_good_as_none_and_a_full_one_forgets(tmp_path: Path) -> None:
    path = tmp_path / ways.RECORD
    for damaged in (b"\xff", b"[1]", b'{"a": 1}', b"[" * 60_000, b'{"k": "' + b"x" * ways.LONGEST + b'"}'):
        path.write_bytes(damaged)
        assert remembered("k") == ""
    for number in range(ways.MOST + 3):
        remember(f"key {number}", "onnx")
    assert remembered("key 2") == ""
    assert remembered("key 3") == remembered(f"key {ways.MOST + 2}") == "onnx"
    assert [each.name for each in tmp_path.iterdir()] == [ways.RECORD]


def test_another_shape_is_measured_for_itself() -> None:
    other = TransformerConfiguration(pieces=8, size=32, layers=1, heads=2, inner=32, positions=16)
    assert machine_key(SHAPE, {"onnx": 1}) == machine_key(SHAPE, {"onnx": 2})
    assert machine_key(SHAPE, {"onnx": 1}) != machine_key(other, {"onnx": 1})
    assert machine_key(SHAPE, {"onnx": 1}) != machine_key(SHAPE, {"onnx": 1, "compiled": 1})
