"""`TextTraining`: how the text encoder is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mathamr_lab.training.settings import Ranges, TrainingConfiguration


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTraining(TrainingConfiguration):
    """The training of the text encoder.

    `beta` weighs MaxSim over a post's parts against the vectors of complete posts, as the graph network does. A batch
    is made of groups of `neighbours` pairs that the model of the last epoch finds similar; 1 is a random order.
    `projection` is the size of a vector, `head_rate` the rate of the projection, which starts at random.
    `budget` bounds the word pieces in memory at a time, without padding: a larger batch is encoded in parts, twice. Parameters whose
    names begin with a word of `frozen` are not trained; `half` stores sixteen bits per number instead of eight. Without a
    `projection` the states themselves are trained. `renamed` and `renamed_documents` are the shares of questions and of
    documents that are read in other letters, `foils` that of documents whose foil is a further negative, where a corpus has them.
    """

    title: ClassVar[str] = "text training"
    ranges: ClassVar[Ranges] = {
        "patience": (1, 1e6),
        "head_rate": (0, 1),
        "beta": (0, 1),
        "neighbours": (1, 1e6),
        "projection": (0, 1e5),
        "budget": (1, 1e12),
        "renamed": (0, 1),
        "renamed_documents": (0, 1),
        "foils": (0, 1),
    }

    batch_size: int = 256
    epochs: int = 5
    patience: int = 5
    learning_rate: float = 1e-4
    head_rate: float = 1e-3
    beta: float = 0.5
    neighbours: int = 32
    projection: int = 128
    budget: int = 1_000_000
    frozen: str = ""
    half: bool = False
    renamed: float = 0.0
    renamed_documents: float = 0.0
    foils: float = 0.0
