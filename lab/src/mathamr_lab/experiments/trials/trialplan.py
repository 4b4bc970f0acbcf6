"""`TrialPlan`: the stages of an experiment with many small models of MathAMR or MaRF.

OUT/trials/TRIAL/prepared   the input of the trial; can be copied to a machine that only trains
OUT/trials/TRIAL/           its runs and scores
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.baselines import run as run_baseline
from mathamr.evaluation.runs import write_run
from mathamr.systems.baseencoder import BASE, MINILM
from mathamr.systems.marf.configuration import CONFIGURATIONS
from mathamr_lab.experiments.experiment import TrialExperiment
from mathamr_lab.experiments.plan import Plan
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import Figures, Stage
from mathamr_lab.experiments.trials import rerank, trialtables
from mathamr_lab.experiments.trials.__main__ import main
from mathamr_lab.experiments.trials.preparation import judged, prepare_contexts, prepare_marf, sets_by_task
from mathamr_lab.experiments.trials.scorefiles import say

BASES, MARF_BASE = (BASE, MINILM), BASE
RERANKING = {
    "By AMR with OPT text (MathAMR)": "seed-{seed}/amr-opt",
    "By AMR with LaTeX": "seed-{seed}/amr-latex",
    "By AMR with LaTeX, not trained": "untrained/amr-latex",
}
"""The scores of contexts that rerank other runs, by title, with `{seed}` for each seed."""
ORIGINALS = ("random", "latex-ngrams")
"""The baselines that are reranked if no runs are named."""


class TrialPlan(Plan):
    """Prepares the input of a trial, and fits its models with every seed."""

    def __init__(self, setting: ExperimentSetting) -> None:
        super().__init__(setting)
        assert isinstance(setting.experiment, TrialExperiment)
        self.experiment = setting.experiment
        self.folder = setting.out / "trials" / self.experiment.trial
        inputs = {
            "posts": setting.collection.digest,
            "topics": [test.digest for test in setting.collection.tests],
            "parser": [setting.parser, setting.parser_model],
        }
        mark = self.folder / "prepared.json"
        title = f"posts for {self.experiment.trial}"
        prepared = self.stages.add(Stage("prepare", title, mark, inputs, (), self._prepare, 1, 1 / 600))
        for seed in range(setting.seeds):
            for base in BASES if self.experiment.trial == "contexts" else (MARF_BASE,):
                self._fit(prepared, base, seed)

    def _prepare(self) -> Figures:
        setting, folder = self.setting, self.folder / trialtables.PREPARED
        folder.mkdir(parents=True, exist_ok=True)
        if self.experiment.trial == "contexts":
            prepare_contexts(setting.collection, folder, setting.parser, setting.parser_model, say)
        else:
            prepare_marf(setting.collection, folder, CONFIGURATIONS["small"], say)
        return {}

    def _fit(self, prepared: Stage, base: str, seed: int) -> None:
        trial = self.experiment.trial
        which = f"{base}/seed-{seed}" if trial == "contexts" else f"seed-{seed}"
        words = [trial, str(self.folder / trialtables.PREPARED), "--seeds", str(seed), "--base", base]
        words += ["--out", str(self.folder), "--device", self.setting.device]
        words += [word for change in self.setting.changes for word in ("--set", change)]

        def work() -> Figures:
            if main(words):
                raise MathAMRError(f"the trial {trial} with seed {seed} failed; the reason is printed above")
            return {}

        inputs = {"base": base, "changes": self.setting.changes}
        mark = self.folder / which / "done.json"
        self.stages.add(Stage("fit", f"fit {trial} {which}", mark, inputs, (prepared,), work, 1, 1 / 300))

    def markdown(self, folder: Path) -> str:
        """Returns the tables of what is measured so far."""
        known = {name: judged(tests) for name, tests in sets_by_task(self.setting.collection).items()}
        text = trialtables.markdown(self.experiment, self.folder, range(self.setting.seeds), known)
        return text + (f"\n{self._reranked()}\n\n" if self.experiment.runs else "\n")

    def _reranked(self) -> str:
        tests = sets_by_task(self.setting.collection).get("task2", [])
        originals = {path.name.partition(".")[0]: path for path in self.setting.runs}
        if not originals:
            originals = {name: self.folder / "originals" / f"{name}.run" for name in ORIGINALS}
            topics = [topic for test in tests for topic in test.topics]
            for name, path in originals.items():
                if not path.exists():
                    path.parent.mkdir(parents=True, exist_ok=True)
                    write_run(run_baseline(name, self.setting.collection.posts(), topics, "formulas"), path)
        parts = [
            f"## {title}\n\n"
            + rerank.markdown(originals, ours, judged(tests), judged_only=ours[0].suffix != ".npz")
            for title, scores in RERANKING.items()
            if (ours := own_scores(self.folder / BASE, scores, self.setting.seeds))
        ]
        if not parts:
            raise MathAMRError(f"{self.folder} has no run of MathAMR yet: run mathamr-contexts first")
        return "\n\n".join(parts)


def own_scores(folder: Path, scores: str, seeds: int) -> Sequence[Path]:
    """Returns MathAMR's scores of all formulas if they exist, otherwise its runs of the judged ones, by seed."""
    for ending in ("-all.npz", ".run.gz"):
        found = [folder / f"{scores.format(seed=seed)}{ending}" for seed in range(seeds)]
        there = [path for path in dict.fromkeys(found) if path.exists()]
        if there:
            return there
    return []
