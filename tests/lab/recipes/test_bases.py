"""Published text encoders as bases: the same vectors as `transformers` computes, and clear errors for the others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from mathamr.core.errors import MathAMRError
from mathamr.text.bytepieces import read_pieces
from mathamr.text.encoder import TextEncoder
from mathamr.text.wording import Span, Wording
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


TEXTS = ["Let x be a ring: is x^2 a Ring, too?", "  Übung \\frac{a}{b}\n<s> twice twice", "ring"]


def saved_roberta(folder: Path) -> tuple[Path, Any, Any]:
    """A tiny RoBERTa with random weights, and its tokenizer of some merges."""
    import transformers
    from tokenizers import ByteLevelBPETokenizer

    torch.manual_seed(4)
    trained = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator(TEXTS * 3, vocab_size=290, min_frequency=2, special_tokens=special)
    folder.mkdir()
    trained.save_model(str(folder))
    tokenizer = transformers.RobertaTokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt"))
    shape = {**SHAPE, "vocab_size": len(tokenizer), "pad_token_id": 1, "type_vocab_size": 1}
    model = transformers.AutoModel.from_config(transformers.RobertaConfig(**shape)).eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder, model, tokenizer


def test_roberta_reads_the_same_pieces_and_has_the_same_states(tmp_path: Path) -> None:
    folder, model, tokenizer = saved_roberta(tmp_path / "roberta")
    name, _ = prepared_base(folder, tmp_path / "prepared")
    for encoder, close in (
        (published_encoder(folder), 1e-4),
        (training_base(name, tmp_path / "prepared"), 0.02),
    ):
        for text in TEXTS:
            expected = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
            found, begins = encoder.pieces.places(text)
            if text != TEXTS[1]:  # theirs takes "<s>" in a text for a mark
                assert found.tolist() == expected["input_ids"]
                assert begins.tolist() == [begin for begin, _ in expected["offset_mapping"]]
        numbers = [encoder.pieces.begin, *encoder.pieces.places(TEXTS[0])[0].tolist(), encoder.pieces.end]
        with torch.inference_mode():
            wanted = model(input_ids=torch.tensor([numbers])).last_hidden_state
        torch.testing.assert_close(
            states(encoder, numbers).reshape(wanted.shape), wanted, rtol=close, atol=close
        )


def test_pieces_of_bytes_know_where_words_begin_and_take_further_ones(tmp_path: Path) -> None:
    pieces = published_encoder(saved_roberta(tmp_path / "roberta")[0]).pieces
    wording = Wording("a ring, twice", (Span(0, 2, 6), Span(1, 8, 13)))
    (cut,) = pieces.cut([wording])
    spelled = [pieces.vocabulary[number].replace("Ġ", " ") for number in cut.numbers]
    assert ["".join(spelled[a:b]) for a, b in zip(cut.starts, cut.ends, strict=True)] == [" ring", " twice"]
    more = pieces.with_words(["texfrac"])
    numbers, _ = more.places("a texfrac {b}")
    assert len(pieces.vocabulary) in numbers
    path = tmp_path / "pieces"
    path.write_bytes(more.to_bytes())
    again = read_pieces(path)
    assert again.places("a texfrac {b}")[0].tolist() == numbers.tolist()
    # A mark in a text is no mark.
    assert not {pieces.begin, pieces.end, pieces.pad} & set(pieces.places(TEXTS[1])[0].tolist())
    for wrong in (
        b"{",
        b'{"pieces": 3}',
        more.to_bytes().replace(b'"merges": [[', b'"merges": [["zzz", "q"], ['),
    ):
        path.write_bytes(wrong)
        with pytest.raises(MathAMRError):
            read_pieces(path)


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
    with pytest.raises(
        MathAMRError, match="model of type 'electra'; a base can be of type bert, roberta, mpnet"
    ):
        published_encoder(folder)
    with pytest.raises(MathAMRError, match="transformers cannot read a text encoder"):
        published_encoder(tmp_path / "nothing")
