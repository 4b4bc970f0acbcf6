"""`Alignment`: the similarity of every part of a query to every part of a post, which explains a hit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.posts.level import Level
from mathamr.posts.passage import Field, passage
from mathamr.posts.post import Post
from mathamr.search.fragment import Fragment, formulas_by_id, fragments, plain, shortened
from mathamr.systems.vectors import Vectors

LevelName = Literal["document", "sentence", "formula"]

_ORDER: dict[int, int] = {Level.DOCUMENT: 0, Level.SENTENCE: 1, Level.FORMULA: 2}
LEVEL_NAMES: dict[int, LevelName] = {
    Level.DOCUMENT: "document",
    Level.SENTENCE: "sentence",
    Level.FORMULA: "formula",
}


@dataclass(frozen=True, slots=True)
class AlignedPart:
    """What one vector stands for: the whole post, a sentence, or a formula.

    `reference` is the id of the post, the number of the sentence, or the id of the formula; [start, end) are the offsets
    in the source of the title or body (`field`).
    """

    level: LevelName
    reference: str
    fragments: tuple[Fragment, ...]
    field: Field | None = None
    start: int = 0
    end: int = 0

    @property
    def text(self) -> str:
        """The part as one line, formulas between dollar signs."""
        return plain(self.fragments)

    def label(self, width: int) -> str:
        """Return the part shortened to about `width` characters."""
        return plain(shortened(self.fragments, width))

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "level": self.level,
            "reference": self.reference,
            "text": self.text,
            "fragments": [fragment.to_json() for fragment in self.fragments],
            "field": self.field,
            "start": self.start,
            "end": self.end,
        }


@dataclass(frozen=True, slots=True)
class Match:
    """A part of the query, the part of the post that matches it best, and their similarity.

    `wording` is how much of the similarity comes from the text, if the model reads both text and graph; the rest is structure.
    """

    query: AlignedPart
    post: AlignedPart
    similarity: float
    wording: float | None = None


@dataclass(frozen=True, eq=False)
class Alignment:
    """Parts of the query (rows) against parts of the post (columns), as cosines: Figure 4.1 of the thesis.

    Both sides list the document first, then sentences, then formulas, in the order of the text.
    """

    post_id: str
    title: str
    query: tuple[AlignedPart, ...]
    post: tuple[AlignedPart, ...]
    similarities: FloatArray
    formula_id: str | None = None
    """The id of the formula, if the hit was a formula."""
    wording: FloatArray | None = None
    """How much of each similarity comes from the text, if the model reads both text and graph."""

    @cached_property
    def matches(self) -> tuple[Match, ...]:
        """For every part of the query, the most similar part of the post; the first among equals."""
        best = self.similarities.argmax(axis=1)
        return tuple(
            Match(
                part,
                self.post[column],
                float(self.similarities[row, column]),
                None if self.wording is None else float(self.wording[row, column]),
            )
            for row, (part, column) in enumerate(zip(self.query, best, strict=True))
        )

    @property
    def score(self) -> float:
        """MaxSim of query and post: the mean similarity of the best matches."""
        return float(self.similarities.max(axis=1).mean())

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values; `best` lists the column of the best match of each row."""
        shares = {} if self.wording is None else {"wording": _rounded(self.wording)}
        return {
            "post": self.post_id,
            "title": self.title,
            "formula": self.formula_id,
            "score": round(self.score, 6),
            "query_parts": [part.to_json() for part in self.query],
            "post_parts": [part.to_json() for part in self.post],
            "similarities": _rounded(self.similarities),
            "best": [int(column) for column in self.similarities.argmax(axis=1)],
            **shares,
        }


def _rounded(table: FloatArray) -> list[list[float]]:
    return [[round(float(value), 4) for value in row] for row in table]


def align(
    query: Post,
    query_vectors: Vectors,
    post: Post,
    post_vectors: Vectors,
    title: str = "",
    formula_id: str | None = None,
    wording: int = 0,
) -> Alignment:
    """Align a query with a post by the vectors that the search used.

    The first `wording` numbers of a vector come from the text, the others from the graph; 0 if the model reads only one of them.
    """
    if not len(query_vectors) or not len(post_vectors):
        raise MathAMRError(f"cannot explain {post.id!r}: the query or the post has no vectors")
    similarities = query_vectors.vectors @ post_vectors.vectors.T
    query_vectors, similarities = _merged(query_vectors, similarities)
    post_vectors, turned = _merged(post_vectors, similarities.T)
    rows, columns = _in_order(query_vectors), _in_order(post_vectors)
    similarities = turned.T[np.ix_(rows, columns)]
    share: FloatArray | None = None
    if wording:
        ours, theirs = query_vectors.vectors[rows, :wording], post_vectors.vectors[columns, :wording]
        share = np.asarray(ours @ theirs.T, np.float32)
    query_parts, post_parts = parts(query, query_vectors), parts(post, post_vectors)
    return Alignment(
        post.id,
        title or post.title,
        tuple(query_parts[row] for row in rows),
        tuple(post_parts[column] for column in columns),
        np.asarray(similarities, np.float32),
        formula_id,
        share,
    )


def _merged(vectors: Vectors, similarities: FloatArray) -> tuple[Vectors, FloatArray]:
    """Merge rows that stand for the same part; a part is as similar as its most similar row."""
    first: dict[tuple[int, str], int] = {}
    keys = [*zip(map(int, vectors.levels), vectors.references, strict=True)]
    for row, key in enumerate(keys):
        first.setdefault(key, row)
    if len(first) == len(keys):
        return vectors, similarities
    place = {key: number for number, key in enumerate(first)}
    best = np.full((len(first), similarities.shape[1]), -np.inf, np.float32)
    np.maximum.at(best, [place[key] for key in keys], similarities)
    return vectors.take(list(first.values())), best


def parts(post: Post, vectors: Vectors) -> list[AlignedPart]:
    """Return the parts of a post that its vectors stand for, one part per vector."""
    sentences = passage(post).sentences
    formulas = formulas_by_id(post)
    places = {
        place.formula: (place, sentence.field) for sentence in sentences for place in sentence.placeholders
    }
    found: list[AlignedPart] = []
    for level, reference in zip(vectors.levels, vectors.references, strict=True):
        name = LEVEL_NAMES[int(level)]
        if name == "formula" and reference in places:
            place, field = places[reference]
            formula = formulas.get(reference)
            shown = Fragment("formula", formula.latex if formula else "", reference, matched=False)
            found.append(AlignedPart(name, reference, (shown,), field, place.start, place.end))
        elif name == "sentence" and int(reference) < len(sentences):
            sentence = sentences[int(reference)]
            stretch = tuple(fragments(sentence, formulas, post))
            found.append(AlignedPart(name, reference, stretch, sentence.field, sentence.start, sentence.end))
        elif name == "document":
            found.append(AlignedPart(name, reference, (Fragment("text", f"the whole {post.kind}"),)))
        else:
            raise MathAMRError(
                f"the vectors of {post.id!r} do not match its text: it has no {name} {reference!r}; index it again"
            )
    return found


def _in_order(vectors: Vectors) -> Sequence[int]:
    return sorted(range(len(vectors)), key=lambda row: (_ORDER[int(vectors.levels[row])], row))
