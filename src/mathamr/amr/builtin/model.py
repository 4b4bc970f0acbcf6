"""`ParserModel`: the file of the parser's weights and tables, an `.npz` without pickles, and the text encoder that it reads with."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from mathamr.amr.builtin.configuration import NetworkConfiguration
from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError

WEIGHTS = Path(__file__).parent / "data" / "parser.npz"
BOX = Path(__file__).parents[2] / "systems" / "box"
"""The folder of the models in the box; the parser reads with the text encoder of one of them."""
TABLES = "tables"


@dataclass(frozen=True)
class ParserModel:
    """Weights in eight bits, and tables: vocabularies, the lexicon, the shape of the network, the name of its text encoder."""

    weights: Mapping[str, AnyArray]
    tables: Mapping[str, Any]

    def save(self, path: Path) -> None:
        """Writes the file."""
        packed = zlib.compress(json.dumps(self.tables, ensure_ascii=False, separators=(",", ":")).encode(), 9)
        with path.open("wb") as file:
            np.savez(file, allow_pickle=False, **{TABLES: np.frombuffer(packed, np.uint8)}, **self.weights)

    @classmethod
    def load(cls, path: Path) -> ParserModel:
        """The inverse of `save`; refuses anything else."""
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
