"""`TrialPlan`: what the experiments of MathAMR and MaRF as published have in common: their test sets and the papers' tables."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from mathamr.evaluation.runs import Run, read_run
from mathamr.evaluation.scores import Scores
from mathamr.posts.passage import PLACEHOLDER, passage
from mathamr.posts.post import Post
from mathamr.systems.marf.latextokens import latex_tokens
from mathamr_lab.experiments.collection import judgments, sets_by_task
from mathamr_lab.experiments.experiment import TrialExperiment, TrialRow, TrialTable
from mathamr_lab.experiments.plan import JudgedTest, Plan
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import Figures, Stage
from mathamr_lab.experiments.tables import MeasuredRow, comparison_table, markdown_table
from mathamr_lab.experiments.training import TrainedModel, split_base

JUDGED = ("nDCG'", "MAP'", "P'@10", "Bpref", "nDCG'@5", "nDCG'@10", "P'@5")
KNOWN = ("MRR@10", "recall@10", "recall@100")
MEASURES = {"task1": JUDGED, "known-items": KNOWN, "task2": JUDGED}
_WORD = re.compile(r"\w+|[^\w\s]")


class TrialPlan(Plan, ABC):
    """Trains a model for every row and seed by the system's recipe, and measures its runs."""

    system: str
    seeds: tuple[str, ...]
    """The fields of the recipe that take the seed."""

    def __init__(self, setting: ExperimentSetting) -> None:
        super().__init__(setting)
        assert isinstance(setting.experiment, TrialExperiment)
        self.experiment = setting.experiment
        self.sets = sets_by_task(setting.collection)
        self.tests = {
            name: JudgedTest(
                name, MEASURES[name], partial(judgments, tests), " ".join(t.digest for t in tests)
            )
            for name, tests in self.sets.items()
        }

    def model(self, row: TrialRow, seed: int) -> tuple[TrainedModel, Path | None]:
        """Return the model of a row with a seed, by the published recipe, and the folder of its base if the user names one."""
        changes, base = split_base(self._changes)
        changes = (*row.changes, *changes, *(f"{field}={seed}" for field in self.seeds))
        return TrainedModel(self.system, "paper", changes), base

    @property
    def _changes(self) -> tuple[str, ...]:
        """The user's changes of the recipe."""
        return self.setting.changes

    def folder(self, row: TrialRow, seed: int) -> Path:
        """Return the folder of a row's model."""
        model, base = self.model(row, seed)
        return self.setting.out / "models" / "-".join([model.name, *([base.name] if base else [])])

    @property
    @abstractmethod
    def prepared(self) -> Stage:
        """The stage that reads the collection, before the first training."""

    def tables(self) -> Iterator[tuple[str, str]]:
        """Yield the paper's tables of what is measured so far."""
        for table in self.experiment.tables:
            rows = [
                MeasuredRow(row.name, self.scores(row.name, table.test), row.published) for row in table.rows
            ]
            if not any(row.seeds for row in rows):
                continue
            if table.answers:
                yield table.title, self._recall(table, rows)
            elif table.least:
                yield table.title, self._by_share(table, rows)
            else:
                lines = comparison_table(
                    rows,
                    table.measures,
                    baselines=[rows[0].name],
                    list_tests=True,
                    searched=table.searched,
                )
                source = [f"Beside it the paper's {table.source}."] if table.source else []
                yield table.title, "\n\n".join(["\n".join(lines), *source])

    def shares(self) -> Figures:
        """Return the shares of mathematics of topics, by test set, and of `answers`."""
        found: dict[str, dict[str, float]] = {
            name: {topic.id: math_share(topic.post) for test in tests for topic in test.topics}
            for name, tests in self.sets.items()
        }
        answers = (post for post in self.setting.collection.posts() if post.role == "answer")
        return found | {"answers": {post.id: math_share(post) for post in answers}}

    def _known_shares(self) -> dict[str, dict[str, float]]:
        path = self.prepared.mark_path.with_name("shares.json")
        found: dict[str, dict[str, float]] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def _by_share(self, table: TrialTable, rows: Sequence[MeasuredRow]) -> str:
        """Return a line for the topics above each share of mathematics."""
        shares = self._known_shares()[table.test]
        lines = [["", "share of mathematics", "topics", *table.measures]]
        for row in (row for row in rows if row.seeds):
            every = next(iter(row.seeds.values())).topics
            for least in table.least:
                topics = [topic for topic in every if shares.get(topic, 0.0) > least or not least]
                if topics:
                    cells = [str(row.spread(name, topics)) for name in table.measures]
                    lines.append([row.name, _above(least), str(len(topics)), *cells])
        return markdown_table(lines)

    def _recall(self, table: TrialTable, rows: Sequence[MeasuredRow]) -> str:
        """Return a line for the relevant answers above each share of mathematics: how many of them were found."""
        shares, qrels = self._known_shares()["answers"], self.tests[table.test].qrels()
        lines = [["", "share of mathematics", "answers", *table.measures]]
        for row in rows:
            runs = {
                each.seed: read_run(each.path)
                for each in self.measured
                if (each.row, each.test.name) == (row.name, table.test) and each.seed in row.seeds
            }
            for least in table.least if runs else ():
                wanted = [
                    (topic, item)
                    for topic in qrels.topics
                    for item in qrels.relevant(topic)
                    if shares.get(item, 0.0) > least or not least
                ]
                values = {
                    seed: Scores(row.name, {name: _found(run, wanted, name) for name in table.measures})
                    for seed, run in runs.items()
                }
                cells = [str(MeasuredRow(row.name, values).spread(name)) for name in table.measures]
                lines.append([row.name, _above(least), str(len(wanted)), *cells])
        return markdown_table(lines)


def _found(run: Run, wanted: Sequence[tuple[str, str]], measure: str) -> dict[str, float]:
    """Return 1 for every relevant answer that the run has within the measure's depth, otherwise 0."""
    depth = int(measure.partition("@")[2])
    best = {topic: set(run.ids(topic, depth)) for topic, _ in wanted}
    return {f"{topic} {item}": float(item in best[topic]) for topic, item in wanted}


def _above(least: float) -> str:
    return f"> {least:.0%}" if least else "all"


def math_share(post: Post) -> float:
    """Return the share of mathematics in a post: formula tokens among all its tokens (Wang, Zheng and Kani, section 4.3).

    A post without tokens has 0.

    >>> from mathamr.posts.post import Formula
    >>> math_share(Post("7", "answer", "We have $a+b$", markup="text", formulas=(Formula("7:0", "a+b"),)))
    0.6
    """
    formulas = sum(len(latex_tokens(formula.latex)) for formula in post.formulas)
    words = sum(
        len(_WORD.findall(PLACEHOLDER.sub(" ", sentence.text))) for sentence in passage(post).sentences
    )
    return formulas / (formulas + words) if formulas else 0.0
