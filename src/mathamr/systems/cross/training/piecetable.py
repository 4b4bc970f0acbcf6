"""`PieceTable`: the pieces of all texts where the network is, so that rows of a query and a document are put together there.

Put together one by one on the processor, the rows of a step took longer than a GPU needs to learn from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from mathamr.layers.language.crossencoder import STEP
from mathamr.layers.language.pairlengths import MARKS, PairLengths
from mathamr.layers.language.wordpieces import Pieces, WordPieces

Numbers = npt.NDArray[np.int64]
GROUPS = 4
"""Groups of rows of about the same length, each padded for itself."""


class RowGroup(NamedTuple):
    """Which rows are put together: the number of the query, of the document, and how many pieces of either, as (4, rows); how wide they are."""

    of: Tensor
    width: int


class PieceTable:
    """The first pieces of texts as one matrix on a device."""

    def __init__(self, texts: Sequence[Pieces], pieces: WordPieces, most: int, device: torch.device) -> None:
        self._marks, self._device = pieces, device
        self._lengths = np.array([min(len(text), most) for text in texts], np.int64)
        filled = np.zeros((len(texts), max(1, int(self._lengths.max(initial=0)))), np.int32)
        for row, text in zip(filled, texts, strict=True):
            row[: min(len(text), most)] = text.numbers[:most]
        self._filled = torch.from_numpy(filled).to(device)

    def groups(
        self, queries: Numbers, documents: Numbers, lengths: PairLengths
    ) -> tuple[list[RowGroup], Tensor]:
        """Rows of queries and documents in groups of about the same length; and where each row's result stands then."""
        asked = np.minimum(self._lengths[queries], lengths.query)
        given = np.minimum(self._lengths[documents], lengths.query + lengths.document - asked)
        order = np.argsort(asked + given, kind="stable")
        made = []
        for part in np.array_split(order, min(GROUPS, len(order))):
            longest = int((asked + given)[part].max()) + MARKS
            rows = np.stack([each[part] for each in (queries, documents, asked, given)])
            made.append(RowGroup(torch.from_numpy(rows), -(-longest // STEP) * STEP))
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return made, torch.from_numpy(places)

    def rows(self, group: RowGroup) -> tuple[Tensor, Tensor]:
        """The rows of a group as `PairLengths.row` makes them, filled up, and how long each is."""
        query, document, asked, given = (each[:, None] for each in group.of.to(self._device))
        place = torch.arange(group.width, device=self._device)[None]
        last, end = self._filled.shape[1] - 1, asked + given + MARKS - 1
        taken = torch.where(
            place <= asked,
            self._filled[query, (place - 1).clamp(0, last)],
            self._filled[document, (place - asked - 2).clamp(0, last)],
        ).long()
        taken = taken.masked_fill((place == asked + 1) | (place == end), self._marks.end)
        taken = taken.masked_fill(place == 0, self._marks.begin).masked_fill(place > end, self._marks.pad)
        return taken, end[:, 0] + 1
