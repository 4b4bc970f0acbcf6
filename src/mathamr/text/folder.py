"""The folder of a text encoder: word pieces as text, weights in eight bits per number, no pickles.

config.json           the transformer's shape, hashes of the other files
weights.safetensors   matrices as eight-bit numbers with a scale per row, the rest unchanged
wordpieces.txt        one piece per line, or the JSON of pieces of bytes
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary

from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import checked_file
from mathamr.core.modelfolder import WEIGHTS, ModelFolder
from mathamr.core.tensorfile import read_arrays
from mathamr.text.bytepieces import read_pieces
from mathamr.text.configuration import WINDOW, TransformerConfiguration
from mathamr.text.onnxencoder import OnnxTextEncoder
from mathamr.text.wordpieces import WordPieces

PIECES = "wordpieces.txt"

_LOADED: WeakValueDictionary[tuple[Path, str], OnnxTextEncoder] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class EncoderHead:
    """The content of `config.json`."""

    configuration: TransformerConfiguration
    hashes: dict[str, str]
    fingerprint: str


def read_head(folder: Path) -> EncoderHead:
    """Read the head of a text encoder's folder, without weights."""
    model = ModelFolder.read(folder, "text encoder")
    row, hashes = model.config, model.hashes
    with model.parsing():
        configuration = TransformerConfiguration.from_json(dict(row["transformer"]))
    if configuration.positions < WINDOW + 2:
        raise MathAMRError(
            f"{folder}: a text encoder needs at least {WINDOW + 2} positions, this one has {configuration.positions}"
        )
    content = json.dumps([row["transformer"], hashes], sort_keys=True)
    fingerprint = hashlib.sha256(content.encode()).hexdigest()[:16]
    return EncoderHead(configuration, hashes, fingerprint)


def load_pieces(path: Path, configuration: TransformerConfiguration) -> WordPieces:
    """Read the word pieces in a file and check their number."""
    pieces = read_pieces(path)
    if len(pieces.vocabulary) != configuration.pieces:
        raise MathAMRError(
            f"{path} has {len(pieces.vocabulary)} word pieces, the configuration requires {configuration.pieces}"
        )
    return pieces


def load_word_pieces(folder: Path) -> tuple[WordPieces, str]:
    """Return the word pieces of the text encoder in a folder, and the encoder's fingerprint, without loading its weights."""
    head = read_head(folder)
    return load_pieces(folder / PIECES, head.configuration), head.fingerprint


def load_onnx_encoder(folder: Path) -> OnnxTextEncoder:
    """Load the text encoder in a folder for ONNX Runtime after checking the hashes of its files; weights are memory-mapped.

    One process has one encoder for a folder, however many systems and parsers read with it.
    """
    head = read_head(folder)
    key = folder.resolve(), head.fingerprint
    loaded = _LOADED.get(key)
    if loaded is not None:
        return loaded
    for name in (WEIGHTS, PIECES):
        checked_file(folder / name, head.hashes)
    pieces = load_pieces(folder / PIECES, head.configuration)
    weights = read_arrays(folder / WEIGHTS)
    encoder = OnnxTextEncoder(
        head.configuration, weights, pieces, fingerprint=head.fingerprint, source=folder
    )
    return _LOADED.setdefault(key, encoder)
