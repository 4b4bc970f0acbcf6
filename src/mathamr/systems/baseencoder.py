"""Text encoders that a system starts from, by name: that of a model in the box, all-MiniLM-L6-v2, or a local folder's."""

from __future__ import annotations

from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import file_hash
from mathamr.core.modelfolder import CONFIG, read_config
from mathamr.systems.models import TEXT, boxed, boxed_folder, part_of
from mathamr.text.encoder import TextEncoder
from mathamr.text.minilm import packaged_minilm
from mathamr.text.published import MODEL, published_encoder
from mathamr.text.torchfolder import load_text_encoder

BASE = "mathamr-2"
"""The model whose text encoder new systems start from, unless another is named."""
MINILM = "minilm"
"""all-MiniLM-L6-v2 as the extra `minilm` installs it."""


def load_base_encoder(name: str, device: str = "cpu") -> TextEncoder:
    """The text encoder of a name, or in a folder: ours, or one as transformers and sentence-transformers write them."""
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
    """The base of a model that is stored as changes of it; a base that differs from that one is refused."""
    # A base that was converted for training lies in the model folder itself.
    inside = Path(what) / name
    is_inside = (inside / CONFIG).is_file()
    base = load_text_encoder(inside, device) if is_inside else load_base_encoder(name, device)
    if base.fingerprint != fingerprint:
        raise MathAMRError(
            f"{what} holds changes to the text encoder {name!r} ({fingerprint}), but the one installed here differs"
            f" ({base.fingerprint}); train the model again, or install the base it was trained from"
        )
    return base
