"""The notebooks of `examples/` run from the first cell to the last."""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_the_notebook_runs(path: Path) -> None:
    nbformat, client = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("pandas")
    if path.stem.startswith("train"):
        pytest.importorskip("mathamr_lab")
    notebook = nbformat.read(path, as_version=4)
    client.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    assert any(cell.get("outputs") for cell in notebook.cells)
