"""A shard: the tensors and pairs of a store in one compact file, for a machine that only trains.

The arrays of all graphs are concatenated, with delta-coded edges, in one `.npz` without pickles.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.core.arrays import AnyArray, Int32Array, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.plainfiles import DAMAGED
from mathamr.graphs.store import GraphStore
from mathamr.graphs.tensor import GraphTensor, with_inverse
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary

FORMAT = 1
_COLUMNS = ("nodes", "parts", "sources", "targets", "relations", "representatives", "levels")


@dataclass(frozen=True, eq=False)
class Shard:
    """Tensors by number, the training pairs by number, and the vocabularies."""

    configuration: str
    ids: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    vocabulary: Vocabulary
    relations: RelationVocabulary
    references: tuple[tuple[str, ...], ...]
    columns: dict[str, AnyArray]
    starts: dict[str, IntArray]

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, number: int) -> GraphTensor:
        columns = {name: self._slice(name, number) for name in _COLUMNS}
        edge_index = np.stack([columns["sources"], columns["targets"]]).astype(np.int32)
        edge_index, relation_ids = with_inverse(edge_index, columns["relations"].astype(np.int32))
        return GraphTensor(
            self.ids[number],
            columns["nodes"].astype(np.int32),
            edge_index,
            relation_ids,
            columns["representatives"].astype(np.int32),
            columns["levels"].astype(np.int32),
            self.references[number],
            columns["parts"].astype(np.uint8),
        )

    def representatives(self, number: int) -> int:
        """Return the number of representatives of a graph."""
        return int(self.starts["reps"][number + 1] - self.starts["reps"][number])

    def _slice(self, name: str, number: int) -> AnyArray:
        starts = self.starts[_count_of(name)]
        return self.columns[name][starts[number] : starts[number + 1]]


def _count_of(column: str) -> str:
    return {"nodes": "nodes", "parts": "nodes", "representatives": "reps", "levels": "reps"}.get(
        column, "edges"
    )


def export(store: GraphStore, configuration: str, pairs: Iterable[tuple[str, str]], path: Path) -> Shard:
    """Write the tensors of all posts of the pairs, and the pairs, to one file."""
    chosen = list(pairs)
    ids = list(dict.fromkeys(post_id for pair in chosen for post_id in pair))
    number = {post_id: index for index, post_id in enumerate(ids)}
    tensors = [store.tensor(configuration, post_id) for post_id in ids]
    vocabulary, relations = store.vocabularies()
    head = {
        "format": FORMAT,
        "configuration": configuration,
        "ids": ids,
        "labels": vocabulary.labels,
        "relations": relations.relations,
        "references": [tensor.references for tensor in tensors],
    }
    arrays: dict[str, AnyArray] = {
        "head": np.frombuffer(json.dumps(head, ensure_ascii=False).encode(), np.uint8),
        "pairs": np.array([(number[a], number[b]) for a, b in chosen], np.int32).reshape(-1, 2),
        "count_nodes": np.array([len(t) for t in tensors], np.int32),
        "count_edges": np.array([t.forward_edges for t in tensors], np.int32),
        "count_reps": np.array([len(t.representatives) for t in tensors], np.int32),
        "nodes": _smallest(_join(t.node_ids for t in tensors)),
        "parts": _join((t.parts for t in tensors), np.uint8),
        "sources": _differences(_join(t.edge_index[0, : t.forward_edges] for t in tensors)),
        "targets": _differences(_join(t.edge_index[1, : t.forward_edges] for t in tensors)),
        "relations": _smallest(_join(t.relation_ids[: t.forward_edges] for t in tensors)),
        "representatives": _differences(_join(t.representatives for t in tensors)),
        "levels": _smallest(_join(t.levels for t in tensors)),
    }
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    return load(path)


def _join(arrays: Iterable[AnyArray], dtype: Any = np.int32) -> AnyArray:
    listed = list(arrays)
    return np.concatenate(listed) if listed else np.zeros(0, dtype)


def _differences(numbers: AnyArray) -> AnyArray:
    return _smallest(np.diff(numbers.astype(np.int64), prepend=0))


def _smallest(numbers: AnyArray) -> AnyArray:
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    for kind in (np.uint8, np.int8, np.uint16, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return numbers.astype(kind)
    return numbers.astype(np.int64)


def load(path: Path) -> Shard:
    """Read the shard in a file; anything else is refused with a clear error."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        head = json.loads(arrays["head"].tobytes())
        if head["format"] != FORMAT:
            raise MathAMRError(
                f"{path} has format {head['format']}, this version reads {FORMAT}; export it again"
            )
        for name in ("sources", "targets", "representatives"):
            arrays[name] = np.cumsum(arrays[name].astype(np.int64))
        starts = {name: _starts(arrays[f"count_{name}"]) for name in ("nodes", "edges", "reps")}
        _check(arrays, starts, head, path)
        return Shard(
            head["configuration"],
            tuple(head["ids"]),
            tuple((int(a), int(b)) for a, b in arrays["pairs"]),
            Vocabulary(tuple(head["labels"])),
            RelationVocabulary(tuple(head["relations"])),
            tuple(tuple(row) for row in head["references"]),
            {name: arrays[name] for name in _COLUMNS},
            starts,
        )
    except (OSError, *DAMAGED, EOFError, zipfile.BadZipFile) as error:
        raise MathAMRError(f"{path} is not a shard of graphs, or it is damaged: {error}") from error


def _starts(counts: Int32Array) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def _check(
    arrays: dict[str, AnyArray],
    starts: dict[str, IntArray],
    head: dict[str, Any],
    path: Path,
) -> None:
    for name in _COLUMNS:
        if len(arrays[name]) != starts[_count_of(name)][-1]:
            raise MathAMRError(f"{path} is damaged: the array {name} has the wrong length")
    rows: Sequence[Any] = head["references"]
    if not len(head["ids"]) == len(rows) == len(starts["nodes"]) - 1 == len(starts["edges"]) - 1:
        raise MathAMRError(f"{path} is damaged: the numbers of graphs do not agree")
