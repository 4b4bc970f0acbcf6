"""`ParserModel`: the file of the parser's weights and tables, an `.npz` without pickles, and the shape of its network."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.core.configured import known_fields
from mathamr.core.errors import MathAMRError
from mathamr.text.configuration import TransformerConfiguration

WEIGHTS = Path(__file__).parent / "data" / "parser.npz"
BOX = Path(__file__).parents[2] / "systems" / "box"
"""The folder of the models in the box; the parser reads with the text encoder of one of them."""
TABLES = "tables"
"""The name of the tables among the arrays of the file: compressed JSON."""
GAPS = 33
"""Numbers of words between two nodes, with the direction; greater ones share the outermost."""


@dataclass(frozen=True)
class NetworkConfiguration:
    """Sizes of the network; `layers_read` are the encoder's layers whose states it mixes, 0 for the embeddings."""

    concepts: int = 2
    templates: int = 1
    labels: int = 1
    tags: int = 1
    layers_read: tuple[int, ...] = (2, 3, 4, 5, 6)
    states: int = 384
    size: int = 256
    layers: int = 2
    inner: int = 512
    heads: int = 8
    hidden: int = 192
    node: int = 256
    pair: int = 128
    arc: int = 128
    dropout: float = 0.3

    @cached_property
    def transformer(self) -> TransformerConfiguration:
        """The shape of the layers over words."""
        return TransformerConfiguration(
            pieces=1, size=self.size, layers=max(1, self.layers), heads=self.heads, inner=self.inner, positions=1,
            dropout=min(0.2, self.dropout), buckets=32,
        )  # fmt: skip

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> NetworkConfiguration:
        """Return the configuration of a row that holds its fields."""
        return cls(**known_fields(cls, row | {"layers_read": tuple(row["layers_read"])}, "parser network"))


@dataclass(frozen=True)
class ParserModel:
    """Weights in eight bits, and tables: vocabularies, the lexicon, the shape of the network, the name of its text encoder."""

    weights: Mapping[str, AnyArray]
    tables: Mapping[str, Any]

    @classmethod
    def load(cls, path: Path) -> ParserModel:
        """Load the model in a file; refuse any other file."""
        try:
            with np.load(path, allow_pickle=False) as file:
                weights = {name: file[name] for name in file.files if name != TABLES}
                tables = json.loads(zlib.decompress(file[TABLES].tobytes()))
            return cls(weights, tables)
        except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile, zlib.error) as error:
            raise MathAMRError(
                f"the weights of the built-in parser at {path} cannot be read ({error}); "
                "train them again with `python -m mathamr_lab.amr`"
            ) from error

    @property
    def configuration(self) -> NetworkConfiguration:
        """The shape of the network."""
        return NetworkConfiguration.from_json(dict(self.tables["network"]))

    @property
    def encoder(self) -> Path:
        """The folder of the text encoder whose states the network reads."""
        return BOX / str(self.tables["encoder"]) / "text"

    @property
    def mix(self) -> dict[int, float]:
        """The share of each layer of the encoder."""
        return {int(layer): float(share) for layer, share in self.tables["mix"].items()}
