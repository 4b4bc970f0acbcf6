"""Weights that are chosen for a collection, written into its index, used by search and taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mathamr.cli import app
from mathamr.core.errors import MathAMRError
from mathamr.evaluation import tuning
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.index.manifest import MANIFEST, Manifest
from mathamr.search.searcher import Index
from mathamr.systems.ranking import QueryKind, fusion_of

NAMES = [
    "Noether",
    "Sylow",
    "Cauchy",
    "Hilbert",
    "Zorn",
    "Banach",
    "Baire",
    "Fubini",
    "Stokes",
    "Green",
    "Abel",
    "Galois",
    "Dirichlet",
    "Hensel",
    "Nakayama",
    "Schur",
]
BY_FORMULAS: dict[str, dict[QueryKind, float]] = {
    "lexical": {"name": 0.0},
    "formula": {"name": 1.0},
    "single": {"name": 0.0},
    "maxsim": {"name": 0.0},
}
"""Only formulas count for a name, which has none."""


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tuning") / "notes"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.md").write_text(f"# Lemma of {name}\n\nWe need it later.\n", encoding="utf-8")
    build_index([folder], folder.with_suffix(".index"), BuildOptions())
    return folder


@pytest.fixture
def index(notes: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The index with the weights of its model."""
    monkeypatch.setattr(tuning, "LEAST", len(NAMES))
    folder = notes.with_suffix(".index")
    tuning.write_weights(folder, {})
    return folder


def used(folder: Path) -> dict[str, float]:
    """The weights by which a name is ranked."""
    with Index.open(folder) as opened:
        fusion = fusion_of(opened.ranking("answers")[1])
    assert fusion is not None
    return {part.name: part.weight for part in fusion.suited("name").parts}


def tune(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["tune", *map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


def test_better_weights_are_written_and_used_and_kept_by_an_update(index: Path, notes: Path) -> None:
    models_own = used(index)
    tuning.write_weights(index, BY_FORMULAS)
    assert used(index) == {"lexical": 0.0, "formula": 1.0, "single": 0.0, "maxsim": 0.0}
    code, out, _ = tune(index, "--json")
    assert code == 0
    (row,) = json.loads(out)["kinds"]
    assert (row["kind"], row["items"], row["mrr_before"], row["mrr_after"]) == ("name", len(NAMES), 0.0, 1.0)
    assert row["difference_interval"][0] > 0
    assert used(index) == row["weights"] != models_own
    build_index([notes], index, BuildOptions())
    assert used(index) == row["weights"], "an update with the same model keeps them"
    assert tune(index, "--reset")[0] == 0
    assert used(index) == models_own


def test_a_dry_run_says_what_would_be_written_and_writes_nothing(index: Path) -> None:
    tuning.write_weights(index, BY_FORMULAS)
    before = (index / MANIFEST).read_bytes()
    code, out, log = tune(index, "--dry-run")
    assert (code, (index / MANIFEST).read_bytes()) == (0, before)
    assert "name" in out
    assert "nothing was written; without --dry-run: name" in log


def test_weights_that_cannot_be_bettered_are_kept(index: Path) -> None:
    before = (index / MANIFEST).read_bytes()
    code, out, log = tune(index)
    assert (code, (index / MANIFEST).read_bytes()) == (0, before)
    assert "kept" in out
    assert "no kind of query gains beyond noise: nothing was written" in log


def test_too_few_known_items_are_refused_with_their_number(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "LEAST", len(NAMES) + 1)
    with (
        Index.open(index) as opened,
        pytest.raises(MathAMRError, match="16 of the kind name; tuning needs 17"),
    ):
        tuning.tune(opened)


def test_damaged_weights_are_reported_as_a_damaged_manifest(index: Path) -> None:
    manifest = Manifest.read(index)
    tuning.write_weights(index, {"single": {"name": "much"}})  # type: ignore[dict-item]
    with pytest.raises(MathAMRError, match=r"manifest\.json is damaged"):
        Manifest.read(index)
    manifest.write(index)
