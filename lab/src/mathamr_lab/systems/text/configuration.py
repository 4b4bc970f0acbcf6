"""The training of text encoders alone, stage by stage, and the named configurations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mathamr.core.configured import changed, check_ranges
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr_lab.recipes.recipe import TrainingSettings
from mathamr_lab.systems.text.distilling import Distilling
from mathamr_lab.systems.text.following import PassageTraining
from mathamr_lab.systems.text.training import TextTraining

STAGES = ("tune", "teach", "distil", "vectors", "follow", "join")
"""Train on pairs; write vectors for students; train a student; write two teachers' vectors of passages; train a student of
both; write the model folder.
"""
BEST = "best"
SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBase:
    """What a training starts from, and its teacher.

    `start` is ``minilm``, the name of a model in the box or the folder of a text encoder; `teacher` is a file that
    ``teach`` wrote, relative to the training's folder; for ``vectors`` it is the folder of a text encoder. Pairs of kinds that begin with a word of `unasked` are not trained on as pairs.
    `letters` is the number of forms in other letters that are prepared of every question.
    """

    start: str = "minilm"
    teacher: str = ""
    unasked: str = "sentence"
    letters: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TextJoin:
    """How the trained encoder becomes a model: interpolated towards its start, with `size` principal components.

    `learned` is the share of the tuned weights, or ``best``: the one of `SHARES` with the best validation (Wortsman et al., "Robust fine-tuning", 2022).
    With `trained`, the projection is trained from the principal components so that similar
    texts stay similar.
    """

    name: str = "text"
    learned: str = BEST
    size: int = 192
    trained: bool = False

    def __post_init__(self) -> None:
        check_ranges(self, "joining", {"size": (1, 1e5)})
        kept_parts(self.learned)


def kept_parts(learned: str) -> tuple[float, ...]:
    """Return the shares of the tuned weights that are tried.

    >>> kept_parts("0.7/1")
    (0.7, 1.0)
    """
    if learned == BEST:
        return SHARES
    try:
        found = tuple(float(part) for part in learned.split("/"))
    except ValueError as error:
        raise MathAMRError(
            f"the learned share must be {BEST!r} or numbers separated by /, got {learned!r}"
        ) from error
    if not all(0 <= part <= 1 for part in found):
        raise MathAMRError(f"the learned share must be from 0 to 1, got {learned}")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRecipe:
    """A configuration of every stage."""

    stages: tuple[str, ...]
    base: TextBase = field(default_factory=TextBase)
    tune: TextTraining = field(default_factory=TextTraining)
    student: TextTraining = field(default_factory=TextTraining)
    lessons: Distilling = field(default_factory=Distilling)
    passages: PassageTraining = field(default_factory=PassageTraining)
    join: TextJoin = field(default_factory=TextJoin)


_TUNED = TextTraining(
    epochs=4,
    learning_rate=3e-5,
    head_rate=1e-3,
    projection=0,
    frozen="pieces positions relative",
    half=True,
    patience=9,
)
_STUDENT = TextTraining(
    epochs=8, learning_rate=1e-4, head_rate=1e-3, projection=0, half=True, patience=9, neighbours=32
)
CONFIGURATIONS = {
    "teacher": TextRecipe(stages=("tune", "teach", "join"), tune=_TUNED, join=TextJoin(size=256)),
    "small": TextRecipe(stages=("distil", "join"), student=_STUDENT),
    "tuned": TextRecipe(
        stages=("tune", "join"), tune=TextTraining(projection=0, half=True, learning_rate=1e-4, patience=9)
    ),
    "two-teachers": TextRecipe(
        stages=("vectors", "follow", "join"),
        base=TextBase(start="mathamr-3", letters=2),
        join=TextJoin(trained=True),
    ),
}
"""By name: a base on pairs that writes vectors for students; MiniLM from a teacher; MiniLM on pairs alone; a model of the box
from itself and a large one.
"""


def configured(settings: TrainingSettings) -> TextRecipe:
    """Return the named configuration with the changes of the settings; `base.start=…` changes what it starts from."""
    if settings.config not in CONFIGURATIONS:
        raise UnknownNameError("configuration", settings.config, list(CONFIGURATIONS))
    settings.checked((*STAGES, "base"))
    named = CONFIGURATIONS[settings.config]
    base: dict[str, Any] = changed({"base": named.base}, settings.of("base"))
    join: dict[str, Any] = changed({"joining": named.join}, _as_text(settings.of("join"), "learned"))
    taught: dict[str, Any] = changed(
        {"distilling": named.lessons, "text training": named.student}, settings.of("distil")
    )
    chosen = settings.stages or named.stages
    return TextRecipe(
        stages=tuple(stage for stage in STAGES if stage in chosen),
        base=base["base"],
        tune=named.tune.changed(settings.of("tune")),
        student=taught["text training"],
        lessons=taught["distilling"],
        passages=named.passages.changed(settings.of("follow")),
        join=join["joining"],
    )


def _as_text(changes: list[str], name: str) -> list[str]:
    """Quote the values of text fields in changes, also if they look like numbers."""
    return [
        f'{name}="{change.partition("=")[2]}"' if change.startswith(f"{name}=") else change
        for change in changes
    ]
