"""The catalogue of experiments as text: paper, table, question, rows, measured costs, and what differs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mathamr.core.errors import MathAMRError
from mathamr.core.progress import duration
from mathamr.core.registry import Registry
from mathamr_lab.experiments.experiment import Experiment
from mathamr_lab.experiments.smallest import Cost, known_costs
from mathamr_lab.papers import PAPERS

if TYPE_CHECKING:
    from mathamr_lab.experiments.plan import Plan

_DETAIL = re.compile(r";| \(")


def catalogue_lines(experiments: Registry[Experiment]) -> Iterator[str]:
    """Yield every experiment below its paper; those of no paper come last."""
    costs: dict[str, list[Cost]] = defaultdict(list)
    for cost in known_costs():
        costs[cost.experiment].append(cost)
    by_paper: dict[str, list[Experiment]] = {key: [] for key in (*PAPERS, "")}
    for name in experiments:
        by_paper[experiments[name].paper].append(experiments[name])
    for key, found in by_paper.items():
        if not found:
            continue
        yield f"# {PAPERS[key] if key else 'In no paper'}"
        for experiment in found:
            yield from _lines(experiment, costs[experiment.name])
        yield ""


def _lines(experiment: Experiment, costs: list[Cost]) -> Iterator[str]:
    place = _DETAIL.split(experiment.place)[0]
    where = f", {place}" if place else ""
    needs = f" (needs {experiment.needs})" if experiment.needs else ""
    yield f"{experiment.name:<24} {experiment.question}{needs}"
    count = len(experiment.rows)
    yield f"    {count} row{'s' * (count != 1)}{where}"
    if experiment.differs:
        yield f"    differs: {experiment.differs}"
    for cost in costs:
        yield f"    measured, {cost}"
    if not costs:
        yield "    cost not measured; --smallest measures it"


def plan_lines(plan: Plan) -> Iterator[str]:
    """Yield an experiment's stages, its rows, what is known of its time, and what would fail."""
    experiment = plan.setting.experiment
    yield from plan.lines()
    rows = dict.fromkeys(each.row for each in plan.measured)
    yield f"{len(rows)} row{'s' * (len(rows) != 1)}: {'; '.join(rows)}"
    yield from time_lines(plan)
    costs = [cost for cost in known_costs() if cost.experiment == experiment.name]
    yield from (f"measured, {cost}" for cost in costs)
    if not costs:
        yield "cost not measured; --smallest measures it on a miniature"
    try:
        plan.check()
    except MathAMRError as error:
        yield f"would fail: {error}"


def time_lines(plan: Plan) -> Iterator[str]:
    """Yield what the stages that are done took, and what those of the same kinds would take: as long, each."""
    done: dict[str, list[float]] = defaultdict(list)
    left: dict[str, int] = defaultdict(int)
    for stage in plan.stages:
        if (mark := stage.mark()) is not None:
            done[stage.kind].append(mark.seconds)
        else:
            left[stage.kind] += 1
    if not done:
        return
    yield f"the stages that are done took {duration(sum(map(sum, done.values())))}"
    seconds = sum(count * sum(done[kind]) / len(done[kind]) for kind, count in left.items() if kind in done)
    unknown = [f"{count} {kind}" for kind, count in left.items() if kind not in done]
    if seconds:
        others = f", without {', '.join(unknown)}" if unknown else ""
        yield f"the others would take about {duration(seconds)} if each takes as long as those of its kind{others}"
