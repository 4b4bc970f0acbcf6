"""A stand-in for amrlib 0.8, at the interface that the package really has."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from mathamr.amr.graph import string


def penman_of(tokens: list[str]) -> str:
    """A graph in which all words hang under the first one; formulas become names, as big parsers make them."""
    nodes = []
    for number, token in enumerate(tokens):
        if token.startswith("FORMULA_"):
            nodes.append(f"(v{number} / thing :name (w{number} / name :op1 {string(token)}))")
        else:
            nodes.append(f"(v{number} / {string(token)})")
    inner = "".join(f" :op{number} {node}" for number, node in enumerate(nodes, start=1))
    return f"(a / and{inner})" if nodes else "(a / amr-empty)"


def words(sentence: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", sentence)


class StogModel:
    """As `amrlib.models.inference_bases.STOGInferenceBase` declares it."""

    def parse_sents(
        self, sents: list[str], add_metadata: bool = True, disable_progress: bool = True
    ) -> list[str | None]:
        assert isinstance(sents, list)
        print("amrlib chatters")
        graphs = [
            None if "GIBBERISH" in s else "()" if "BACKOFF" in s else penman_of(words(s)) for s in sents
        ]
        if add_metadata:
            return [f"# ::snt {s}\n{g}" if g else None for s, g in zip(sents, graphs, strict=True)]
        return list(graphs)


@pytest.fixture
def amrlib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The package `amrlib`, without a model yet; `data_dir/model_stog` is where its default one belongs."""

    def load_stog_model(model_dir: str | None = None, **kwargs: Any) -> StogModel:
        if not (Path(str(model_dir)) / "amrlib_meta.json").is_file():
            raise FileNotFoundError(
                2, "No meta-data (amrlib_meta.json or hard-coded) available for", model_dir
            )
        return StogModel()

    module = ModuleType("amrlib")
    module.__dict__.update(
        __version__="0.8.1",
        defaults=SimpleNamespace(data_dir=str(tmp_path / "data")),
        load_stog_model=load_stog_model,
    )
    monkeypatch.setitem(sys.modules, "amrlib", module)
    return module


def amrlib_model(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "amrlib_meta.json").write_text("{}")
    return folder
