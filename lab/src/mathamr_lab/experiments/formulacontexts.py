"""How like the text around candidates is to the text around the formulas that are asked for (SSEmb, equation 2)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.evaluation.topics import Topic
from mathamr.posts.post import Post
from mathamr.systems.ssemb.context import ContextReader
from mathamr_lab.experiments.formulacollection import FormulaCollection


@dataclass(eq=False)
class ContextScores:
    """Made when first asked for, kept in a file; of a look with several places the best counts."""

    posts: Iterable[Post]
    topics: Sequence[Topic]
    encoder: ContextReader
    path: Path
    _found: dict[str, FloatArray] = field(default_factory=dict)

    def matrix(self, collection: FormulaCollection) -> FloatArray:
        """Cosines of topics (rows) with candidates; -1 where a candidate has no text."""
        if self.path.exists():
            return np.asarray(np.load(self.path, allow_pickle=False))
        print(f"reading the text around formulas with {self.encoder.name}", file=sys.stderr, flush=True)
        asked = {}
        for topic, found in zip(
            self.topics, self.encoder.encode(topic.post for topic in self.topics), strict=True
        ):
            rows = dict(found)
            if topic.formula_id in rows:
                asked[topic.id] = rows[topic.formula_id].vectors[0]
        queries = np.stack(
            [asked.get(topic, np.zeros(self.encoder.encoder.size)) for topic in collection.topics]
        )
        place = {name: number for number, name in enumerate(collection.candidates)}
        scores = np.full((len(collection.topics), len(place)), -1.0, np.float32)
        posts = list(self.posts)
        for post, found in zip(posts, self.encoder.encode(posts), strict=True):
            visuals = {formula.id: formula.visual_id for formula in post.formulas}
            for formula, vectors in found:
                number = place.get(visuals[formula] or "")
                if number is not None:
                    scores[:, number] = np.maximum(scores[:, number], queries @ vectors.vectors[0])
        self.path.parent.mkdir(parents=True, exist_ok=True)
        np.save(self.path, scores, allow_pickle=False)
        return scores
