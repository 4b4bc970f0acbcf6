"""The difference between a tuned and a published encoder, in two bits per number: the base is installed, not shipped.

The difference of a matrix stores for every number its sign and one of two magnitudes; each row has its own two magnitudes,
the best two for it by mean squared error (Lloyd, 1982). Liu et al., "BitDelta" (2024), found one bit to be enough
for language models. Matrices that the base lacks are stored in eight bits, vectors in sixteen.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from mathamr.core.errors import MathAMRError

CODES, SIZES, ADDED = ".codes", ".sizes", ".added"
ROUNDS = 12
"""The number of rounds of Lloyd's algorithm after which the magnitudes no longer move."""
_PLACES = torch.arange(4, dtype=torch.uint8) * 2
_CODES = torch.arange(256, dtype=torch.uint8)[:, None] >> _PLACES & 3
_LARGE, _SIGN = (_CODES & 1).float(), 1 - (_CODES & 2).float()
"""The meaning of every byte's four codes: 1 for the larger magnitude; 1 or -1 for the sign."""


def difference(tuned: Mapping[str, Tensor], base: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return what the tuned weights add to the base's, in few bits; unchanged weights are left out."""
    stored: dict[str, Tensor] = {}
    for name, before in base.items():
        if name not in tuned or tuned[name].shape != before.shape:
            raise MathAMRError(f"the tuned encoder has another shape than its base: {name}")
        added = tuned[name].detach().cpu().float() - before.float()
        if not bool(added.any()):
            continue
        if added.ndim != 2 or added.shape[1] % 4:
            stored[f"{name}{ADDED}"] = added.half()
            continue
        stored[f"{name}{CODES}"], stored[f"{name}{SIZES}"] = _coded(added)
    return stored


def with_difference(
    base: Mapping[str, Tensor], stored: Mapping[str, Tensor], source: Path
) -> dict[str, Tensor]:
    """Return the tuned weights, to the precision of the difference."""
    weights = {name: tensor.float() for name, tensor in base.items()}
    for name, tensor in stored.items():
        of, dot, kind = name.rpartition(".")
        if dot + kind not in (CODES, SIZES, ADDED) or of not in weights:
            raise MathAMRError(f"{source} holds a difference to another base, which has no {name}")
        if dot + kind == SIZES:
            continue
        added = (
            tensor
            if dot + kind == ADDED
            else _decoded(tensor, stored.get(f"{of}{SIZES}"), weights[of], source)
        )
        if added.shape != weights[of].shape:
            raise MathAMRError(f"{source}: the difference of {of} has another shape than the base's")
        weights[of] = weights[of] + added.float()
    return weights


def _coded(added: Tensor) -> tuple[Tensor, Tensor]:
    """Return (codes, sizes) with four codes per byte: bit 2 marks a negative number, bit 1 the larger magnitude."""
    far = added.abs()
    # The optimum of a normal distribution is the start.
    spread = far.square().mean(1, keepdim=True).sqrt()
    small, large = 0.4528 * spread, 1.5104 * spread
    for _ in range(ROUNDS):
        is_large = far > (small + large) / 2
        count = is_large.sum(1, keepdim=True)
        total = (far * is_large).sum(1, keepdim=True)
        small = (far.sum(1, keepdim=True) - total) / (far.shape[1] - count).clamp(min=1)
        large = torch.where(count > 0, total / count.clamp(min=1), small)
    sizes = torch.cat([small, large], 1).half()
    is_large = far > sizes.float().mean(1, keepdim=True)
    codes = (added < 0).to(torch.uint8) * 2 + is_large.to(torch.uint8)
    packed = (codes.view(len(codes), -1, 4) << _PLACES).sum(-1, dtype=torch.uint8)
    return packed.contiguous(), sizes


def _decoded(codes: Tensor, sizes: Tensor | None, like: Tensor, source: Path) -> Tensor:
    shape = (like.shape[0], like.shape[1] // 4) if like.ndim == 2 else None
    if sizes is None or codes.dtype != torch.uint8 or codes.shape != shape or sizes.shape != (len(like), 2):
        raise MathAMRError(f"{source} holds a difference of another shape, or it is damaged")
    small, large = torch.split(sizes.float(), 1, 1)
    bytes_ = codes.flatten().int()
    is_large = _LARGE.index_select(0, bytes_).view(like.shape)
    return torch.addcmul(small, large - small, is_large) * _SIGN.index_select(0, bytes_).view(like.shape)
