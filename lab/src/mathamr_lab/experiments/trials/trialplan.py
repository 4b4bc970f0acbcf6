"""`TrialPlan`: the stages of an experiment with MathAMR or MaRF as published.

OUT/trials/TRIAL/INPUTS/prepared   the input of the trial; can be copied to a machine that only trains
OUT/trials/TRIAL/INPUTS/CHANGES    its runs and scores, with the settings as published or changed

INPUTS and CHANGES are hashes: other posts, topics, runs, another parser or another setting get a folder of their own, so that
no score is taken for that of something else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.baselines import run as run_baseline
from mathamr.evaluation.runs import Run, read_run, write_run
from mathamr_lab.experiments.declarations.textandformulas import with_figures_of
from mathamr_lab.experiments.experiment import TrialExperiment
from mathamr_lab.experiments.ntcir12 import is_ntcir12
from mathamr_lab.experiments.plan import Plan
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import Figures, Stage
from mathamr_lab.experiments.trials import rerank, trialtables
from mathamr_lab.experiments.trials.__main__ import main
from mathamr_lab.experiments.trials.preparation import judged, prepare_contexts, prepare_marf, sets_by_task
from mathamr_lab.experiments.trials.scorefiles import say

RERANKING = {"By AMR with OPT text (MathAMR)": "amr-opt", "By AMR with LaTeX": "amr-latex"}
"""The contexts whose cosines rerank other runs, by title."""
ORIGINALS = ("random", "latex-ngrams")
"""The baselines that are reranked if no runs are named."""


class TrialPlan(Plan):
    """Prepares the input of a trial, and measures its rows with every seed."""

    def __init__(self, setting: ExperimentSetting) -> None:
        super().__init__(setting)
        assert isinstance(setting.experiment, TrialExperiment)
        self.experiment = setting.experiment
        inputs = {
            "posts": setting.collection.digest,
            "without": _short(sorted(setting.collection.without)),
            "topics": [test.digest for test in setting.collection.tests],
            "parser": [setting.parser, setting.parser_model],
            "reranks": self.experiment.runs,
            "runs": _contents(setting.runs),
            "ntcir": None if self._ntcir is None else _contents([self._ntcir, *self._ntcir.iterdir()]),
        }
        trial = setting.out / "trials" / self.experiment.trial / _short(inputs)
        # A change may name a file, such as that of training topics.
        named = (Path(change.partition("=")[2]) for change in setting.changes)
        changes = [sorted(setting.changes), _contents(named)]
        self.prepared = trial / trialtables.PREPARED
        self.folder = trial / (_short(changes) if setting.changes else "published")
        title = f"posts for {self.experiment.trial}"
        mark = trial / "prepared.json"
        prepared = self.stages.add(Stage("prepare", title, mark, inputs, (), self._prepare))
        rows = {row.part for row in self.experiment.trial_rows if setting.wants(row.name)}
        for seed in range(setting.seeds):
            self._fit(prepared, sorted(rows or RERANKING.values()), seed)

    @property
    def _ntcir(self) -> Path | None:
        return next(filter(is_ntcir12, self.setting.pools), None)

    def _prepare(self) -> Figures:
        setting = self.setting
        self.prepared.mkdir(parents=True, exist_ok=True)
        if self.experiment.trial == "contexts":
            further = {
                hit.id for run in self._originals().values() for hits in run.rankings.values() for hit in hits
            }
            prepare_contexts(
                setting.collection, self.prepared, setting.parser, setting.parser_model, say, further
            )
        else:
            prepare_marf(setting.collection, self.prepared, say, self._ntcir)
        return {}

    def _fit(self, prepared: Stage, rows: list[str], seed: int) -> None:
        trial = self.experiment.trial
        words = [trial, str(self.prepared), "--seeds", str(seed), "--rows", *rows]
        words += ["--out", str(self.folder), "--device", self.setting.device]
        words += [word for change in self.setting.changes for word in ("--set", change)]

        def work() -> Figures:
            if main(words):
                raise MathAMRError(f"the trial {trial} with seed {seed} failed; the reason is printed above")
            return {}

        inputs = {"rows": rows, "changes": self.setting.changes}
        mark = self.folder / f"seed-{seed}" / f"{self.experiment.name}.done.json"
        title = f"fit {trial} with seed {seed}"
        self.stages.add(Stage("fit", title, mark, inputs, (prepared,), work))

    def markdown(self, folder: Path) -> str:
        """Return the tables of what is measured so far."""
        known = {name: judged(tests) for name, tests in sets_by_task(self.setting.collection).items()}
        seeds = range(self.setting.seeds)
        experiment = with_figures_of(self.experiment, self.setting.changes)
        text = trialtables.markdown(experiment, self.folder, self.prepared, seeds, known)
        return text + (f"\n{self._reranked()}\n\n" if self.experiment.runs else "\n")

    def _originals(self) -> dict[str, Run]:
        """Return the runs to rerank, by visual id: those that the user names, or baselines."""
        if not self.experiment.runs:
            return {}
        if self.setting.runs:
            runs = {path.name.partition(".")[0]: read_run(path) for path in self.setting.runs}
            return rerank.by_visual(runs, self.setting.collection.posts())
        topics = [
            topic for test in sets_by_task(self.setting.collection).get("task2", ()) for topic in test.topics
        ]
        found = {}
        for name in ORIGINALS:
            path = self.prepared.parent / "originals" / f"{name}.run"
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                write_run(run_baseline(name, self.setting.collection.posts(), topics, "formulas"), path)
            found[name] = read_run(path)
        return found

    def _reranked(self) -> str:
        originals = self._originals()
        qrels = judged(sets_by_task(self.setting.collection).get("task2", []))
        parts = []
        for title, context in RERANKING.items():
            paths = [self.folder / f"seed-{seed}" / f"{context}.run.gz" for seed in range(self.setting.seeds)]
            ours = [read_run(path) for path in paths if path.exists()]
            if ours:
                parts.append(f"## {title}\n\n" + "\n".join(rerank.lines(originals, ours, qrels)))
        if not parts:
            raise MathAMRError(
                f"{self.folder} has no run of MathAMR yet: run mathamr-rerank without --so-far first"
            )
        return "\n\n".join(parts)


def _short(inputs: Any) -> str:
    return blake2b(json.dumps(inputs, sort_keys=True).encode(), digest_size=4).hexdigest()


def _contents(paths: Iterable[Path]) -> list[tuple[str, str]]:
    """Return the names of files with hashes of what they hold; of folders, and of what does not exist, the names alone."""
    return sorted(
        (path.name, blake2b(path.read_bytes(), digest_size=8).hexdigest() if path.is_file() else "")
        for path in paths
    )
