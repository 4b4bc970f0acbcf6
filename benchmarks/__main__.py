"""Runs the benchmarks: `python -m benchmarks [NAME…]`; each module here has `run()` and says what it needs."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from pathlib import Path

from mathamr.core.errors import MathAMRError


def names() -> list[str]:
    """All benchmarks: the modules of this folder."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))


def main(chosen: list[str]) -> int:
    unknown = [name for name in chosen if name not in names()]
    if unknown:
        print(f"unknown benchmark {', '.join(unknown)}; known: {', '.join(names())}", file=sys.stderr)
        return 2
    failed = 0
    for name in chosen or names():
        print(f"\n== {name}", flush=True)
        started = time.perf_counter()
        try:
            import_module(f"benchmarks.{name}").run()
        except MathAMRError as error:
            failed += 1
            print(f"{name}: {error}", file=sys.stderr)
        print(f"   ({time.perf_counter() - started:.1f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
