"""Turns trained weights and the prepared tables into the file that the product reads."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mathamr.amr.builtin.model import TABLES as TABLE_NAME
from mathamr.amr.builtin.model import ParserModel
from mathamr.text.torchfolder import quantised

TABLES = ("concepts", "templates", "labels", "tags", "lexicon", "names", "general", "general templates")
UNUSED = ("mix", "dep_child.", "dep_head.", "dep.")
"""What only training needs."""


def pack(weights: Path, network: Path, prepared: Path, out: Path, encoder: str) -> ParserModel:
    """Writes the parser's file: matrices in eight bits, tables, and the name of the text encoder's model."""
    tables: dict[str, Any] = json.loads((prepared / "tables.json").read_text(encoding="utf-8"))
    row: dict[str, Any] = json.loads(network.read_text(encoding="utf-8"))
    with np.load(weights) as file:
        found = {
            name.removeprefix("network."): torch.from_numpy(file[name].astype(np.float32))
            for name in file.files
        }
    shares = torch.softmax(found["mix"], 0).tolist()
    kept = {name: tensor for name, tensor in found.items() if not name.startswith(UNUSED)}
    fingerprint = row.pop("fingerprint")
    row.pop("own", None)
    model = ParserModel(
        {name: tensor.numpy() for name, tensor in quantised(kept).items()},
        {name: tables[name] for name in TABLES}
        | {
            "network": row,
            "encoder": encoder,
            "fingerprint": fingerprint,
            "mix": {str(layer): share for layer, share in zip(row["layers_read"], shares, strict=True)},
        },
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    save(model, out)
    return model


def save(model: ParserModel, path: Path) -> None:
    """Writes the file that `ParserModel.load` reads."""
    text = json.dumps(model.tables, ensure_ascii=False, separators=(",", ":"))
    packed = np.frombuffer(zlib.compress(text.encode(), 9), np.uint8)
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **{TABLE_NAME: packed}, **model.weights)
