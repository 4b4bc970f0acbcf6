"""The template of a system in a package of its own is installed, listed, indexed with and searched by its name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.systems.contract import ContractError, check_system
from mathamr.systems.models import boxed, load_system, model_folder
from mathamr.systems.system import SYSTEMS
from tests.cli.conftest import Command
from tests.index.small import note, write_posts
from tests.packages import install

TEMPLATE = Path(__file__).parents[2] / "packages" / "example-system"
POSTS = [note("groups", "Every subgroup of a cyclic group is cyclic."), note("sums", "Sums of squares.")]


def install_template(site: Path) -> None:
    """Install the template as pip does, without a network: its module and its entry points."""
    project = tomllib.loads((TEMPLATE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module = project["name"].replace("-", "_")
    shutil.copytree(TEMPLATE / module, site / module)
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    install(site, project["name"], "\n".join(lines) + "\n")


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of installed packages with the template."""
    site = tmp_path / "site"
    site.mkdir()
    install_template(site)
    for name in ("mathamr_wordhash", "mathamr_wordhash.research"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    return site


@pytest.mark.usefixtures("template")
def test_a_system_of_another_package_indexes_and_searches(mathamr: Command, tmp_path: Path) -> None:
    source, index = write_posts(tmp_path / "posts.jsonl", POSTS), str(tmp_path / "index")
    made = mathamr("index", str(source), "--out", index, "--model", "wordhash")
    assert made.returncode == 0, made.stderr
    found = mathamr("search", index, "subgroup of a cyclic group", "--strategy", "hashes", "--json")
    assert found.returncode == 0, found.stderr
    hits = json.loads(found.stdout)["hits"]
    assert [hit["id"] for hit in hits] == ["groups", "sums"]
    assert hits[0]["score"] > hits[1]["score"]
    listed = mathamr("models", "wordhash", "--json")
    assert json.loads(listed.stdout)["rankings"] == {"answers": ["both", "hashes"]}


@pytest.mark.slow
def test_pip_installs_it_into_an_empty_environment(tmp_path: Path) -> None:
    """Build and install the template by pip; mathamr itself and what it needs come from the environment of the tests."""
    pytest.importorskip("hatchling")
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"

    def run(*arguments: object) -> str:
        command = [str(python), "-m", *map(str, arguments)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    (site,) = environment.glob("**/site-packages")
    (site / "tests.pth").write_text("".join(f"{path}\n" for path in sys.path if path), encoding="utf-8")
    package = shutil.copytree(TEMPLATE, tmp_path / "package")
    run("pip", "install", "--no-index", "--no-deps", "--no-build-isolation", package)
    source, index = write_posts(tmp_path / "posts.jsonl", POSTS), tmp_path / "index"
    run("mathamr", "index", source, "--out", index, "--model", "wordhash")
    found = run("mathamr", "search", index, "subgroup of a cyclic group", "--strategy", "hashes", "--json")
    assert [hit["id"] for hit in json.loads(found)["hits"]] == ["groups", "sums"]


@pytest.mark.usefixtures("template")
def test_a_package_checks_its_system_by_the_contract() -> None:
    system = load_system("wordhash")
    check_system(system)
    system.size += 1  # type: ignore[attr-defined]
    system._direction = lambda word: np.ones(64, np.float32)  # type: ignore[attr-defined]
    with pytest.raises((ContractError, ValueError)):
        check_system(system)


@pytest.mark.usefixtures("template")
def test_its_measure_fusion_training_and_experiment_make_a_table(mathamr: Command, tmp_path: Path) -> None:
    pytest.importorskip("mathamr_lab", reason="needs the laboratory")
    assert sum(len(path.read_text("utf-8").splitlines()) for path in TEMPLATE.rglob("*.py")) <= 150
    corpus = judged_collection(tmp_path / "corpus")
    ran = mathamr("experiment", "wordhash", "--corpus", str(corpus), "--out", str(tmp_path / "out"))
    assert ran.returncode == 0, ran.stderr
    lines = [line.split(" | ") for line in ran.stdout.splitlines() if line.startswith("| ")]
    assert [cell.strip("| ") for cell in lines[0]] == ["", "nDCG'", "P'@10", "Success@5"]
    assert [line[0] for line in lines[2:6]] == ["| hashes", "| weighted", "| words", "| Borda"]
    assert [line[3].split()[0] for line in lines[2:6]] == ["1.000"] * 4
    runs = [str(path) for path in sorted((tmp_path / "out" / "runs" / "task1").glob("[hw]*.run"))]
    assert len(runs) == 3
    fused = str(tmp_path / "fused.run")
    assert mathamr("fuse", *runs, "--fusion", "borda", "--out", fused).returncode == 0
    qrels = str(corpus / "qrels" / "task1.qrels")
    measured = mathamr("evaluate", "--qrels", qrels, "--run", fused, "-m", "Success@1", "-m", "success@2")
    assert measured.stdout.split()[:2] == ["Success@1", "Success@2"]
    wrong = mathamr("fuse", *runs, "--fusion", "borda", "--normalisation", "z", "--out", fused)
    assert "uses ranks alone" in wrong.stderr
    model = tmp_path / "out" / "models" / "wordhash-idf" / "model"
    weights = load_system(model).weights  # type: ignore[attr-defined]
    assert weights["cyclic"] > weights["every"] > 0


def judged_collection(folder: Path) -> Path:
    """Write answers, two topics and their judgments."""
    texts = {
        "groups": "Every subgroup of a cyclic group is cyclic.",
        "sums": "Sums of squares of integers.",
        "rings": "Every ring has a zero.",
        "fields": "Every field is a ring.",
    }
    for name in ("topics", "qrels"):
        (folder / name).mkdir(parents=True)
    write_posts(folder / "posts.jsonl", [replace(note(*each), kind="answer") for each in texts.items()])
    topics = {"A.1": "subgroup of a cyclic group", "A.2": "sums of squares"}
    rows = "".join(
        f'<Topic number="{name}"><Title>{text}</Title><Question>{text}</Question><Tags></Tags></Topic>'
        for name, text in topics.items()
    )
    (folder / "topics" / "task1.xml").write_text(f"<Topics>{rows}</Topics>", encoding="utf-8")
    (folder / "qrels" / "task1.qrels").write_text("A.1 0 groups 3\nA.1 0 rings 0\nA.2 0 sums 2\n", "utf-8")
    return folder


@pytest.mark.usefixtures("template")
def test_the_registry_and_the_list_of_models_know_it(tmp_path: Path) -> None:
    assert "wordhash" in SYSTEMS
    assert "wordhash" in boxed()
    system = load_system("wordhash")
    system.save(tmp_path / "mine")
    assert load_system(tmp_path / "mine").fingerprint == system.fingerprint


def test_a_system_without_a_model_says_what_to_name(template: Path) -> None:
    shutil.rmtree(template / "mathamr_wordhash" / "wordhash")
    with pytest.raises(MathAMRError, match=r"a system without an installed model.*--model FOLDER"):
        model_folder("wordhash")


def test_without_the_package_the_name_is_unknown() -> None:
    with pytest.raises(UnknownNameError, match="unknown system 'wordhash'; known: mathamrplus"):
        SYSTEMS["wordhash"]
    with pytest.raises(UnknownNameError, match="unknown model 'wordhash'"):
        model_folder("wordhash")
