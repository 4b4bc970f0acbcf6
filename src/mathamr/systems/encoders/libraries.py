"""Encoders that Sentence-Transformers and PyLate load from a folder; both are imported here and nowhere else."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError, MissingExtraError

SAFE: dict[str, Any] = {
    "local_files_only": True,
    "trust_remote_code": False,
    "model_kwargs": {"use_safetensors": True},
}
"""Nothing is downloaded, no code of a model is run, and no pickle is read."""
MODULES = ("sentence_transformers.", "pylate.")
"""A model folder may only name modules of these packages: it must not choose what is imported."""


class LibraryEncoder:
    """A model with its own prompts, marks, maximum length, pooling and dimension: a unit vector for a text, or one for each token."""

    def __init__(self, folder: Path, device: str, *, by_token: bool) -> None:
        check_files(folder)
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            if by_token:
                from pylate.models import ColBERT as Library
            else:
                from sentence_transformers import SentenceTransformer as Library
        except ImportError as error:
            install = "pip install pylate" if by_token else "pip install 'mathamr[encoders]'"
            raise MissingExtraError("PyLate" if by_token else "sentence-transformers", install) from error
        try:
            self._model: Any = Library(str(folder), device=None if device == "auto" else device, **SAFE)
        except Exception as error:  # whatever a foreign folder makes go wrong there
            library = Library.__module__.partition(".")[0]
            raise MathAMRError(f"{folder} cannot be loaded by {library}: {error}") from error
        self._by_token = by_token
        self.size = self.encode(["x"], are_queries=True)[0].shape[1]

    def encode(self, texts: Sequence[str], *, are_queries: bool) -> list[FloatArray]:
        """Return the rows of every text."""
        if self._by_token:
            rows = self._model.encode(list(texts), is_query=are_queries, show_progress_bar=False)
        else:
            encode = self._model.encode_query if are_queries else self._model.encode_document
            rows = encode(list(texts), show_progress_bar=False, normalize_embeddings=True)
        return [np.atleast_2d(np.asarray(row, np.float32)) for row in rows]


def check_files(folder: Path) -> None:
    """Refuse a folder that chooses what is imported or that has no weights in safetensors."""
    modules = folder / "modules.json"
    try:
        rows = json.loads(modules.read_bytes()[: 1 << 20]) if modules.is_file() else []
        strange = [row["type"] for row in rows if not row["type"].startswith(MODULES)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MathAMRError(f"{modules} is damaged: {error}") from error
    if strange:
        raise MathAMRError(f"{modules} names {strange[0]!r}, which is not a part of Sentence-Transformers")
    if not any(folder.rglob("*.safetensors")):
        raise MathAMRError(
            f"{folder} has no weights in safetensors files; other formats can run code and are not loaded."
            " Convert the model with: SentenceTransformer(FOLDER).save_pretrained(NEW_FOLDER)"
        )
