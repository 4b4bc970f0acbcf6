"""SSEmb: one vector for the structure of a visual class, and one for the text around a formula (SSEmb, section 2.3)."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, tee
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch.nn import functional

from mathamr.core.arrays import FloatArray
from mathamr.core.modelfolder import ModelFolder
from mathamr.formulas.tree import Opt
from mathamr.graphs.formulashard import FormulaLabels, FormulaTrees
from mathamr.posts.level import Level
from mathamr.systems.field import Field
from mathamr.systems.formulasystem import FormulaSystem
from mathamr.systems.nodematch import TreeMatch, most_similar
from mathamr.systems.ranking import Component, Fuse, Lexical, Nearest, QueryKind, Rankings, Rerank
from mathamr.systems.ssemb.context import OWN, TEXT, ContextReader
from mathamr.systems.ssemb.graphs import OperatorGraphs, distinct_labels, shared_nodes
from mathamr.systems.ssemb.network import GraphNumbers, StructEmb, StructEmbConfiguration
from mathamr.systems.system import Encoded, Item, Need, VisualFormula
from mathamr.systems.vectors import Vectors

STRUCTURE, CONTEXT = "structure", "context"
READER = "mathamr-2"
"""The model in the box whose text encoder reads the context by default."""
LAMBDA = 0.6
"""The weight of structure relative to context (equation 3); the paper has 0.5."""
POOL = 5000
"""The number of visual classes that the second stage reranks."""
PAPER_POOL = 500_000
"""The same in the paper, of 28 million formulas (section 2.3)."""
VISUALS = 512

_STRUCTURE = Nearest(STRUCTURE)


def _with_context(share: float, pool: int, *weights: tuple[QueryKind, float]) -> Rerank:
    """Return the ranking that reranks the first results by the weighted sum of structure and context (section 2.3)."""
    parts = (
        Component(STRUCTURE, _STRUCTURE, share),
        Component(CONTEXT, Nearest(CONTEXT), 1 - share, weights),
    )
    return Rerank(
        first=_STRUCTURE,
        then=Fuse(parts=parts, fusion="weighted-sum", normalisation="none"),
        pool=pool,
    )


class SsembSystem(FormulaSystem[StructEmb]):
    """Represents visual classes by the vectors of their operator graphs, and formulas in posts by those of the text around them."""

    kind: ClassVar[str] = "ssemb"
    needs: ClassVar[frozenset[Need]] = frozenset({"trees", "wording"})
    rankings: ClassVar[Rankings] = {
        "formulas": {
            "both": _with_context(LAMBDA, POOL, ("formula", 0.0)),
            "paper": _with_context(0.5, PAPER_POOL),
            "structure": _STRUCTURE,
            "context": Nearest(CONTEXT),
            "rrf": Fuse(
                parts=(Component("lexical", Lexical()), Component(STRUCTURE, _STRUCTURE)), fusion="rrf"
            ),
            "lexical": Lexical(),
        }
    }

    def __init__(
        self,
        network: StructEmb,
        labels: FormulaLabels,
        *,
        reader: str = READER,
        own_text: Path | None = None,
        windows: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(network, labels, **more)
        self.reader, self._own_text, self._windows = reader, own_text, windows

    @cached_property
    def context(self) -> ContextReader:
        """The reader of the text around formulas."""
        return ContextReader(self.reader, str(self._device), self._own_text)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the weights, labels and text encoder."""
        own = super().fingerprint
        return f"{own}-{self.context.encoder.fingerprint}" if self.reader else own

    @property
    def fields(self) -> tuple[Field, ...]:
        """One row per visual class, and one per formula, unless the model reads no text."""
        structure = Field(name=STRUCTURE, of="visual", size=self.network.configuration.size)
        if not self.reader:
            return (structure,)
        return structure, Field(name=CONTEXT, of="formulas", size=self.context.encoder.size)

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        """Yield the context vectors of every formula; with windows, of the text around it alone, as published."""
        if not self.reader:
            yield from (Encoded(id=item.post.id) for item in items)
            return
        ours, theirs = tee(items)
        encode = self.context.encode_windows if self._windows else self.context.encode
        found = encode(item.post for item in theirs)
        for item, formulas in zip(ours, found, strict=True):
            yield Encoded(
                id=item.post.id,
                formulas=tuple((formula, {CONTEXT: vectors}) for formula, vectors in formulas),
            )

    def encode_visuals(self, visuals: Iterable[VisualFormula]) -> Iterator[Mapping[str, Vectors]]:
        """Yield the structure vectors of every visual class that has an operator tree."""
        stream = iter(visuals)
        while chosen := list(islice(stream, VISUALS)):
            rows = iter(self.structures([visual.opt for visual in chosen if visual.opt is not None]))
            for visual in chosen:
                yield (
                    {}
                    if visual.opt is None
                    else {STRUCTURE: Vectors.one(next(rows), Level.FORMULA, visual.key)}
                )

    def structures(self, trees: Sequence[Opt]) -> FloatArray:
        """Return the vectors of operator trees."""
        if not trees:
            return np.zeros((0, self.network.configuration.size), np.float32)
        self.network.eval()
        with torch.inference_mode():
            batch = GraphNumbers.of(OperatorGraphs.of(trees, self.labels), self._device)
            return np.asarray(self.network(batch).float().cpu().numpy())

    def match_nodes(self, query: VisualFormula, found: VisualFormula) -> Sequence[TreeMatch]:
        """Find for each operator of the query the most similar one of the found formula; the network merges equal subtrees.

        The score is the cosine of both structure vectors, which are the means of the vectors compared here.
        """
        if query.opt is None or found.opt is None:
            return []
        trees = [query.opt, found.opt]
        numbers, distinct = FormulaTrees.of(trees, self.labels, "opt"), distinct_labels(trees)
        with torch.inference_mode():
            batch = GraphNumbers.of(OperatorGraphs.of_numbers(numbers, distinct), self._device)
            states = functional.normalize(self.network.eval().states(batch).float(), dim=-1).cpu().numpy()
        rows, others = np.split(states[shared_nodes(numbers, distinct)], [len(query.opt)])
        ours, theirs = self.structures(trees)
        return [TreeMatch("opt", float(ours @ theirs), most_similar(rows @ others.T))]

    @property
    def config(self) -> dict[str, Any]:
        """What the folder's configuration says of the system, with the name of its text encoder."""
        return super().config | {"reader": self.reader} | ({"windows": True} if self._windows else {})

    @staticmethod
    def made_network(model: dict[str, Any], labels: FormulaLabels) -> StructEmb:
        """Return a network of the shape that a configuration describes."""
        return StructEmb(StructEmbConfiguration.from_json(model), len(labels))

    @classmethod
    def read_more(cls, folder: ModelFolder) -> dict[str, Any]:
        """Return the name of the text encoder, its folder if it is the model's own, and how much of a post it reads at once."""
        reader = str(folder.config["reader"])
        own = folder.path / TEXT if reader == OWN else None
        return {"reader": reader, "own_text": own, "windows": bool(folder.config.get("windows"))}

    def save(self, folder: Path) -> None:
        """Write the model folder; a text encoder of the box is named, the model's own is copied."""
        if self._own_text is not None and self._own_text != folder / TEXT:
            shutil.copytree(self._own_text, folder / TEXT, dirs_exist_ok=True)
        super().save(folder)
