"""No option is silently ignored: found in the syntax trees of all verbs, and refused where it would have no effect."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mathamr.cli import LABORATORY, VERBS, app

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [path for folder in ("src", "lab/src") for path in sorted((ROOT / folder).rglob("*.py"))]
HARMLESS = {
    ("models", "as_json", "verbose"): "JSON always has the rankings and the measured quality",
    ("search", "as_json", "verbose"): "JSON always has everything that is known of a hit",
}
"""By verb, option that chooses a branch, and option that the branch does not read: why nothing is ignored."""
LISTS = {("experiment", "not names"): "without a name, the experiments are listed and nothing runs"}
"""By verb and option that chooses a branch: why the branch reads no option at all."""


def module(verb: str) -> Path:
    return ROOT / ("lab/src/mathamr_lab" if verb in LABORATORY else "src/mathamr") / "cli" / f"{verb}.py"


def function(path: Path, name: str = "command") -> ast.FunctionDef:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return next(each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == name)


def read(*nodes: ast.AST) -> set[str]:
    every = (each for node in nodes for each in ast.walk(node))
    return {each.id for each in every if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def ways(body: list[ast.stmt]) -> Iterator[tuple[str, set[str]]]:
    """The ways through a function: the condition of the branch that ends it, and all names that are read until then."""
    names: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Return):
            names |= read(statement.test)
            yield ast.unparse(statement.test), names | read(*statement.body)
        else:
            names |= read(statement)
    yield "", names


@pytest.mark.parametrize("verb", VERBS)
def test_every_way_through_a_command_reads_every_option(verb: str) -> None:
    command = function(module(verb))
    options = {argument.arg for argument in (*command.args.args, *command.args.kwonlyargs)}
    ignored = {
        (verb, condition, option)
        for condition, names in ways(command.body)
        for option in options - names
        if (verb, condition, option) not in HARMLESS and (verb, condition) not in LISTS
    }
    assert not ignored


def test_every_field_that_a_command_fills_is_read_somewhere() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}
    every = [node for tree in trees.values() for node in ast.walk(tree)]
    attributes = {
        each.attr for each in every if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load)
    }
    fields = {
        (each.name, ast.unparse(line.target))
        for each in every
        if isinstance(each, ast.ClassDef)
        for line in each.body
        if isinstance(line, ast.AnnAssign)
    }
    filled = {
        (path.stem, keyword.arg)
        for path, tree in trees.items()
        if path.parent.name == "cli"
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        for keyword in call.keywords
        if keyword.arg and (call.func.id, keyword.arg) in fields
    }
    assert len(filled) > 30
    assert {each for each in filled if each[1] not in attributes} == set()


def test_every_option_of_a_module_that_is_run_is_read() -> None:
    unread = []
    for path in (
        *SOURCES,
        *sorted((ROOT / "scripts").glob("*.py")),
        *sorted((ROOT / "benchmarks").glob("*.py")),
    ):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        attributes = {each.attr for each in ast.walk(tree) if isinstance(each, ast.Attribute)}
        for call in ast.walk(tree):
            if not (isinstance(call, ast.Call) and ast.unparse(call.func).endswith(".add_argument")):
                continue
            named = [each.value for each in call.keywords if each.arg == "dest"]
            names = [each for each in (named or call.args) if isinstance(each, ast.Constant)]
            long = [str(each.value) for each in names if not str(each.value).startswith("-")] or [
                str(each.value) for each in names if str(each.value).startswith("--")
            ]
            if long and long[0].lstrip("-").replace("-", "_") not in attributes:
                unread.append((path.name, long[0]))
    assert not unread


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("index --check x --watch", "--check builds nothing"),
        ("index --check x --without y", "--check builds nothing"),
        ("index x --no-repair", "--no-repair belongs to --check"),
        ("open x y --print --editor vi", "--print opens no editor"),
        ("plan --measure notes --posts 7", "--measure prints costs"),
        ("plan --posts 7 --device cuda", "--model, --engine and --device belong to --measure"),
    ],
)
def test_an_option_without_effect_is_refused(words: str, said: str) -> None:
    result = CliRunner().invoke(app, words.split())
    assert result.exit_code == 2
    assert said in " ".join(result.output.replace("│", " ").split())
