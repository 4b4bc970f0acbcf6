"""What `import mathamr` offers: every name that the documentation uses, listed, and imported when it is first used."""

from __future__ import annotations

import ast
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import mathamr

ROOT = Path(__file__).parents[1]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]
ELSEWHERE = ("mathamr.adapters.", "mathamr.sample", "mathamr.core.")
"""Modules that pages name in full: what needs an extra, the sample, and what only packages of systems use."""


def test_tab_completion_and_help_list_every_name() -> None:
    assert set(mathamr.__all__) <= set(dir(mathamr))
    assert {"Index", "compare_runs", "read_posts", "to_pyg"} <= set(dir(mathamr))
    text = pydoc.plain(pydoc.render_doc(mathamr))
    assert all(name in text for name in mathamr.__all__)


def test_checkers_of_types_see_the_names_that_are_there() -> None:
    tree = ast.parse(Path(mathamr.__file__).read_text("utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        f"{node.module}:{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == {":".join(place) for place in mathamr._PLACES.values()}
    for name in mathamr.__all__:
        assert getattr(mathamr, name) is not None


def test_no_name_is_imported_before_it_is_used() -> None:
    code = "import sys, mathamr; dir(mathamr); print([name for name in sys.modules if name.startswith('mathamr.') and 'core' not in name])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_what_pages_import_is_in_the_package() -> None:
    for page in PAGES:
        for module, names in re.findall(
            r"^ *from (mathamr\.[\w.]+) import ([\w, ]+)", page.read_text("utf-8"), re.M
        ):
            if module.startswith(ELSEWHERE):
                continue
            raise AssertionError(f"{page.name}: write from mathamr import {names}")


def test_every_class_that_pages_name_as_code_is_in_the_package() -> None:
    defined = {
        node.name
        for path in Path(mathamr.__file__).parent.rglob("*.py")
        if path.parent.name not in ("adapters", "core")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef)
    }
    named = {
        name for page in PAGES for name in re.findall(r"`([A-Z][a-z]\w+)(?:\(|`)", page.read_text("utf-8"))
    }
    measures = {"Bpref"}
    assert {"AlignedPart", "Rerank"} <= named & defined
    assert named & defined - measures <= set(mathamr.__all__)
