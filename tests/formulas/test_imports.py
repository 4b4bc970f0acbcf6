"""What parsing a formula loads."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from mathamr.formulas.parse import parse
parse("x^2")
heavy = ("mathamr.formulas.latex.display", "matplotlib", "numpy", "torch")
print(*(name for name in sys.modules if name.startswith(heavy)))
"""


def test_trees_are_made_without_the_typesetter_and_heavy_libraries() -> None:
    loaded = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []
