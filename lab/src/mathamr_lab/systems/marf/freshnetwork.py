"""A MaRF network at the start of its training, and the weights that are stored at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.core.tensorfile import halved
from mathamr.systems.marf.configuration import MarfConfiguration
from mathamr.systems.marf.model import COMPONENTS, MarfVocabularies
from mathamr.systems.marf.network import ContextEncoder, FormulaEncoder, MarfNetwork
from mathamr.text.encoder import TextEncoder
from mathamr.text.transformer import Transformer
from mathamr.text.wordpieces import UNKNOWN
from mathamr_lab.training.lowrank import add_changes


def fresh_network(
    base: TextEncoder, vocabularies: MarfVocabularies, configuration: MarfConfiguration
) -> MarfNetwork:
    """Creates a network that starts from a text encoder, with trainable low-rank changes."""
    transformer = _extended(base, vocabularies)
    add_changes(transformer, configuration.rank)
    transformer.pieces.added.requires_grad_(True)
    context = ContextEncoder(transformer, configuration.size)
    nn.init.orthogonal_(context.head.weight)
    return MarfNetwork(context, FormulaEncoder(configuration, len(vocabularies.latex)), configuration)


def _extended(base: TextEncoder, vocabularies: MarfVocabularies) -> Any:
    number = {piece: place for place, piece in enumerate(base.pieces.vocabulary)}
    unknown = number.get(UNKNOWN, base.pieces.pad)
    spelled = [
        [number.get(command.lower(), number.get(command[0].lower(), unknown))]
        for command in vocabularies.mathematics.commands
    ]
    model = base.model
    model.head = None
    return with_added_pieces(model, spelled)


class AddedPieces(nn.Module):
    """The frozen embeddings of a vocabulary, and trainable ones of words appended to it."""

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
    """Returns a transformer with further words in its vocabulary, each initialised to the mean of the pieces that spell it."""
    kept = model.pieces
    assert isinstance(kept, nn.Embedding)
    layer = AddedPieces(kept, len(words))
    with torch.no_grad():
        for place, pieces in enumerate(words):
            layer.added[place] = kept.weight[pieces].mean(0)
    model.pieces = layer  # type: ignore[assignment]
    model.configuration = replace(model.configuration, pieces=kept.num_embeddings + len(words), projection=0)
    return model


def stored_weights(learned: Mapping[str, Tensor], components: Tensor) -> dict[str, Tensor]:
    """Returns the weights for a folder, in sixteen bits."""
    return halved({**learned, COMPONENTS: components})


def principal_components(rows: Tensor, size: int) -> Tensor:
    """Returns the directions (size of a row, size) that best preserve products of rows."""
    products = rows.float().T @ rows.float()
    directions: Tensor = torch.linalg.eigh(products.double())[1].flip(1)
    return directions[:, :size].float().contiguous()
