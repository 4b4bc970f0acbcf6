"""The first weights of labels: variables share a part of their random vectors, and so do numbers."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from mathamr.core.arrays import AnyArray
from mathamr.graphs.formulashard import FormulaLabels

NAMES = ("V!", "N!")


def name_labels(labels: FormulaLabels) -> AnyArray:
    """Return the numbers of the labels of variables and numbers: those that formulas may differ in and still be alike."""
    types = labels.types()
    return np.flatnonzero(np.isin(types, types[[labels[f"{kind}*"] for kind in NAMES]]))


def share_start(vectors: Tensor, labels: FormulaLabels, share: float) -> None:
    """Give variables random vectors whose cosine with each other is `share` on average, and numbers likewise.

    Each is made of the vector of its type and its own, so that its length stays the same.
    """
    if not share:
        return
    named = torch.from_numpy(name_labels(labels))
    kinds = torch.from_numpy(labels.types())[named]
    own = kinds != named
    named, kinds = named[own].to(vectors.device), kinds[own].to(vectors.device)
    with torch.no_grad():
        vectors[named] = share**0.5 * vectors[kinds] + (1 - share) ** 0.5 * vectors[named]
