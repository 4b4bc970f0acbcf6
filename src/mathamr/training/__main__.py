"""`python -m mathamr.training SHARD --config NAME --out FOLDER`: training where only torch and numpy are installed."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from mathamr.errors import MathAMRError
from mathamr.systems.mathamrplus.configuration import MODELS
from mathamr.training.command import Request, run


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0 when done or stopped on demand, 1 after a clear error."""
    parser = argparse.ArgumentParser(
        prog="python -m mathamr.training", description="Train an encoder on a shard of graphs."
    )
    parser.add_argument("shard", type=Path, help="graphs and pairs, as exported from a store")
    parser.add_argument(
        "--out", type=Path, required=True, help="folder for the model, its card and checkpoint"
    )
    parser.add_argument("--config", default="thesis", help=f"one of {', '.join(MODELS)}")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="change a field; repeatable"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:NUMBER")
    parser.add_argument("--threads", type=int, default=4, help="threads that make batches ahead")
    parser.add_argument("--texts", type=Path, help="text vectors of the representatives (.npz)")
    parser.add_argument("--labels", type=Path, help="text vectors of the labels to start from (.npy)")
    parser.add_argument("--negatives", type=Path, help="hard negatives (JSON lines)")
    parser.add_argument("--minutes", type=float, help="stop after so many minutes; the same command goes on")
    parser.add_argument("--half", action="store_true", help="store the weights in sixteen bits")
    parser.add_argument("--fresh", action="store_true", help="do not go on from a checkpoint")
    given = parser.parse_args(arguments)
    try:
        standing = run(
            Request(
                given.shard,
                given.out,
                given.config,
                tuple(given.set),
                given.device,
                given.threads,
                given.texts,
                given.labels,
                given.negatives,
                given.minutes,
                given.half,
                given.fresh,
            )
        )
    except MathAMRError as error:
        print(f"mathamr: {error}", file=sys.stderr)
        return 1
    if standing is not None:
        for row in standing.history:
            print(json.dumps(row))
    return 0


if __name__ == "__main__":
    sys.exit(main())
