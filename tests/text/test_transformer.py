from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
import torch
from torch import nn

from mathamr.core.errors import MathAMRError
from mathamr.text.configuration import relative_buckets
from mathamr.text.transformer import Transformer, TransformerConfiguration, TransformerLayer

SHAPE = TransformerConfiguration(pieces=50, size=16, layers=2, heads=4, inner=24, positions=32)


def test_a_layer_is_the_one_of_torch() -> None:
    torch.manual_seed(1)
    ours = TransformerLayer(SHAPE).eval()
    theirs = nn.TransformerEncoderLayer(16, 4, 24, activation="gelu", layer_norm_eps=1e-12, batch_first=True)
    theirs.load_state_dict(
        {
            "self_attn.in_proj_weight": ours.attention.weight,
            "self_attn.in_proj_bias": ours.attention.bias,
            "self_attn.out_proj.weight": ours.attended.weight,
            "self_attn.out_proj.bias": ours.attended.bias,
            "linear1.weight": ours.inner.weight,
            "linear1.bias": ours.inner.bias,
            "linear2.weight": ours.outer.weight,
            "linear2.bias": ours.outer.bias,
            "norm1.weight": ours.attention_norm.weight,
            "norm1.bias": ours.attention_norm.bias,
            "norm2.weight": ours.outer_norm.weight,
            "norm2.bias": ours.outer_norm.bias,
        }
    )
    theirs.train()
    for module in theirs.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    theirs.self_attn.dropout = 0.0
    x = torch.randn(3, 7, 16)
    lengths = torch.tensor([7, 4, 1])
    seen = torch.arange(7) < lengths[:, None]
    expected = theirs(x, src_key_padding_mask=~seen)
    found = ours(x, seen[:, None, None, :])
    torch.testing.assert_close(found[seen], expected[seen], atol=1e-5, rtol=1e-5)


def test_what_lies_beyond_a_row_changes_nothing() -> None:
    torch.manual_seed(2)
    model = Transformer(SHAPE).eval()
    rows, lengths = torch.randint(0, 50, (2, 9)), torch.tensor([5, 9])
    other = rows.clone()
    other[0, 5:] = 3
    torch.testing.assert_close(model(rows, lengths)[0, :5], model(other, lengths)[0, :5])


def test_means_over_spans_are_those_of_a_loop() -> None:
    torch.manual_seed(3)
    model = Transformer(TransformerConfiguration(pieces=50, size=16, heads=4, inner=24, projection=8)).eval()
    states = torch.randn(12, 16)
    spans = [[0, 1, 2], [5], [11, 3, 3, 7]]
    offsets = torch.tensor([0, 3, 4])
    found = model.pooled(states, torch.tensor([place for span in spans for place in span]), offsets)
    assert model.head is not None
    for row, span in zip(found, spans, strict=True):
        expected = model.head(states[span].mean(0))
        torch.testing.assert_close(row, expected / expected.norm())


@pytest.mark.parametrize("field", [{"heads": 5}, {"layers": 0}, {"projection": 1000}, {"dropout": 1.5}])
def test_impossible_shapes_are_refused(field: dict[str, float]) -> None:
    with pytest.raises(MathAMRError):
        TransformerConfiguration(**field)  # type: ignore[arg-type]
    with pytest.raises(MathAMRError, match="transformer"):
        TransformerConfiguration.from_json({"colour": 1})


@pytest.mark.skipif(not find_spec("transformers"), reason="needs transformers")
def test_buckets_of_distances_are_those_of_mpnet() -> None:
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

    places = torch.arange(300)
    expected = MPNetEncoder.relative_position_bucket(places[None, :] - places[:, None])
    assert np.array_equal(relative_buckets(300, 32), expected.numpy())
