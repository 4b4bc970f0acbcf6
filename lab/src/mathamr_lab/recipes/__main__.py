"""`python -m mathamr_lab.recipes PREPARED --out FOLDER`: training with only torch and numpy installed."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from mathamr.core.errors import MathAMRError


def main(arguments: list[str] | None = None) -> int:
    """Return exit code 0 when done or stopped on demand, 1 after a clear error."""
    parser = argparse.ArgumentParser(
        prog="python -m mathamr_lab.recipes", description="Train a system from a prepared folder."
    )
    parser.add_argument("prepared", type=Path, help="folder that mathamr train --prepare wrote")
    parser.add_argument("--out", type=Path, required=True, help="folder for the model")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:NUMBER")
    parser.add_argument("--threads", type=int, default=4, help="threads that make batches ahead")
    parser.add_argument("--minutes", type=float, help="stop after so many minutes; the same command goes on")
    parser.add_argument("--memory", help="the most memory, as in 8GB; what is free by default")
    parser.add_argument("--fresh", action="store_true", help="do not go on from a checkpoint")
    given = parser.parse_args(arguments)
    from mathamr.core.device import chosen_device
    from mathamr_lab.recipes.prepared import train_prepared
    from mathamr_lab.training.resources import Resources, parse_bytes

    try:
        most = None if given.memory is None else parse_bytes(given.memory)
        device = chosen_device(given.device)
        resources = Resources(device=device, threads=given.threads, minutes=given.minutes, most_memory=most)
        for row in train_prepared(given.prepared, given.out, resources, fresh=given.fresh):
            print(json.dumps(row), flush=True)
    except MathAMRError as error:
        print(f"mathamr: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
