"""Every command of lab/notes/reproduce.md, on the miniature: smaller models and one row of a table, but the same files and options."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mathamr.cli import app
from mathamr_lab.experiments import miniature, training
from tests.lab.experiments.conftest import train_here
from tests.lab.experiments.trials.tinybases import tiny_published

PAGE = (Path(__file__).resolve().parents[3] / "lab" / "notes" / "reproduce.md").read_text(encoding="utf-8")
COMMANDS = [line.strip() for line in PAGE.splitlines() if line.startswith("    mathamr ")]
BASES = {
    "bert-base-uncased": "bert",
    "Qwen/Qwen3-Embedding-0.6B": "qwen3",
    "sentence-transformers/all-distilroberta-v1": "roberta",
}
_MARF = (
    "size=16 length=32 formula_size=16 formula_layers=1 formula_heads=2 formula_inner=16 formula_length=16 fusion_heads=2"
    " batch=8 formula_batch=8 validation=0.2 context_epochs=1 formula_epochs=1 fusion_epochs=1"
)
_PARSER = "--parser tests.amr.rule_parser:RuleParser"
_NODES = "--set nodes.formulas=60 --set nodes.epochs=1 --set nodes.validation=10 --set nodes.batch_size=16"
_STRUCTURE = "--set structure.formulas=60 --set structure.epochs=1 --set structure.validation=10"
SMALLER = {
    "formula-graph-pairings": f"--only SLG {_NODES}",
    "ssemb-ablation": f"--only StructEmb {_STRUCTURE}",
    "ssemb-fusion": "--only alignment --only TangentS-task2-2022",
    "marf-benchmark": f"--only 'context encoder' {' '.join(f'--set marf.{each}' for each in _MARF.split())}",
    "marf-math-dominance": f"--only 'context encoder' {' '.join(f'--set marf.{each}' for each in _MARF.split())}",
    "marf-scoring": f"--only 'passage level, longest formula' {' '.join(f'--set marf.{each}' for each in _MARF.split())}",
    "mathamr-contexts": f"--only 'OPT text alone' --set contexts.epochs=1 --set contexts.length=16 {_PARSER}",
    "mathamr-rerank": f"--set contexts.epochs=1 --set contexts.length=16 {_PARSER}",
    "connectivity": f"--only none --scale tiny {_PARSER}",
    "benchmark": f"--scale tiny {_PARSER}",
}
"""What is added to a command, so that it takes seconds."""


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The miniature, and tiny bases of the kinds that the papers name."""
    folder = tmp_path_factory.mktemp("miniature")
    assert miniature.main([str(folder)]) == 0
    for kind in BASES.values():
        tiny_published(folder / kind, kind)
    return folder


def words_of(command: str, folder: Path) -> list[str]:
    """The words of a command, with a tiny base, one seed and the smallest of everything."""
    for name, kind in BASES.items():
        command = command.replace(f"base={name}", f"base={folder / kind}")
    words = shlex.split(command)[1:]
    if words[0] == "graph":
        return [*words, *shlex.split(_PARSER)]
    if "--so-far" not in words:
        words += shlex.split(SMALLER[words[1]])
    else:
        words += shlex.split(_NODES)
    return [*words, "--seeds", "1"]


def test_the_page_names_every_table_that_has_an_experiment() -> None:
    named = {shlex.split(command)[2] for command in COMMANDS if " experiment " in command}
    assert named == set(SMALLER)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command.split()[1:5]))
def test_a_command_of_the_page_runs_on_the_miniature(
    there: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(there)
    if command != COMMANDS[0]:
        monkeypatch.setattr(training, "run_child", train_here)
    shown = command.replace("--so-far", "--only SLG")
    for each in dict.fromkeys((shown, command)):  # the results that a command only shows are made first
        result = CliRunner().invoke(app, words_of(each, there), catch_exceptions=False)
        assert result.exit_code == 0, result.output[-2000:]
    if "experiment" in command:
        assert "|" in result.stdout


def test_a_table_without_its_visual_ids_is_refused(
    there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(there / "ARQMath", folder / "ARQMath")
    for path in (folder / "ARQMath" / "Formulas").rglob("*.tsv"):
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        place = rows[0].index("visual_id")
        cut = ["\t".join(row[:place] + row[place + 1 :]) for row in rows]
        path.write_text("\n".join(cut) + "\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    command = next(each for each in COMMANDS if "formula-graph-pairings --corpus ARQMath" in each)
    result = CliRunner().invoke(app, words_of(command, there))
    assert result.exit_code == 1
    assert "no formula of the posts has a visual id and trees" in str(result.exception)


@pytest.mark.parametrize("missing", ["queries", "judge"])
def test_ntcir12_without_a_file_is_refused(
    there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    shutil.copytree(there / "NTCIR12", tmp_path / "NTCIR12")
    for path in (tmp_path / "NTCIR12").glob(f"*{missing}*"):
        path.unlink()
    monkeypatch.chdir(tmp_path)
    command = next(each for each in COMMANDS if "--corpus NTCIR12" in each)
    result = CliRunner().invoke(app, words_of(command, there))
    assert result.exit_code == 1
    assert f"has no {'topics' if missing == 'queries' else 'judgments'} of NTCIR-12" in str(result.exception)
