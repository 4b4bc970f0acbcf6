"""Which text encoder reads: in eight bits on a processor (`ways` says by what), in floating point by torch on a GPU.

`MATHAMR_TEXT=float` asks for torch everywhere: the oracle of the other, and what is left where ONNX Runtime is not
installed. Their vectors differ by rounding only; an index made by one is searched by the other.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mathamr.core.configured import describing
from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import checked_file
from mathamr.core.settings import TEXT, VECTORS
from mathamr.core.tensorfile import read_arrays
from mathamr.text.configuration import TransformerConfiguration
from mathamr.text.quantised import QuantisedText, is_available
from mathamr.text.ways import AUTO, FLOAT, ONNX
from mathamr.text.wordpieces import Pieces, WordPieces

if TYPE_CHECKING:
    from mathamr.text.encoder import TextEncoder
    from mathamr.text.textvectors import TextVectors
    from mathamr.text.wording import Wording

CONFIG, WEIGHTS, PIECES = "config.json", "weights.safetensors", "wordpieces.txt"
PATHS = (AUTO, ONNX, FLOAT)


class TextReader(Protocol):
    """What reads wordings, whatever computes it."""

    size: int
    fingerprint: str
    pieces: WordPieces

    def encode(self, wordings: Iterable[Wording]) -> Iterator[TextVectors]:
        """The vectors of every wording's spans, in the order of the wordings."""
        ...

    def encode_pieces(self, posts: Sequence[Pieces]) -> list[TextVectors]:
        """The vectors of the spans of cut wordings, in order."""
        ...


def load_text_reader(folder: Path, device: str = "auto") -> TextReader:
    """The text encoder in a folder, by the quickest way there is on this machine, or by the one that is asked for.

    Vectors that were made ahead for it (`MATHAMR_VECTORS`) are taken where a text is known.
    """
    reader = _load(folder, device)
    if not VECTORS.value:
        return reader
    from mathamr.text.precomputed import AheadReader, vectors_ahead

    ahead = vectors_ahead(VECTORS.path, reader.fingerprint)
    return AheadReader(reader, ahead) if ahead else reader


def _load(folder: Path, device: str) -> TextReader:
    if not computes_on_processor(device) or not is_available():
        from mathamr.text.files import load_text_encoder

        return load_text_encoder(folder, device)
    return load_quantised(folder)


def computes_on_processor(device: str = "auto") -> bool:
    """Whether this device is the processor, and torch is not asked for: then vectors are made without it."""
    if TEXT.value not in PATHS:
        raise MathAMRError(f"{TEXT.name} is {', '.join(PATHS[:-1])} or {PATHS[-1]}, not {TEXT.value!r}")
    return TEXT.value != FLOAT and not _is_for_gpu(device)


def load_quantised(folder: Path) -> QuantisedText:
    """The text encoder in a folder in eight bits, after the hashes of its files were checked; its numbers are mapped, not copied."""
    path = folder / CONFIG
    with describing(path, "text encoder"):
        row: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        configuration = TransformerConfiguration.from_json(dict(row["transformer"]))
        hashes = {str(name): str(value) for name, value in row["sha256"].items()}
        known = row["format"] == 1 and set(hashes) == {WEIGHTS, PIECES}
    if not known:
        return quantised_from(_exact(folder), folder)
    for name in (WEIGHTS, PIECES):
        checked_file(folder / name, hashes)
    pieces = WordPieces.load(folder / PIECES)
    if len(pieces.vocabulary) != configuration.pieces:
        raise MathAMRError(f"{folder} has {len(pieces.vocabulary)} word pieces, not {configuration.pieces}")
    content = json.dumps([row["transformer"], hashes], sort_keys=True)
    fingerprint = hashlib.sha256(content.encode()).hexdigest()[:16]
    return QuantisedText(
        configuration, read_arrays(folder / WEIGHTS), pieces, fingerprint=fingerprint, source=folder
    )


def quantised_from(encoder: TextEncoder, source: Path | None = None) -> QuantisedText:
    """An encoder of torch in eight bits."""
    from mathamr.text.files import quantised

    weights = {name: tensor.numpy() for name, tensor in quantised(encoder.model.state_dict()).items()}
    return QuantisedText(
        encoder.model.configuration, weights, encoder.pieces, fingerprint=encoder.fingerprint, source=source
    )


def exact_encoder(reader: TextReader) -> TextEncoder:
    """The same encoder in floating point, for what needs the network itself: saving and training."""
    from mathamr.text.encoder import TextEncoder
    from mathamr.text.precomputed import AheadReader

    if isinstance(reader, AheadReader):
        reader = reader.reader
    if isinstance(reader, TextEncoder):
        return reader
    source = getattr(reader, "source", None)
    if source is None:
        raise MathAMRError(
            "this text encoder was not read from a folder: its floating-point form is not known"
        )
    return _exact(source)


def _exact(folder: Path) -> TextEncoder:
    from mathamr.text.files import load_text_encoder

    return load_text_encoder(folder, "cpu")


def _is_for_gpu(device: str) -> bool:
    """Whether this device is a GPU; torch is asked only where a driver says that there may be one."""
    if device == "cpu":
        return False
    if device == "auto" and os.name != "nt":
        drivers = ("/proc/driver/nvidia", "/dev/nvidiactl", "/dev/dxg", "/dev/kfd")
        if not any(Path(driver).exists() for driver in drivers):
            return False
    from mathamr.core.device import chosen_device

    return chosen_device(device).type != "cpu"
