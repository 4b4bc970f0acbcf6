"""MathAMR+: the vectors of a post's formulas, sentences and document, MaxSim and hybrid rankings (thesis, 3.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from mathamr.core.errors import MathAMRError
from mathamr.posts.level import Level
from mathamr.systems.field import Field
from mathamr.systems.ranking import (
    FORMULA_SEARCH,
    Aligned,
    AlikeNodes,
    Component,
    Fuse,
    Inherit,
    Lexical,
    MaxSim,
    Nearest,
    Promote,
    QueryKind,
    Rankings,
    Rerank,
    Task,
    Unhub,
)
from mathamr.systems.system import Encoded, GraphInput, Item, Need, System
from mathamr.systems.vectors import Vectors

if TYPE_CHECKING:
    from mathamr.graphs.tensor import GraphTensor
    from mathamr.systems.mathamrplus.postencoder import PostEncoder

DOCUMENT, PARTS, FORMULA = "document", "parts", "formula"

_LEXICAL, _SINGLE, _MAXSIM = Lexical(), Nearest(DOCUMENT), MaxSim(PARTS)
_FORMULA = Nearest(FORMULA)
_FORMULA_PARTS = (Component("lexical", _LEXICAL, 1.0), Component("single", _FORMULA, 0.25))
KindWeights = tuple[tuple[QueryKind, float], ...]
_LEXICAL_WEIGHTS: KindWeights = (("name", 1.0), ("words", 1.0), ("mixed", 1.0), ("formula", 1.0))
_SINGLE_WEIGHTS: KindWeights = (("words", 4.0), ("mixed", 0.5), ("formula", 0.5))
_MAXSIM_WEIGHTS: KindWeights = (("mixed", 1.0), ("formula", 0.5))
"""Chosen on validation questions of arqmath-mini and of the pairs: complete, and cut to titles, first words and longest formulas (lab/notes/ranking.md)."""
ALIGNED_POOL = 100
"""The number of top-ranked formulas whose trees are aligned, and whose nodes are compared, with the query's."""
_ALIGNED = Promote(
    Rerank(
        first=_LEXICAL,
        then=Fuse(
            parts=(
                Component("lexical", _LEXICAL, 1.0),
                Component("aligned", Aligned(), 0.4),
                Component("nodes", AlikeNodes(), 0.8),
            ),
            fusion="weighted-sum",
            normalisation="top",
        ),
        pool=ALIGNED_POOL,
        keeps_rest=True,
    )
)
"""Terms find formulas; tree alignment and formula-graph nodes rerank the first of them, with weights from cross-validation (lab/notes/ranking.md)."""


BY_FORMULAS = Component("formula", FORMULA_SEARCH, 0.0, (("mixed", 4.0), ("formula", 8.0)))
"""What a search for formulas finds, as evidence for posts, where a query is a formula with few words or none. These weights, and those of
the other parts for such queries, were chosen on typed queries of three collections (lab/notes/typed.md)."""
_FUSED = Fuse(
    parts=(
        Component("lexical", _LEXICAL, 0.5, _LEXICAL_WEIGHTS),
        BY_FORMULAS,
        Component("single", _SINGLE, 2.0, _SINGLE_WEIGHTS),
        Component("maxsim", _MAXSIM, 4.0, _MAXSIM_WEIGHTS),
    ),
    normalisation="z",
)
_HYBRID = Promote(
    Unhub(first=Inherit(first=_FUSED, share=0.25), field=DOCUMENT, share=0.2, kinds=("question", "words"))
)
"""The share, and the kinds of queries it applies to, were chosen on the same questions: names and formulas gain nothing from it."""


class MathAMRPlusSystem(System):
    """One vector per post (its document), one per representative, and one per formula.

    A query formula has one vector, so its MaxSim is the cosine, and `single`, `rerank` and `maxsim` are equal for formulas.
    """

    kind: ClassVar[str] = "mathamrplus"
    tasks: ClassVar[frozenset[Task]] = frozenset({"answers", "formulas"})
    needs: ClassVar[frozenset[Need]] = frozenset({"tensor", "wording"})
    rankings: ClassVar[Rankings] = {
        "answers": {
            "hybrid": _HYBRID,
            "maxsim": _MAXSIM,
            "rerank": Rerank(first=_SINGLE, then=_MAXSIM),
            "single": _SINGLE,
            "lexical": _LEXICAL,
            "formula": FORMULA_SEARCH,
            "fused": Promote(_FUSED),
        },
        "formulas": {
            "aligned": _ALIGNED,
            "hybrid": Promote(Fuse(parts=_FORMULA_PARTS, normalisation="z")),
            "maxsim": _FORMULA,
            "rerank": _FORMULA,
            "single": _FORMULA,
            "lexical": _LEXICAL,
        },
    }

    def __init__(self, encoder: PostEncoder) -> None:
        self.encoder, self.name = encoder, encoder.name

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the encoder, which determines the fields."""
        return self.encoder.fingerprint

    @property
    def fields(self) -> tuple[Field, ...]:
        """The document, the representatives, the formulas."""
        return post_fields(self.encoder.size)

    @property
    def wording_size(self) -> int:
        """How many numbers of a vector, its first, come from the text; 0 if the model reads the graph alone."""
        return 0 if self.encoder.text is None else self.encoder.text.size

    @property
    def graphs(self) -> GraphInput:
        """The graphs that the network was trained on."""
        return GraphInput(self.encoder.graphs, self.encoder.vocabulary, self.encoder.relations)

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        """Yield the vectors of every post, in the order of the posts."""
        ours, theirs, passages = tee(items, 3)
        vectors = self.encoder.encode(
            ((item.post, _tensor(item)) for item in theirs), (item.passage for item in passages)
        )
        for item, found in zip(ours, vectors, strict=True):
            yield encoded(item.post.id, found)

    def save(self, folder: Path) -> None:
        """Write the model folder."""
        from mathamr.systems.mathamrplus.postencoder import save_post_encoder

        save_post_encoder(folder, self.encoder)

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> Self:
        """Load the system from a folder: a graph encoder alone, or one with a text encoder beside it."""
        from mathamr.systems.mathamrplus.postencoder import load_post_encoder

        return cls(load_post_encoder(folder, device))


def post_fields(size: int) -> tuple[Field, ...]:
    """Return the fields of one vector a post, one a part, and one a formula."""
    return (
        Field(name=DOCUMENT, of="posts", size=size),
        Field(name=PARTS, of="posts", size=size, many=True),
        Field(name=FORMULA, of="formulas", size=size),
    )


def encoded(post_id: str, vectors: Vectors) -> Encoded:
    """Return a post's vectors by field; if the model has no document vector, the mean replaces it."""
    if not len(vectors):
        return Encoded(id=post_id)
    levels = vectors.levels.tolist()  # numpy would take longer for a few rows
    documents = [row for row, level in enumerate(levels) if level == Level.DOCUMENT.value]
    whole = vectors.vectors[documents[0]] if documents else vectors.vectors.mean(axis=0)
    formulas = (
        (vectors.references[row], vectors.vectors[row])
        for row, level in enumerate(levels)
        if level == Level.FORMULA.value
    )
    return Encoded(
        id=post_id,
        post={DOCUMENT: Vectors.one(whole, Level.DOCUMENT, post_id), PARTS: vectors},
        formulas=tuple(
            (reference, {FORMULA: Vectors.one(row, Level.FORMULA, reference)}) for reference, row in formulas
        ),
    )


def _tensor(item: Item) -> GraphTensor:
    if item.tensor is None:
        raise MathAMRError(
            f"post {item.post.id!r} has no graph tensor, which this model needs; update the index with: mathamr index"
        )
    return item.tensor
