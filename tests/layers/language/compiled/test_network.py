"""The layers as machine code against torch's, in 32 bits, and its single functions against numpy's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mathamr.layers.language.compiled.network import CompiledTransformer, fits, program
from mathamr.layers.language.configuration import TransformerConfiguration
from mathamr.layers.language.files import quantised
from mathamr.layers.language.torchtransformer import TorchTransformer
from mathamr.layers.language.transformer import Transformer


def shape(heads: int = 6, buckets: int = 0, size: int = 48) -> TransformerConfiguration:
    return TransformerConfiguration(
        pieces=8, size=size, layers=2, heads=heads, inner=96, positions=16, buckets=buckets
    )


if not fits(shape()):
    pytest.skip(
        "llvmlite is not installed, or the processor has no instructions for this", allow_module_level=True
    )


def weights_of(configuration: TransformerConfiguration) -> dict[str, np.ndarray]:
    """Weights with some numbers far larger than the others, as those of trained networks are."""
    torch.manual_seed(1)
    model = Transformer(configuration)
    with torch.no_grad():
        for layer in model.layers:
            layer.attention_norm.weight[5] = 12
            layer.outer_norm.bias[7] = 9
            layer.attention.weight.mul_(2)
    return {name: each.numpy() for name, each in quantised(model.state_dict()).items()}


@pytest.mark.parametrize(("heads", "buckets", "size"), [(6, 0, 48), (3, 8, 96), (3, 0, 192)])
def test_states_are_those_of_torch_up_to_rounding(heads: int, buckets: int, size: int) -> None:
    configuration = shape(heads, buckets, size)
    weights = weights_of(configuration)
    ours, theirs = CompiledTransformer(configuration, weights), TorchTransformer(configuration, weights)
    drawn = np.random.default_rng(0)
    for width in (2, 8, 33, 70, 256):
        embedded = drawn.standard_normal((width, size), np.float32)
        added = drawn.standard_normal((heads, width, width), np.float32) * 3 if buckets else None
        found, expected = ours(embedded, added), theirs(embedded, added)
        assert found.shape == (width, size)
        cosines = (found * expected).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(expected, axis=1)
        assert cosines.min() > 0.998
        assert cosines.mean() > 0.9996


def test_a_window_is_the_same_whatever_was_read_before() -> None:
    configuration = shape()
    ours = CompiledTransformer(configuration, weights_of(configuration))
    short, long = (
        np.random.default_rng(width).standard_normal((width, 48), np.float32) for width in (19, 200)
    )
    first = ours(short)
    ours(long)
    assert np.array_equal(ours(short), first)


@pytest.mark.parametrize("wanted", [1, 8, 9, 130, 300])
def test_the_first_states_alone_are_those_of_all(wanted: int) -> None:
    configuration = shape()
    ours = CompiledTransformer(configuration, weights_of(configuration))
    embedded = np.random.default_rng(2).standard_normal((200, 48), np.float32)
    assert np.array_equal(ours(embedded, wanted=wanted), ours(embedded)[:wanted])


@pytest.mark.parametrize("part", ["attention", "attended", "inner", "outer"])
@pytest.mark.parametrize("numbers", ["weight.scale", "bias"])
def test_numbers_that_do_not_fit_into_sixteen_bits_are_never_taken_for_states(
    part: str, numbers: str
) -> None:
    """Then some state of the window is no number, which is what `Ways` looks for."""
    configuration = shape()
    weights = weights_of(configuration)
    embedded = np.random.default_rng(5).standard_normal((20, 48), np.float32)
    theirs = TorchTransformer(configuration, weights)(embedded)
    assert np.isfinite(CompiledTransformer(configuration, weights)(embedded)).all()
    weights[f"layers.0.{part}.{numbers}"] = weights[f"layers.0.{part}.{numbers}"] * np.float32(1e9)
    assert np.isfinite(theirs).all()
    assert not np.isfinite(CompiledTransformer(configuration, weights)(embedded)).all()


def test_products_are_whole_and_rows_rounded_by_themselves() -> None:
    """What is rounded, then multiplied, is the product of the rounded numbers to the last bit of sixteen."""
    from mathamr.layers.language.compiled.products import packed_weights

    drawn = np.random.default_rng(3)
    rows, size, columns = 16, 48, 24
    states = (drawn.standard_normal((rows, size)) * 10.0 ** drawn.integers(-2, 3, (rows, 1))).astype(
        np.float16
    )
    states[3] = 0
    weights = drawn.integers(-127, 128, (columns, size)).astype(np.int8)
    by_column, bias = drawn.random(columns, np.float32) / 100, drawn.random(columns, np.float32)
    packed, scales = np.empty(rows * size, np.int8), np.empty((rows, 2), np.float32)
    out, matrix = np.empty((rows, columns), np.float16), packed_weights(weights)
    sums = weights.sum(1, dtype=np.float32)
    code = program(8, False)
    code["rounded"](states.ctypes.data, packed.ctypes.data, scales.ctypes.data, rows, size)
    given = (packed, scales, matrix, by_column, sums, bias, out)
    code["product"](*(each.ctypes.data for each in given), rows, size, columns)
    numbers = packed.reshape(rows // 8, size // 4, 8, 4).transpose(0, 2, 1, 3).reshape(rows, size)
    scale, short = scales[:, :1], scales[:, 1:]
    wide = np.maximum(states.max(1), 0).astype(np.float32) - np.minimum(states.min(1), 0)
    np.testing.assert_allclose(scale[wide > 0, 0], wide[wide > 0] / 254, rtol=1e-3)
    # Half a step, and what sixteen bits take from the factor.
    restored = scale * (numbers + short)
    assert (np.abs(restored - states) <= 0.7 * scale).all()
    assert (np.ptp(numbers.astype(int), axis=1)[wide > 0] > 120).all()
    expected = (restored.astype(np.float64) @ weights.T.astype(np.float64)) * by_column + bias
    np.testing.assert_allclose(out, expected, rtol=2**-10, atol=1e-4)


def test_gelu_is_that_of_torch_up_to_rounding() -> None:
    x = np.linspace(-30, 30, 8 * 1536, dtype=np.float32).reshape(-1, 8).T.astype(np.float16)
    x = np.ascontiguousarray(np.concatenate([x, np.zeros_like(x)])[:8])
    kept = x.copy()
    packed, scales = np.empty(x.size, np.int8), np.empty((8, 2), np.float32)
    program(8, False)["gelu"](x.ctypes.data, packed.ctypes.data, scales.ctypes.data, 8, x.shape[1])
    expected = torch.nn.functional.gelu(torch.from_numpy(kept.astype(np.float32))).numpy()
    np.testing.assert_allclose(x, expected, rtol=4e-3, atol=2e-3)


def test_shapes_that_the_code_does_not_know_are_left_to_others() -> None:
    assert not fits(shape(heads=12))
    assert not fits(shape(size=64, heads=8))
