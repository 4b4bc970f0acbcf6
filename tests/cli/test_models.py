"""`mathamr models`: a line for every model that says what it is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from mathamr.core.modelfolder import read_config
from mathamr.systems.models import boxed, checked_model
from tests.cli.conftest import Command


def test_every_model_in_the_box_has_a_line_of_its_own(mathamr: Command) -> None:
    result = mathamr("models")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.partition("\n\n")[0].splitlines()
    said = dict(line.split(maxsplit=1) for line in lines)
    assert set(said) == set(boxed())
    assert len(set(said.values())) == len(said)
    assert lines[0].startswith("mathamr-3 ")


def test_nothing_of_another_package_reaches_the_user() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "mathamr", "models", "-v"], capture_output=True, text=True, check=True
    ).stderr
    assert [line for line in told.splitlines() if not line.startswith("mathamr: ")] == []


def test_a_card_is_read_by_the_hub_and_has_the_figures(mathamr: Command) -> None:
    model = checked_model("mathamr-3")
    card = model.card()
    for what, value in model.about["measured"]["answers"].items():
        assert f"| {what} | {value} |" in card
    assert mathamr("models", "mathamr-3", "--card").stdout == card
    hub = pytest.importorskip("huggingface_hub")
    assert hub.ModelCard(card).data.to_dict()["library_name"] == "mathamr"


def test_every_model_says_its_licence_language_base_and_data_and_notice_names_it() -> None:
    notice = (Path(__file__).parents[2] / "NOTICE").read_text(encoding="utf-8")
    for name in boxed():
        model = checked_model(name)
        header = yaml.safe_load(model.card().split("---\n")[1])
        assert header["license"] == "apache-2.0", name
        assert header["language"] == ["en"], name
        assert "ARQMath" in header["datasets"], name
        row = read_config(model.folder)
        assert header.get("base_model", []) == row["base_model"], name
        assert {"license", "language", "base_model", "datasets"} <= set(model.to_json()), name
        assert re.search(rf"[/, (]{re.escape(name)}(?:[/,\s]|$)", notice), name
