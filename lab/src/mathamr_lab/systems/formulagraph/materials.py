"""`FormulaMaterials`: the training data of formula graphs, numbered by the labels of the new model, and its batches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.graphs.formulashard import FormulaShard, FormulaTrees
from mathamr.systems.formulagraph.batch import Chosen
from mathamr_lab.systems.formulagraph.configuration import NodeTraining
from mathamr_lab.systems.formulagraph.subexpressions import Subexpressions
from mathamr_lab.systems.formulagraph.teacher import (
    FEW,
    FormulaChoice,
    Teacher,
    TreeMaterials,
    choose,
    split_formulas,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class FormulaMaterials(TreeMaterials):
    """Formulas for training and validation; both views have the same formulas in the same order."""

    shard: FormulaShard
    configuration: NodeTraining

    @classmethod
    def of(
        cls, shard: FormulaShard, configuration: NodeTraining, teacher: Teacher | None
    ) -> FormulaMaterials:
        """Take the formulas of a shard; those that are too large are left out."""
        own = shard.renumbered(shard.frequent(configuration.rare))
        sizes = np.maximum(np.diff(own.slt.starts), np.diff(own.opt.starts))
        usable = np.flatnonzero(sizes <= configuration.largest)
        train, held = split_formulas(usable, configuration, teacher)
        if not configuration.is_taught:
            # Only what is used stays in memory; a teacher names all formulas by number.
            kept = np.sort(np.concatenate([train, held]))
            own, train, held = own.chosen(kept), np.searchsorted(kept, train), np.searchsorted(kept, held)
        taught = teacher.checked(len(own)) if teacher is not None and configuration.is_taught else None
        return cls(
            shard=own,
            labels=own.labels,
            teacher=taught,
            train=np.sort(train),
            held=np.sort(held),
            configuration=configuration,
        )

    def trees(self, view: str) -> FormulaTrees:
        """Return the trees of one view."""
        return self.shard.slt if view == "slt" else self.shard.opt

    def subexpressions(self, formulas: AnyArray, generator: np.random.Generator) -> dict[str, Chosen]:
        """Draw a sub-expression of each formula in its operators, and the corresponding one in its layout (figure 2).

        A pairing of one view draws in that view.
        """
        operators, layout = self.parts["opt"], self.parts["slt"]
        if self.configuration.pairing in ("slg", "opg"):
            return {view: parts.drawn(formulas, generator) for view, parts in self.parts.items()}
        kept = operators.drawn(formulas, generator)
        removed = layout.like(self.shard.opt, formulas, kept, layout.removed(formulas, generator))
        return {"opt": kept, "slt": layout.without(formulas, removed)}

    @cached_property
    def parts(self) -> dict[str, Subexpressions]:
        """The sub-expressions of both views."""
        return {view: Subexpressions(self.trees(view)) for view in ("slt", "opt")}

    @property
    def arrays(self) -> list[AnyArray]:
        """The trees of both views."""
        trees = (self.shard.slt, self.shard.opt)
        return [array for each in trees for array in (each.labels, each.parents, each.edges)]

    def batches(self, epoch: int) -> list[FormulaChoice]:
        """Return the shuffled batches of an epoch."""
        configuration = self.configuration
        generator = np.random.default_rng([configuration.seed, 1, epoch])
        order = self.train[generator.permutation(len(self.train))]
        size = configuration.batch_size
        cuts = [np.sort(order[start : start + size]) for start in range(0, len(order), size)]
        cuts = [cut for cut in cuts if len(cut) >= FEW]
        return choose(cuts, self.teacher, configuration, generator)

    def held_batches(self) -> list[FormulaChoice]:
        """Return the batches of a validation."""
        size = self.configuration.batch_size
        cuts = [self.held[start : start + size] for start in range(0, len(self.held), size)]
        return [FormulaChoice(number, cut) for number, cut in enumerate(cuts) if len(cut) >= FEW]
