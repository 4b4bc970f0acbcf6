"""Every path and every name in the fidelity tables exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "lab" / "notes" / "fidelity.md"
_NAMED = re.compile(r"`((?:[a-z0-9_]+/)+[a-z0-9_]+\.py)(?::([A-Za-z_.]+))?`")


def named() -> list[tuple[str, str]]:
    return sorted(set(_NAMED.findall(PAGE.read_text(encoding="utf-8"))))


@cache
def names_in(path: Path) -> frozenset[str]:
    """The names that a module defines, and the members of its classes as `Class.member`."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{each}" for member in node.body for each in _defined(member)}
        found |= set(_defined(node))
    return frozenset(found)


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    parts = [part for each in targets for part in (each.elts if isinstance(each, ast.Tuple) else [each])]
    return [part.id for part in parts if isinstance(part, ast.Name)]


@pytest.mark.parametrize(("path", "name"), named())
def test_what_the_tables_name_exists(path: str, name: str) -> None:
    below = ROOT / "lab/src/mathamr_lab" / path.removeprefix("lab/")
    file = below if path.startswith("lab/") else ROOT / "src/mathamr" / path
    assert file.is_file(), f"{PAGE.name} names {path}, which does not exist"
    assert not name or name in names_in(file), f"{path} defines no {name}"


def test_the_tables_name_enough_to_be_checked() -> None:
    assert len(named()) > 80
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\| \d+ \|", line)]
    assert [int(row.split("|")[1]) for row in rows] == list(range(1, len(rows) + 1))
    assert len(rows) >= 58, "the thesis has 58 elements"
