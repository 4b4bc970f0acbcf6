"""The curve of a training: measured from the untrained network to the last step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mathamr.formulas.parse import parse
from mathamr.systems.models import load_system
from mathamr_lab.experiments.formulacollection import FormulaCollection, NamedFormula
from mathamr_lab.experiments.formulacurve import CURVE, main
from tests.systems.formulamodels import LATEX, shard


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    def named(name: str, latex: str) -> NamedFormula:
        parsed = parse(latex)
        return NamedFormula(name, (parsed.slt, parsed.opt))

    candidates = [named(str(number), latex) for number, latex in enumerate(LATEX)]
    grades = {"B.1": {"0": 3, "1": 0, "2": 0}}
    made = FormulaCollection.of("a few", candidates, [named("B.1", LATEX[0])], grades)
    made.save(tmp_path / "few.npz")
    return tmp_path / "few.npz"


@pytest.mark.parametrize("system", ["formula-graph", "ssemb"])
def test_a_curve_begins_with_the_untrained_network_and_ends_with_the_saved_one(
    system: str, collection: Path, tmp_path: Path
) -> None:
    shard().save(tmp_path / "formulas.npz")
    out = tmp_path / "out"
    given = [str(tmp_path / "formulas.npz"), "--system", system, "--config", "small", "--device", "cpu"]
    wanted = ["--collection", str(collection), "--at", "0,1", "--out", str(out)]
    changes = ["--set", "epochs=3", "--set", "batch_size=4", "--set", "validation=2"]
    assert main([*given, *wanted, *changes]) == 0
    rows = [json.loads(line) for line in (out / CURVE).read_text(encoding="utf-8").splitlines()]
    steps = [row["step"] for row in rows]
    assert steps[:2] == [0, 1]
    assert steps[-1] > 1
    assert rows[0]["loss"] is None
    assert rows[1]["loss"] > 0
    assert all(row["validation"]["mrr"] > 0 for row in rows)
    # The query is the only relevant formula itself.
    assert all(each["Bpref"] == 1 for row in rows for each in row["retrieval"])
    assert load_system(out, "cpu").kind == system


def test_an_unknown_setting_is_a_clear_error(
    collection: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shard().save(tmp_path / "formulas.npz")
    given = [str(tmp_path / "formulas.npz"), "--collection", str(collection), "--out", str(tmp_path / "out")]
    assert main([*given, "--set", "colour=red"]) == 1
    assert "colour" in capsys.readouterr().err
