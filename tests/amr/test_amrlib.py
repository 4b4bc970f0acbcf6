"""The adapter to amrlib, at a stand-in with amrlib's interface."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from mathamr.amr.amrlib import AmrlibParser
from mathamr.amr.graph import Amr
from mathamr.amr.parser import Failure, PartialParseError
from mathamr.core.errors import MathAMRError, MissingExtraError
from tests.amr.stand_ins import amrlib, amrlib_model

__all__ = ["amrlib"]


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "amrlib", None)
    with pytest.raises(
        MissingExtraError, match="amrlib is not installed; install it with: pip install amrlib"
    ):
        AmrlibParser()


def test_without_a_model_the_error_says_where_to_put_one(amrlib: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(
        MathAMRError, match=rf"no amrlib model at {tmp_path}/data/model_stog: download .*amrlib-models"
    ):
        AmrlibParser()
    with pytest.raises(MathAMRError, match="no amrlib model at /nowhere"):
        AmrlibParser("/nowhere")


def test_a_module_that_the_model_lacks_is_named(
    amrlib: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load_stog_model(model_dir: str) -> None:
        raise ModuleNotFoundError("No module named 'unidecode'", name="unidecode")

    monkeypatch.setattr(amrlib, "load_stog_model", load_stog_model)
    with pytest.raises(MissingExtraError, match="unidecode, which this amrlib model needs, is not installed"):
        AmrlibParser(str(tmp_path))


def test_sentences_become_graphs_and_stdout_stays_clean(
    amrlib: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = AmrlibParser(str(amrlib_model(tmp_path / "bart")))
    graphs = parser.parse(("One two", "three"))
    assert graphs[1] == Amr.from_penman('(a / and :op1 (v0 / "three"))')
    assert len(graphs) == 2
    assert capsys.readouterr().out == ""


def test_sentences_without_a_graph_are_told_apart(amrlib: ModuleType, tmp_path: Path) -> None:
    parser = AmrlibParser(str(amrlib_model(tmp_path / "bart")))
    with pytest.raises(PartialParseError) as caught:
        parser.parse(["fine", "GIBBERISH", "BACKOFF"])
    kinds = [result.cause if isinstance(result, Failure) else "graph" for result in caught.value.results]
    assert kinds == ["graph", "no graph", "no graph"]


def test_the_fingerprint_changes_with_the_model(amrlib: ModuleType, tmp_path: Path) -> None:
    one = AmrlibParser(str(amrlib_model(tmp_path / "one")))
    first = one.fingerprint
    assert first.startswith("amrlib-0.8.1-")
    assert one.fingerprint == first
    (tmp_path / "one" / "pytorch_model.bin").write_bytes(b"weights")
    assert one.fingerprint != first
