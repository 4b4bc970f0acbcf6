"""`Findings`: the results of the measured runs of an experiment, before they are written as tables or drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mathamr.evaluation.comparison import Difference
from mathamr.evaluation.randomorder import random_scores
from mathamr.evaluation.scores import Scores
from mathamr.evaluation.significance import paired_t_test
from mathamr.graphs.configuration import GraphConfiguration
from mathamr_lab.experiments.collection import TestSet
from mathamr_lab.experiments.experiment import Column, Variant
from mathamr_lab.experiments.graphplan import GraphPlan, Measured
from mathamr_lab.experiments.seedsummary import SeedSummary, Spread, summarise
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import Figures


@dataclass(frozen=True)
class VariantFindings:
    """A variant on one test set: its scores by seed, none if it cannot do the task.

    `like` is the row of the same models that chooses the best seed for both, so that all rankings are those of one model.
    """

    variant: Variant
    scores: Mapping[int, Scores]
    like: VariantFindings | None = None

    @cached_property
    def summary(self) -> SeedSummary | None:
        """Summarises the best seed and all seeds together."""
        if not self.scores:
            return None
        own, theirs = summarise(self.scores), self.like.summary if self.like else None
        if theirs is None or theirs.best_seed not in self.scores:
            return own
        return replace(own, best_seed=theirs.best_seed, best=self.scores[theirs.best_seed])


@dataclass(frozen=True)
class TestFindings:
    """All variants on one test set, the measures they are tested on, and reference rankings.

    `measures` are those of the tables; `references` are baselines and random orders.
    """

    __test__ = False  # no test of pytest's

    test: TestSet
    rows: tuple[VariantFindings, ...]
    measures: tuple[str, ...]
    references: tuple[Scores, ...]

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Compares every variant with its baseline on every measure, best seed against best seed (thesis, section 4.2).

        The correction counts all tests of the experiment on this test set.
        """
        found = {row.variant.name: row.summary for row in self.rows}
        pairs = [
            (row.variant.name, row.summary.best, base.best)
            for row in self.rows
            if row.summary is not None
            and row.variant.baseline is not None
            and (base := found.get(row.variant.baseline)) is not None
        ]
        tests = len(pairs) * len(self.measures)
        return tuple(
            Difference(
                name,
                measure,
                paired_t_test(list(ours.values[measure].values()), list(theirs.values[measure].values())),
                tests,
            )
            for name, ours, theirs in pairs
            for measure in self.measures
        )

    def stars(self, variant: str, measure: str) -> str:
        """Return an asterisk for a difference that is significant after the correction."""
        return next(
            (
                "*"
                for each in self.differences
                if (each.run, each.measure) == (variant, measure) and each.is_significant
            ),
            "",
        )


@dataclass(frozen=True)
class Findings:
    """All findings of an experiment."""

    setting: ExperimentSetting
    tests: tuple[TestFindings, ...]
    costs: Mapping[str, Mapping[Column, Spread]]
    corpus: Figures
    pairs: int

    @property
    def seeds(self) -> int:
        """The least number of seeds that a variant was trained with."""
        return min((len(row.scores) for test in self.tests for row in test.rows if row.scores), default=0)


def findings(plan: GraphPlan) -> Findings:
    """Collect what is measured so far; stages that are not done are left out."""
    setting = plan.setting
    tests = []
    for test in setting.tests:
        measured = [each for each in plan.measured if each.test is test]
        rows = [
            VariantFindings(
                variant,
                {
                    each.seed: scores
                    for each in measured
                    if each.variant is variant and (scores := each.scores()) is not None
                },
            )
            for variant in setting.graphs.variants
        ]
        tests.append(
            TestFindings(test, of_one_model(rows), _shown(setting, test), _references(test, measured))
        )
    marks = {stage.name: stage.mark() for stage in plan.stages if stage.kind == "graphs"}
    corpus = marks["graphs of the posts"]
    pairs = [mark.figures["pairs"] for name, mark in marks.items() if name.startswith("pairs") and mark]
    return Findings(
        setting,
        tuple(tests),
        {variant.name: _costs(plan.measured, variant) for variant in setting.graphs.variants},
        corpus.figures if corpus else {},
        min(pairs, default=0),
    )


def of_one_model(rows: Sequence[VariantFindings]) -> tuple[VariantFindings, ...]:
    """Return the rows, those of the same models with one best seed: that of the baseline, otherwise of the first row."""
    leads: dict[tuple[GraphConfiguration, tuple[str, ...]], VariantFindings] = {}
    for row in sorted(rows, key=lambda row: row.variant.baseline is not None):
        leads.setdefault((row.variant.graphs, row.variant.changes), row)
    found = ((row, leads[row.variant.graphs, row.variant.changes]) for row in rows)
    return tuple(row if row is lead else replace(row, like=lead) for row, lead in found)


def _shown(setting: ExperimentSetting, test: TestSet) -> tuple[str, ...]:
    names = [str(measure) for measure in test.measures]
    wanted = setting.graphs.measures
    return tuple(name for name in names if name in wanted) or tuple(names[: len(wanted) or None])


def _references(test: TestSet, measured: Sequence[Measured]) -> tuple[Scores, ...]:
    floor = random_scores(test.qrels, test.measures, 0)
    found = []
    for each in measured:
        scores = each.scores() if each.baseline is not None else None
        if scores is not None:
            found.append(Scores(str(each.baseline), scores.values, scores.missing))
    # Among the judged items alone every known item comes first, so that floor is meaningless.
    return (*([] if test.is_known_items else [floor]), *found)


def _costs(measured: Sequence[Measured], variant: Variant) -> dict[Column, Spread]:
    """Return the costs of a variant over its seeds: memory in GB, the index in MB, search time on its first set of answers.

    Those of formula search are the number of indexed formulas and the queries a second.
    """
    own = [each for each in measured if each.variant is variant and each.test.task == "answers"]
    first = [each for each in own if each.test is own[0].test]
    values: dict[Column, list[float]] = {}
    for each in first:
        train, run = each.train.mark() if each.train else None, each.run.mark()
        if train is not None:
            values.setdefault("seconds", []).append(train.figures["seconds an epoch"])
            values.setdefault("memory", []).append(train.figures["memory"] / 1e9)
            values.setdefault("parameters", []).append(train.figures["parameters"])
        if run is not None and "not applicable" not in run.figures:
            values.setdefault("index", []).append(run.figures["index bytes"] / 1e6)
            values.setdefault("vectors", []).append(run.figures["vectors"])
    asked = [each for each in measured if each.variant is variant and each.test.task == "formulas"]
    for each in asked:
        if each.test is asked[0].test and (mark := each.run.mark()) and "vectors" in mark.figures:
            values.setdefault("formulas", []).append(mark.figures["vectors"])
    values["rate"], values["formula rate"] = _rates(own), _rates(asked)
    return {column: Spread.of(found) for column, found in values.items() if found}


def _rates(measured: Sequence[Measured]) -> list[float]:
    """Return the queries a second over all test sets, one figure per seed."""
    found = []
    for seed in {each.seed for each in measured}:
        marks = [mark.figures for each in measured if each.seed == seed and (mark := each.run.mark())]
        rows = [row for row in marks if "queries a second" in row]
        if rows:
            seconds = sum(row["topics"] / row["queries a second"] for row in rows)
            found.append(sum(row["topics"] for row in rows) / seconds)
    return found
