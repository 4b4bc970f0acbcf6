"""The parser's network without torch computes what the one that is trained computes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from mathamr.amr.builtin.model import WEIGHTS, NetworkConfiguration, ParserModel
from mathamr.amr.builtin.network import Network
from mathamr.amr.builtin.nodes import KINDS
from mathamr.amr.builtin.numbers import REASONS
from mathamr.amr.builtin.states import word_pieces, word_states
from mathamr.amr.builtin.words import SHAPES, cut
from mathamr.text.configuration import WINDOW
from mathamr.text.folder import load_onnx_encoder
from mathamr.text.torchfolder import load_text_encoder, quantised, restored
from mathamr_lab.amr.fit import Collator, Reader
from mathamr_lab.amr.network import ParserNetwork

CONFIGURATION = NetworkConfiguration(
    concepts=20, templates=5, labels=7, tags=9, layers_read=(1, 2), states=24, size=32, layers=1, inner=48, heads=4,
    hidden=16, node=24, pair=16, arc=16,
)  # fmt: skip
WORDS, NODES, CANDIDATES = 11, 6, 30


def networks() -> tuple[ParserNetwork, Network]:
    torch.manual_seed(1)
    exact = ParserNetwork(CONFIGURATION, deps=4)
    torch.nn.init.normal_(exact.no_head)
    stored = quantised(exact.state_dict())
    exact.load_state_dict(restored(stored))
    return exact.eval(), Network(CONFIGURATION, {name: tensor.numpy() for name, tensor in stored.items()})


def test_words_cores_templates_and_relations_agree() -> None:
    exact, ours = networks()
    random = np.random.default_rng(1)
    pooled = random.normal(size=(WORDS, 24)).astype(np.float32)
    shapes = random.integers(0, len(SHAPES), WORDS)
    found = ours.words(pooled, shapes, [WORDS])
    lengths = torch.tensor([WORDS])
    with torch.inference_mode():
        words = exact.words(torch.from_numpy(pooled)[None], torch.from_numpy(shapes)[None], lengths)
        arcs = exact.arcs(words, lengths)
    np.testing.assert_allclose(found.states, words[0].numpy(), atol=0.06)  # products of states in eight bits
    np.testing.assert_allclose(found.tree, torch.softmax(arcs[0], -1)[:, 1:].numpy(), atol=0.02)

    found.states = words[0].numpy()
    found.tree = torch.softmax(arcs[0], -1)[:, 1:].numpy()
    owner, concept = np.sort(random.integers(0, WORDS, CANDIDATES)), random.integers(0, 20, CANDIDATES)
    reason = random.integers(0, len(REASONS), CANDIDATES)
    counts = random.random((CANDIDATES, 4)).astype(np.float32)
    token, kind = np.sort(random.integers(0, WORDS, NODES)), random.integers(0, len(KINDS), NODES)
    place, roles = random.integers(0, 4, NODES), random.integers(0, 2, (NODES, 7)).astype(np.float32)
    tensors = [torch.from_numpy(each) for each in (owner, concept, reason, counts)]
    nodes = [torch.from_numpy(each)[None] for each in (token, concept[:NODES], kind, place, roles)]
    with torch.inference_mode():
        cores = exact.core_scores(words[0], *tensors)
        templates = exact.template_scores(words[0], *tensors[:2])
        relations, roots = exact.relation_scores(words, arcs, *nodes)
    ends, own_roots = ours.nodes(found, token, concept[:NODES], kind, place, roles)
    sources, targets = np.divmod(np.arange(NODES * NODES), NODES)
    own_relations = ours.relations(found, ends, token, sources, targets)
    for one, other in (
        (ours.cores(found, owner, concept, reason, counts), cores),
        (ours.templates(found, owner, concept), templates),
        (own_relations.reshape(NODES, NODES, -1), relations[0]),
        (own_roots, roots[0]),
    ):
        np.testing.assert_allclose(one, other.numpy(), atol=1e-4)


def test_sentences_read_together_do_not_see_each_other() -> None:
    _, ours = networks()
    random = np.random.default_rng(2)
    pooled = random.normal(size=(WORDS, 24)).astype(np.float32)
    shapes = random.integers(0, len(SHAPES), WORDS)
    sizes = [4, 1, WORDS - 5]
    together = ours.words(pooled, shapes, sizes)
    for start, size in zip([0, 4, 5], sizes, strict=True):
        own = slice(start, start + size)
        alone = ours.words(pooled[own], shapes[own], [size])
        np.testing.assert_allclose(together.states[own], alone.states, atol=0.06)  # rounding to eight bits
        np.testing.assert_allclose(together.tree[own, own], alone.tree, atol=0.02)
        assert all(start <= head < start + size for head in together.heads[own])
    np.testing.assert_allclose(together.tree[0, 4:], 0)


def test_training_pools_the_states_that_the_parser_pools() -> None:
    model = ParserModel.load(WEIGHTS)
    text, ours = load_text_encoder(model.encoder, "cpu"), load_onnx_encoder(model.encoder)
    words = cut("The sum of FORMULA_0 and of finitely many homeomorphisms converges. " * 20)
    other = cut("It is even.")
    read = []
    for sentence in (words, other):
        read.append(word_pieces(ours.pieces, [sentence], {"FORMULA_0": "a+b"}))
    assert len(read[0][0]) > WINDOW
    batch: dict[str, Any] = {"shape": np.zeros((2, len(words)), np.int64)}
    marks = (text.pieces.begin, text.pieces.end, text.pieces.pad)
    Collator(SimpleNamespace(), marks, 1)._pieces(read, len(words), batch)  # type: ignore[arg-type]
    exact = ParserNetwork(CONFIGURATION, deps=4)
    reader = Reader(exact, text.model, model.mix)
    with torch.inference_mode():
        read_states = reader.read({name: torch.from_numpy(array) for name, array in batch.items()})
        pooled = reader.pooled(read_states).numpy()
    for row, sentence in zip(pooled, (words, other), strict=True):
        (expected,) = word_states(ours, model.mix, [sentence], {"FORMULA_0": "a+b"})
        cosines = (row[: len(expected)] * expected).sum(1)
        cosines /= np.linalg.norm(row[: len(expected)], axis=1) * np.linalg.norm(expected, axis=1)
        assert cosines.min() > 0.98  # the parser's products are in eight bits
    np.testing.assert_array_equal(pooled[1, len(other) :], 0)
