"""`LabelWeights`: how the labels of hits weigh what was found; a model whose cosines were measured has its own in its `config.json`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from mathamr.core.configured import describing
from mathamr.core.modelfolder import CONFIG, read_config

Group = Literal["text", "formula", "mixed", "question"]
"""The groups of queries that have weights of their own: names and a few words, a formula, a formula with words, whole questions."""


class Features(NamedTuple):
    """What the confidence in a hit depends on."""

    words: float = 0.0
    """The share of the query's words that the post has, weighted by their rarity."""
    formula: float = 0.0
    """What the post's formulas are to the query's: 1 for the same, .9 in other letters, .8 if they contain it, less if only similar."""
    words_ahead: float = 0.0
    """How far the score by words and terms is ahead of the background."""
    similarity: float = 0.0
    """The cosine of the whole query and the whole post."""
    parts: float = 0.0
    """The mean similarity of the query's parts to the nearest parts of the post (MaxSim)."""
    parts_ahead: float = 0.0
    """How far that is ahead of the background."""


class ConfidenceWeights(NamedTuple):
    """A logistic model over the features."""

    intercept: float
    weights: Features

    def probability(self, found: Features) -> float:
        """Return the probability that a hit with these features is what was asked."""
        total = self.intercept + math.fsum(a * b for a, b in zip(self.weights, found, strict=True))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


LabelWeights = Mapping[Group, ConfidenceWeights]
DEFAULT_WEIGHTS: LabelWeights = {
    "text": ConfidenceWeights(-11.50, Features(words=10.99, words_ahead=6.35)),
    "formula": ConfidenceWeights(-4.89, Features(formula=7.56, words_ahead=6.02)),
    "mixed": ConfidenceWeights(-7.56, Features(words=4.91, formula=5.95, words_ahead=8.04)),
    "question": ConfidenceWeights(-1.46, Features(words=1.40, words_ahead=2.04)),
}
"""The default, which looks at no vectors: for models whose cosines were not measured, and for searches by words."""


def read_label_weights(folder: Path) -> LabelWeights:
    """Return the weights of a model, by group of queries: `labels` in its `config.json`; the default for groups that it lacks."""
    row = read_config(folder).get("labels") or {}
    with describing(folder / CONFIG, "model"):
        return {
            **DEFAULT_WEIGHTS,
            **{group: _weights(row[group]) for group in get_args(Group) if group in row},
        }


def _weights(row: Mapping[str, float]) -> ConfidenceWeights:
    given = {str(name): float(value) for name, value in row.items()}
    if not all(map(math.isfinite, given.values())):
        raise ValueError("labels: a weight is not finite")
    return ConfidenceWeights(given.pop("intercept"), Features(**given))
