"""What the laboratory may import, and what its training path needs at least."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import mathamr_lab

LAB = Path(mathamr_lab.__file__).parent
TESTS = Path(__file__).parents[1]

ONLY_TORCH = """
import sys
class Without:
    def __init__(self, finder):
        self._finder = finder
    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in {blocked!r} else self._finder.find_spec(name, path, target)
sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
from {module} import main
sys.exit(main({arguments!r}))
"""
BLOCKED = [
    "transformers", "tokenizers", "lxml", "spacy", "onnxruntime", "bm25s", "penman", "typer", "scipy",
    "safetensors", "matplotlib", "huggingface_hub", "sklearn", "pydantic", "fastapi", "starlette",
]  # fmt: skip


def with_only_torch(module: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the `main` of a module in a process where nothing but torch and numpy can be imported."""
    code = ONLY_TORCH.format(blocked=BLOCKED, module=module, arguments=list(map(str, arguments)))
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)


def imported(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((path, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield path, node.module


@pytest.mark.parametrize(
    ("folder", "forbidden"), [(LAB, {"tests", "benchmarks"}), (TESTS, {"benchmarks"})], ids=["lab", "tests"]
)
def test_nothing_imports_what_stands_above_it(folder: Path, forbidden: set[str]) -> None:
    assert not [each for each in imported(folder) if each[1].partition(".")[0] in forbidden]
