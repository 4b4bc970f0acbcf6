"""Weights over several beds by nested cross-validation."""

from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr_lab.studies import weights
from mathamr_lab.studies.weights import nested, read_bed


def write(folder: Path, bed: str, good: str, questions: int = 20) -> None:
    """One component ranks the relevant post first, the others last."""
    lines: dict[str, list[str]] = {name: [] for name in ("lexical", "single", "maxsim")}
    for number in range(questions):
        for name, found in lines.items():
            order = ("own", "b", "c") if name == good else ("c", "b", "own")
            found += [f"q{number} 0 {post} {rank} {3 - rank} run" for rank, post in enumerate(order)]
    (folder / f"{bed}.qrels").write_text(
        "".join(f"q{number} 0 own 3\n" for number in range(questions)), encoding="utf-8"
    )
    for name, found in lines.items():
        (folder / f"{bed}.{name}.run").write_text("\n".join(found) + "\n", encoding="utf-8")


def test_weights_are_chosen_over_all_beds_and_on_other_questions(tmp_path: Path) -> None:
    write(tmp_path, "one", "lexical")
    write(tmp_path, "two", "lexical")
    beds = [read_bed(tmp_path, name) for name in ("one", "two")]
    candidates = [(1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0, 0.0)]
    values = {bed.name: {each: bed.values(each) for each in candidates} for bed in beds}
    means, chosen = nested(values)
    assert means == {"one": 1.0, "two": 1.0}
    assert set(chosen) == {candidates[0]}
    assert set(values["one"][candidates[1]].values()) == {1 / 3}


def test_the_study_prints_every_bed_and_needs_judgments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MATHAMR_RUNS", str(tmp_path))
    with pytest.raises(MathAMRError, match="no judgments"):
        weights.run()
    write(tmp_path, "one", "lexical", 12)
    write(tmp_path, "task1", "single", 12)
    vectors = np.eye(3, dtype=np.float32)
    np.savez(tmp_path / "one.npz", ids=np.frombuffer(b"own\nb\nc", np.uint8), vectors=vectors)
    printed = weights.report(tmp_path, ((1, 2, 0, 0, 0.2), (2, 1, 0, 0, 0)), pool=3)
    assert "one (12)" in printed
    assert "task1 (12)" in printed
    assert "lexical alone" in printed


def test_hubs_come_later_where_the_vectors_are_known(tmp_path: Path) -> None:
    write(tmp_path, "one", "single", 1)
    vectors = np.array([[0, 1], [1, 0.1], [1, 0]], np.float32)
    np.savez(tmp_path / "one.npz", ids=np.frombuffer(b"own\nb\nc", np.uint8), vectors=vectors)
    (table,) = read_bed(tmp_path, "one", pool=3, neighbours=1).tables.values()
    assert [hit.id for hit in table.ranked((1, 0, 0, 0, 0))] == ["c", "b", "own"]
    assert table.ranked((1, 0, 0, 0, 5))[0].id == "own"
