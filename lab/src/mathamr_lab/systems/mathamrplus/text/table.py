"""The text vectors of all representatives of a shard, as a graph network with a slot for text reads them."""

from __future__ import annotations

import numpy as np

from mathamr.graphs.shard import Shard
from mathamr.text.encoder import TextEncoder
from mathamr.text.textvectors import TextTable
from mathamr_lab.systems.mathamrplus.text.shard import TextShard


def text_table(encoder: TextEncoder, shard: Shard, texts: TextShard) -> TextTable:
    """The vectors in sixteen bits, and which representative has which."""
    found = encoder.encode_pieces(texts.posts)
    rows = np.full(int(shard.starts["reps"][-1]), -1, np.int32)
    at = 0
    for place, row in enumerate(found):
        rows[shard.starts["reps"][place] + row.of] = np.arange(at, at + len(row.of))
        at += len(row.of)
    return TextTable(np.concatenate([row.vectors for row in found]).astype(np.float16), rows)
