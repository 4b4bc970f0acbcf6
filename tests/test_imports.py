"""Every module of the package stands on others, never in a circle: what it needs can be read without it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import mathamr

PACKAGE = Path(mathamr.__file__).parent


def modules(package: Path) -> dict[str, str]:
    """The names of all modules in a package's folder, with their sources."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = path.read_text(encoding="utf-8")
    return found


def graph(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """For every module the others that it imports, at its top or inside a function."""
    return {name: set(_imports(ast.parse(text), sources)) - {name} for name, text in sources.items()}


def _imports(node: ast.AST, known: Collection[str]) -> Iterator[str]:
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        for each in node.orelse:
            yield from _imports(each, known)
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in known)
    elif isinstance(node, ast.ImportFrom):
        assert not node.level, "imports name their module in full"
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield from (name for name in (whole if whole in known else node.module,) if name in known)
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, known)


def circle(sources: Mapping[str, str]) -> list[str]:
    """A circle of modules, if there is one."""
    try:
        TopologicalSorter(graph(sources)).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_needs_itself() -> None:
    sources = modules(PACKAGE)
    assert len(sources) > 100
    assert graph(sources)["mathamr.search.library"] >= {"mathamr.index.archive", "mathamr.posts.post"}
    assert not circle(sources), " imports ".join(reversed(circle(sources)))


@pytest.mark.parametrize(
    ("back", "found"),
    [
        ("import a", True),
        ("from a import thing", True),
        ("def later():\n    from a import thing", True),
        ("class C:\n    def later(self):\n        import a", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a", False),
        ("import typing\nif typing.TYPE_CHECKING:\n    import a\nelse:\n    a = None", False),
        ("import numpy", False),
    ],
)
def test_a_circle_is_found_wherever_the_import_stands(back: str, found: bool) -> None:
    assert bool(circle({"a": "from b import other", "b": "import c", "c": back})) is found
