"""`GraphMaterials`: what the graph network learns from."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError
from mathamr.graphs import shard as shards
from mathamr.graphs.shard import Shard
from mathamr.text.textvectors import TextTable
from mathamr_lab.systems.mathamrplus.graph.negatives import HardNegatives


@dataclass(frozen=True, slots=True, eq=False)
class GraphMaterials:
    """Graphs and pairs, and on demand text vectors, vectors of labels to start from, hard negatives."""

    shard: Shard
    texts: TextTable | None = None
    labels: AnyArray | None = None
    negatives: HardNegatives | None = None

    @classmethod
    def load(
        cls,
        shard: Path,
        *,
        texts: Path | None = None,
        labels: Path | None = None,
        negatives: Path | None = None,
    ) -> GraphMaterials:
        """From files."""
        read = shards.load(shard)
        return cls(
            read,
            TextTable.load(texts) if texts else None,
            _labels(labels) if labels else None,
            HardNegatives.load(negatives, read.ids) if negatives else None,
        )

    def fingerprint(self) -> int:
        """Equal for equal materials."""
        arrays = [
            *self.shard.columns.values(),
            *self.shard.starts.values(),
            np.array(self.shard.pairs, np.int64),
        ]
        if self.texts is not None:
            arrays += [self.texts.vectors, self.texts.rows]
        if self.labels is not None:
            arrays.append(self.labels)
        if self.negatives is not None:
            arrays += [self.negatives.starts, self.negatives.numbers]
        check = 0
        for array in arrays:
            check = zlib.crc32(np.ascontiguousarray(array).data, check)
        return check


def _labels(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise MathAMRError(f"{path} holds no vectors of labels (.npy): {error}") from error
