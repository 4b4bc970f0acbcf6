"""`BuiltinParser`: parses sentences with a small network over the states of the text encoder in the box."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from mathamr.amr.builtin.assembly import Thresholds, to_amr
from mathamr.amr.builtin.concepts import ConceptModel
from mathamr.amr.builtin.frames import TABLE, load_frames
from mathamr.amr.builtin.lemmas import lemma
from mathamr.amr.builtin.lexicon import Lexicon
from mathamr.amr.builtin.mathematics import is_formula
from mathamr.amr.builtin.model import WEIGHTS, ParserModel
from mathamr.amr.builtin.network import TOGETHER, WIDEST, Network
from mathamr.amr.builtin.numbers import Vocabularies
from mathamr.amr.builtin.relations import RelationModel
from mathamr.amr.builtin.states import word_states
from mathamr.amr.builtin.words import WordSentence, cut, shape
from mathamr.amr.document import join
from mathamr.amr.graph import Amr
from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.text.folder import load_onnx_encoder
from mathamr.text.onnxencoder import OnnxTextEncoder


@dataclass(frozen=True)
class Description:
    """Says whether the parser can run here, and with which model."""

    ready: bool
    text: str


def describe() -> Description:
    """Check what the parser needs and what is installed, without loading anything."""
    parts = []
    for what, path in (("weights", WEIGHTS), ("frames", TABLE)):
        parts.append(
            f"{what} {path.stat().st_size / 1e6:.1f} MB" if path.is_file() else f"no {what} at {path}"
        )
    return Description(WEIGHTS.is_file() and TABLE.is_file(), ", ".join(parts))


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
        self.thresholds = Thresholds()

    @cached_property
    def fingerprint(self) -> str:
        """The name and a digest of the weights, which name their text encoder."""
        return f"builtin-{hashlib.sha256(self.path.read_bytes()).hexdigest()[:12]}"

    @cached_property
    def _models(self) -> _Models:
        return _Models(ParserModel.load(self.path), self.path)

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        """Return one graph for every sentence, each read alone; repeated sentences are parsed once."""
        distinct = dict.fromkeys(sentences)
        graphs = {sentence: self.parse_text([sentence], {})[0] for sentence in distinct}
        return [graphs[sentence] for sentence in sentences]

    def parse_text(self, sentences: Sequence[str], latex: Mapping[str, str]) -> list[Amr]:
        """Return one graph for every sentence of a text, read in its context; `latex` has the formulas of its placeholders."""
        found = [cut(sentence) for sentence in sentences]
        models = self._models
        for sentence in found:
            models.lexicon.read_capitals(sentence)
        states = word_states(models.encoder, models.mix, found, latex)
        return models.graphs(found, states, self.thresholds)


class _Models:
    """The loaded network with its vocabularies and lexicon."""

    def __init__(self, model: ParserModel, path: Path) -> None:
        try:
            frames = load_frames()
            self.mix = model.mix
            self.network = Network(model.configuration, model.weights)
            self.vocabularies = Vocabularies.from_json(model.tables)
            named = ("lexicon", "general", "names", "biology", "words", "mathematical")
            lexicon = Lexicon(frames, *(model.tables[name] for name in named))
            self.lexicon = lexicon
            self.concepts = ConceptModel(
                self.network, self.vocabularies, lexicon, model.tables["general templates"]
            )
            self.relations = RelationModel(self.network, self.vocabularies, frames)
            wanted = str(model.tables["fingerprint"])
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise MathAMRError(
                f"the weights of the built-in parser at {path} do not fit this version ({error}); "
                "train them again with `python -m mathamr_lab.amr`"
            ) from error
        self.encoder: OnnxTextEncoder = load_onnx_encoder(model.encoder)
        if self.encoder.fingerprint != wanted:
            raise MathAMRError(
                f"the built-in parser at {path} was trained on the text encoder {wanted}, but {model.encoder} holds"
                f" {self.encoder.fingerprint}; train the parser again with `python -m mathamr_lab.amr`"
            )

    def graphs(
        self, sentences: Sequence[WordSentence], states: Sequence[FloatArray], thresholds: Thresholds
    ) -> list[Amr]:
        """Return the graphs of the sentences of one text from the states of their words."""
        # A sentence that is too long is parsed in parts, so that time and memory grow linearly.
        parts = [
            (
                number,
                sentence.part(at, at + WIDEST) if len(sentence) > WIDEST else sentence,
                own[at : at + WIDEST],
            )
            for number, (sentence, own) in enumerate(zip(sentences, states, strict=True))
            for at in range(0, len(sentence), WIDEST)
        ]
        found: list[list[Amr]] = [[] for _ in sentences]
        for group in _together(parts):
            graphs = self._read([part for _, part, _ in group], [own for _, _, own in group], thresholds)
            for (number, _, _), graph in zip(group, graphs, strict=True):
                found[number].append(graph)
        return [
            join(own)[0] if len(own) > 1 else own[0] if own else Amr("x", (("x", "amr-empty"),))
            for own in found
        ]

    def _read(
        self, sentences: Sequence[WordSentence], states: Sequence[FloatArray], thresholds: Thresholds
    ) -> list[Amr]:
        shapes = np.array([shape(each, token) for each in sentences for token in range(len(each))], np.int64)
        words = self.network.words(np.concatenate(states), shapes, [len(each) for each in sentences])
        names, tags = self.vocabularies.tag_names, iter(words.tags.tolist())
        for sentence in sentences:
            sentence.tags = [
                "NN" if is_formula(word) else names[tag]
                for word, tag in zip(sentence.words, tags, strict=False)
            ]
            sentence.lemmas = [*map(lemma, sentence.words, sentence.tags)]
        drafts = self.concepts.identify(sentences, words)
        scores = self.relations.score(drafts, words)
        return [
            to_amr(draft, own, self.relations.labels, thresholds)
            for draft, own in zip(drafts, scores, strict=True)
        ]


_Part = tuple[int, WordSentence, FloatArray]


def _together(parts: Sequence[_Part]) -> Iterator[list[_Part]]:
    """Yield the parts of one text in groups of at most `TOGETHER` words."""
    group: list[_Part] = []
    count = 0
    for part in parts:
        if group and count + len(part[1]) > TOGETHER:
            yield group
            group, count = [], 0
        group.append(part)
        count += len(part[1])
    if group:
        yield group
