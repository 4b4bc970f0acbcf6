"""How many mechanisms read posts and formulas: `python scripts/count_mechanisms.py [--names] [REVISION…]` counts them in each revision.

Beside the lines of the rooms it counts the modules that decide where a document is cut, that follow relative paths, that interpret the
constructs of LaTeX formulas, and that list functions, kinds of statements, Greek letters or digits above and below the line; and the
limits: constants of a module or a class with a number, named as the most or the longest of something, and fields of `Limits`.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator

ROOMS = ("posts", "formulas")
LIMITED = (*ROOMS, "serve")
"""The rooms whose limits are counted."""
LIBRARIES = ("formats/lean/", "formats/coq.py", "formats/declaration/")
"""What of `posts` reads formal libraries."""
LISTS = {
    "lists of functions": "sin cos tan log exp max det dim ker gcd",
    "lists of statements": "theorem lemma proposition corollary definition conjecture",
    "lists of Greek letters": "alpha beta gamma delta epsilon lambda sigma omega",
    "lists of scripts": "₁ ₂ ₃ ¹ ² ³",
}
"""Words of which at least half, in one literal, make it a list of such words."""
_LIMIT = re.compile(r"(?:^|_)(?:MOST|LONGEST|LARGEST|DEEPEST|WIDEST|SLOWEST|HIGHEST|BUDGET|STEPS|SECONDS|MEMORY|MEGABYTES|FREELY|LIMIT|PATIENCE)(?:_|$)")  # fmt: skip
_WORD = re.compile(r"[A-Za-z]+|[₀-₉⁰¹²³⁴-⁹]")


def mechanisms(file: str, source: str) -> Iterator[tuple[str, str]]:
    """Yield each mechanism of a module with the name of what it is."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Name)
            and node.id in ("WHOLE_BELOW", "SECTION_FROM")
            and file.startswith("posts/")
        ):
            yield "modules that cut documents", file
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) == "posixpath.dirname"
            and file.startswith("posts/formats/")
        ):
            yield "modules that follow relative paths", file
        elif isinstance(node, ast.ClassDef) and any(
            ast.unparse(base).startswith("Walk[") for base in node.bases
        ):
            yield "interpreters of LaTeX", f"{file}: {node.name}"
    for node in tree.body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if value is not None:
            found = set(_WORD.findall(" ".join(_texts(value)).lower()))
            for kind, words in LISTS.items():
                if 2 * len(found & set(words.split())) >= len(words.split()):
                    yield kind, f"{file}:{node.lineno}"


def limits(source: str) -> Iterator[str]:
    """Yield the names of the limits of a module."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            for name in (each.id for each in names if isinstance(each, ast.Name)):
                of_server = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "_limit"
                if of_server or (_LIMIT.search(name) and re.search(r"\d", ast.unparse(node.value))):
                    yield name


def _texts(node: ast.AST) -> Iterator[str]:
    return (
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )


def count(revision: str) -> tuple[dict[str, int], dict[str, set[str]]]:
    """Return the lines of the rooms of a revision, and its mechanisms by kind."""
    lines, found = defaultdict[str, int](int), defaultdict[str, set[str]](set)
    found |= {
        kind: set()
        for kind in (
            "modules that cut documents",
            "modules that follow relative paths",
            "interpreters of LaTeX",
            *LISTS,
            *(f"limits of {room}" for room in LIMITED),
        )
    }
    folders = [f"src/mathamr/{room}" for room in LIMITED]
    for path in _git("ls-tree", "-r", "--name-only", revision, *folders).splitlines():
        if path.endswith(".py"):
            file, source = path.removeprefix("src/mathamr/"), _git("show", f"{revision}:{path}")
            room = file.partition("/")[0]
            found[f"limits of {room}"] |= {f"{file}: {name}" for name in limits(source)}
            if room not in ROOMS:
                continue
            is_library = file.removeprefix("posts/").startswith(LIBRARIES)
            lines["libraries" if is_library else room] += source.count("\n")
            for kind, name in mechanisms(file, source):
                found[kind].add(name)
    return lines, found


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("revision", nargs="*", default=["HEAD"])
    parser.add_argument("--names", action="store_true", help="print where each stands, too")
    options = parser.parse_args()
    for revision in options.revision:
        lines, found = count(revision)
        print(
            f"{revision}: " + ", ".join(f"{room} {number:,} lines" for room, number in sorted(lines.items()))
        )
        for kind, names in found.items():
            print(f"  {kind}: {len(names)}")
            if options.names:
                print("\n".join(f"    {name}" for name in sorted(names)))


if __name__ == "__main__":
    main()
