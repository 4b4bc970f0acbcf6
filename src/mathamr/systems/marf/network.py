"""MaRF's network: token vectors of a post, of its formulas, and of both fused (Wang, Zheng and Kani, section 3)."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.systems.marf.configuration import MarfConfiguration
from mathamr.systems.marf.fusion import GatedFusion
from mathamr.text.transformer import Transformer, TransformerConfiguration


class AddedPieces(nn.Module):
    """The embeddings of a vocabulary that stays, and of words added behind it that are learned."""

    def __init__(self, kept: nn.Embedding, added: int) -> None:
        super().__init__()
        self.kept = kept.requires_grad_(False)
        self.added = nn.Parameter(torch.zeros(added, kept.embedding_dim, device=kept.weight.device))

    @property
    def weight(self) -> Tensor:
        """All embeddings, the added ones last."""
        return torch.cat([self.kept.weight, self.added])

    def forward(self, numbers: Tensor) -> Tensor:
        """The embeddings of pieces."""
        return functional.embedding(numbers, self.weight)


def with_added_pieces(model: Transformer, words: list[list[int]]) -> Transformer:
    """A transformer whose vocabulary has further words, each begun as the mean of the pieces that spell it."""
    kept = model.pieces
    assert isinstance(kept, nn.Embedding)
    layer = AddedPieces(kept, len(words))
    with torch.no_grad():
        for place, pieces in enumerate(words):
            layer.added[place] = kept.weight[pieces].mean(0)
    model.pieces = layer  # type: ignore[assignment]
    model.configuration = replace(model.configuration, pieces=kept.num_embeddings + len(words), projection=0)
    return model


class ContextEncoder(nn.Module):
    """Token vectors of a post's text, of length one: a transformer's states, projected."""

    def __init__(self, transformer: Transformer, size: int) -> None:
        super().__init__()
        self.transformer = transformer
        self.head = nn.Linear(transformer.configuration.size, size, bias=False)

    def forward(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        """(rows, width, size); what lies beyond a row's length is no token."""
        return functional.normalize(self.head(self.transformer(numbers, lengths)).float(), dim=-1)


class FormulaEncoder(nn.Module):
    """Token vectors of a formula, of length one: a small transformer over normalised LaTeX tokens, projected."""

    def __init__(self, configuration: MarfConfiguration, tokens: int) -> None:
        super().__init__()
        self.transformer = Transformer(
            TransformerConfiguration(
                pieces=tokens,
                size=configuration.formula_size,
                layers=configuration.formula_layers,
                heads=configuration.formula_heads,
                inner=4 * configuration.formula_size,
                positions=configuration.formula_length,
            )
        )
        for parameter in (self.transformer.pieces.weight, self.transformer.positions.weight):
            nn.init.normal_(parameter, std=0.02)
        self.head = nn.Linear(configuration.formula_size, configuration.size, bias=False)

    def forward(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        """(rows, width, size)."""
        return functional.normalize(self.head(self.transformer(numbers, lengths)).float(), dim=-1)


def pooled(vectors: Tensor, lengths: Tensor) -> Tensor:
    """The mean of each row's tokens, of length one: a formula as one vector (passage-level scoring)."""
    places = torch.arange(vectors.shape[1], device=vectors.device)
    real = (places < lengths[:, None])[..., None]
    return functional.normalize((vectors * real).sum(1), dim=-1)


def padded_maxsim(
    queries: Tensor, query_lengths: Tensor, documents: Tensor, document_lengths: Tensor
) -> Tensor:
    """MaxSim of every query with every document, both padded (rows, width, size): the mean over a query's tokens.

    Equation 2 of the paper has the sum; the mean orders the documents of a query in the same way.
    """
    similar = torch.einsum("qis,djs->qdij", queries, documents)
    width = torch.arange(documents.shape[1], device=documents.device)
    similar = similar.masked_fill(~(width < document_lengths[:, None])[None, :, None, :], -1.0)
    places = torch.arange(queries.shape[1], device=queries.device)
    real = (places < query_lengths[:, None]).float()
    shares = real / real.sum(1, keepdim=True).clamp(min=1)
    return torch.einsum("qdi,qi->qd", similar.amax(-1).float(), shares)


class MarfNetwork(nn.Module):
    """The three parts together."""

    def __init__(
        self, context: ContextEncoder, formula: FormulaEncoder, configuration: MarfConfiguration
    ) -> None:
        super().__init__()
        self.configuration = configuration
        self.context, self.formula = context, formula
        self.fusion = GatedFusion(configuration.size, configuration.fusion_heads)

    def fused(self, context: Tensor, formula: Tensor, counts: Tensor) -> Tensor:
        """Fused token vectors, of length one."""
        return functional.normalize(self.fusion(context, formula, counts).float(), dim=-1)
