"""Encoders that Sentence-Transformers and PyLate load from a folder; both are imported here and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.systems.encoders.source import check_files

SAFE: dict[str, Any] = {
    "local_files_only": True,
    "trust_remote_code": False,
    "model_kwargs": {"use_safetensors": True},
}
"""Nothing is downloaded, no code of a model is run, and no pickle is read."""


class SentenceTransformerEncoder:
    """One vector a text, by the model's own prompts, maximum length, pooling and dimension."""

    def __init__(self, folder: Path, device: str) -> None:
        check_files(folder)
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingExtraError("sentence-transformers", "pip install 'mathamr[encoders]'") from error
        self._model = _load(SentenceTransformer, folder, device)
        self.size = int(self._model.encode(["x"], show_progress_bar=False).shape[1])

    def encode(self, texts: Sequence[str], *, are_queries: bool) -> list[FloatArray]:
        """Return one unit vector a text."""
        encode = self._model.encode_query if are_queries else self._model.encode_document
        rows = encode(list(texts), show_progress_bar=False, normalize_embeddings=True, convert_to_numpy=True)
        return [np.asarray(row, np.float32)[None] for row in rows]


class PylateEncoder:
    """One unit vector for each token, with the marks and lengths of queries and documents that the model was trained with."""

    def __init__(self, folder: Path, device: str) -> None:
        check_files(folder)
        try:
            from pylate import models
        except ImportError as error:
            raise MissingExtraError("PyLate", "pip install pylate") from error
        self._model = _load(models.ColBERT, folder, device)
        self.size = len(self.encode(["x"], are_queries=True)[0][0])

    def encode(self, texts: Sequence[str], *, are_queries: bool) -> list[FloatArray]:
        """Return the rows of every text's tokens."""
        rows = self._model.encode(
            list(texts), is_query=are_queries, show_progress_bar=False, convert_to_numpy=True
        )
        return [np.asarray(each, np.float32) for each in rows]


def _load(library: Any, folder: Path, device: str) -> Any:
    """Load a model from its folder and turn whatever a foreign folder makes go wrong into one clear error."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return library(str(folder), device=None if device == "auto" else device, **SAFE)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, ImportError, AttributeError) as error:
        raise MathAMRError(
            f"{folder} cannot be loaded by {library.__module__.split('.')[0]}: {error}"
        ) from error
