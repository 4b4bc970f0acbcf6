"""Published text encoders as bases: the same vectors as `transformers` computes, and clear errors for the others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from mathamr.core.errors import MathAMRError
from mathamr.text.encoder import TextEncoder
from mathamr_lab.recipes.bases import is_published, prepared_base, published_encoder, training_base
from tests.text.small import PIECES

VOCABULARY = [*PIECES, "[MASK]"]
SHAPE = {
    "vocab_size": len(VOCABULARY),
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 260,
}


def saved(folder: Path, kind: str) -> tuple[Path, Any]:
    """A tiny model with random weights and the vocabulary of the tests, as `transformers` saves it."""
    import transformers  # takes seconds

    torch.manual_seed(3)
    configs = {
        "bert": transformers.BertConfig(**SHAPE),
        "mpnet": transformers.MPNetConfig(**SHAPE),
        "distilbert": transformers.DistilBertConfig(
            vocab_size=len(VOCABULARY),
            dim=16,
            n_layers=2,
            n_heads=2,
            hidden_dim=24,
            max_position_embeddings=260,
        ),
        "electra": transformers.ElectraConfig(**SHAPE, embedding_size=16),
    }
    model = transformers.AutoModel.from_config(configs[kind]).eval()
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder, model


def states(encoder: TextEncoder, numbers: list[int]) -> torch.Tensor:
    row = torch.tensor([numbers])
    with torch.inference_mode():
        found: torch.Tensor = encoder.model(row, torch.tensor([len(numbers)]))
    return found


@pytest.mark.parametrize("kind", ["bert", "mpnet", "distilbert"])
def test_a_published_encoder_has_the_states_that_transformers_computes(kind: str, tmp_path: Path) -> None:
    folder, model = saved(tmp_path / kind, kind)
    assert is_published(folder)
    numbers = [2, 7, 9, 11, 8, 3]
    with torch.inference_mode():
        expected = model(input_ids=torch.tensor([numbers])).last_hidden_state
    found = states(published_encoder(folder), numbers)
    torch.testing.assert_close(found.reshape(expected.shape), expected, rtol=1e-4, atol=1e-5)


def test_a_training_reads_the_converted_base_without_transformers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = saved(tmp_path / "bert", "bert")
    expected = states(published_encoder(folder), [2, 5, 3])
    name, files = prepared_base(folder, tmp_path / "prepared")
    assert name == "base"
    assert all(path.is_file() for path in files)
    monkeypatch.setitem(sys.modules, "transformers", None)
    loaded = training_base(name, tmp_path / "prepared")
    torch.testing.assert_close(states(loaded, [2, 5, 3]), expected, rtol=0.02, atol=0.02)
    assert loaded.size == 16
    own, none = prepared_base(tmp_path / "prepared" / "base", tmp_path / "other")
    assert (own, none) == (str((tmp_path / "prepared" / "base").resolve()), [])


def test_what_cannot_be_a_base_is_refused(tmp_path: Path) -> None:
    folder, _ = saved(tmp_path / "electra", "electra")
    with pytest.raises(MathAMRError, match="model of type 'electra'; a base can be of type bert, mpnet"):
        published_encoder(folder)
    with pytest.raises(MathAMRError, match="transformers cannot read a text encoder"):
        published_encoder(tmp_path / "nothing")
