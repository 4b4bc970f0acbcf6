"""Runs trials of a test collection in one folder: prepares, trains and ranks what is missing, and writes the tables.

OUT/trials/NAME/prepared    what the trial reads; can be carried to a machine that only trains
OUT/trials/NAME/            its runs and scores
OUT/EXPERIMENT/results.md   the tables
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.baselines import run as run_baseline
from mathamr.evaluation.runs import write_run
from mathamr.systems.marf.configuration import CONFIGURATIONS
from mathamr_lab.experiments.collection import TestCollection
from mathamr_lab.experiments.trials import rerank, tables
from mathamr_lab.experiments.trials.__main__ import main
from mathamr_lab.experiments.trials.declared import TrialExperiment
from mathamr_lab.experiments.trials.preparation import judged, prepare_contexts, prepare_marf, sets_by_task
from mathamr_lab.experiments.trials.trial import say

BASES, MARF_BASE = ("box", "minilm"), "box"
RERANKING = {
    "By AMR with OPT text (MathAMR)": "seed-{seed}/amr-opt",
    "By AMR with LaTeX": "seed-{seed}/amr-latex",
    "By AMR with LaTeX, not trained": "untrained/amr-latex",
}
"""What orders other runs again, by its title: the scores of contexts, `{seed}` standing for each seed."""
ORIGINALS = ("random", "latex-ngrams")
"""Baselines that are reranked where no runs are given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSetting:
    """Where and with what trials run; `runs` are those of other systems, to be reranked."""

    collection: TestCollection
    out: Path
    seeds: int = 3
    device: str = "auto"
    parser: str = "builtin"
    parser_model: str | None = None
    changes: tuple[str, ...] = ()
    runs: tuple[Path, ...] = ()
    so_far: bool = False

    def folder(self, trial: str) -> Path:
        """The folder of a trial."""
        return self.out / "trials" / trial


def run_trial(experiment: TrialExperiment, setting: TrialSetting) -> Path:
    """The folder of an experiment's tables, after whatever was missing for them was done."""
    folder = setting.folder(experiment.trial)
    if not setting.so_far:
        _prepare(experiment, setting)
        _run(experiment, setting)
    report = setting.out / experiment.name
    report.mkdir(parents=True, exist_ok=True)
    known = {name: judged(tests) for name, tests in sets_by_task(setting.collection).items()}
    text = tables.markdown(experiment, folder, range(setting.seeds), known)
    if experiment.name == "mathamr-rerank":
        text += "\n" + _reranked(setting, folder) + "\n"
    (report / "results.md").write_text(text + "\n", encoding="utf-8")
    return report


def _prepare(experiment: TrialExperiment, setting: TrialSetting) -> None:
    prepared = setting.folder(experiment.trial) / tables.PREPARED
    prepared.mkdir(parents=True, exist_ok=True)
    if experiment.trial == "contexts":
        prepare_contexts(setting.collection, prepared, setting.parser, setting.parser_model, say)
    else:
        prepare_marf(setting.collection, prepared, CONFIGURATIONS["small"], say)


def _run(experiment: TrialExperiment, setting: TrialSetting) -> None:
    folder = setting.folder(experiment.trial)
    prepared = str(folder / tables.PREPARED)
    options = ["--out", str(folder), "--device", setting.device, *experiment.options]
    options += [word for change in setting.changes for word in ("--set", change)]
    for seed in range(setting.seeds):
        bases = BASES if experiment.trial == "contexts" else (MARF_BASE,)
        for base in bases:
            done = (
                folder
                / (f"{base}/seed-{seed}" if experiment.trial == "contexts" else f"seed-{seed}")
                / "".join(("done", *experiment.options))
            )
            if done.exists():
                continue
            code = main([experiment.trial, prepared, "--seeds", str(seed), "--base", base, *options])
            if code:
                raise MathAMRError(f"the trial {experiment.trial} with seed {seed} failed; see above")
            done.write_text("", encoding="utf-8")


def _reranked(setting: TrialSetting, folder: Path) -> str:
    tests = sets_by_task(setting.collection).get("task2", [])
    originals = {path.name.partition(".")[0]: path for path in setting.runs}
    if not originals:
        topics = [topic for test in tests for topic in test.topics]
        for name in ORIGINALS:
            path = folder / "originals" / f"{name}.run"
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                write_run(run_baseline(name, setting.collection.posts(), topics, "formulas"), path)
            originals[name] = path
    known = judged(tests)
    parts = [
        f"## {told}\n\n" + rerank.markdown(originals, ours, known, judged_only=ours[0].suffix != ".npz")
        for told, scores in RERANKING.items()
        if (ours := _own_scores(folder / "box", scores, setting.seeds))
    ]
    if not parts:
        raise MathAMRError(f"{folder} has no run of MathAMR yet: run mathamr-contexts first")
    return "\n\n".join(parts)


def _own_scores(folder: Path, scores: str, seeds: int) -> Sequence[Path]:
    """MathAMR's scores of all formulas where there are some, else its runs of the judged ones; by seed."""
    for ending in ("-all.npz", ".run.gz"):
        found = [folder / f"{scores.format(seed=seed)}{ending}" for seed in range(seeds)]
        there = [path for path in dict.fromkeys(found) if path.exists()]
        if there:
            return there
    return []
