"""Encoders that Sentence-Transformers builds from clean copies of their folders; it is imported here and nowhere else."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.systems.encoders.cleancopy import make_clean_copy

SAFE: dict[str, Any] = {
    "local_files_only": True,
    "trust_remote_code": False,
    "model_kwargs": {"use_safetensors": True},
}
"""Nothing is downloaded, no code of a model is run, and no pickle is read."""
_LOADING = threading.Lock()


class LibraryEncoder:
    """A model with its own prompts, marks, maximum length, pooling and dimension: a unit vector for a text, or one for each token."""

    def __init__(self, folder: Path, device: str, *, by_token: bool) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        with TemporaryDirectory(prefix="mathamr-encoder-") as copy:
            make_clean_copy(folder, Path(copy))
            try:
                import sentence_transformers
            except ImportError as error:
                raise MissingExtraError("sentence-transformers", "pip install 'mathamr[encoders]'") from error
            library = (
                sentence_transformers.MultiVectorEncoder
                if by_token
                else sentence_transformers.SentenceTransformer
            )
            try:
                with _offline():
                    self._model: Any = library(copy, device=None if device == "auto" else device, **SAFE)
            except Exception as error:  # whatever a foreign folder makes go wrong there
                raise MathAMRError(f"{folder} cannot be loaded by Sentence-Transformers: {error}") from error
        self.size = self.encode(["x"], are_queries=True)[0].shape[1]

    def encode(self, texts: Sequence[str], *, are_queries: bool) -> list[FloatArray]:
        """Return the rows of every text."""
        encode = self._model.encode_query if are_queries else self._model.encode_document
        rows = encode(list(texts), show_progress_bar=False, normalize_embeddings=True, convert_to_numpy=True)
        return [np.atleast_2d(np.asarray(row, np.float32)) for row in rows]


@contextmanager
def _offline() -> Iterator[None]:
    """Let no library look anything up on the Hugging Face Hub inside, as HF_HUB_OFFLINE=1 does for a process."""
    from huggingface_hub import constants

    with _LOADING:
        before = constants.HF_HUB_OFFLINE
        constants.HF_HUB_OFFLINE = True
        try:
            yield
        finally:
            constants.HF_HUB_OFFLINE = before
