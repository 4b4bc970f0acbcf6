"""The three systems of other people's encoders; words, trees and rankings are those of our own text system.

A post is read as text with its formulas as LaTeX between dollar signs. Prompts, maximum length, pooling and normalisation
come from the encoder's own configuration. The weights of the fusion are those of `mathamr-3`, where one vector takes the
place of its two kinds of vectors; `mathamr tune` chooses others for a collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Protocol, Self

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.core.modelfolder import ModelFolder, write_model_folder
from mathamr.posts.level import Level
from mathamr.posts.passage import passage
from mathamr.systems.encoders.source import EncoderSource, is_encoder_folder
from mathamr.systems.field import Field
from mathamr.systems.mathamrplus.system import BY_FORMULAS, DOCUMENT, PARTS, KindWeights, MathAMRPlusSystem
from mathamr.systems.ranking import (
    Component,
    Fuse,
    Inherit,
    Lexical,
    MaxSim,
    Nearest,
    Promote,
    Ranking,
    Rankings,
    Task,
    Unhub,
)
from mathamr.systems.system import Encoded, Item, Need, System
from mathamr.systems.vectors import Vectors
from mathamr.text.wording import written

AT_A_TIME = 256
"""The number of posts that an encoder gets at a time; it sorts them by length itself."""
_WEIGHTS: KindWeights = (("name", 6.0), ("words", 8.0), ("mixed", 1.5), ("formula", 0.5))


class Encoder(Protocol):
    """What an encoder of other people does: texts in, rows of unit vectors out."""

    size: int

    def encode(self, texts: Sequence[str], *, are_queries: bool) -> list[FloatArray]:
        """Return the rows of every text: one row, or one for each token."""
        ...


def _rankings(name: str, by_vectors: Nearest | MaxSim) -> Rankings:
    """Return the rankings of a system with one kind of vectors: alone, with words and trees, and words alone."""
    parts = (Component("lexical", Lexical(), 1.0), BY_FORMULAS, Component(name, by_vectors, 4.0, _WEIGHTS))
    fused = Fuse(parts=parts, normalisation="z")
    best: Ranking = Inherit(first=fused, share=0.25)
    if isinstance(by_vectors, Nearest):
        best = Unhub(first=best, field=by_vectors.field, share=0.2, kinds=("question", "words"))
    ours = MathAMRPlusSystem.rankings
    answers = {"hybrid": Promote(best), name: by_vectors, "fused": Promote(fused)}
    return {
        "answers": answers | {each: ours["answers"][each] for each in ("lexical", "formula")},
        "formulas": {each: ours["formulas"][each] for each in ("aligned", "lexical")},
    }


def _named_by(folder: Path) -> EncoderSource:
    """Return the encoder that a folder names which `encoder_folder` wrote because the user named the encoder."""
    model = ModelFolder.read(folder)
    if not is_encoder_folder(folder):
        raise MathAMRError(
            f"{folder} names {str(model.config.get('name'))[:200]!r}, an encoder of other people, which only you can choose; if you"
            " trust it, name it yourself in place of the folder: --model NAME"
        )
    with model.parsing():
        source = EncoderSource.parse(str(model.config["name"]))
        if source is None:
            raise ValueError("its name has no scheme such as st:")
        if source.system != model.config["system"]:
            raise ValueError(f"its name {source} is not one of the system {model.config['system']}")
    return source


class SentenceTransformersSystem(System):
    """Any model of Sentence-Transformers: one vector for a post (``--model st:NAME_OR_FOLDER``)."""

    kind = "sentence-transformers"
    tasks: ClassVar[frozenset[Task]] = frozenset({"answers", "formulas"})
    needs: ClassVar[frozenset[Need]] = frozenset({"wording"})
    rankings = _rankings("single", Nearest(DOCUMENT))
    field: ClassVar[str] = DOCUMENT
    many: ClassVar[bool] = False

    def __init__(self, encoder: Encoder, source: EncoderSource) -> None:
        self.encoder, self.source = encoder, source
        self.name = str(source)
        self._fingerprint = self._fingerprint_by(source)

    @property
    def fingerprint(self) -> str:
        """A hash of the encoder's files."""
        return self._fingerprint

    @classmethod
    def fingerprint_of(cls, folder: Path) -> str:
        """Return the fingerprint of the encoder that the folder names; nothing of it is loaded or asked."""
        return cls._fingerprint_by(_named_by(folder))

    @classmethod
    def _fingerprint_by(cls, source: EncoderSource) -> str:
        return f"{cls.kind}-{source.fingerprint()}"

    @property
    def fields(self) -> tuple[Field, ...]:
        """The one field of posts."""
        return (Field(name=self.field, of="posts", size=self.encoder.size, many=self.many),)

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        """Yield the vectors of every post, in order."""
        for chosen in batches(items, AT_A_TIME):
            texts = [written(item.post, item.passage or passage(item.post))[0].strip() for item in chosen]
            rows: dict[int, FloatArray] = {}
            for are_queries in (False, True):
                places = [at for at, item in enumerate(chosen) if texts[at] and item.is_query == are_queries]
                if places:
                    found = self.encoder.encode([texts[at] for at in places], are_queries=are_queries)
                    rows |= dict(zip(places, found, strict=True))
            for at, item in enumerate(chosen):
                vectors = {self.field: self._named(rows[at], item.post.id)} if at in rows else {}
                yield Encoded(id=item.post.id, post=vectors)

    def _named(self, rows: FloatArray, post: str) -> Vectors:
        level = Level.TOKEN if self.many else Level.DOCUMENT
        names = tuple(map(str, range(len(rows)))) if self.many else (post,)
        return Vectors(rows, np.full(len(rows), level, np.int8), names)

    def save(self, folder: Path) -> None:
        """Write the model folder, which only names the encoder."""
        write_model_folder(folder, {"system": self.kind, "name": self.name})

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> Self:
        """Load the encoder that the folder names."""
        source = _named_by(folder)
        return cls(cls._load_encoder(source, device), source)

    @classmethod
    def _load_encoder(cls, source: EncoderSource, device: str) -> Encoder:
        from mathamr.systems.encoders.libraries import LibraryEncoder

        return LibraryEncoder(source.files(), device, by_token=cls.many)


class LateInteractionSystem(SentenceTransformersSystem):
    """Any late-interaction model of Sentence-Transformers or PyLate: a vector for each token, MaxSim (``--model pylate:NAME_OR_FOLDER``)."""

    kind = "late-interaction"
    rankings = _rankings("maxsim", MaxSim(PARTS))
    field, many = PARTS, True


class EmbeddingsSystem(SentenceTransformersSystem):
    """A server with the common embeddings API (``--model http://localhost:8080/v1#MODEL``): one vector for a post."""

    kind = "embeddings"

    @classmethod
    def _load_encoder(cls, source: EncoderSource, device: str) -> Encoder:  # noqa: ARG003
        from mathamr.systems.encoders.server import ServerEncoder

        return ServerEncoder(str(source))
