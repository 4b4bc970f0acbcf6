"""`python -m mathamr_lab.studies [NAME…]`: run studies by name; without a name, list them."""

from __future__ import annotations

import ast
import sys
import time
from importlib import import_module
from pathlib import Path

from mathamr.core.errors import MathAMRError


def studies() -> dict[str, str]:
    """Return the modules here that have a function `run`, with the first lines of their docstrings; nothing is imported."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "run" for node in tree.body):
            found[path.stem] = (ast.get_docstring(tree) or "").partition("\n")[0]
    return found


def main(names: list[str]) -> int:
    """Return exit code 0 if all studies ran, 1 if one failed, 2 for an unknown name."""
    known = studies()
    chosen = [name.replace("_", "").replace("-", "") for name in names]
    unknown = [name for name in chosen if name not in known]
    if unknown:
        print(f"unknown study {', '.join(unknown)}; known: {', '.join(known)}", file=sys.stderr)
        return 2
    for name, about in known.items() if not chosen else ():
        print(f"{name:<16} {about}")
    failed = 0
    for name in chosen:
        started = time.perf_counter()
        print(f"\n== {name}", flush=True)
        try:
            import_module(f"mathamr_lab.studies.{name}").run()
        except MathAMRError as error:
            failed += 1
            print(f"{name}: {error}", file=sys.stderr)
        print(f"   ({time.perf_counter() - started:.1f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
