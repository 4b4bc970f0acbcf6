"""MaRF: posts and formulas by fused token vectors, with several representations per post (Wang, Zheng and Kani)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from torch import Tensor

from mathamr.core.device import chosen_device
from mathamr.core.tensorfile import tensor_bytes
from mathamr.posts.level import Level
from mathamr.posts.post import Post
from mathamr.systems.field import Field
from mathamr.systems.marf.inference import context_vectors, fused_vectors, pooled_into, stored
from mathamr.systems.marf.model import MarfModel, load_marf, save_marf
from mathamr.systems.marf.postinput import PostInput
from mathamr.systems.ranking import (
    Component,
    Fuse,
    Lexical,
    MaxSim,
    MeanMaxSim,
    Promote,
    Ranking,
    Rankings,
    Rerank,
    Task,
)
from mathamr.systems.system import Encoded, Item, Need, System, VisualFormula
from mathamr.systems.vectors import Vectors

REPRESENTATIONS = tuple(f"fused{number}" for number in range(1, 7))
"""The fields of a post's text fused with its longest formula, its second longest, and so on; a post has one per formula."""
VISUAL, FORMULA = "visual", "formula"
POOL = 200
AT_A_TIME = 32

_FIRST = MaxSim(REPRESENTATIONS[0])
_MARF = Rerank(first=_FIRST, then=MeanMaxSim(REPRESENTATIONS), pool=POOL, keeps_rest=True)
_LEXICAL = Lexical()


def _hybrid(ranking: Ranking, weight: float) -> Promote:
    """Return the fusion of words and MaRF."""
    parts = (Component("lexical", _LEXICAL, 1.0), Component("marf", ranking, weight))
    return Promote(Fuse(parts=parts, normalisation="z"))


class MarfSystem(System):
    """Algorithm 1: scores the query with its longest formula against every representation of a post and averages.

    The first stage uses each post's longest formula; its best results are scored by all representations.
    """

    kind: ClassVar[str] = "marf"
    tasks: ClassVar[frozenset[Task]] = frozenset({"answers", "formulas"})
    needs: ClassVar[frozenset[Need]] = frozenset({"wording"})
    rankings: ClassVar[Rankings] = {
        "answers": {
            "marf": _MARF,
            "longest": _FIRST,
            "hybrid": _hybrid(_MARF, 4.0),
            "lexical": _LEXICAL,
        },
        "formulas": {
            "marf": MaxSim(VISUAL),
            "hybrid": _hybrid(MaxSim(VISUAL), 1.0),
            "lexical": _LEXICAL,
        },
    }

    def __init__(self, model: MarfModel, device: str = "auto") -> None:
        self.model, self.name, self.device = model, model.name, chosen_device(device)
        model.network.to(self.device).eval()
        self._components = model.components.to(self.device)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the base, of the learned weights, and of the sizes."""
        hashed = hashlib.sha256(tensor_bytes(self.model.weights)).hexdigest()
        words = [*self.model.vocabularies.mathematics.commands, *self.model.vocabularies.latex.tokens]
        configuration = self.model.configuration.to_json() | {"base": self.model.base_fingerprint}
        content = [hashed, configuration, words]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The representations of posts, and one of visual classes."""
        size = self.model.configuration.stored
        return (
            *(Field(name=name, of="posts", size=size, many=True) for name in REPRESENTATIONS),
            Field(name=VISUAL, of="visual", size=size, many=True),
        )

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        """Yield the representations of every post, in order; an empty post has none."""
        stream = iter(items)
        while chosen := list(islice(stream, AT_A_TIME)):
            read = self.model.reader.posts([item.post for item in chosen])
            saying = [place for place, each in enumerate(read) if len(each.numbers) > 2]
            configuration, inputs = self.model.configuration, [read[place] for place in saying]
            contexts = context_vectors(self.model.network, inputs, self.device)
            fused = fused_vectors(self.model.network, inputs, self.device, configuration.formulas, contexts)
            made = dict(zip(saying, zip(contexts, fused, strict=True), strict=True))
            for place, item in enumerate(chosen):
                if place not in made:
                    yield Encoded(id=item.post.id)
                    continue
                context, representations = made[place]
                rows = [self._rows(each, read[place], configuration.rows) for each in representations]
                yield Encoded(
                    id=item.post.id,
                    post=dict(zip(REPRESENTATIONS, rows, strict=False)),
                    formulas=tuple(self._formulas(item.post, read[place], context)),
                )

    def _formulas(
        self, _post: Post, _read: PostInput, _context: Tensor
    ) -> Iterator[tuple[str, Mapping[str, Vectors]]]:
        """Yield nothing: formulas are their own texts, each visual class once."""
        yield from ()

    def encode_visuals(self, visuals: Iterable[VisualFormula]) -> Iterator[Mapping[str, Vectors]]:
        """Encode each visual class as its own text, fused with itself."""
        stream = iter(visuals)
        while chosen := list(islice(stream, AT_A_TIME)):
            read = self.model.reader.formulas([visual.formula for visual in chosen])
            made = fused_vectors(self.model.network, read, self.device, 1)
            for each, vectors in zip(read, made, strict=True):
                yield {VISUAL: self._rows(vectors[0], each, self.model.configuration.rows)}

    def _rows(self, vectors: Tensor, read: PostInput, most: int) -> Vectors:
        """Reduce rows to their stored form; each refers to the sentence of its middle token, so that hits can be explained."""
        rows = stored(vectors, self._components, most)
        into, places = pooled_into(len(vectors), most).numpy(), np.arange(len(rows))
        middles = (np.searchsorted(into, places) + np.searchsorted(into, places, "right")) // 2
        return Vectors(
            np.ascontiguousarray(rows.float().cpu().numpy()),
            np.full(len(rows), Level.SENTENCE, np.int8),
            tuple(str(read.sentences[place]) for place in np.minimum(middles, len(vectors) - 1)),
        )

    def save(self, folder: Path) -> None:
        """Write the model folder."""
        save_marf(folder, self.model, self.kind)

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> Self:
        """Load the system from a model folder; the text encoder that it changes must be installed unchanged."""
        return cls(load_marf(folder), device)


class PublishedMarfSystem(MarfSystem):
    """MaRF with the post as the context of its formulas in formula search, too, as in the paper's Task 2."""

    kind: ClassVar[str] = "marf-paper"
    rankings: ClassVar[Rankings] = {
        "answers": MarfSystem.rankings["answers"],
        "formulas": {
            "marf": MaxSim(FORMULA),
            "hybrid": _hybrid(MaxSim(FORMULA), 1.0),
            "lexical": _LEXICAL,
        },
    }

    @property
    def fields(self) -> tuple[Field, ...]:
        """The representations of posts, and one of formulas."""
        size = self.model.configuration.stored
        return (*super().fields[:-1], Field(name=FORMULA, of="formulas", size=size, many=True))

    def _formulas(
        self, post: Post, read: PostInput, context: Tensor
    ) -> Iterator[tuple[str, Mapping[str, Vectors]]]:
        """Yield the post fused with each of its formulas."""
        inputs = self.model.reader.in_post(post, read)
        distinct = list({id(each): each for each in inputs.values()}.values())
        found: dict[int, Vectors] = {}
        for start in range(0, len(distinct), AT_A_TIME):
            chosen = distinct[start : start + AT_A_TIME]
            contexts = [context] * len(chosen)
            made = fused_vectors(self.model.network, chosen, self.device, 1, contexts)
            for each, (vectors,) in zip(chosen, made, strict=True):
                found[id(each)] = self._rows(vectors, each, self.model.configuration.formula_rows)
        for name, each in inputs.items():
            yield name, {FORMULA: found[id(each)]}

    encode_visuals = System.encode_visuals
    """A formula's vectors depend on its post."""
