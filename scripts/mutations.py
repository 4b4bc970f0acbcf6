"""Changes the product in one place at a time and counts how many of the changes its tests notice.

    python scripts/mutations.py 100 --seed 1
    python scripts/mutations.py --again .mutations/seed-1.jsonl    # those that were not caught, after tests were added

The places are drawn by the seed, equally many in each room, from the bodies of functions: a comparison, `and` and `or`, a condition, a
number, a sign, a statement left out, a result of None. Each is changed in a copy of the repository (hard links, in `--folder`), where
the tests of its module and of those that import it run until one fails. What survives is named: a missing test, or a change that
changes nothing. `unfinished` are those whose tests spent their time before one failed.
"""

from __future__ import annotations

import argparse
import ast
import collections
import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import hypothesis  # noqa: F401  (loaded once, not by every fork)
import lxml.html  # noqa: F401
import numpy  # noqa: F401
import pytest
import starlette.testclient  # noqa: F401
import typer  # noqa: F401

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src", "mathamr")
MOST_FILES = 3
"""Of tests, for one mutation."""
MOST_FAULTY = 4
"""Tests that fail without a change, too, are left out of one mutation."""
WAIT = 10
"""As many times the seconds of a processor may pass by the clock."""
LEFT_OUT = (
    ".git",
    ".venv",
    ".mutations",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
)
OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
}  # fmt: skip


class Mutation(NamedTuple):
    """A piece of a file and what replaces it."""

    path: str
    line: int
    start: int
    end: int
    old: str
    new: str


def changed(node: ast.AST) -> ast.AST | None:
    """Return what a node is changed into, or None where nothing is."""
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=others) if type(operator) in OPPOSITES:
            return ast.Compare(left, [OPPOSITES[type(operator)]()], others)  # type: ignore[list-item]
        case ast.BoolOp(op=operator, values=values):
            return ast.BoolOp(OPPOSITES[type(operator)](), values)  # type: ignore[arg-type]
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPPOSITES:
            return ast.BinOp(left, OPPOSITES[type(operator)](), right)  # type: ignore[arg-type]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.Constant(value=bool() as value):
            return ast.Constant(not value)
        case ast.Constant(value=int() as value):
            return ast.Constant(value + 1)
        case ast.IfExp(test=test, body=body, orelse=other):
            return ast.IfExp(ast.UnaryOp(ast.Not(), test), body, other)
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            return ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()) | ast.Raise() | ast.AugAssign():
            return ast.Pass()
        case ast.Continue():
            return ast.Break()
    return None


def mutations(path: Path) -> list[Mutation]:
    """Return every mutation of a file; annotations, defaults, and the words of errors are left alone."""
    text = (ROOT / path).read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: list[Mutation] = []

    def visit(node: ast.AST, *, inside: bool) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for statement in node.body:
                visit(statement, inside=True)
            return
        if inside and isinstance(node, (ast.expr, ast.stmt)) and (new := changed(node)):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            written = ast.unparse(ast.fix_missing_locations(new))
            written = f"({written})" if isinstance(new, ast.expr) else written
            old = " ".join(text[start:end].decode().split())
            found.append(Mutation(path.as_posix(), node.lineno, start, end, old, written))
        if isinstance(node, (ast.Raise, ast.JoinedStr)):
            return
        for name, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and name not in ("annotation", "returns"):
                    visit(child, inside=inside)

    visit(ast.parse(text), inside=False)
    return found


def draw(count: int, seed: int) -> list[Mutation]:
    """Return some mutations, equally many of each room as far as it has them."""
    chance = random.Random(seed)
    rooms: dict[str, list[Mutation]] = collections.defaultdict(list)
    for path in sorted(path.relative_to(ROOT) for path in (ROOT / PACKAGE).glob("*/**/*.py")):
        rooms[path.parts[2]] += mutations(path)
    for each in rooms.values():
        chance.shuffle(each)
    drawn: list[Mutation] = []
    while len(drawn) < count and any(rooms.values()):
        drawn += [each.pop() for each in rooms.values() if each]
    return drawn[:count]


def again(log: Path) -> list[Mutation]:
    """Return the mutations of a log that were not caught; where a file has changed since, they are not known any more."""
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    found = [
        Mutation(**{name: row[name] for name in Mutation._fields})
        for row in rows
        if row["result"] != "caught"
    ]
    return [each for each in found if each in mutations(Path(each.path))]


def copy_of_repository(folder: Path) -> Path:
    """Return a copy made of hard links; a changed file gets an inode of its own, so the original stays as it is."""
    copy = folder / "repository"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(
        ROOT, copy, copy_function=os.link, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT)
    )
    return copy


def tests_of(module: Path) -> list[str]:
    """Return the files of tests of a module: its own, then those that import it, of its room first; else those of its folder.

    A verb of the command line is not imported but typed.
    """
    folder = Path("tests", *module.parts[2:-1])
    name = ".".join(module.with_suffix("").parts[1:]).removesuffix(".__init__")
    imports = re.compile(
        rf"\b(from {name} import|import {name}\b|from {name.rpartition('.')[0]} import .*\b{module.stem}\b)"
        + (rf"|mathamr\(\s*\"{module.stem}\"" if module.parts[2] == "cli" else "")
    )
    own = folder / f"test_{module.stem}.py"
    users = [
        path.relative_to(ROOT)
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if "lab" not in path.parts and imports.search(path.read_text(encoding="utf-8"))
    ]
    users.sort(key=lambda path: (path != own, path.parent != folder, path.parts[1] != module.parts[2]))
    if own not in users and (ROOT / own).exists():
        users.insert(0, own)
    neighbours = [path.relative_to(ROOT) for path in sorted((ROOT / folder).glob("test_*.py"))]
    neighbours.sort(key=lambda path: not path.stem.startswith(own.stem[:8]))
    return [path.as_posix() for path in (users or neighbours)[:MOST_FILES]]


class First:
    """A plugin of pytest that keeps the name of the first test that fails."""

    name = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the name of a test that failed, or whose fixtures did."""
        self.name = self.name or (report.nodeid if report.failed else "")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the name of a file that cannot be imported."""
        self.name = self.name or (report.nodeid if report.failed else "")


def run_tests(copy: Path, tests: list[str], seconds: int, answer: Connection) -> None:
    """Run pytest in this process, which was forked for it, and send the name of the first test that failed."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.chdir(copy)
    sys.path[:0] = [str(copy), str(copy / "src"), str(copy / "lab/src")]
    os.environ["HYPOTHESIS_PROFILE"] = "few"
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:3])
    first = First()
    temporary = f"--basetemp={copy.parent / 'temporary'}"
    status = pytest.main(["-xq", "--tb=no", "-p", "no:cacheprovider", temporary, *tests], plugins=[first])
    answer.send(first.name or ("" if status in (0, 5) else "an error of pytest"))


def failing(copy: Path, tests: list[str], seconds: int) -> str | None:
    """Run tests until one fails and return its name; an empty string if all pass, None if their time was spent before."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=run_tests, args=(copy, tests, seconds, theirs)
    )
    process.start()
    assert process.pid is not None
    theirs.close()
    try:
        return str(ours.recv()) if ours.poll(WAIT * seconds) else None
    except EOFError:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.join()


def attempt(mutation: Mutation, copy: Path, seconds: int, sound: dict[str, bool]) -> tuple[str, str]:
    """Return what became of one mutation and by which test, and put the file back.

    `sound` remembers which tests pass without any change: one that fails then too says nothing and is left out.
    """
    tests = tests_of(Path(mutation.path))
    if not tests:
        return "untested", ""
    path = copy / mutation.path
    text = path.read_bytes()
    for _ in range(MOST_FAULTY):
        path.unlink()
        path.write_bytes(text[: mutation.start] + mutation.new.encode() + text[mutation.end :])
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
        left_out = [f"--deselect={name}" for name, passes in sound.items() if not passes]
        try:
            failed = failing(copy, [*tests, *left_out], seconds)
        finally:
            path.unlink()
            path.write_bytes(text)
            shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
        if not failed:
            return ("survived", "") if failed == "" else ("unfinished", "")
        name = failed.partition("[")[0]
        if name not in sound:
            sound[name] = failing(copy, [name], seconds) == ""
        if sound[name]:
            return "caught", failed
    return "unfinished", ""


def main() -> None:
    """Try mutations and say what became of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("count", type=int, nargs="?", default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--seconds", type=int, default=10, help="of a processor for the tests of each mutation"
    )
    parser.add_argument("--folder", type=Path, default=ROOT / ".mutations", help="for the copy and the log")
    parser.add_argument("--again", type=Path, help="a log: try what was not caught there")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    copy, sound = copy_of_repository(given.folder), dict[str, bool]()
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    tried = again(given.again) if given.again else draw(given.count, given.seed)
    name = f"{given.again.stem}-again" if given.again else f"seed-{given.seed}"
    with (given.folder / f"{name}.jsonl").open("w", encoding="utf-8") as log:
        for mutation in tried:
            result, by = attempt(mutation, copy, given.seconds, sound)
            counts[Path(mutation.path).parts[2]][result] += 1
            print(json.dumps({"result": result, "by": by, **mutation._asdict()}), file=log, flush=True)
            if result != "caught":
                print(
                    f"{result}: {mutation.path}:{mutation.line}: {mutation.old}  ->  {mutation.new}",
                    flush=True,
                )
    for room, results in sorted(counts.items()):
        print(f"{room}: {results['caught']} of {results.total()} caught")
    total = sum(counts.values(), collections.Counter[str]())
    print(", ".join(f"{number} {result}" for result, number in total.most_common()), f"of {total.total()}")


if __name__ == "__main__":
    main()
