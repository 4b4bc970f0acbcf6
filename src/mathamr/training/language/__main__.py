"""`python -m mathamr.training.language SHARD TEXTS --base FOLDER --out FOLDER`: trains a text encoder on pairs."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.configured import known_fields
from mathamr.errors import MathAMRError, UnknownNameError
from mathamr.graphs import shard as shards
from mathamr.layers.language.files import load_text_encoder, save_text_encoder
from mathamr.layers.textvectors import TextTable
from mathamr.training.language.configuration import TextTraining
from mathamr.training.language.loop import TextTrainer
from mathamr.training.language.shard import TextShard


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0 when done, 1 after a clear error."""
    parser = argparse.ArgumentParser(
        prog="python -m mathamr.training.language", description="Train a text encoder on pairs of posts."
    )
    parser.add_argument("shard", type=Path, help="graphs and pairs, as exported from a store")
    parser.add_argument("texts", type=Path, help="the texts of the same posts, as exported beside them")
    parser.add_argument("--base", type=Path, required=True, help="folder of the text encoder to start from")
    parser.add_argument("--out", type=Path, required=True, help="folder for the best text encoder")
    parser.add_argument(
        "--table", type=Path, help="write the text vectors of all representatives here (.npz)"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="change a field; repeatable"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:NUMBER")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many minutes")
    given = parser.parse_args(arguments)
    until = time.monotonic() + 60 * given.minutes
    try:
        _run(given, until)
    except MathAMRError as error:
        print(f"mathamr: {error}", file=sys.stderr)
        return 1
    return 0


def _run(given: argparse.Namespace, until: float) -> None:
    shard, texts = shards.load(given.shard), TextShard.load(given.texts)
    trainer = TextTrainer(
        shard, texts, load_text_encoder(given.base, "cpu"), _training(given.set), given.device
    )
    print(json.dumps({"epoch": 0, **trainer.validated()}), flush=True)
    best = -1.0
    for row in trainer.train(until):
        print(json.dumps(row), flush=True)
        worth = row.get("mrr", 0.0) + row.get("mrr_maxsim", 0.0)
        if worth > best:
            best = worth
            save_text_encoder(given.out, trainer.encoder)
    if given.table:
        _table(trainer).save(given.table)


def _table(trainer: TextTrainer) -> TextTable:
    """The text vectors of all representatives of the shard, in sixteen bits, as graph training reads them."""
    shard = trainer.shard
    found = trainer.vectors(range(len(shard)))
    rows = np.full(int(shard.starts["reps"][-1]), -1, np.int32)
    at = 0
    for place, row in enumerate(found):
        rows[shard.starts["reps"][place] + row.of] = np.arange(at, at + len(row.of))
        at += len(row.of)
    return TextTable(np.concatenate([row.vectors for row in found]).astype(np.float16), rows)


def _training(changes: list[str]) -> TextTraining:
    training = TextTraining()
    known = {field.name for field in fields(TextTraining)}
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals:
            raise MathAMRError(f"cannot read the change {change!r}; expected NAME=VALUE")
        if name not in known:
            raise UnknownNameError("text training field", name, sorted(known))
        try:
            value: Any = json.loads(text)
        except ValueError as error:
            raise MathAMRError(f"cannot read the change {change!r}: {error}") from error
        training = replace(training, **known_fields(TextTraining, {name: value}, "text training"))
    return training


if __name__ == "__main__":
    sys.exit(main())
