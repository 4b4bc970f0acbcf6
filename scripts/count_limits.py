"""How many limits there are: `python scripts/count_limits.py [--names] [REVISION…]` counts them in each revision, by part of the package.

A limit is a constant of a module or a class with a number, named as the most or the longest of something, or a field of `Limits`.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator

PARTS = ("posts", "formulas", "serve")
_NAME = re.compile(r"(?:^|_)(?:MOST|LONGEST|LARGEST|DEEPEST|WIDEST|SLOWEST|HIGHEST|BUDGET|STEPS|SECONDS|MEMORY|MEGABYTES|FREELY|LIMIT|PATIENCE)(?:_|$)")  # fmt: skip


def limits(source: str) -> Iterator[str]:
    """Yield the names of the limits of a module."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            for name in (each.id for each in names if isinstance(each, ast.Name)):
                of_server = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "_limit"
                if of_server or (_NAME.search(name) and re.search(r"\d", ast.unparse(node.value))):
                    yield name


def every_limit(revision: str) -> Iterator[tuple[str, str]]:
    """Yield the file and the name of each limit of a revision."""
    folders = [f"src/mathamr/{part}" for part in PARTS]
    for file in _git("ls-tree", "-r", "--name-only", revision, *folders).splitlines():
        if file.endswith(".py"):
            for name in limits(_git("show", f"{revision}:{file}")):
                yield file, name


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("revision", nargs="*", default=["HEAD"])
    parser.add_argument("--names", action="store_true", help="print each limit, too")
    options = parser.parse_args()
    for revision in options.revision:
        found = list(every_limit(revision))
        counts = Counter(file.split("/")[2] for file, _ in found)
        print(f"{revision}: {len(found)} ({', '.join(f'{part} {counts[part]}' for part in PARTS)})")
        if options.names:
            print("\n".join(f"  {file}: {name}" for file, name in found))


if __name__ == "__main__":
    main()
