from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.text import ways
from mathamr.text.configuration import TransformerConfiguration
from mathamr.text.ways import (
    COMPILED,
    ONNX,
    Floats,
    Ways,
    going,
    machine_key,
    quickest,
    remember,
    remembered,
    way_for,
)

SHAPE = TransformerConfiguration(pieces=8, size=16, layers=1, heads=2, inner=32, positions=16)
ROW = np.ones((1, 2), np.float32)


class Multiplying:
    """Computes something in so many steps."""

    def __init__(self, factor: float = 2.0, steps: int = 1) -> None:
        self.factor, self.steps = factor, steps

    def __call__(self, embedded: Floats, added: Floats | None = None) -> Floats:
        for _ in range(self.steps):
            states = embedded * np.float32(self.factor)
        return states


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has both ways: ONNX Runtime doubles, machine code trebles."""
    monkeypatch.setenv("MATHAMR_CACHE", str(tmp_path))
    monkeypatch.delenv("MATHAMR_TEXT", raising=False)
    monkeypatch.setattr(ways, "fits", lambda shape: True)
    monkeypatch.setattr(ways, "OnnxTransformer", lambda shape, weights: Multiplying(2))
    monkeypatch.setattr(ways, "CompiledTransformer", lambda shape, weights: Multiplying(3))
    monkeypatch.setattr(ways, "processor_features", dict)


def factor() -> float:
    return float(Ways(SHAPE, {}).chosen(ROW)[0, 0])


def test_the_quickest_is_taken_unless_it_computes_something_else() -> None:
    slow, quick, wrong = Multiplying(steps=2000), Multiplying(), Multiplying(-2.0)
    assert quickest({ONNX: slow, "quick": quick, "wrong": wrong}, SHAPE) == "quick"
    assert quickest({ONNX: slow, "wrong": wrong, "nothing": Multiplying(float("nan"))}, SHAPE) == ONNX


def test_what_was_measured_once_is_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []

    def measuring(given: dict[str, Multiplying], shape: TransformerConfiguration) -> str:
        measured.append(",".join(given))
        return COMPILED

    monkeypatch.setattr(ways, "quickest", measuring)
    assert way_for(ways.MANY - 1) == ONNX
    assert not measured
    assert [way_for(ways.MANY), way_for(ways.MANY)] == [COMPILED, COMPILED]
    assert measured == ["onnx,compiled"]
    monkeypatch.setenv("MATHAMR_TEXT", ONNX)
    assert way_for(ways.MANY) == ONNX


def test_a_way_is_gone_where_it_is_named_and_by_nobody_beside() -> None:
    beside: list[float] = []
    with going(COMPILED):
        other = threading.Thread(target=lambda: beside.append(factor()))
        other.start()
        other.join()
        assert factor() == 3
    assert beside == [2]
    assert factor() == 2


def test_a_setting_names_the_way_for_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATHAMR_TEXT", COMPILED)
    assert factor() == 3
    monkeypatch.setenv("MATHAMR_TEXT", ONNX)
    with going(COMPILED):
        assert factor() == 2


def test_a_way_that_is_not_here_is_replaced_or_refused_if_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "fits", lambda shape: False)
    with going(COMPILED):
        assert factor() == 2
    assert way_for(ways.MANY) == ONNX
    monkeypatch.setenv("MATHAMR_TEXT", COMPILED)
    with pytest.raises(MathAMRError, match="llvmlite"):
        factor()


def test_a_window_that_does_not_fit_into_sixteen_bits_is_read_by_the_other_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ways, "CompiledTransformer", lambda shape, weights: Multiplying(float("inf")))
    with going(COMPILED):
        assert factor() == 2


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


def test_another_processor_is_measured_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    here = machine_key([ONNX])
    assert machine_key([ONNX, COMPILED]) != here == machine_key([ONNX])
    monkeypatch.setattr(ways, "processor_name", lambda: "another")
    assert machine_key([ONNX]) != here
