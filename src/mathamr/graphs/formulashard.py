"""`FormulaShard`: the trees of many formulas as arrays, which systems of formulas read and are trained on.

Trees are in depth-first order, so that the descendants of a node directly follow it: a subtree is a contiguous
range.
"""

from __future__ import annotations

import zipfile
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.plainfiles import read_description
from mathamr.formulas.tree import OPT_EDGES, SLT_EDGES, Opt, Slt, Tree

UNKNOWN = "*"
"""The label for unknown labels; unknown labels of a known type are ``V!*`` and the like."""
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
    """Return the form of a label that both trees share: italic letters, which only operator trees mark, become plain.

    >>> folded("V!𝑥"), folded("V!x"), folded("V!𝛼"), folded("V!ℝ")
    ('V!x', 'V!x', 'V!α', 'V!ℝ')
    """
    return label if label.isascii() else label.translate(_ITALIC)


class FormulaLabels:
    """Node labels by number; rare and new labels have the number of their type."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        self._numbers = {label: number for number, label in enumerate(self.labels)}
        if self.labels[: len(self.special())] != self.special() or len(self._numbers) != len(self.labels):
            raise MathAMRError(
                "the list of labels must begin with those of the types and repeat none; the file is damaged or of another version"
            )

    @staticmethod
    def special() -> tuple[str, ...]:
        """Return the unknown label, and that of each type."""
        return (UNKNOWN, *(f"{kind}!{UNKNOWN}" for kind in TYPES))

    @classmethod
    def of_counts(cls, counts: Mapping[str, int], least: int = 1) -> FormulaLabels:
        """Return the labels that occur often enough, the most frequent first."""
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
        """Return, for every label, the index of its type among the special labels; 0 for one without a type, such as ``+``."""
        kinds = {kind: place for place, kind in enumerate(TYPES, 1)}
        return np.array(
            [kinds.get(label[0], 0) if label[1:2] == "!" else 0 for label in self.labels], np.int64
        )

    def to_text(self) -> str:
        """Return the content of a file: one label per line."""
        return "".join(f"{label}\n" for label in self.labels)

    @classmethod
    def load(cls, path: Path) -> FormulaLabels:
        """Read the labels in a file."""
        try:
            return cls(read_description(path).decode().split("\n")[:-1])
        except (OSError, UnicodeDecodeError) as error:
            raise MathAMRError(f"cannot read the labels in {path}: {error}") from error


@dataclass(frozen=True, slots=True, eq=False)
class FormulaTrees:
    """Trees of one kind: node i of tree t is at `starts[t] + i`.

    `parents` are numbers within the tree, -1 for a root; `edges` are the numbers of the edges to the parents; `sizes` are
    the sizes of the nodes' subtrees, including the node.
    """

    labels: AnyArray
    parents: AnyArray
    edges: AnyArray
    sizes: AnyArray
    starts: AnyArray

    @classmethod
    def of(cls, trees: Sequence[Tree], labels: FormulaLabels, kind: str) -> FormulaTrees:
        """Convert trees to arrays; all operands of an unordered operator are on edge 0."""
        growing = _GrowingTrees(kind)
        for tree in trees:
            growing.add(tree, [labels[label] for label in tree.labels])
        return growing.trees()

    def __len__(self) -> int:
        return len(self.starts) - 1

    def above(self) -> AnyArray:
        """Return, for every node, the number of its parent among all nodes; -1 for a root."""
        starts = np.repeat(self.starts[:-1], np.diff(self.starts))
        found: AnyArray = np.where(self.parents >= 0, starts + self.parents, -1)
        return found

    def tree(self, number: int, labels: FormulaLabels, kind: str) -> Tree:
        """Restore one tree, with folded labels; all operands of an unordered operator are on edge 0."""
        nodes = slice(int(self.starts[number]), int(self.starts[number + 1]))
        edges = "".join(EDGES[kind][edge] for edge in self.edges[nodes][1:].tolist())
        return Tree(
            tuple(labels.labels[label] for label in self.labels[nodes].tolist()),
            tuple(self.parents[nodes].tolist()),
            f"-{edges}",
        )

    def chosen(self, numbers: AnyArray) -> FormulaTrees:
        """Return some trees, in that order."""
        counts = self.starts[numbers + 1] - self.starts[numbers]
        before = np.cumsum(counts) - counts
        nodes = np.arange(int(counts.sum())) - np.repeat(before - self.starts[numbers], counts)
        starts = np.append(0, np.cumsum(counts)).astype(np.int64)
        return FormulaTrees(
            self.labels[nodes], self.parents[nodes], self.edges[nodes], self.sizes[nodes], starts
        )

    def renumbered(self, numbers: AnyArray) -> FormulaTrees:
        """Return the same trees with label i replaced by label `numbers[i]`."""
        return FormulaTrees(
            numbers[self.labels].astype(np.int32), self.parents, self.edges, self.sizes, self.starts
        )

    def arrays(self, prefix: str) -> dict[str, AnyArray]:
        """Return the arrays for a file."""
        return {f"{prefix}_{name}": getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], prefix: str) -> FormulaTrees:
        """Create the trees from `arrays`; refuse numbers that do not form trees."""
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
            raise ValueError("its parents do not form trees")
        if bool(np.any(within + sizes > np.repeat(np.diff(starts), np.diff(starts)))):
            raise ValueError("its sizes reach beyond their trees")
        return cls(labels, parents, edges, sizes, starts)


class _GrowingTrees:
    """Trees of one kind as arrays that grow tree by tree, so that millions of them need no Python objects."""

    def __init__(self, kind: str) -> None:
        self._known = {edge: number for number, edge in enumerate(EDGES[kind])}
        self._labels, self._parents, self._sizes = array("i"), array("i"), array("i")
        self._edges, self._starts = array("B"), array("q", [0])

    def add(self, tree: Tree, labels: Iterable[int]) -> None:
        """Append a tree, whose labels are already numbers."""
        self._labels.extend(labels)
        self._parents.extend(tree.parents)
        self._sizes.extend(tree.sizes())
        self._edges.extend(
            0 if parent < 0 or tree.labels[parent].startswith("U!") else self._known[edge]
            for parent, edge in zip(tree.parents, tree.edges, strict=True)
        )
        self._starts.append(len(self._labels))

    def trees(self) -> FormulaTrees:
        """Return the arrays, which nothing may be added to any more."""
        return FormulaTrees(
            np.frombuffer(self._labels, np.int32),
            np.frombuffer(self._parents, np.int32),
            np.frombuffer(self._edges, np.uint8),
            np.frombuffer(self._sizes, np.int32),
            np.frombuffer(self._starts, np.int64),
        )


@dataclass(frozen=True, slots=True, eq=False)
class FormulaShard:
    """The layout and operator trees of the same formulas, the labels they are numbered by, and how often each occurs."""

    labels: FormulaLabels
    counts: AnyArray
    slt: FormulaTrees
    opt: FormulaTrees

    @classmethod
    def of(cls, formulas: Iterable[tuple[Slt, Opt]]) -> FormulaShard:
        """Build the shard of formulas, with all labels that they have; formulas are read one at a time."""
        layouts, operators = _GrowingTrees("slt"), _GrowingTrees("opt")
        numbers: dict[str, int] = {}
        counts: Counter[str] = Counter()
        for slt, opt in formulas:
            for tree, growing in ((slt, layouts), (opt, operators)):
                named = [folded(label) for label in tree.labels]
                counts.update(named)
                growing.add(tree, [numbers.setdefault(label, len(numbers)) for label in named])
        labels = FormulaLabels.of_counts(counts)
        final = np.array([labels[label] for label in numbers], np.int32)
        return cls(
            labels,
            np.array([counts[label] for label in labels.labels], np.int64),
            layouts.trees().renumbered(final),
            operators.trees().renumbered(final),
        )

    def __len__(self) -> int:
        return len(self.opt)

    def chosen(self, numbers: AnyArray) -> FormulaShard:
        """Return some formulas, in that order, with the same labels and count."""
        return FormulaShard(self.labels, self.counts, self.slt.chosen(numbers), self.opt.chosen(numbers))

    def both(self, number: int) -> tuple[Opt, Slt]:
        """Restore both trees of one formula, as `FormulaTrees.tree` does."""
        opt, slt = self.opt.tree(number, self.labels, "opt"), self.slt.tree(number, self.labels, "slt")
        return Opt(opt.labels, opt.parents, opt.edges), Slt(slt.labels, slt.parents, slt.edges)

    def frequent(self, least: int) -> FormulaLabels:
        """Return the labels that occur at least this often."""
        pairs = zip(self.labels.labels, self.counts.tolist(), strict=True)
        return FormulaLabels.of_counts(dict(pairs), least)

    def renumbered(self, labels: FormulaLabels) -> FormulaShard:
        """Return the same formulas numbered by other labels."""
        numbers = np.array([labels[label] for label in self.labels.labels], np.int32)
        counts = np.bincount(numbers, self.counts, len(labels)).astype(np.int64)
        return FormulaShard(labels, counts, self.slt.renumbered(numbers), self.opt.renumbered(numbers))

    def save(self, path: Path) -> None:
        """Write an `.npz` file without pickles."""
        text = "\n".join(self.labels.labels).encode()
        with path.open("wb") as file:
            arrays = {**self.slt.arrays("slt"), **self.opt.arrays("opt")}
            vocabulary = np.frombuffer(text, np.uint8)
            np.savez_compressed(file, allow_pickle=False, vocabulary=vocabulary, counts=self.counts, **arrays)

    @classmethod
    def load(cls, path: Path) -> FormulaShard:
        """Read the file that `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            labels = FormulaLabels(arrays["vocabulary"].tobytes().decode().split("\n"))
            slt, opt = (FormulaTrees.from_arrays(arrays, kind) for kind in ("slt", "opt"))
            if len(slt) != len(opt) or len(arrays["counts"]) != len(labels):
                raise ValueError(
                    "the numbers of layout trees and operator trees differ, or labels lack counts"
                )
            for trees in (slt, opt):
                if len(trees.labels) and not 0 <= int(trees.labels.min()) <= int(trees.labels.max()) < len(
                    labels
                ):
                    raise ValueError("it refers to labels that it does not have")
            return cls(labels, arrays["counts"], slt, opt)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise MathAMRError(f"{path} is not a shard of formulas, or it is damaged: {error}") from error
