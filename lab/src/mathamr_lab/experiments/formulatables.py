"""The tables of experiments of formula systems: a row a variant, the mean over seeds, what is significant, what was published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from mathamr.evaluation.comparison import Comparison, compare
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.randomorder import random_scores
from mathamr.evaluation.scores import Scores
from mathamr_lab.experiments.formulacollection import FormulaCollection
from mathamr_lab.experiments.formulaexperiment import FormulaExperiment, FormulaVariant

MARKS = ("*", "†")
"""Of a difference from the baseline, and from the second row that others are tested against."""


def formula_table(
    experiment: FormulaExperiment,
    collection: FormulaCollection,
    qrels: Qrels,
    found: Mapping[str, Sequence[Scores]],
) -> Iterator[str]:
    """What was found on one collection, by the names of variants a `Scores` for each seed."""
    names = [str(measure) for measure in measures(experiment.measures)]
    averaged = {name: averaged_scores(name, values) for name, values in found.items() if values}
    against = [name for name in (experiment.baseline, experiment.beside) if name in averaged]
    comparisons = [compare(list(averaged.values()), name) for name in against]
    seeds = max((len(values) for values in found.values()), default=1)
    said = [f"Means over {seeds} seeds, ± their deviation" if seeds > 1 else "One seed"]
    said += [
        f"{mark} differs from {name} ({comparison.tests} paired t-tests by topic, Bonferroni corrected, p < .05)"
        for mark, name, comparison in zip(MARKS, against, comparisons, strict=False)
    ]
    yield ""
    yield f"## {collection.name}: {len(qrels.grades)} topics, {len(collection.candidates):,} formulas"
    yield ""
    yield f"{'; '.join(said)}."
    yield ""
    sets = [f"{names[0]} of {name}" for name in collection.sets]
    yield f"| variant | {' | '.join([*names, *sets])} | published |"
    yield f"|{'---|' * (len(names) + len(sets) + 2)}"
    floor = random_scores(qrels, measures(experiment.measures), 0)
    yield f"| random order | {' | '.join([*(_figure(floor.mean(name)) for name in names), *_of_sets(collection, [floor], names[0])])} | |"
    for variant in experiment.variants:
        known = variant.known.get(collection.name)
        if variant.name in averaged:
            values = found[variant.name]
            cells = [_cell(variant, values, name, comparisons) for name in names]
            cells += _of_sets(collection, values, names[0])
        elif known:
            cells = [_figure(known[name]) if name in known else "" for name in names] + [""] * len(sets)
        else:
            continue
        printed = ", ".join(f"{name} {_figure(value)}" for name, value in variant.published.items())
        yield f"| {variant.name} | {' | '.join(cells)} | {printed} |"


def averaged_scores(name: str, values: Sequence[Scores]) -> Scores:
    """Topic by topic the mean over seeds."""
    first = values[0]
    return Scores(
        name,
        {
            measure: {
                topic: float(np.mean([each.values[measure][topic] for each in values]))
                for topic in first.values[measure]
            }
            for measure in first.values
        },
    )


def _cell(
    variant: FormulaVariant, values: Sequence[Scores], measure: str, comparisons: Sequence[Comparison]
) -> str:
    means = [scores.mean(measure) for scores in values]
    marks = ""
    for mark, comparison in zip(MARKS, comparisons, strict=False):
        difference = comparison.difference(variant.name, measure)
        marks += mark if difference is not None and difference.is_significant else ""
    spread = f" ± {_figure(float(np.std(means)))}" if len(means) > 1 else ""
    return f"{_figure(float(np.mean(means)))}{marks}{spread}"


def _of_sets(collection: FormulaCollection, values: Sequence[Scores], measure: str) -> list[str]:
    """The mean over some topics of the first measure."""
    return [
        _figure(
            float(
                np.mean(
                    [
                        each.values[measure][topic]
                        for each in values
                        for topic in topics
                        if topic in each.values[measure]
                    ]
                )
            )
        )
        for topics in collection.sets.values()
    ]


def _figure(value: float) -> str:
    """As papers print shares.

    >>> _figure(0.8104), _figure(1.0)
    ('.810', '1.000')
    """
    return f"{value:.3f}".removeprefix("0")
