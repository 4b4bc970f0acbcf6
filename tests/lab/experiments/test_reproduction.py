"""Every command of lab/notes/reproduce.md, on the miniature: smaller models and one row of a table, but the same files and options."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mathamr.cli import app
from mathamr_lab.experiments import EXPERIMENTS, miniature, training
from mathamr_lab.experiments.smallest import smallest_changes
from tests.lab.experiments.conftest import train_here
from tests.lab.recipes.test_bases import saved

PAGE = (Path(__file__).resolve().parents[3] / "lab" / "notes" / "reproduce.md").read_text(encoding="utf-8")
COMMANDS = [line.strip() for line in PAGE.splitlines() if line.startswith("    mathamr ")]
BASE = "bert-base-uncased"
_PARSER = "--parser tests.amr.rule_parser:RuleParser"


def _smallest(name: str) -> str:
    return " ".join(f"--set {change}" for change in smallest_changes(EXPERIMENTS[name]))


_MARF, _NODES = _smallest("marf-benchmark"), _smallest("formula-graph-pairings")
_LINES = f"--set model.base={BASE} {_smallest('mathamr-contexts')}"
_STRUCTURE = _smallest("ssemb-ablation")
SMALLER = {
    "formula-graph-pairings": f"--only SLG {_NODES}",
    "ssemb-ablation": f"--only StructEmb {_STRUCTURE}",
    "ssemb-fusion": "--only alignment --only TangentS-task2-2022",
    "marf-benchmark": f"--only 'context encoder' {_MARF}",
    "marf-math-dominance": f"--only 'context encoder' {_MARF}",
    "marf-scoring": f"--only 'passage level, longest formula' {_MARF}",
    "mathamr-contexts": f"--only 'OPT text alone' {_LINES} {_PARSER}",
    "mathamr-rerank": f"{_LINES} {_PARSER}",
    "connectivity": f"--only none --scale tiny {_PARSER}",
    "benchmark": f"--scale tiny {_PARSER}",
    "linearised-graphs": f"--only graphs-untrained --only lines-boxed --only graphs-coreference --scale tiny {_PARSER}",
}
"""What is added to a command, so that it takes seconds."""


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The miniature, and a tiny base of the kind that MaRF names."""
    folder = tmp_path_factory.mktemp("miniature")
    assert miniature.main([str(folder)]) == 0
    saved(folder / BASE, "bert")
    return folder


def words_of(command: str) -> list[str]:
    """The words of a command, with one seed and the smallest of everything."""
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
        result = CliRunner().invoke(app, words_of(each), catch_exceptions=False)
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
    result = CliRunner().invoke(app, words_of(command))
    assert result.exit_code == 1
    assert "the posts have no formulas with a visual id" in str(result.exception)


@pytest.mark.parametrize("missing", ["queries", "judge"])
def test_ntcir12_without_a_file_is_refused(
    there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    shutil.copytree(there / "NTCIR12", tmp_path / "NTCIR12")
    for path in (tmp_path / "NTCIR12").glob(f"*{missing}*"):
        path.unlink()
    monkeypatch.chdir(tmp_path)
    command = next(each for each in COMMANDS if "--corpus NTCIR12" in each)
    result = CliRunner().invoke(app, words_of(command))
    assert result.exit_code == 1
    assert f"has no {'topics' if missing == 'queries' else 'judgments'} of NTCIR-12" in str(result.exception)
