"""Text encoders that a system begins from, by name: the one in the box, all-MiniLM-L6-v2, or a local folder's."""

from __future__ import annotations

from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import file_hash
from mathamr.systems.modelfolder import FIRST, box, described
from mathamr.systems.weights import CONFIG
from mathamr.text.encoder import TextEncoder
from mathamr.text.files import load_text_encoder
from mathamr.text.minilm import packaged_minilm
from mathamr.text.published import MODEL, published_encoder

BOX, MINILM = "box", "minilm"
"""The text encoder of the first model, which every installation has; and the packaged MiniLM, an extra."""


def load_base(name: str, device: str = "cpu") -> TextEncoder:
    """The text encoder of a name, or in a folder: ours, or one as transformers and sentence-transformers write them."""
    if name == BOX:
        return load_text_encoder(box() / FIRST / "text", device)
    if name == MINILM:
        return packaged_minilm(device)
    folder = Path(name)
    if not (folder / CONFIG).is_file():
        raise MathAMRError(
            f"no text encoder {name!r}: name {BOX!r}, {MINILM!r}, or a folder with a {CONFIG} and weights"
        )
    row = described(folder)
    if "transformer" in row:
        return load_text_encoder(folder, device)
    return published_encoder(folder, file_hash(folder / MODEL)[:16], device)


def checked_base(name: str, fingerprint: str, device: str, what: str) -> TextEncoder:
    """The base of a model that was trained as changes of it; another one than it was trained on is refused."""
    base = load_base(name, device)
    if base.fingerprint != fingerprint:
        raise MathAMRError(
            f"{what} holds changes to the text encoder {name!r} ({fingerprint}), and the one here is another"
            f" ({base.fingerprint}); train it again, or install what it was made for"
        )
    return base
