from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from mathamr.errors import MathAMRError
from mathamr.layers.language.crossencoder import CrossEncoder, in_groups
from mathamr.layers.language.crossfiles import load_cross_encoder, save_cross_encoder
from mathamr.layers.language.pairlengths import PairLengths
from mathamr.layers.language.quantised import is_available
from mathamr.layers.language.quantisedcross import CONFIG, WEIGHTS, QuantisedCross, read_cross
from mathamr.layers.language.transformer import Transformer, TransformerConfiguration
from mathamr.layers.language.ways import COMPILED, ONNX, way_of
from mathamr.layers.language.wordpieces import WordPieces

PIECES = WordPieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"w{number}" for number in range(60))])
QUERY = np.array([5, 9, 11])
DOCUMENTS = [np.arange(4, 30), np.array([7]), np.array([], np.int64), np.arange(40, 10, -1), np.array([9, 5])]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder with weights by chance."""
    torch.manual_seed(3)
    shape = TransformerConfiguration(pieces=64, size=96, layers=3, heads=4, inner=192, positions=32)
    model = CrossEncoder(Transformer(shape), PIECES, PairLengths(8, 16))
    torch.nn.init.normal_(model.score.weight)
    made = tmp_path_factory.mktemp("cross")
    save_cross_encoder(made, model)
    return made


def exact_scores(model: CrossEncoder) -> list[float]:
    """One row at a time, without padding."""
    rows = [model.row(QUERY, document) for document in DOCUMENTS]
    with torch.inference_mode():
        return [float(model(torch.from_numpy(row)[None], torch.tensor([len(row)]))[0]) for row in rows]


def test_many_rows_score_as_each_by_itself(folder: Path) -> None:
    model = load_cross_encoder(folder)
    rows = [model.row(QUERY, document) for document in DOCUMENTS]
    assert model.scored(rows).tolist() == pytest.approx(exact_scores(model), abs=1e-5)
    groups, places = in_groups(rows, PIECES.pad, groups=2)
    with torch.inference_mode():
        found = torch.cat([model(numbers, lengths) for numbers, lengths in groups])[places]
    assert found.tolist() == pytest.approx(exact_scores(model), abs=1e-5)


@pytest.mark.skipif(not is_available(), reason="ONNX Runtime is not installed")
@pytest.mark.parametrize("way", [ONNX, COMPILED])
def test_eight_bits_score_as_floating_point_up_to_rounding(
    folder: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MATHAMR_TEXT", way)
    if way_of(read_cross(folder).configuration) != way:
        pytest.skip("our machine code needs llvmlite and an ARM processor with dot products")
    exact = np.array(exact_scores(load_cross_encoder(folder)))
    found = np.array(QuantisedCross(read_cross(folder)).scores(QUERY, DOCUMENTS))
    assert np.abs(found - exact).max() < 0.15 * exact.std()
    assert found.argsort().tolist() == exact.argsort().tolist()


def test_what_is_saved_is_read_back_the_same(folder: Path, tmp_path: Path) -> None:
    save_cross_encoder(tmp_path, load_cross_encoder(folder))
    assert (tmp_path / WEIGHTS).read_bytes() == (folder / WEIGHTS).read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 7}, "format 7"),
        ({"reads": {"query": 8, "document": 400}}, "no positions"),
        ({"reads": {"query": 0, "document": 4}}, "1 to 10,000"),
        ({"reads": {"unknown": 1}}, "unknown"),
        (
            {
                "transformer": {
                    "pieces": 64,
                    "size": 96,
                    "layers": 4,
                    "heads": 4,
                    "inner": 192,
                    "positions": 32,
                }
            },
            "layers.3",
        ),
        ({"sha256": {WEIGHTS: "0" * 64}}, WEIGHTS),
    ],
)
def test_a_folder_that_is_not_whole_is_refused(
    folder: Path, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    row = json.loads((folder / CONFIG).read_text())
    (tmp_path / CONFIG).write_text(json.dumps(row | change))
    with pytest.raises(MathAMRError, match=message):
        read_cross(tmp_path)
