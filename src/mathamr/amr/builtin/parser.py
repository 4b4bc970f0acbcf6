"""`BuiltinParser`: sentences to graphs with the models of the package."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from mathamr.amr.builtin.assembly import Thresholds, to_amr
from mathamr.amr.builtin.concepts import ConceptModel
from mathamr.amr.builtin.frames import load_frames
from mathamr.amr.builtin.lexicon import Lexicon
from mathamr.amr.builtin.network import Weights
from mathamr.amr.builtin.relations import RelationModel
from mathamr.amr.builtin.syntax import Analyser, Sentence
from mathamr.amr.graph import Amr
from mathamr.errors import MathAMRError

WEIGHTS = Path(__file__).parent / "data" / "parser.npz"
BATCH_WORDS = 1500


class BuiltinParser:
    """The parser that needs nothing but this package; models are loaded when the first sentence comes."""

    name = "builtin"

    def __init__(self, model: str | None = None) -> None:
        self.path = Path(model).expanduser() if model else WEIGHTS
        if not self.path.is_file():
            raise MathAMRError(
                f"no weights of the built-in parser at {self.path}; "
                "train them with `python -m mathamr.amr.builtin.training` or give the path of a trained file"
            )
        self.analyser = Analyser()
        self.thresholds = Thresholds()

    @cached_property
    def fingerprint(self) -> str:
        """The name and a digest of the weights."""
        return f"builtin-{hashlib.sha256(self.path.read_bytes()).hexdigest()[:12]}"

    @cached_property
    def _models(self) -> tuple[ConceptModel, RelationModel]:
        weights = Weights.load(self.path)
        frames = load_frames()
        counts = weights.tables["lexicon"]
        assert isinstance(counts, dict)
        return ConceptModel(weights, Lexicon(frames, counts)), RelationModel(weights, frames)

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        """One graph for every sentence."""
        return [graph for batch in self._batches(sentences) for graph in self.build(batch)]

    def build(self, sentences: Sequence[Sentence]) -> list[Amr]:
        """Graphs of sentences that are already analysed."""
        concepts, relations = self._models
        drafts = concepts.identify(sentences)
        scores = relations.score(drafts)
        return [
            to_amr(draft, scored, relations.labels, self.thresholds)
            for draft, scored in zip(drafts, scores, strict=True)
        ]

    def _batches(self, sentences: Sequence[str]) -> Iterator[list[Sentence]]:
        batch: list[Sentence] = []
        words = 0
        for sentence in self.analyser.analyse(sentences):
            batch.append(sentence)
            words += len(sentence)
            if words >= BATCH_WORDS:
                yield batch
                batch, words = [], 0
        if batch:
            yield batch
