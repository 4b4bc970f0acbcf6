"""`QuantisedCross`: a cross-encoder in eight bits, for processors; it needs no torch.

By our own machine code where that is the quickest on this machine, and else by ONNX Runtime: both make of the last layer only the
state that is scored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mathamr.arrays import Floats
from mathamr.configured import describing, known_fields
from mathamr.errors import MathAMRError
from mathamr.integrity import checked_file
from mathamr.layers.arrayfile import read_arrays
from mathamr.layers.language.compiled.network import CompiledTransformer
from mathamr.layers.language.configuration import TransformerConfiguration
from mathamr.layers.language.crossgraph import cross_model
from mathamr.layers.language.fourbits import decoded
from mathamr.layers.language.pairlengths import Numbers, PairLengths
from mathamr.layers.language.quantised import check_weights, restored_array
from mathamr.layers.language.quantisedgraph import SCALE, STATES
from mathamr.layers.language.ways import COMPILED, way_of
from mathamr.layers.language.wordpieces import WordPieces

CONFIG, WEIGHTS, PIECES = "config.json", "weights.safetensors", "wordpieces.txt"
FORMAT = 1
EMBEDDINGS, CODES, SCORE = "pieces.weight", ".codes", "score"
THREADS = 2
"""Rows that are read at the same time."""
Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class StoredCross:
    """What the folder of a cross-encoder holds."""

    configuration: TransformerConfiguration
    lengths: PairLengths
    pieces: WordPieces
    weights: Mapping[str, Array]


def read_cross(folder: Path) -> StoredCross:
    """The folder of a cross-encoder, after the hashes of its files were checked."""
    path = folder / CONFIG
    with describing(path, "cross-encoder"):
        row: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if row["format"] != FORMAT:
            raise MathAMRError(f"{path} has format {row['format']}, this version reads {FORMAT}")
        configuration = TransformerConfiguration.from_json(dict(row["transformer"]))
        lengths = PairLengths(**known_fields(PairLengths, dict(row["reads"]), "cross-encoder"))
        hashes = {str(name): str(value) for name, value in row["sha256"].items()}
    for name in (WEIGHTS, PIECES):
        checked_file(folder / name, hashes)
    pieces = WordPieces.load(folder / PIECES)
    weights = read_arrays(folder / WEIGHTS)
    _check(configuration, lengths, pieces, weights, folder)
    return StoredCross(configuration, lengths, pieces, weights)


def _check(
    configuration: TransformerConfiguration,
    lengths: PairLengths,
    pieces: WordPieces,
    weights: Mapping[str, Array],
    folder: Path,
) -> None:
    if len(pieces.vocabulary) != configuration.pieces or lengths.width > configuration.positions:
        raise MathAMRError(
            f"{folder} has {len(pieces.vocabulary)} word pieces, not {configuration.pieces}, or reads rows of"
            f" {lengths.width} pieces, for which it has no positions"
        )
    wanted = {
        f"{EMBEDDINGS}{CODES}": ((configuration.pieces, configuration.size // 2), np.uint8),
        f"{EMBEDDINGS}{SCALE}": ((configuration.pieces,), np.float32),
        f"{SCORE}.weight": ((configuration.size,), np.float32),
        f"{SCORE}.bias": ((1,), np.float32),
    }
    for name, (shape, kind) in wanted.items():
        found = weights.get(name)
        if found is None or found.shape != shape or found.dtype != kind or not np.isfinite(found).all():
            raise MathAMRError(f"{folder}: {name} is missing, of another shape or damaged")
    if configuration.projection or configuration.buckets or configuration.size % 2:
        raise MathAMRError(f"{folder}: a cross-encoder has no projection and no relative positions")
    check_weights(configuration, weights, folder, without=(EMBEDDINGS,))


class QuantisedCross:
    """Scores rows of a query and a document."""

    def __init__(self, stored: StoredCross) -> None:
        self.lengths, self.pieces, self._stored = stored.lengths, stored.pieces, stored
        self._positions = restored_array(stored.weights, "positions.weight")

    def scores(self, query: Numbers, documents: Sequence[Numbers]) -> list[float]:
        """How well each document answers the query, in their order, as pieces; two are read at a time."""
        rows = [self.lengths.row(query, document, self.pieces) for document in documents]
        if len(rows) < 2 * THREADS:
            return [self._score(row) for row in rows]
        _ = self._first
        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(self._score, rows))

    def _score(self, row: npt.NDArray[np.int64]) -> float:
        weights = self._stored.weights
        embedded = decoded(weights[f"{EMBEDDINGS}{CODES}"][row], weights[f"{EMBEDDINGS}{SCALE}"][row])
        embedded += self._positions[: len(row)]
        state = self._first(embedded)
        return float(state @ weights[f"{SCORE}.weight"] + weights[f"{SCORE}.bias"][0])

    @cached_property
    def _first(self) -> Callable[[Floats], Floats]:
        """What computes the first state of embeddings."""
        if way_of(self._stored.configuration) != COMPILED:
            return self._by_onnx
        compiled = CompiledTransformer(self._stored.configuration, self._stored.weights)

        def first(embedded: Floats) -> Floats:
            state = compiled(embedded, wanted=1)[0]
            return state if np.isfinite(state).all() else self._by_onnx(embedded)

        return first

    def _by_onnx(self, embedded: Floats) -> Floats:
        state: Floats = self._session.run(None, {STATES: embedded[None]})[0][0, 0]
        return state

    @cached_property
    def _session(self) -> Any:
        """Made when something is read."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        model = cross_model(self._stored.configuration, self._stored.weights)
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
