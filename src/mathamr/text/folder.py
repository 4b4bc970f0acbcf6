"""The folder of a text encoder: word pieces as text, weights in eight bits per number, no pickles.

config.json           the transformer's shape, hashes of the other files
weights.safetensors   matrices as eight-bit numbers with a scale per row, the rest unchanged
wordpieces.txt        one piece per line

Alternatively it stores the difference to a published encoder that is installed: `config.json` names that base and the hash of its
weights, `weights.safetensors` holds the difference in two bits per number (`difference`), and the word pieces are the base's.
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
from mathamr.text.configuration import WINDOW, TransformerConfiguration
from mathamr.text.onnxencoder import OnnxTextEncoder
from mathamr.text.wordpieces import WordPieces

PIECES = "wordpieces.txt"

_LOADED: WeakValueDictionary[tuple[Path, str], OnnxTextEncoder] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class EncoderHead:
    """The content of `config.json`; `base` names the published encoder that the weights are a difference to, if any."""

    configuration: TransformerConfiguration
    hashes: dict[str, str]
    fingerprint: str
    base: object = None


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
    content = json.dumps(
        [row["transformer"], hashes, *([row["base"]] if "base" in row else [])], sort_keys=True
    )
    fingerprint = hashlib.sha256(content.encode()).hexdigest()[:16]
    return EncoderHead(configuration, hashes, fingerprint, row.get("base"))


def load_pieces(path: Path, configuration: TransformerConfiguration) -> WordPieces:
    """Read the word pieces in a file and check their number."""
    pieces = WordPieces.load(path)
    if len(pieces.vocabulary) != configuration.pieces:
        raise MathAMRError(
            f"{path} has {len(pieces.vocabulary)} word pieces, the configuration requires {configuration.pieces}"
        )
    return pieces


def load_word_pieces(folder: Path) -> tuple[WordPieces, str]:
    """Return the word pieces of the text encoder in a folder, and the encoder's fingerprint, without loading its weights."""
    head = read_head(folder)
    if head.base is None:
        return load_pieces(folder / PIECES, head.configuration), head.fingerprint
    from mathamr.text.mpnet import mpnet_folder
    from mathamr.text.published import VOCABULARY

    return load_pieces(mpnet_folder() / VOCABULARY, head.configuration), head.fingerprint


def load_onnx_encoder(folder: Path) -> OnnxTextEncoder:
    """Load the text encoder in a folder for ONNX Runtime after checking the hashes of its files; weights are memory-mapped.

    One process has one encoder for a folder, however many systems and parsers read with it.
    """
    head = read_head(folder)
    key = folder.resolve(), head.fingerprint
    loaded = _LOADED.get(key)
    if loaded is not None:
        return loaded
    if head.base is not None:
        raise MathAMRError(
            f"{folder} holds a difference to a base; load it with `mathamr.text.backend.load_encoder`"
        )
    for name in (WEIGHTS, PIECES):
        checked_file(folder / name, head.hashes)
    pieces = load_pieces(folder / PIECES, head.configuration)
    weights = read_arrays(folder / WEIGHTS)
    encoder = OnnxTextEncoder(
        head.configuration, weights, pieces, fingerprint=head.fingerprint, source=folder
    )
    return _LOADED.setdefault(key, encoder)
