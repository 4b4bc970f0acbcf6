"""`CrossEncoder`: a transformer that reads a query and a document together and says how well one answers the other.

Nogueira and Cho, "Passage Re-ranking with BERT" (2019): the state of the mark that begins the row, through one linear map.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from mathamr.layers.language.encoder import precision
from mathamr.layers.language.pairlengths import Numbers, PairLengths
from mathamr.layers.language.transformer import Transformer
from mathamr.layers.language.wordpieces import WordPieces

STEP = 16
"""Rows are as wide as a multiple of this."""
AT_A_TIME = 4_096 * 64
"""Pieces that are in the network at a time on a GPU; on a processor a sixteenth."""


class CrossEncoder(nn.Module):
    """Scores of rows that hold a query and a document."""

    def __init__(self, text: Transformer, pieces: WordPieces, lengths: PairLengths) -> None:
        super().__init__()
        self.text, self.pieces, self.lengths = text, pieces, lengths
        self.score = nn.Linear(text.configuration.size, 1)
        nn.init.normal_(self.score.weight, std=0.02)
        nn.init.zeros_(self.score.bias)

    def forward(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        """One score a row; what lies beyond a row's length is never looked at."""
        states: Tensor = self.text(numbers, lengths)
        found: Tensor = self.score(states[:, 0]).squeeze(-1)
        return found.float()

    def row(self, query: Numbers, document: Numbers) -> Numbers:
        """A query and a document as they are read."""
        return self.lengths.row(query, document, self.pieces)

    @torch.inference_mode()
    def scored(self, rows: Sequence[Numbers]) -> Tensor:
        """The scores of many rows, in their order."""
        self.eval()
        device = self.score.weight.device
        room = AT_A_TIME if device.type == "cuda" else AT_A_TIME // 16
        order = sorted(range(len(rows)), key=lambda place: -len(rows[place]))
        found = torch.empty(len(rows), device=device)
        done = 0
        while done < len(order):
            chosen = order[done : done + max(1, room // len(rows[order[done]]))]
            numbers, lengths = padded([rows[place] for place in chosen], self.pieces.pad)
            with precision(device):
                found[torch.tensor(chosen, device=device)] = self(numbers.to(device), lengths.to(device))
            done += len(chosen)
        return found


def padded(rows: Sequence[Numbers], pad: int) -> tuple[Tensor, Tensor]:
    """Rows as one matrix, and how long each is."""
    width = -(-max(len(row) for row in rows) // STEP) * STEP
    numbers = np.full((len(rows), width), pad, np.int64)
    for place, row in enumerate(rows):
        numbers[place, : len(row)] = row
    return torch.from_numpy(numbers), torch.tensor([len(row) for row in rows])


def in_groups(
    rows: Sequence[Numbers], pad: int, groups: int = 6
) -> tuple[list[tuple[Tensor, Tensor]], Tensor]:
    """Rows in groups of about the same length, each padded for itself; and where each row's result stands then."""
    order = np.array(sorted(range(len(rows)), key=lambda place: len(rows[place])))
    parts = [part for part in np.array_split(order, min(groups, len(rows))) if len(part)]
    places = torch.empty(len(rows), dtype=torch.long)
    places[torch.from_numpy(order)] = torch.arange(len(rows))
    return [padded([rows[place] for place in part], pad) for part in parts], places
