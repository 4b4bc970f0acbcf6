"""Turns trained weights and the prepared tables into the file that the product reads."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mathamr.amr.builtin.model import BOX, ParserModel
from mathamr.amr.builtin.model import TABLES as TABLE_NAME
from mathamr.text.folder import load_word_pieces
from mathamr.text.torchfolder import quantised

TABLES = (
    "concepts",
    "templates",
    "labels",
    "tags",
    "lexicon",
    "names",
    "general",
    "general templates",
    "biology",
    "words",
    "mathematical",
)
UNUSED = ("dep_child.", "dep_head.", "dep.")
"""What only training needs."""


def pack(weights: Path, prepared: Path, out: Path) -> None:
    """Write the parser's file: matrices in eight bits, tables, and which layers of which text encoder it reads."""
    tables: dict[str, Any] = json.loads((prepared / "tables.json").read_text(encoding="utf-8"))
    row: dict[str, Any] = json.loads(weights.with_suffix(".json").read_text(encoding="utf-8"))
    with np.load(weights) as file:
        found = {name: torch.from_numpy(file[name].astype(np.float32)) for name in file.files}
    kept = {name: tensor for name, tensor in found.items() if not name.startswith(UNUSED)}
    row["fingerprint"] = load_word_pieces(BOX / row["encoder"] / "text")[1]
    out.parent.mkdir(parents=True, exist_ok=True)
    save(
        ParserModel(
            {name: tensor.numpy() for name, tensor in quantised(kept).items()},
            {name: tables[name] for name in TABLES} | row,
        ),
        out,
    )


def save(model: ParserModel, path: Path) -> None:
    """Write the file that `ParserModel.load` reads."""
    text = json.dumps(model.tables, ensure_ascii=False, separators=(",", ":"))
    packed = np.frombuffer(zlib.compress(text.encode(), 9), np.uint8)
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **{TABLE_NAME: packed}, **model.weights)
