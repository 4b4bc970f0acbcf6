"""`mathamr experiment` as a user calls it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner

from mathamr import sample
from mathamr.cli import app
from mathamr.core.errors import MathAMRError
from mathamr_lab.cli.experiment import command
from mathamr_lab.experiments import EXPERIMENTS
from mathamr_lab.experiments.listing import time_lines
from mathamr_lab.experiments.miniature import write_ntcir12
from mathamr_lab.experiments.smallest import (
    COSTS,
    SMALLEST,
    Cost,
    known_costs,
    run_smallest,
    smallest_options,
    write_miniature,
)
from mathamr_lab.experiments.stage import ExperimentStages, Stage
from mathamr_lab.papers import PAPERS
from tests.lab.experiments.conftest import GRAPHS


@pytest.mark.parametrize("name", list(GRAPHS))
def test_a_dry_run_prints_the_stages_and_does_nothing(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command([name], scale="tiny", seeds=2, out=tmp_path / "out", dry_run=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["graphs", "graphs", "graphs"]
    last = next(number for number, line in enumerate(lines) if line.endswith("stages done"))
    kinds = {line.split()[0] for line in lines[:last]}
    assert kinds == {"graphs", "train", "index", "run"}
    assert lines[last] == f"0 of {last} stages done"
    rows = EXPERIMENTS[name].rows
    assert lines[last + 1].startswith(f"{len(rows)} rows: {rows[0]}") or "bm25" in lines[last + 1]
    assert any("measured" in line for line in lines[last + 2 :])
    assert not (tmp_path / "out").exists()


def test_a_dry_run_tells_the_time_of_what_is_left_by_what_is_done(tmp_path: Path) -> None:
    stages = ExperimentStages()
    for number, kind in enumerate(("prepare", "train", "train", "train", "run", "run")):
        stages.add(Stage(kind, f"stage {number}", tmp_path / f"{number}.json", {}, (), dict))  # type: ignore[arg-type]
    plan = SimpleNamespace(stages=stages)
    assert list(time_lines(plan)) == []  # type: ignore[arg-type]
    for number, seconds in ((0, 8.0), (1, 60.0), (2, 120.0)):
        stage = list(stages)[number]
        row = {"digest": stage.digest(), "output": "", "seconds": seconds}
        stage.mark_path.write_text(json.dumps(row), encoding="utf-8")
    done, left = time_lines(plan)  # type: ignore[arg-type]
    assert done == "the stages that are done took 3 min 8 s"
    assert left.startswith("the others would take about 1 min 30 s if each")
    assert left.endswith("of its kind, without 2 run")


def test_a_dry_run_of_formula_experiments_names_every_model_once_and_does_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(["ssemb-ablation", "ssemb-fusion"], seeds=2, out=tmp_path / "out", dry_run=True)
    ablation, fusion = capsys.readouterr().out.split("# ssemb-fusion\n")
    models = [[line for line in text.splitlines() if line.startswith("train")] for text in (ablation, fusion)]
    # Four augmentations and random weights; the other experiment shares one of them.
    assert [len(lines) for lines in models] == [2 * 5, 2]
    assert set(models[1]) <= set(models[0])
    assert not (tmp_path / "out").exists()


def test_a_dry_run_names_the_orders_that_taught_models_share_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(["formula-graph-training", "ssemb-training"], seeds=2, out=tmp_path / "out", dry_run=True)
    lines = capsys.readouterr().out.splitlines()
    # Three ways to train and the random weights of each.
    assert len([line for line in lines if line.startswith("train")]) == 2 * 2 * 6
    shared = [line for line in lines if "to learn from" in line]
    assert len(shared) == len(set(shared)) * 2 == 4


def test_formula_experiments_so_far_train_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command(["ssemb-fusion"], out=tmp_path, so_far=True)
    printed = capsys.readouterr().out
    assert printed == (tmp_path / "ssemb-fusion" / "results.md").read_text(encoding="utf-8")
    assert printed.startswith("# SSEmb fused with other ways to rank")
    assert {path.name for path in tmp_path.iterdir()} == {"ssemb-fusion"}


def test_without_a_name_the_experiments_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    command()
    text = capsys.readouterr().out
    lines = [line for line in text.splitlines() if line and line[0] not in "# "]
    assert {line.split()[0] for line in lines} == set(EXPERIMENTS)
    described = re.findall(r"^    [0-9]+ rows?\b", text, re.MULTILINE)
    assert len(lines) == len(list(EXPERIMENTS)) == len(described)
    assert all(str(paper) in text for paper in PAPERS.values())
    thesis, _, others = text.partition("# Bryan Amador")
    assert "connectivity" in thesis
    assert "ssemb-fusion" in others
    assert others.index("# In no paper") < others.index("formula-graph-training")
    assert {
        line.split()[0]
        for line in lines
        if "(needs a Qdrant server, MATHAMR_QDRANT_URL; not for --smallest)" in line
    } == {
        "retrieval-strategies",
        "document-loss",
    }


@pytest.mark.parametrize("name", ["retrieval-strategies", "document-loss"])
def test_approximate_search_asks_for_its_server_before_anything_is_made(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MATHAMR_QDRANT_URL", raising=False)
    with pytest.raises(
        MathAMRError, match=f"{name} searches in the engine qdrant, which is a server: .*MATHAMR_QDRANT_URL"
    ):
        command([name], scale="tiny", out=tmp_path / "out")
    assert not list(tmp_path.rglob("*.json")), "a stage was done"


def test_the_encoder_of_the_text_around_formulas_is_asked_for_before_anything_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MATHAMR_MINILM", str(tmp_path / "nothing"))
    with pytest.raises(MathAMRError, match="nothing"):
        command(["ssemb-ablation"], seeds=1, out=tmp_path / "out")
    assert not list(tmp_path.rglob("*.json")), "a stage was done"


OPTIONS: dict[str, object] = {
    "accepted": True, "baseline": ["bm25"], "engine": "flat", "parser": "amrlib", "parser_model": "large",
    "runs": [Path("other.run")], "scale": "tiny", "store": Path("store"), "train": [Path("more.jsonl")],
    "without": [Path("ids.txt")],
}  # fmt: skip


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_an_option_without_effect_on_an_experiment_is_refused(name: str, tmp_path: Path) -> None:
    refused = set()
    for option, value in OPTIONS.items():
        flag = {"runs": "run"}.get(option, option.replace("_", "-"))
        if flag not in EXPERIMENTS[name].options:
            with pytest.raises(typer.BadParameter, match=f"--{flag} has no effect on {name}"):
                command([name], out=tmp_path / "out", dry_run=True, **{option: value})  # type: ignore[arg-type]
            refused.add(option)
    assert refused
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judged pool of formulas and NTCIR-12 in miniature."""
    folder = tmp_path_factory.mktemp("collections")
    (folder / "pool").mkdir()
    (folder / "pool" / "judged.tsv").write_text("", encoding="utf-8")
    write_ntcir12(folder / "NTCIR12")
    return folder


ABOUT, SEEDS = (
    "--set {0} would change what the rows of {1} are about",
    "--set {0} .*: seeds are numbered by --seeds",
)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("ssemb-ablation", "nodes.epochs=1", "unknown stage 'nodes'; known: structure"),
        ("document-loss", "beta=0.5", ABOUT),
        ("virtual-nodes", "beta=0.5", ABOUT),
        ("initialisation", "virtual_start=mean", ABOUT),
        ("formula-graph-pairings", "nodes.pairing=slg", ABOUT),
        ("ssemb-ablation", "structure.kind=both", ABOUT),
        ("ssemb-fusion", "structure.kind=attribute", ABOUT),
        ("benchmark", "seed=7", SEEDS),
        ("formula-graph-pairings", "nodes.seed=7", SEEDS),
        ("ssemb-fusion", "structure.seed=7", SEEDS),
        ("ssemb-ablation", "structure.luck=1", "field 'luck'"),
        ("formula-graph-pairings", "nodes.epochs=many", "expected int"),
        ("mathamr-contexts", "contexts.luck=1", "field of contexts 'luck=1'"),
        ("mathamr-contexts", "model.context=opt", ABOUT),
        ("mathamr-rerank", "words.epochs=1", "stage 'words'"),
        ("marf-scoring", "context.luck=1", "field 'luck'"),
        ("marf-scoring", "model.scoring=token", ABOUT),
        ("marf-benchmark", "all.seed=1", SEEDS),
        ("benchmark", "depth=9", "unknown configuration field 'depth'"),
        ("luck", "depth=9", "unknown experiment 'luck'; known: formula-representations"),
    ],
)
def test_a_wrong_change_is_refused_before_anything_is_prepared(
    name: str, change: str, said: str, tmp_path: Path
) -> None:
    for dry_run in (True, False):
        with pytest.raises(MathAMRError, match=said.format(change.partition("=")[0], name)):
            command([name], changes=[change], out=tmp_path / "out", dry_run=dry_run)
    assert not [path for path in tmp_path.rglob("*") if path.is_dir() and path.name != "out"]


@pytest.mark.parametrize(
    ("name", "pool"),
    [
        *((name, "pool") for name in ("connectivity", "benchmark", "mathamr-contexts", "marf-scoring")),
        *((name, "NTCIR12") for name in ("connectivity", "mathamr-contexts", "mathamr-rerank")),
    ],
)
def test_a_collection_of_formulas_that_an_experiment_does_not_rank_is_refused(
    name: str, pool: str, there: Path, tmp_path: Path
) -> None:
    with pytest.raises(typer.BadParameter, match=f"{pool} has no effect on {name}"):
        command([name], corpus=[sample.folder(), there / pool], out=tmp_path / "out", dry_run=True)


@pytest.mark.parametrize("option", ["topics", "qrels", "beside", "without"])
def test_options_of_posts_are_refused_where_a_collection_has_formulas_alone(
    option: str, there: Path, tmp_path: Path
) -> None:
    given = {"corpus": [there / "NTCIR12"], option: [tmp_path]}
    said = f"--{option} (belongs to a --corpus of posts|has no effect)"
    with pytest.raises(typer.BadParameter, match=said):
        command(["formula-graph-pairings"], out=tmp_path / "out", dry_run=True, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["retrieval-strategies", "document-loss"])
def test_exact_search_does_not_stand_in_rows_of_an_approximate_index(name: str, tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match=f"{name} ranks with an approximate index, and the engine flat"):
        command([name], engine="flat", scale="tiny", out=tmp_path / "out", dry_run=True)
    command(["benchmark"], engine="flat", scale="tiny", out=tmp_path / "out", dry_run=True)


def test_a_dry_run_finds_that_no_topic_is_left_before_anything_is_prepared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(["mathamr-contexts"], out=tmp_path / "out", dry_run=True)
    assert "would fail: of 20 judged topics 0 are left to rank" in capsys.readouterr().out
    with pytest.raises(MathAMRError, match=r"0 are left to rank .*--set contexts\.topics=folds"):
        command(["mathamr-contexts"], out=tmp_path / "out")
    assert not list(tmp_path.rglob("*.json")), "a stage was done"
    command(["mathamr-contexts"], out=tmp_path / "out", dry_run=True, changes=["contexts.topics=folds"])
    assert "would fail" not in capsys.readouterr().out


def test_a_refused_option_says_to_run_an_experiment_alone_only_if_it_was_not() -> None:
    with pytest.raises(typer.BadParameter, match=r"leave it out$"):
        command(["ssemb-fusion"], scale="tiny", dry_run=True)
    with pytest.raises(typer.BadParameter, match="--workers has no effect on ssemb-fusion"):
        command(["ssemb-fusion"], workers=2, dry_run=True)
    with pytest.raises(typer.BadParameter, match="or run that experiment by itself"):
        command(["ssemb-fusion", "connectivity"], scale="tiny", dry_run=True)


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_the_smallest_form_of_every_experiment_can_be_planned(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_miniature(tmp_path)
    options = smallest_options(EXPERIMENTS[name], tmp_path / "miniature")
    ran = CliRunner().invoke(app, ["experiment", name, *options, "--out", str(tmp_path / "out"), "--dry-run"])
    assert ran.exit_code == 0, ran.output
    assert ("would fail" in ran.stdout) == bool(EXPERIMENTS[name].needs)
    assert "seed" not in "".join(options).replace("--seeds", "")


def test_the_smallest_forms_run_in_processes_of_their_own_and_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "mathamr_lab.experiments.smallest.smallest_options", lambda experiment, _: ["--dry-run"]
    )
    wanted = [EXPERIMENTS["connectivity"]]
    (found,) = run_smallest(wanted, tmp_path)
    assert isinstance(found, Cost)
    assert (found.experiment, found.rows) == ("connectivity", 4)
    assert 0 < found.minutes < 5
    assert 0.05 < found.memory < 16
    assert list(known_costs(tmp_path / SMALLEST / COSTS.name)) == [found]
    assert list(run_smallest(wanted, tmp_path, ["--nonsense"])) == [found], "what has a cost runs again"
    both = [EXPERIMENTS[name] for name in ("connectivity", "virtual-nodes", "initialisation")]
    ran = list(run_smallest(both, tmp_path, jobs=2, machine="a machine"))
    assert {each.experiment for each in ran if isinstance(each, Cost)} == {each.name for each in both}
    assert all("2 at a time, a machine" in str(each) for each in ran if each != found)


def test_the_smallest_form_of_an_approximate_search_takes_the_client_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "mathamr_lab.experiments.smallest.smallest_options", lambda experiment, _: ["--dry-run"]
    )
    monkeypatch.delenv("MATHAMR_QDRANT_URL", raising=False)
    wanted = [EXPERIMENTS["document-loss"]]
    monkeypatch.setattr("mathamr_lab.experiments.smallest.find_spec", lambda name: None)
    (refused,) = run_smallest(wanted, tmp_path)
    assert "document-loss: not run, the Qdrant client is not installed; install it with" in str(refused)
    monkeypatch.setattr("mathamr_lab.experiments.smallest.find_spec", lambda name: name)
    (found,) = run_smallest(wanted, tmp_path)
    assert isinstance(found, Cost)
    assert found.machine.endswith(", Qdrant's client alone")
    log = (tmp_path / SMALLEST / "document-loss" / "log").read_text("utf-8")
    assert "searches exactly, also in the rows of approximate search" in log


def test_an_experiment_that_fails_is_told_with_its_last_line_and_runs_from_its_beginning_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "mathamr_lab.experiments.smallest.smallest_options", lambda experiment, _: ["--dry-run"]
    )
    remains = tmp_path / SMALLEST / "connectivity" / "remains"
    remains.parent.mkdir(parents=True)
    remains.touch()
    (failed,) = run_smallest([EXPERIMENTS["connectivity"]], tmp_path, ["--nonsense"])
    assert "failed (exit code 2)" in str(failed)
    assert "--nonsense" in str(failed)
    assert not remains.exists()
    assert not list(known_costs(tmp_path / SMALLEST / COSTS.name))
    (found,) = run_smallest([EXPERIMENTS["connectivity"]], tmp_path)
    assert isinstance(found, Cost)


def test_costs_are_of_experiments_that_are_there() -> None:
    assert {name for name in EXPERIMENTS if EXPERIMENTS[name].needs} <= {
        cost.experiment for cost in known_costs()
    }
    for cost in known_costs():
        assert cost.experiment in EXPERIMENTS
        assert cost.rows == len(EXPERIMENTS[cost.experiment].rows)
        assert cost.minutes > 0 < cost.memory
        assert cost.machine


def test_what_nobody_measured_is_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    command([])
    shown = capsys.readouterr().out
    measured = {cost.experiment for cost in known_costs()}
    assert shown.count("cost not measured") == len(set(EXPERIMENTS) - measured)
    assert shown.count("    measured, ") == len(list(known_costs()))
