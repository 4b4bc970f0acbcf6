"""Attacks on a checkout: those by hand, each a function, and those by machine, each a door with cases from a seed.

    python scripts/attacks --list
    python scripts/attacks [--checkout DIR] [NAME…]                  # those by hand, all or some
    python scripts/attacks [--checkout DIR] DOOR… [--count N] [--seed N] [--seconds N] [--finds FOLDER]
    python scripts/attacks DOOR… --fuzz MINUTES --seed N --finds FOLDER  # by the clock, as many cases as there are

By hand prints one line for each: `held` or `OPEN`, and what happened. By machine prints how many cases were read or refused, and for
each kind of finding the smallest case that was found; `slopes` fits how calls and processor time grow with the size of a text.
docs/secure.md lists the promises. Programs run in their own folders with limits, so that an attack that succeeds does no damage.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

DOORS = ("documents", "settings", "packed", "included", "ignored", "damaged", "formulas", "typed", "names", "graphs", "tails", "queries", "requests", "mcp", "embeddings", "manifests", "models", "flips", "commands", "slopes")  # fmt: skip
"""The doors that are attacked by machine; doors.py says what each is, and imports the checkout's mathamr."""


def main() -> int:
    """Run attacks; return the number of those that are open and of findings."""
    parser = argparse.ArgumentParser(prog="python scripts/attacks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("name", nargs="*", help="attacks and doors; none: all attacks by hand")
    parser.add_argument("--list", action="store_true", help="print all names")
    parser.add_argument("--checkout", type=Path, default=Path(__file__).parents[2])
    parser.add_argument("--count", type=int, default=200, help="cases at each door")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600, help="processor time at each door")
    parser.add_argument("--fuzz", type=float, metavar="MINUTES", help="instead: as many cases as there are in this time by the clock")  # fmt: skip
    parser.add_argument(
        "--finds", type=Path, help="a folder for the findings, one file for each door and seed"
    )
    options = parser.parse_args()
    checkout = options.checkout.resolve()
    sys.path[:0] = [str(checkout / "src"), str(checkout)]
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import files  # noqa: F401  (registers its attacks)
    import servers  # noqa: F401
    from scene import ATTACKS, Scene

    import folders  # noqa: F401

    if options.list:
        print("\n".join([*ATTACKS, *DOORS]))
        return 0
    if unknown := set(options.name) - {*ATTACKS, *DOORS}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; --list prints all names")
    opened = 0
    with tempfile.TemporaryDirectory(prefix="mathamr-attacks-") as room:
        by_hand = [name for name in options.name if name in ATTACKS] or (ATTACKS if not options.name else ())
        if by_hand:
            scene = Scene(checkout, Path(room))
            for name in by_hand:
                try:
                    held, what = ATTACKS[name](scene)
                except Exception as error:  # an attack that could not be run has no result
                    print(f"{name} | not run | {type(error).__name__}: {error}", flush=True)
                    continue
                opened += not held
                print(f"{name} | {'held' if held else 'OPEN'} | {what}", flush=True)
        if doors := [name for name in options.name if name in DOORS]:
            from doors import machine

            if options.finds is not None:
                options.finds.mkdir(parents=True, exist_ok=True)
            is_long = options.fuzz is not None
            count, seconds = (sys.maxsize, float("inf")) if is_long else (options.count, options.seconds)
            minutes = options.fuzz / len(doors) if is_long else float("inf")
            opened += machine(doors, Path(room), checkout, seed=options.seed, count=count, seconds=seconds, minutes=minutes, finds=options.finds)  # fmt: skip
    return opened


if __name__ == "__main__":
    sys.exit(min(main(), 100))
