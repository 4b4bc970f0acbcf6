"""`FormulaShard`: the trees of many formulas as numbers, end to end: what systems of formulas are trained on and read.

A tree stands in depth-first order, so that the nodes below one follow it in one run: taking a part of a tree, or taking
it out, is taking a range.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError
from mathamr.formulas.tree import OPT_EDGES, SLT_EDGES, Opt, Slt, Tree

UNKNOWN = "*"
"""Stands for a label that is not known; for one of a known type, ``V!*`` and the like."""
TYPES = ("N", "C", "V", "F", "T", "M", "U", "O", "A", "E", "W", "-", "+")
EDGES = {"slt": SLT_EDGES, "opt": OPT_EDGES}
_ITALIC = {
    **{0x1D434 + place: ord("A") + place for place in range(26)},
    **{0x1D44E + place: ord("a") + place for place in range(26)},
    0x210E: ord("h"),
    **{0x1D6FC + place: 0x3B1 + place for place in range(25)},
    **{0x1D6E2 + place: 0x391 + place for place in range(17)},
    **{0x1D6F4 + place: 0x3A3 + place for place in range(7)},
}


def folded(label: str) -> str:
    """A label as both trees of a formula have it: italic letters, which only operator trees mark, as plain ones.

    >>> folded("V!𝑥"), folded("V!x"), folded("V!𝛼"), folded("V!ℝ")
    ('V!x', 'V!x', 'V!α', 'V!ℝ')
    """
    return label if label.isascii() else label.translate(_ITALIC)


class FormulaLabels:
    """Labels of nodes by number; what is rare or new has the number of its type."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        self._numbers = {label: number for number, label in enumerate(self.labels)}
        if self.labels[: len(self.special())] != self.special() or len(self._numbers) != len(self.labels):
            raise MathAMRError("labels of formulas begin with those of the types, and each stands once")

    @staticmethod
    def special() -> tuple[str, ...]:
        """The unknown label, and that of each type."""
        return (UNKNOWN, *(f"{kind}!{UNKNOWN}" for kind in TYPES))

    @classmethod
    def of_counts(cls, counts: Mapping[str, int], least: int = 1) -> FormulaLabels:
        """The labels that occur often enough, the most frequent first."""
        special = set(cls.special())
        often = [
            (-count, label)
            for label, count in counts.items()
            # A label is one line of a file.
            if count >= least and label not in special and label.isprintable() and label
        ]
        return cls([*cls.special(), *(label for _, label in sorted(often))])

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, label: str) -> int:
        label = folded(label)
        found = self._numbers.get(label)
        if found is None and label[1:2] == "!":
            found = self._numbers.get(f"{label[0]}!{UNKNOWN}")
        return found or 0

    def types(self) -> AnyArray:
        """For every label the number of its type among the special labels; 0 for one without, such as ``+``."""
        kinds = {kind: place for place, kind in enumerate(TYPES, 1)}
        return np.array(
            [kinds.get(label[0], 0) if label[1:2] == "!" else 0 for label in self.labels], np.int64
        )

    def to_text(self) -> str:
        """The content of a file: one label a line."""
        return "".join(f"{label}\n" for label in self.labels)

    @classmethod
    def load(cls, path: Path) -> FormulaLabels:
        """The labels in a file."""
        try:
            return cls(path.read_text(encoding="utf-8").split("\n")[:-1])
        except (OSError, UnicodeDecodeError) as error:
            raise MathAMRError(f"cannot read the labels in {path}: {error}") from error


@dataclass(frozen=True, slots=True, eq=False)
class FormulaTrees:
    """Trees of one kind: node i of tree t stands at `starts[t] + i`.

    `parents` are numbers within the tree, -1 for a root; `edges` the numbers of the edges to the parents; `sizes` count
    the nodes from each node downwards, itself included.
    """

    labels: AnyArray
    parents: AnyArray
    edges: AnyArray
    sizes: AnyArray
    starts: AnyArray

    @classmethod
    def of(cls, trees: Sequence[Tree], labels: FormulaLabels, kind: str) -> FormulaTrees:
        """The trees by number; the operands of an unordered operator all hang on edge 0."""
        known = {edge: number for number, edge in enumerate(EDGES[kind])}
        starts = np.zeros(len(trees) + 1, np.int64)
        np.cumsum([len(tree) for tree in trees], out=starts[1:])
        edges = [
            0 if parent < 0 or tree.labels[parent].startswith("U!") else known[edge]
            for tree in trees
            for parent, edge in zip(tree.parents, tree.edges, strict=True)
        ]
        return cls(
            np.array([labels[label] for tree in trees for label in tree.labels], np.int32),
            np.array([parent for tree in trees for parent in tree.parents], np.int32),
            np.array(edges, np.uint8),
            np.array([size for tree in trees for size in tree.sizes()], np.int32),
            starts,
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def above(self) -> AnyArray:
        """For every node the number of its parent among all nodes; -1 for a root."""
        starts = np.repeat(self.starts[:-1], np.diff(self.starts))
        found: AnyArray = np.where(self.parents >= 0, starts + self.parents, -1)
        return found

    def tree(self, number: int, labels: FormulaLabels, kind: str) -> Tree:
        """One tree again, with folded labels; operands of an unordered operator all hang on edge 0."""
        nodes = slice(int(self.starts[number]), int(self.starts[number + 1]))
        edges = "".join(EDGES[kind][edge] for edge in self.edges[nodes][1:].tolist())
        return Tree(
            tuple(labels.labels[label] for label in self.labels[nodes].tolist()),
            tuple(self.parents[nodes].tolist()),
            f"-{edges}",
        )

    def chosen(self, numbers: AnyArray) -> FormulaTrees:
        """Some trees, in that order."""
        counts = self.starts[numbers + 1] - self.starts[numbers]
        before = np.cumsum(counts) - counts
        nodes = np.arange(int(counts.sum())) - np.repeat(before - self.starts[numbers], counts)
        starts = np.append(0, np.cumsum(counts)).astype(np.int64)
        return FormulaTrees(
            self.labels[nodes], self.parents[nodes], self.edges[nodes], self.sizes[nodes], starts
        )

    def renumbered(self, numbers: AnyArray) -> FormulaTrees:
        """The same trees where label i has become label `numbers[i]`."""
        return FormulaTrees(
            numbers[self.labels].astype(np.int32), self.parents, self.edges, self.sizes, self.starts
        )

    def arrays(self, prefix: str) -> dict[str, AnyArray]:
        """For a file of arrays."""
        return {f"{prefix}_{name}": getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], prefix: str) -> FormulaTrees:
        """The inverse of `arrays`; numbers that make no trees are refused."""
        labels, parents, edges, sizes, starts = (arrays[f"{prefix}_{name}"] for name in cls.__slots__)
        total = len(labels)
        if (
            starts.ndim != 1
            or not len(starts)
            or int(starts[0]) != 0
            or int(starts[-1]) != total
            or bool(np.any(np.diff(starts) < 1))
            or not len(parents) == len(edges) == len(sizes) == total
        ):
            raise ValueError("its arrays do not fit each other")
        within = np.arange(total) - np.repeat(starts[:-1], np.diff(starts))
        if total and (
            bool(np.any(parents >= within)) or bool(np.any((parents < 0) != (within == 0))) or sizes.min() < 1
        ):
            raise ValueError("its parents make no trees")
        if bool(np.any(within + sizes > np.repeat(np.diff(starts), np.diff(starts)))):
            raise ValueError("its sizes reach beyond their trees")
        return cls(labels, parents, edges, sizes, starts)


@dataclass(frozen=True, slots=True, eq=False)
class FormulaShard:
    """The layout and operator trees of the same formulas, the labels they are numbered by, and how often each occurs."""

    labels: FormulaLabels
    counts: AnyArray
    slt: FormulaTrees
    opt: FormulaTrees

    @classmethod
    def of(cls, formulas: Iterable[tuple[Slt, Opt]]) -> FormulaShard:
        """The trees of formulas, with all labels they have."""
        layouts, operators = [], []
        counts: Counter[str] = Counter()
        for slt, opt in formulas:
            layouts.append(slt)
            operators.append(opt)
            counts.update(map(folded, slt.labels))
            counts.update(map(folded, opt.labels))
        labels = FormulaLabels.of_counts(counts)
        return cls(
            labels,
            np.array([counts[label] for label in labels.labels], np.int64),
            FormulaTrees.of(layouts, labels, "slt"),
            FormulaTrees.of(operators, labels, "opt"),
        )

    def __len__(self) -> int:
        return len(self.opt)

    def chosen(self, numbers: AnyArray) -> FormulaShard:
        """Some formulas, in that order; the labels and their counts stay."""
        return FormulaShard(self.labels, self.counts, self.slt.chosen(numbers), self.opt.chosen(numbers))

    def both(self, number: int) -> tuple[Opt, Slt]:
        """Both trees of one formula again, as `FormulaTrees.tree` gives them."""
        opt, slt = self.opt.tree(number, self.labels, "opt"), self.slt.tree(number, self.labels, "slt")
        return Opt(opt.labels, opt.parents, opt.edges), Slt(slt.labels, slt.parents, slt.edges)

    def frequent(self, least: int) -> FormulaLabels:
        """The labels that occur at least so often."""
        pairs = zip(self.labels.labels, self.counts.tolist(), strict=True)
        return FormulaLabels.of_counts(dict(pairs), least)

    def renumbered(self, labels: FormulaLabels) -> FormulaShard:
        """The same formulas numbered by other labels."""
        numbers = np.array([labels[label] for label in self.labels.labels], np.int32)
        counts = np.bincount(numbers, self.counts, len(labels)).astype(np.int64)
        return FormulaShard(labels, counts, self.slt.renumbered(numbers), self.opt.renumbered(numbers))

    def save(self, path: Path) -> None:
        """An npz file, without pickles."""
        text = "\n".join(self.labels.labels).encode()
        with path.open("wb") as file:
            arrays = {**self.slt.arrays("slt"), **self.opt.arrays("opt")}
            vocabulary = np.frombuffer(text, np.uint8)
            np.savez_compressed(file, allow_pickle=False, vocabulary=vocabulary, counts=self.counts, **arrays)

    @classmethod
    def load(cls, path: Path) -> FormulaShard:
        """The inverse of `save`."""
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            labels = FormulaLabels(arrays["vocabulary"].tobytes().decode().split("\n"))
            slt, opt = (FormulaTrees.from_arrays(arrays, kind) for kind in ("slt", "opt"))
            if len(slt) != len(opt) or len(arrays["counts"]) != len(labels):
                raise ValueError(
                    "it has not as many layout trees as operator trees, or labels without counts"
                )
            for trees in (slt, opt):
                if len(trees.labels) and not 0 <= int(trees.labels.min()) <= int(trees.labels.max()) < len(
                    labels
                ):
                    raise ValueError("it names labels that it does not have")
            return cls(labels, arrays["counts"], slt, opt)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise MathAMRError(f"{path} is not a shard of formulas, or it is damaged: {error}") from error
