"""`GraphMaterials`: the shard that the graph network learns from, and a checksum of it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mathamr.graphs import shard as shards
from mathamr.graphs.shard import Shard


@dataclass(frozen=True, slots=True, eq=False)
class GraphMaterials:
    """Graphs and pairs of questions and answers."""

    shard: Shard

    @classmethod
    def load(cls, shard: Path) -> GraphMaterials:
        """Read the shard in a file."""
        return cls(shards.load(shard))

    def fingerprint(self) -> int:
        """Return a checksum that is equal for equal graphs and pairs."""
        pairs = np.array(self.shard.pairs, np.int64)
        check = 0
        for array in (*self.shard.columns.values(), *self.shard.starts.values(), pairs):
            check = zlib.crc32(np.ascontiguousarray(array).data, check)
        return check
