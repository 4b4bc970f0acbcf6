"""What `pip install mathamr` gives: no PyTorch, and yet notes are indexed and searched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

BLOCKED = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""


def test_notes_are_indexed_searched_and_explained_without_torch_and_what_needs_it_says_so(
    tmp_path: Path,
) -> None:
    (tmp_path / "sitecustomize.py").write_text(BLOCKED)
    (tmp_path / "basel.md").write_text("# Basel\n\nWhy does $\\sum 1/n^2$ converge?\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    index = str(tmp_path / "index")

    def mathamr(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "mathamr", *words],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
        )

    made = mathamr("index", str(tmp_path / "basel.md"), "--out", index, "--workers", "2")
    assert made.returncode == 0, made.stderr
    why = mathamr("explain", index, "does $\\sum 1/n^2$ converge", "basel.md")
    assert (why.returncode, "MaxSim" in why.stdout) == (0, True), why.stderr
    listed = mathamr("models", "--json")
    assert "mathamr-3" in listed.stdout
    assert "ssemb is installed but needs torch" in listed.stderr
    refused = mathamr(
        "index", str(tmp_path / "basel.md"), "--out", str(tmp_path / "other"), "--model", "ssemb"
    )
    assert refused.returncode == 1
    assert refused.stderr.count("\n") <= 3
    assert 'pip install "mathamr[torch]"' in refused.stderr
