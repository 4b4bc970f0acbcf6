"""`python -m mathamr_lab.recipes PATH --out FOLDER`: training with only torch and numpy installed.

PATH is a prepared folder or a shard of graphs.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from mathamr.core.errors import MathAMRError


def main(arguments: list[str] | None = None) -> int:
    """Return exit code 0 when done or stopped on demand, 1 after a clear error."""
    parser = argparse.ArgumentParser(
        prog="python -m mathamr_lab.recipes",
        description="Train a system from a prepared folder, or a graph network from a shard.",
    )
    parser.add_argument("path", type=Path, metavar="PATH", help="prepared folder, or shard of graphs (.npz)")
    parser.add_argument("--out", type=Path, required=True, help="folder for the model")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:NUMBER")
    parser.add_argument("--threads", type=int, default=4, help="threads that make batches ahead")
    parser.add_argument("--minutes", type=float, help="stop after so many minutes; the same command goes on")
    parser.add_argument("--fresh", action="store_true", help="do not go on from a checkpoint")
    shard = parser.add_argument_group("of a shard only")
    shard.add_argument("--config", default="thesis", help="named configuration of the graph network")
    shard.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="change a field; repeatable"
    )
    shard.add_argument("--half", action="store_true", help="store the weights in sixteen bits")
    given = parser.parse_args(arguments)
    try:
        if given.path.is_dir():
            _prepared(given)
        else:
            _shard(given)
    except MathAMRError as error:
        print(f"mathamr: {error}", file=sys.stderr)
        return 1
    return 0


def _prepared(given: argparse.Namespace) -> None:
    from mathamr.core.device import chosen_device
    from mathamr_lab.recipes.prepared import train_prepared
    from mathamr_lab.training.resources import Resources

    resources = Resources(device=chosen_device(given.device), threads=given.threads, minutes=given.minutes)
    for row in train_prepared(given.path, given.out, resources, fresh=given.fresh):
        print(json.dumps(row), flush=True)


def _shard(given: argparse.Namespace) -> None:
    from mathamr_lab.systems.mathamrplus.graph.command import GraphRequest, train_graph

    progress = train_graph(
        GraphRequest(
            shard=given.path,
            out=given.out,
            config=given.config,
            changes=tuple(given.set),
            device=given.device,
            threads=given.threads,
            minutes=given.minutes,
            half=given.half,
            fresh=given.fresh,
        )
    )
    for row in progress.history:
        print(json.dumps(row))


if __name__ == "__main__":
    sys.exit(main())
