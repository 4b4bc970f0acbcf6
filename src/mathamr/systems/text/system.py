"""Text alone: a text encoder gives the vectors of a post's formulas, sentences and complete text.

No graph is parsed, so an index is built in a fraction of the time; the lexical index compares formulas by their
trees. A folder holds the text encoder in `text/`, or its `config.json` names the model of the box
whose text encoder it uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from mathamr.core.modelfolder import ModelFolder, write_model_folder
from mathamr.core.pickling import pickle_by_fields
from mathamr.posts.level import Level
from mathamr.systems.field import Field
from mathamr.systems.mathamrplus.system import (
    BY_FORMULAS,
    DOCUMENT,
    PARTS,
    KindWeights,
    MathAMRPlusSystem,
    encoded,
    post_fields,
)
from mathamr.systems.models import TEXT, part_of
from mathamr.systems.ranking import (
    Component,
    Fuse,
    Inherit,
    Lexical,
    MaxSim,
    Nearest,
    Promote,
    Rankings,
    Task,
    Unhub,
)
from mathamr.systems.system import Encoded, Item, Need, System
from mathamr.systems.vectors import Vectors

if TYPE_CHECKING:
    from mathamr.text.textvectors import AnyTextEncoder, TextVectors
    from mathamr.text.wordpieces import Pieces, WordPieces

AT_A_TIME = 256

_SINGLE: KindWeights = (("words", 4.0), ("mixed", 0.5), ("formula", 0.0))
_MAXSIM: KindWeights = (("name", 4.0), ("words", 4.0), ("mixed", 1.0), ("formula", 0.5))
_FUSED = Fuse(
    parts=(
        Component("lexical", Lexical(), 1.0),
        BY_FORMULAS,
        Component("single", Nearest(DOCUMENT), 2.0, _SINGLE),
        Component("maxsim", MaxSim(PARTS), 2.0, _MAXSIM),
    ),
    normalisation="z",
)
"""Weights of complete questions: nested cross-validation over known items in both forms and Task 1 (lab/notes/letters.md). The others are MathAMR+'s."""


class TextSystem(System):
    """The fields and rankings of MathAMR+, from the text encoder alone; words count more beside it."""

    kind: ClassVar[str] = "text"
    tasks: ClassVar[frozenset[Task]] = frozenset({"answers", "formulas"})
    needs: ClassVar[frozenset[Need]] = frozenset({"wording"})
    encodes_on_processor: ClassVar[bool] = True
    rankings: ClassVar[Rankings] = {
        **MathAMRPlusSystem.rankings,
        "answers": {
            **MathAMRPlusSystem.rankings["answers"],
            "hybrid": Promote(
                Unhub(
                    first=Inherit(first=_FUSED, share=0.25),
                    field=DOCUMENT,
                    share=0.2,
                    kinds=("question", "words"),
                )
            ),
            "fused": Promote(_FUSED),
        },
    }

    def __init__(self, encoder: AnyTextEncoder, name: str = "text") -> None:
        self.encoder, self.name = encoder, name

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the encoder."""
        return f"text-{self.encoder.fingerprint}"

    @classmethod
    def fingerprint_of(cls, folder: Path) -> str:
        """Return the fingerprint of the model in a folder, which its hashes determine."""
        from mathamr.text.folder import read_head

        return f"{cls.kind}-{read_head(part_of(folder, TEXT)).fingerprint}"

    @property
    def fields(self) -> tuple[Field, ...]:
        """The document, the parts, the formulas."""
        return post_fields(self.encoder.size)

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        """Yield the vectors of every post, in the order of the posts."""
        from mathamr.text.configuration import QUERY_WINDOWS, WINDOWS
        from mathamr.text.wording import wording_alone

        stream = iter(items)
        while chosen := list(islice(stream, AT_A_TIME)):
            worded = [wording_alone(item.post, item.passage) for item in chosen]
            windows = QUERY_WINDOWS if all(item.is_query for item in chosen) else WINDOWS
            found = self.encoder.encode([wording for wording, _ in worded], windows)
            for item, (_, parts), rows in zip(chosen, worded, found, strict=True):
                yield _encoded(item.post.id, parts, rows)

    @classmethod
    def without_weights(cls, folder: Path) -> PieceCutter:
        """Return the part of the system in a folder that cuts posts into word pieces, for a process beside the one with a GPU."""
        from mathamr.text.folder import load_word_pieces

        return PieceCutter(*load_word_pieces(part_of(folder, TEXT)))

    def encode_pieces(self, posts: Sequence[CutPost]) -> list[Encoded]:
        """Return the vectors of posts that a `PieceCutter` has cut, in order."""
        found = self.encoder.encode_pieces([post.pieces for post in posts])
        return [_encoded(post.id, post.parts, rows) for post, rows in zip(posts, found, strict=True)]

    def save(self, folder: Path) -> None:
        """Write the model folder."""
        from mathamr.text.backend import exact_encoder
        from mathamr.text.torchfolder import save_text_encoder

        save_text_encoder(folder / TEXT, exact_encoder(self.encoder))
        save_text_system(folder, self.name)

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> Self:
        """Load the system from a folder."""
        row = ModelFolder.read(folder).config
        from mathamr.text.backend import load_encoder

        return cls(load_encoder(part_of(folder, TEXT), device), str(row.get("name") or folder.name))


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class CutPost:
    """A post as word pieces, and what its spans represent."""

    id: str
    pieces: Pieces
    parts: tuple[tuple[Level, str], ...]


class PieceCutter:
    """Cuts posts into word pieces as the system does before it encodes them."""

    needs = TextSystem.needs
    graphs = None

    def __init__(self, pieces: WordPieces, fingerprint: str) -> None:
        self._pieces, self.fingerprint = pieces, f"{TextSystem.kind}-{fingerprint}"

    def cut(self, item: Item) -> CutPost:
        """Return the word pieces of a post."""
        from mathamr.text.configuration import WINDOW, WINDOWS
        from mathamr.text.wording import wording_alone

        wording, parts = wording_alone(item.post, item.passage)
        (pieces,) = self._pieces.cut([wording])
        return CutPost(item.post.id, pieces.cut(WINDOW * WINDOWS), parts)


def _encoded(post_id: str, parts: Sequence[tuple[Level, str]], rows: TextVectors) -> Encoded:
    kept = [parts[number] for number in rows.of]
    unread = sum(level == Level.SENTENCE for level, _ in {*parts}.difference(kept))
    vectors = Vectors(
        np.asarray(rows.vectors, np.float32),
        np.array([level for level, _ in kept], np.int8),
        tuple(reference for _, reference in kept),
    )
    return replace(encoded(post_id, vectors), unread=unread)


def save_text_system(folder: Path, name: str) -> None:
    """Write the configuration of a folder whose text encoder is in `text/` already."""
    write_model_folder(folder, {"system": TextSystem.kind, "name": name})
