"""`mathamr index` of a Lean project: its packages once, and after a change what changed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.posts.formats.lean.lake import lake_packages
from tests.cases import cases
from tests.cli.conftest import Command
from tests.leanproject import write_project

OPTIONS = ("--model", "mathamr-3", "--engine", "flat", "--workers", "1", "--json")


def test_a_project_is_indexed_with_its_packages_and_updated_without_them(
    tmp_path: Path, mathamr: Command
) -> None:
    project, out = write_project(tmp_path / "toy"), tmp_path / "toy.index"
    os.utime(project / "lake-manifest.json", (1, 1))
    first = mathamr("index", project, "--out", out, *OPTIONS)
    assert first.returncode == 0, first.stderr
    assert "toy depends on sums" in first.stderr
    found = json.loads(mathamr("search", out, "add_comm_toy", "--json").stdout)
    assert found["hits"][0]["id"] == "Sums/Basic.lean#Nat.add_comm_toy"
    module = project / "Toy" / "Compact.lean"
    module.write_text(module.read_text().replace("The union of two compact", "A union of two compact"))
    again = mathamr("index", project, "--out", out, *OPTIONS)
    assert "depends on" not in again.stderr
    counts = json.loads(again.stdout)["posts"]
    assert (counts["new"], counts["changed"], counts["deleted"]) == (0, 1, 0)
    assert json.loads(mathamr("search", out, "add_comm_toy", "--json").stdout)["hits"]
    os.utime(project / "lake-manifest.json")
    assert "toy depends on sums" in mathamr("index", project, "--out", out, *OPTIONS).stderr


def test_a_theorem_of_notes_is_found_in_the_library_and_back(tmp_path: Path, mathamr: Command) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "analysis.md").write_text(
        "# Theorem (Heine–Borel)\n\nA set $K \\subseteq \\mathbb{R}$ is compact if and only if it is closed and bounded.\n"
    )
    (tmp_path / "notes" / "sums.md").write_text(
        "# Gauss\n\nThe sum of the first natural numbers is $\\sum_{i=0}^n i = \\frac{n(n+1)}{2}$.\n"
    )
    library, notes = tmp_path / "library", tmp_path / "notes.index"
    project = write_project(tmp_path / "toy")
    assert mathamr("index", project, "--out", library, *OPTIONS).returncode == 0
    assert mathamr("index", tmp_path / "notes", "--out", notes, *OPTIONS).returncode == 0
    there = mathamr("search", library, "sums.md", "--from", notes, "--json")
    assert json.loads(there.stdout)["hits"][0]["id"] == "Sums/Basic.lean#Nat.sum_range_id"
    compact = "Topology.Toy.isCompact_iff_isClosed_bounded"
    back = mathamr("search", notes, compact, "--from", library, "--json")
    assert json.loads(back.stdout)["hits"][0]["id"].startswith("analysis.md")
    only = mathamr("search", library, "union", "--module", "Toy", "--namespace", "Topology.Toy", "--json")
    assert {hit["id"].partition("#")[0] for hit in json.loads(only.stdout)["hits"]} == {"Toy/Compact.lean"}
    lost = mathamr("search", library, "nosuch.md", "--from", notes)
    assert lost.returncode == 1
    assert "no post or label 'nosuch.md'" in lost.stderr


def test_packages_are_those_of_the_manifest_that_are_there(tmp_path: Path) -> None:
    project = write_project(tmp_path / "toy")
    assert [package.name for package in lake_packages(project)] == ["sums"]
    manifest = {
        "packagesDir": ".lake/packages",
        "packages": [
            {"git": {"name": "«sums»", "url": "x"}},
            {"type": "git", "name": "absent"},
            {"type": "git", "name": "../../.."},
            {"type": "path", "name": "near", "dir": "../near"},
        ],
    }
    (tmp_path / "near").mkdir()
    (project / "lake-manifest.json").write_text(json.dumps(manifest))
    assert [(package.name, package.is_fixed) for package in lake_packages(project)] == [
        ("sums", True),
        ("near", False),
    ]
    assert lake_packages(tmp_path) == []


@cases("text", ["", "[]", '{"packages": 3}', '{"packages": [{"type": "git"}]}'])
def test_a_damaged_manifest_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "lake-manifest.json").write_text(text)
    with pytest.raises(MathAMRError, match="not a manifest of Lake"):
        lake_packages(tmp_path)
