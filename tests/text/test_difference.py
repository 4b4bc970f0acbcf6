from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mathamr.core.errors import MathAMRError
from mathamr.core.tensorfile import read_tensors, tensor_bytes
from mathamr.text import torchfolder
from mathamr.text.difference import CODES, SIZES, difference, with_difference
from mathamr.text.encoder import TextEncoder
from mathamr.text.published import MODEL
from mathamr.text.torchfolder import load_text_encoder, save_text_encoder
from mathamr.text.transformer import Transformer, TransformerConfiguration
from mathamr.text.wordpieces import WordPieces
from tests.text.small import PIECES

SOURCE = Path("weights.safetensors")


def weights(seed: int) -> dict[str, torch.Tensor]:
    chance = torch.Generator().manual_seed(seed)
    return {"a": torch.randn(9, 64, generator=chance), "b": torch.randn(64, generator=chance)}


def test_two_bits_keep_nine_tenths_of_a_normal_difference() -> None:
    base, added = weights(0), weights(1)
    tuned = {name: base[name] + 0.01 * added[name] for name in base}
    stored = difference(tuned, base)
    assert stored[f"a{CODES}"].numel() * 4 == base["a"].numel()
    back = with_difference(base, stored, SOURCE)
    lost = (back["a"] - tuned["a"]).square().sum() / (tuned["a"] - base["a"]).square().sum()
    # Max (1960): four sizes of a normal distribution lose 0.1175.
    assert 0.08 < float(lost) < 0.13
    torch.testing.assert_close(back["b"], tuned["b"], atol=2e-5, rtol=0)


def test_a_difference_of_two_sizes_comes_back_exactly_and_one_that_is_none_is_not_kept() -> None:
    base = {"a": torch.zeros(2, 8), "same": torch.ones(3, 4)}
    tuned = {"a": torch.tensor([[0.5, -0.5, 2.0, -2.0] * 2, [0.25] * 8]), "same": torch.ones(3, 4)}
    stored = difference(tuned, base)
    assert set(stored) == {f"a{CODES}", f"a{SIZES}"}
    back = with_difference(base, stored, SOURCE)
    assert torch.equal(back["a"], tuned["a"])
    assert torch.equal(back["same"], tuned["same"])


@pytest.mark.parametrize("damage", ["foreign", "sizes", "shape"])
def test_a_difference_to_something_else_is_refused(damage: str) -> None:
    base = weights(0)
    stored = difference({name: tensor + weights(1)[name] for name, tensor in base.items()}, base)
    if damage == "foreign":
        stored["other.codes"] = stored.pop(f"a{CODES}")
    elif damage == "sizes":
        del stored[f"a{SIZES}"]
    else:
        stored[f"a{CODES}"] = stored[f"a{CODES}"][:, :3].contiguous()
    with pytest.raises(MathAMRError, match=r"another base|another shape"):
        with_difference(base, stored, SOURCE)


def test_an_encoder_upon_a_base_is_kept_as_its_difference(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shape = TransformerConfiguration(
        pieces=len(PIECES), size=16, layers=1, heads=2, inner=32, positions=256, buckets=32, epsilon=1e-5
    )
    torch.manual_seed(0)
    base = Transformer(shape)
    tuned = Transformer(TransformerConfiguration(**{**shape.to_json(), "projection": 8}))
    changed = {name: tensor + 0.02 * torch.randn_like(tensor) for name, tensor in base.state_dict().items()}
    tuned.load_state_dict({**changed, "head.weight": torch.randn(8, 16)})
    home = tmp_path / "base"
    home.mkdir()
    (home / MODEL).write_bytes(tensor_bytes(base.state_dict()))
    (home / "vocab.txt").write_bytes(WordPieces(PIECES).to_bytes())
    monkeypatch.setattr(torchfolder, "mpnet_folder", lambda: home)
    monkeypatch.setattr(torchfolder, "published_weights", lambda path: (shape, read_tensors(path)))
    save_text_encoder(tmp_path / "text", TextEncoder(tuned, WordPieces(PIECES), upon="mpnet"))
    loaded = load_text_encoder(tmp_path / "text", "cpu")
    assert loaded.size == 8
    for name, before in base.state_dict().items():
        now = loaded.model.state_dict()[name]
        lost = (now - changed[name]).square().sum() / (changed[name] - before).square().sum()
        assert float(lost) < 0.2, name
    save_text_encoder(tmp_path / "again", loaded)
    assert load_text_encoder(tmp_path / "again", "cpu").fingerprint == loaded.fingerprint
    monkeypatch.setitem(torchfolder.KEPT, MODEL, "0" * 64)
    with pytest.raises(MathAMRError, match="which this version does not know"):
        load_text_encoder(tmp_path / "text", "cpu")
