"""The index of the server's tests is the adapters' too."""

from __future__ import annotations

from tests.models import model_folder, small_graphs
from tests.serve.conftest import index, index_folder

__all__ = ["index", "index_folder", "model_folder", "small_graphs"]
