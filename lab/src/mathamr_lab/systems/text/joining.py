"""Turns trained text encoders into the one that is stored: interpolated, and projected to fewer numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.text.encoder import TextEncoder
from mathamr.text.transformer import Transformer
from mathamr_lab.systems.text.shard import TextShard
from mathamr_lab.training.losses import divergence
from mathamr_lab.training.optimiser import Optimiser, ParameterGroup, Schedule


def between(base: TextEncoder, tuned: TextEncoder, share: float) -> TextEncoder:
    """Interpolate between two encoders: this share of the tuned weights, the rest of the base.

    This restores what a tuned model forgot of texts outside its training (Wortsman et al., "Robust fine-tuning",
    2022). The head, which the base does not have, is that of the tuned one.
    """
    if not 0 <= share <= 1:
        raise MathAMRError(f"the learned share must be from 0 to 1, got {share}")
    before, after = base.model.state_dict(), dict(tuned.model.state_dict())
    for name, weights in before.items():
        if name not in after or after[name].shape != weights.shape:
            raise MathAMRError(f"the two text encoders have different shapes: {name}")
        after[name] = weights + share * (after[name] - weights)
    model = Transformer(tuned.model.configuration)
    model.load_state_dict(after)
    return TextEncoder(model, tuned.pieces, device=str(tuned.device))


def without_head(encoder: TextEncoder) -> TextEncoder:
    """Return the encoder without its projection: its vectors are the means of its states."""
    return _headed(encoder, None)


def with_principal_components(
    encoder: TextEncoder, texts: TextShard, size: int, most: int = 2000
) -> TextEncoder:
    """Return the encoder with a projection to the first principal components of its states, computed on some of the texts."""
    return _headed(encoder, _components(_vectors_of_some(encoder, texts, most), size))


def with_learned_projection(
    encoder: TextEncoder, texts: TextShard, size: int, *, most: int = 20_000, steps: int = 1500
) -> TextEncoder:
    """Return the encoder with a projection that keeps the order of similar texts, trained from the principal components.

    A step compares vectors of some of the texts with their nearest neighbours, before and after the projection, by the divergence of
    the two distributions. The encoder itself does not change.
    """
    device, generator = encoder.device, torch.Generator().manual_seed(0)
    found = _vectors_of_some(encoder, texts, most)
    head = torch.nn.Parameter(_components(found[: 4 * most], size).to(device))
    rows = torch.from_numpy(found).to(device)
    optimiser = Optimiser([ParameterGroup(parameters={"head": head}, rate=1e-3)], Schedule(steps))
    for number in range(steps):
        drawn = rows[torch.randint(len(rows), (_DRAWN,), generator=generator).to(device)]
        near = (drawn @ rows.T).topk(min(_NEAREST, len(rows))).indices
        near = torch.unique(near)
        loss = _divergence(drawn @ head.T, rows[near] @ head.T, drawn @ rows[near].T)
        optimiser.minimise(loss, number)
    return _headed(encoder, head.detach().cpu())


_DRAWN, _NEAREST, _SHARPNESS = 256, 16, 0.04


def _divergence(drawn: torch.Tensor, near: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    normal = torch.nn.functional.normalize
    return divergence(normal(drawn, dim=-1) @ normal(near, dim=-1).T, wanted, _SHARPNESS)


def _vectors_of_some(encoder: TextEncoder, texts: TextShard, most: int) -> FloatArray:
    plain = without_head(encoder)
    places = np.random.default_rng(0).permutation(len(texts))[:most]
    found = [row.vectors for row in plain.encode_pieces([texts.posts[place] for place in places])]
    return np.concatenate([np.zeros((0, plain.size), np.float32), *found])


def _components(vectors: FloatArray, size: int) -> torch.Tensor:
    """Return the first principal components, about the origin, not the mean, so that cosines are preserved."""
    if len(vectors) < size:
        raise MathAMRError(f"{len(vectors)} vectors of texts are too few for {size} principal components")
    exact = vectors.astype(np.float64)
    _, directions = np.linalg.eigh(exact.T @ exact)
    return torch.from_numpy(directions[:, ::-1][:, :size].T.astype(np.float32).copy())


def _headed(encoder: TextEncoder, head: torch.Tensor | None) -> TextEncoder:
    size = 0 if head is None else len(head)
    model = Transformer(replace(encoder.model.configuration, projection=size))
    weights = {name: tensor for name, tensor in encoder.model.state_dict().items() if name != "head.weight"}
    if head is not None:
        weights["head.weight"] = head
    model.load_state_dict(weights)
    return TextEncoder(model, encoder.pieces, device=str(encoder.device))
