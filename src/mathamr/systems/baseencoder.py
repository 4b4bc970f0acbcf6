"""Loads the text encoder that a system starts from, by name: a model in the box, all-MiniLM-L6-v2, or a local folder."""

from __future__ import annotations

from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import file_hash
from mathamr.core.modelfolder import CONFIG, read_config
from mathamr.systems.models import TEXT, boxed, boxed_folder, part_of
from mathamr.text.encoder import TextEncoder
from mathamr.text.published import MODEL, packaged_minilm, published_encoder
from mathamr.text.torchfolder import load_text_encoder

BASE = "mathamr-2"
"""The model whose text encoder new systems start from, unless another is named."""
MINILM = "minilm"
"""all-MiniLM-L6-v2 as the extra `minilm` installs it."""


def load_base_encoder(name: str, device: str = "cpu") -> TextEncoder:
    """Load the text encoder with this name or in this folder, in our format or that of transformers and sentence-transformers."""
    if name == MINILM:
        return packaged_minilm(device)
    if (model := boxed_folder(name)) is not None:
        return load_text_encoder(part_of(model, TEXT), device)
    folder = Path(name)
    if not (folder / CONFIG).is_file():
        raise MathAMRError(
            f"no text encoder {name!r}: name a model ({', '.join(boxed())}), {MINILM!r}, or a folder with a {CONFIG}"
            " and weights"
        )
    if "transformer" in read_config(folder):
        return load_text_encoder(folder, device)
    return published_encoder(folder, file_hash(folder / MODEL)[:16], device)


def checked_base_encoder(name: str, fingerprint: str, device: str, what: str) -> TextEncoder:
    """Load the base of a model that is stored as changes to it, and refuse a base with another fingerprint."""
    # A base that was converted for training is stored in the model folder itself.
    inside = Path(what) / name
    is_inside = (inside / CONFIG).is_file()
    base = load_text_encoder(inside, device) if is_inside else load_base_encoder(name, device)
    if base.fingerprint != fingerprint:
        raise MathAMRError(
            f"{what} holds changes to the text encoder {name!r} ({fingerprint}), but the one installed here differs"
            f" ({base.fingerprint}); train the model again, or install the base it was trained from"
        )
    return base
