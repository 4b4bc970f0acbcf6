from __future__ import annotations

from pathlib import Path

import numpy as np

from mathamr.systems.baseencoder import load_base_encoder
from mathamr.systems.mathamr.configuration import MathAMRConfiguration
from mathamr.systems.mathamr.sentenceencoder import SentenceEncoder
from mathamr.systems.mathamr.system import MathAMRSystem
from tests.systems.tinytext import tiny_base


def test_a_model_without_changes_reads_with_its_text_encoder_as_it_is(tmp_path: Path) -> None:
    base = str(tiny_base(tmp_path / "base"))
    configuration = MathAMRConfiguration(context="amr-latex", base=base, length=16)
    about = {"training": {"judgments": 0, "topics": 0}}
    MathAMRSystem(load_base_encoder(base, "cpu"), configuration, {}, about=about).save(tmp_path / "model")
    loaded = MathAMRSystem.load(tmp_path / "model", "cpu")
    plain = SentenceEncoder(load_base_encoder(base, "cpu"), 16)
    lines = ["ab cd", "x^2=4"]
    np.testing.assert_array_equal(loaded.encoder.encode(lines), plain.encode(lines))
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again" / "config.json").read_text() == (
        tmp_path / "model" / "config.json"
    ).read_text()
