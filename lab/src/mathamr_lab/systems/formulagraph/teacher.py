"""`TreeMaterials`: the formulas of a training, and `Teacher`: orders of them by another scorer, for a network to learn from.

The scorer may be slow (aligning two trees takes a millisecond): the network puts its knowledge into vectors, which can
be searched by the million.
"""

from __future__ import annotations

import hashlib
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mathamr.core.arrays import AnyArray, BoolArray
from mathamr.core.errors import MathAMRError
from mathamr.graphs.formulashard import FormulaLabels
from mathamr_lab.training.settings import FormulaTraining

FEW = 2
"""The least number of formulas, so that there are negatives."""
MOST_HELD = 100
"""The maximum number of orders for validation."""


NONE = np.zeros(0, np.int64)


class FormulaChoice(NamedTuple):
    """A batch by number: its formulas, and the orders by number that are learned with them: whole ones, and the nearest of some."""

    number: int
    formulas: AnyArray
    orders: AnyArray = NONE
    near: AnyArray = NONE

    def first(self, count: int) -> FormulaChoice:
        """Return the first formulas and orders of the batch."""
        return FormulaChoice(self.number, self.formulas[:count], self.orders[:count], self.near[:count])


class TaughtFormulas(NamedTuple):
    """Formulas that a teacher ordered: the places of the anchors and of the candidates of each among them, and the scores of these."""

    formulas: AnyArray
    anchors: AnyArray
    candidates: AnyArray
    scores: AnyArray


def split_formulas(
    usable: AnyArray, configuration: FormulaTraining, teacher: Teacher | None
) -> tuple[AnyArray, AnyArray]:
    """Draw the formulas of a training among the usable ones; return (to train on, to validate on), in the order drawn."""
    if len(usable) < FEW:
        raise MathAMRError(f"{len(usable)} formulas are too few to train on")
    if configuration.is_taught and teacher is None:
        raise MathAMRError("there is no teacher to learn from: prepare one, or set teacher=0 and near=0")
    order = np.random.default_rng([configuration.seed, 0]).permutation(usable)[: configuration.formulas]
    held = min(configuration.validation, len(order) // 5)
    return order[held:], order[:held]


class NearFormulas(NamedTuple):
    """Formulas (`ours`), each with one that is near to it.

    `theirs` are the near ones, each once, both in ascending order; `places` is where each of ours finds its own among them.
    `is_near` says for ours (rows) which of theirs are near too, and so are no negatives.
    """

    ours: AnyArray
    theirs: AnyArray
    places: AnyArray
    is_near: BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class Teacher:
    """For every anchor, a formula by its number, some candidates and their scores."""

    anchors: AnyArray
    candidates: AnyArray
    scores: AnyArray

    def __len__(self) -> int:
        return len(self.anchors)

    @property
    def held(self) -> int:
        """The number of orders at the end that are held out for validation."""
        return min(MOST_HELD, len(self) // 10)

    def taught(self, anchors: AnyArray) -> TaughtFormulas:
        """Return the formulas of some orders."""
        asked, candidates = self.anchors[anchors], self.candidates[anchors]
        formulas = np.unique(np.concatenate([asked, candidates.ravel()]))
        places = np.searchsorted(formulas, asked), np.searchsorted(formulas, candidates)
        return TaughtFormulas(formulas, *places, self.scores[anchors].astype(np.float32))

    def draw_near(self, orders: AnyArray, nearest: int, generator: np.random.Generator) -> NearFormulas:
        """Draw for the anchor of each of these orders one of the `nearest` candidates with the highest scores."""
        orders = orders[np.argsort(self.anchors[orders])]
        best = np.argsort(-self.scores[orders], axis=1, kind="stable")[:, :nearest]
        close = np.take_along_axis(self.candidates[orders], best, axis=1)
        drawn = close[np.arange(len(orders)), generator.integers(0, close.shape[1], len(orders))]
        theirs, places = np.unique(drawn, return_inverse=True)
        ours = self.anchors[orders]
        close = np.column_stack([ours, close])
        found = np.minimum(np.searchsorted(theirs, close), len(theirs) - 1)
        rows, columns = np.nonzero(theirs[found] == close)
        is_near = np.zeros((len(ours), len(theirs)), np.bool_)
        is_near[rows, found[rows, columns]] = True
        return NearFormulas(ours, theirs, places, is_near)

    def draw_orders(self, batches: int, size: int, generator: np.random.Generator) -> list[AnyArray]:
        """Draw for every batch `size` different orders that are not held out, all of them equally often."""
        usable = len(self) - self.held
        size = max(1, min(size, usable))
        each = usable // size
        passes = [generator.permutation(usable)[: each * size] for _ in range(-(-batches // each))]
        return [np.sort(part) for part in np.concatenate(passes).reshape(-1, size)[:batches]]

    @property
    def held_orders(self) -> AnyArray:
        """The orders that are held out, by number."""
        return np.arange(len(self) - self.held, len(self))

    def checked(self, formulas: int) -> Teacher:
        """Return this teacher; raise an error if it refers to formulas beyond the given number."""
        for numbers in (self.anchors, self.candidates):
            if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < formulas:
                raise MathAMRError(
                    f"the teacher refers to formulas that are not among the {formulas} of the shard"
                )
        return self

    def save(self, path: Path) -> None:
        """Write one `.npz` without pickles."""
        with path.open("wb") as file:
            np.savez_compressed(file, anchors=self.anchors, candidates=self.candidates, scores=self.scores)

    @classmethod
    def load(cls, path: Path) -> Teacher:
        """Read the file that `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as file:
                anchors, candidates, scores = (file[name] for name in ("anchors", "candidates", "scores"))
            if anchors.ndim != 1 or candidates.shape != scores.shape or len(candidates) != len(anchors):
                raise ValueError("its arrays do not fit each other")
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise MathAMRError(f"{path} is not a teacher's file, or it is damaged: {error}") from error
        return cls(anchors, candidates, scores)


def choose(
    cuts: Sequence[AnyArray],
    teacher: Teacher | None,
    configuration: FormulaTraining,
    generator: np.random.Generator,
) -> list[FormulaChoice]:
    """Return the batches of these formulas, with orders drawn for each."""
    if teacher is None:
        return [FormulaChoice(number, cut) for number, cut in enumerate(cuts)]
    size, none = configuration.batch_size, [NONE] * len(cuts)
    width = teacher.candidates.shape[1]
    orders = teacher.draw_orders(len(cuts), size // width, generator) if configuration.teacher else none
    near = teacher.draw_orders(len(cuts), size, generator) if configuration.near else none
    return [FormulaChoice(number, *each) for number, each in enumerate(zip(cuts, orders, near, strict=True))]


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeMaterials(ABC):
    """Formulas to train on and to validate on, by number, their labels, and an optional teacher."""

    labels: FormulaLabels
    train: AnyArray
    held: AnyArray
    teacher: Teacher | None

    @property
    @abstractmethod
    def arrays(self) -> Sequence[AnyArray]:
        """The formulas as arrays."""

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the training data."""
        content = hashlib.sha256()
        for array in [*self.arrays, *([self.teacher.scores] if self.teacher is not None else [])]:
            content.update(np.ascontiguousarray(array).tobytes())
        return content.hexdigest()[:16]

    def held_orders(self) -> FormulaChoice:
        """Return the orders of a validation."""
        held = NONE if self.teacher is None else self.teacher.held_orders
        return FormulaChoice(0, NONE, held, held)
