"""Decoders against transformers' own, and as the base of MathAMR and MaRF."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as Decoding
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from mathamr.errors import MathAMRError
from mathamr.layers.language.publisheddecoder import KINDS
from mathamr.layers.language.wording import Span, Wording
from mathamr.layers.lowrank import add_changes
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.systems.marf.configuration import CONFIGURATIONS
from mathamr.systems.marf.files import fresh_network
from mathamr.systems.marf.inference import context_vectors
from mathamr.systems.mathamr.sentenceencoder import SentenceEncoder
from mathamr.systems.textbase import load_base
from tests.systems.tinytext import VOCABULARIES

transformers = pytest.importorskip(
    "transformers", reason="published decoders are compared with transformers'"
)

TEXTS = ["we solve the equation x^2 = 1", "a group", "the sum of x and y is even, \\frac{a}{b}"]
PIECES = 320
"""Embeddings: more than the tokenizer has pieces, as published models have them."""


def written(folder: Path, kind: str) -> Any:
    """A small model of a kind that knows nothing, in a folder as transformers writes it; the model."""
    torch.manual_seed(len(kind))
    shape = transformers.AutoConfig.for_model(
        kind,
        vocab_size=PIECES,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8 if kind == "qwen3" else 4,
        max_position_embeddings=300,
        bos_token_id=None,
        eos_token_id=0,
        pad_token_id=None,
    )
    model = transformers.AutoModel.from_config(shape).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    made = Tokenizer(BPE())
    made.pre_tokenizer, made.decoder = ByteLevel(add_prefix_space=False), Decoding()
    made.train_from_iterator(
        TEXTS,
        BpeTrainer(vocab_size=PIECES - 20, special_tokens=["<end>"], initial_alphabet=ByteLevel.alphabet()),
    )
    made.save(str(folder / "tokenizer.json"))
    return model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("decoder")
    written(place, "qwen2")
    return place


@pytest.mark.parametrize("kind", KINDS)
def test_states_are_those_of_transformers_whatever_fills_up_the_row(kind: str, tmp_path: Path) -> None:
    theirs = written(tmp_path, kind)
    ours = load_base(str(tmp_path)).model
    numbers = torch.randint(1, 300, (3, 9))
    lengths = torch.tensor([9, 4, 1])
    with torch.inference_mode():
        found = ours(numbers, lengths)
        for row, length in enumerate(lengths.tolist()):
            expected = theirs(numbers[row : row + 1, :length]).last_hidden_state[0]
            torch.testing.assert_close(found[row, :length], expected, atol=1e-4, rtol=1e-3)


def test_text_is_cut_as_its_tokenizer_does_and_added_words_stand_behind_all_embeddings(folder: Path) -> None:
    pieces = load_base(str(folder)).pieces
    (cut,) = pieces.cut([Wording(TEXTS[0], (Span(0, 0, 2), Span(1, 3, len(TEXTS[0]))))])
    assert cut.numbers.tolist() == Tokenizer.from_file(str(folder / "tokenizer.json")).encode(TEXTS[0]).ids
    assert [pieces.vocabulary[number] for number in cut.numbers[cut.starts[0] : cut.ends[0]]] == ["we"]
    longer = pieces.with_words(["texfrac", "texsum"])
    (cut,) = longer.cut([Wording("a texsum b", (Span(0, 0, 10),))])
    assert PIECES + 1 in cut.numbers.tolist()
    assert longer.vocabulary[PIECES + 1] == "texsum"


def test_a_sentence_is_read_by_a_decoder(folder: Path) -> None:
    vectors = SentenceEncoder(load_base(str(folder)), 64).encode(TEXTS)
    assert vectors.shape == (3, 16)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    assert load_base(str(folder)).fingerprint == load_base(str(folder)).fingerprint != ""


def test_marf_begins_from_a_decoder_and_its_changes_learn(folder: Path) -> None:
    base = load_base(str(folder))
    shape = CONFIGURATIONS["tiny"]
    reader = VOCABULARIES.reader(base.pieces, shape)
    network = fresh_network(base, VOCABULARIES, shape).eval()
    body = "we have $\\frac{a}{b}$"
    post = Post("1", "note", body, markup="text", formulas=formulas_of("1", "", body, "text"))
    (read,) = reader.posts([post])
    assert PIECES in read.numbers.tolist(), "the command is a token of its own"
    (before,) = context_vectors(network, [read], torch.device("cpu"))
    assert before.shape == (len(read.numbers), shape.size)
    numbers, length = torch.from_numpy(read.numbers.astype(np.int64))[None], torch.tensor([len(read.numbers)])
    network.context(numbers, length).square().sum().backward()
    learned = {name for name, each in network.context.named_parameters() if each.grad is not None}
    assert any(name.endswith("query.up") for name in learned)
    assert "transformer.pieces.added" in learned


def test_layers_of_a_decoder_can_be_changed_by_low_rank(folder: Path) -> None:
    model = load_base(str(folder)).model
    assert len(add_changes(model, 2)) == 2 * 7


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rope_parameters": {"rope_type": "yarn"}}, "stretched positions"),
        ({"hidden_act": "gelu"}, "only 'silu'"),
        ({"num_attention_heads": "many"}, "does not tell the shape"),
        ({"num_attention_heads": 0, "head_dim": None}, "does not tell the shape"),
        ({"num_key_value_heads": 3}, "queries for"),
        ({"eos_token_id": None}, "what ends a text"),
        ({"eos_token_id": 10**6}, "embeddings"),
        ({"hidden_size": 32}, "shape"),
    ],
)
def test_a_folder_that_lies_about_its_model_is_refused(
    folder: Path, tmp_path: Path, change: dict[str, object], told: str
) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    row = json.loads((folder / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(row | change))
    with pytest.raises(MathAMRError, match=told):
        load_base(str(tmp_path))


def test_an_index_of_weights_names_files_beside_it_alone(folder: Path, tmp_path: Path) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "part-1.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"norm.weight": "part-1.safetensors"}}))
    assert load_base(str(tmp_path)).size == 16
    index.write_text(json.dumps({"weight_map": {"norm.weight": "../model.safetensors"}}))
    with pytest.raises(MathAMRError, match="beside it"):
        load_base(str(tmp_path))


def test_a_damaged_tokenizer_is_told(folder: Path, tmp_path: Path) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(MathAMRError, match="no tokenizer"):
        load_base(str(tmp_path))
