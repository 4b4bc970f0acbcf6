"""How MaRF's parts are trained, and the named configurations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mathamr.core.errors import UnknownNameError
from mathamr.systems.marf.configuration import CONFIGURATIONS, MarfConfiguration
from mathamr_lab.recipes.recipe import TrainingSettings
from mathamr_lab.training.settings import Ranges, TrainingConfiguration

STAGES = ("words", "context", "formulas", "fusion", "join")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartTraining(TrainingConfiguration):
    """The training of one part; `length` cuts what it reads of a post, and `pairs` bounds those of an epoch (0: no bound).

    With `total` MaxSim is the sum over a query's tokens, as in equation 2, otherwise their mean. With `next_sentence` words are
    learned from pairs of sentences, half of which follow each other, otherwise from whole posts.
    """

    title: ClassVar[str] = "training of MaRF"
    ranges: ClassVar[Ranges] = {"length": (3, 512), "pairs": (0, 1e9), "validation": (0, 0.9)}

    temperature: float = 0.03
    length: int = 160
    pairs: int = 0
    validation: float = 0.04
    total: bool = False
    next_sentence: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MarfTraining:
    """The sizes of MaRF and the training of each part; `tuning` says which weights of the base are trained."""

    model: MarfConfiguration
    parts: dict[str, PartTraining]
    tuning: str = "low-rank"

    def of(self, stage: str) -> PartTraining:
        """Return the training of a stage."""
        return self.parts[stage]


_PARTS = {
    "words": PartTraining(epochs=1, learning_rate=5e-4, length=128),
    "context": PartTraining(epochs=3),
    "formulas": PartTraining(epochs=6, batch_size=256, learning_rate=5e-4, temperature=0.05),
    "fusion": PartTraining(epochs=2, learning_rate=5e-4),
}
_PUBLISHED = {
    "words": PartTraining(epochs=1, batch_size=64, learning_rate=5e-5, length=128, next_sentence=True),
    "context": PartTraining(
        epochs=3, batch_size=64, learning_rate=5e-5, length=256, temperature=1.0, total=True
    ),
    "formulas": PartTraining(epochs=3, batch_size=128, learning_rate=2e-4, temperature=0.05),
    "fusion": PartTraining(
        epochs=4, batch_size=64, learning_rate=1e-4, length=256, temperature=1.0, total=True
    ),
}
"""The published epochs and losses (sections 3.1 to 3.4); batches, rates and lengths are not published."""


def marf_training(settings: TrainingSettings) -> MarfTraining:
    """Return the configuration for a training's settings; changes of ``model`` change the sizes."""
    if settings.config not in CONFIGURATIONS:
        raise UnknownNameError("configuration", settings.config, list(CONFIGURATIONS))
    settings.checked((*STAGES, "model", "all"))
    is_published = settings.config == "paper"
    parts = {
        name: part.changed([*settings.of("all"), *settings.of(name)])
        for name, part in (_PUBLISHED if is_published else _PARTS).items()
    }
    return MarfTraining(
        model=CONFIGURATIONS[settings.config].changed(settings.of("model")),
        parts=parts,
        tuning="full" if is_published else "low-rank",
    )
