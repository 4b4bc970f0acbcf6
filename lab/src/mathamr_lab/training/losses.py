"""InfoNCE over MaxSim and over document vectors, with a learnable temperature (thesis, 3.4.3 and 4.4.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.core.arrays import AnyArray, BoolArray
from mathamr_lab.training.maxsim import VectorRows, maxsim, there

SHARPEST = 1e-3
"""The least temperature: below it the loss would overflow."""


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """What the vectors of one step represent.

    Document i answers question i; further documents answer none. `ignored` marks other documents that answer a
    question too, so that they are not negatives. `query_documents` and `document_documents` are the rows
    of the document vectors.
    """

    query_rows: VectorRows
    document_rows: VectorRows
    ignored: Tensor
    query_documents: Tensor | None = None
    document_documents: Tensor | None = None

    @classmethod
    def of(
        cls,
        queries: AnyArray,
        documents: AnyArray,
        *,
        answers: BoolArray,
        query_documents: AnyArray,
        document_documents: AnyArray,
        device: torch.device,
    ) -> Contrast:
        """Create the contrast from the number of vectors of each question and document; `answers` marks which document
        answers which.
        """
        ignored = answers.copy()
        np.fill_diagonal(ignored, False)
        return cls(
            VectorRows.of(queries, device),
            VectorRows.of(documents, device),
            there(ignored, device),
            there(query_documents, device),
            there(document_documents, device),
        )


class TemperedLoss(nn.Module):
    """A loss of a step's questions and documents over similarities, which are divided by a learnable temperature."""

    def __init__(self, temperature: float = 0.05) -> None:
        super().__init__()
        self.log_temperature = nn.Parameter(torch.tensor(math.log(temperature)))

    @property
    def temperature(self) -> Tensor:
        """The temperature tau = exp(t), learned with the model."""
        return self.log_temperature.exp().clamp(min=SHARPEST)


class ContrastiveLoss(TemperedLoss):
    """beta * MaxSim loss + (1 - beta) * document loss (equation 4.2)."""

    def __init__(self, temperature: float = 0.05, beta: float = 1.0) -> None:
        super().__init__(temperature)
        self.beta = beta

    def forward(self, queries: Tensor, documents: Tensor, contrast: Contrast) -> Tensor:
        """Return the loss of a step from the vectors of its questions and documents."""
        loss = queries.new_zeros(())
        if self.beta > 0:
            scores = maxsim(queries, contrast.query_rows, documents, contrast.document_rows)
            loss = loss + self.beta * info_nce(scores, self.temperature, contrast.ignored)
        if self.beta < 1 and contrast.query_documents is not None and contrast.document_documents is not None:
            scores = (
                queries.index_select(0, contrast.query_documents)
                @ documents.index_select(0, contrast.document_documents).T
            )
            loss = loss + (1 - self.beta) * info_nce(scores, self.temperature, contrast.ignored)
        return loss


def info_nce(scores: Tensor, temperature: Tensor | float, ignored: Tensor | None = None) -> Tensor:
    """Return the mean of -log softmax of each row's own column, column i for row i (equation 3.6)."""
    logits = scores / temperature
    if ignored is not None:
        logits = logits.masked_fill(ignored, -torch.inf)
    return functional.cross_entropy(logits, torch.arange(len(logits), device=logits.device))


def divergence(similar: Tensor, wanted: Tensor, sharpness: float) -> Tensor:
    """Return the mean divergence of rows of similarities from the wanted ones, as distributions of this temperature
    (Hinton et al., "Distilling the knowledge in a neural network", 2015).
    """
    return functional.kl_div(
        functional.log_softmax(similar / sharpness, -1),
        functional.log_softmax(wanted / sharpness, -1),
        reduction="batchmean",
        log_target=True,
    )


def alike(ours: Tensor, theirs: Tensor, sharpness: float) -> Tensor:
    """Return the divergence of the similarities among some vectors, without the diagonal."""
    same = torch.eye(len(ours), dtype=torch.bool, device=ours.device)
    return divergence(
        (ours @ ours.T).masked_fill(same, -1e4), (theirs @ theirs.T).masked_fill(same, -1e4), sharpness
    )
