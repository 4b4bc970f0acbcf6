"""`BuiltinParser`: parses sentences with the models of the package."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from zipfile import BadZipFile

from mathamr.amr.builtin.assembly import Thresholds, to_amr
from mathamr.amr.builtin.collection import uncollected
from mathamr.amr.builtin.columns import WordColumns
from mathamr.amr.builtin.concepts import ConceptModel
from mathamr.amr.builtin.frames import TABLE, load_frames
from mathamr.amr.builtin.lexicon import Lexicon
from mathamr.amr.builtin.lookup import StringNumbers
from mathamr.amr.builtin.network import Weights
from mathamr.amr.builtin.relations import RelationModel
from mathamr.amr.builtin.syntax import MODELS, SyntaxAnalyser, SyntaxSentence
from mathamr.amr.graph import Amr
from mathamr.core.errors import MathAMRError

WEIGHTS = Path(__file__).parent / "data" / "parser.npz"
BATCH_WORDS = 6000


@dataclass(frozen=True)
class Description:
    """Says whether the parser can run here, and with which model."""

    ready: bool
    text: str


def describe() -> Description:
    """Checks what the parser needs and what is installed, without loading anything."""
    language = next((name for name in MODELS if find_spec(name)), None)
    parts = []
    for what, path in (("weights", WEIGHTS), ("frames", TABLE)):
        parts.append(
            f"{what} {path.stat().st_size / 1e6:.1f} MB" if path.is_file() else f"no {what} at {path}"
        )
    parts.append(language or f"no spaCy model ({' or '.join(MODELS)})")
    return Description(WEIGHTS.is_file() and TABLE.is_file() and language is not None, ", ".join(parts))


class BuiltinParser:
    """The parser that needs only this package; its models are loaded with the first sentence."""

    name = "builtin"

    def __init__(self, model: str | None = None) -> None:
        self.path = Path(model).expanduser() if model else WEIGHTS
        if not self.path.is_file():
            raise MathAMRError(
                f"no weights of the built-in parser at {self.path}; "
                "train them with `python -m mathamr_lab.amr` or give the path of a trained file"
            )
        self.analyser = SyntaxAnalyser()
        self.thresholds = Thresholds()

    @cached_property
    def fingerprint(self) -> str:
        """The name and a digest of the weights."""
        return f"builtin-{hashlib.sha256(self.path.read_bytes()).hexdigest()[:12]}"

    @cached_property
    def _models(self) -> tuple[StringNumbers, ConceptModel, RelationModel]:
        frames, strings = load_frames(), StringNumbers()
        try:
            weights = Weights.load(self.path)
            lexicon = Lexicon(frames, weights.table("lexicon", dict), weights.table("general", dict))
            return strings, ConceptModel(weights, lexicon, strings), RelationModel(weights, frames, strings)
        except (OSError, ValueError, KeyError, BadZipFile) as error:
            raise MathAMRError(
                f"the weights of the built-in parser at {self.path} cannot be read ({error}); "
                "train them again with `python -m mathamr_lab.amr`"
            ) from error

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        """One graph for every sentence; repeated sentences are parsed once."""
        distinct = list(dict.fromkeys(sentences))
        with uncollected():
            built = [graph for batch in self._batches(distinct) for graph in self._build(batch)]
        graphs = dict(zip(distinct, built, strict=True))
        return [graphs[sentence] for sentence in sentences]

    def build(self, sentences: Sequence[SyntaxSentence]) -> list[Amr]:
        """The graphs of sentences that are already analysed."""
        with uncollected():
            return self._build(sentences)

    def _build(self, sentences: Sequence[SyntaxSentence]) -> list[Amr]:
        if "_models" in self.__dict__ and self._models[0].full:
            del self._models
        strings, concepts, relations = self._models
        words = WordColumns(sentences, strings)
        drafts = concepts.identify(sentences, words)
        scores = relations.score(drafts, words)
        return [
            to_amr(draft, scored, relations.labels, self.thresholds)
            for draft, scored in zip(drafts, scores, strict=True)
        ]

    def _batches(self, sentences: Sequence[str]) -> Iterator[list[SyntaxSentence]]:
        batch: list[SyntaxSentence] = []
        words = 0
        for sentence in self.analyser.analyse(sentences):
            batch.append(sentence)
            words += len(sentence)
            if words >= BATCH_WORDS:
                yield batch
                batch, words = [], 0
        if batch:
            yield batch
