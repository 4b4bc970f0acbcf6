"""Rows that are put together where the network is, against those of `PairLengths`, one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mathamr.layers.language.pairlengths import PairLengths
from mathamr.layers.language.wordpieces import Pieces, WordPieces
from mathamr.systems.cross.training.piecetable import PieceTable

PIECES = WordPieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"w{number}" for number in range(60))])


@pytest.mark.parametrize("lengths", [PairLengths(4, 6), PairLengths(1, 1), PairLengths(30, 40)])
def test_rows_are_those_of_one_query_and_one_document(lengths: PairLengths) -> None:
    drawn = np.random.default_rng(0)
    nothing = np.zeros(0, np.int32)
    texts = [
        Pieces(drawn.integers(4, 64, size).astype(np.uint16), nothing, nothing, nothing)
        for size in (0, 1, 3, 4, 5, 12, 33, 50)
    ]
    table = PieceTable(texts, PIECES, lengths.width, torch.device("cpu"))
    queries, documents = (each.ravel() for each in np.indices((len(texts), len(texts))))
    groups, places = table.groups(queries, documents, lengths)
    rows = [
        (row[:length], row[length:])
        for group in groups
        for row, length in zip(*(each.tolist() for each in table.rows(group)), strict=True)
    ]
    assert len(groups) > 1
    assert sorted(places.tolist()) == list(range(len(rows)))
    for place, query, document in zip(places.tolist(), queries, documents, strict=True):
        whole, filling = rows[place]
        assert whole == lengths.row(texts[query].numbers, texts[document].numbers, PIECES).tolist()
        assert not any(filling)
