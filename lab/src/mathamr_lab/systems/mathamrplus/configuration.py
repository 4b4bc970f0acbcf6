"""`WholeTraining`: the training of MathAMR+, stage by stage, and the named configurations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mathamr.core.configured import changed, check_ranges
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.systems.mathamrplus.configuration import ModelConfiguration
from mathamr.systems.mathamrplus.postencoder import Shares
from mathamr_lab.recipes.recipe import TrainingSettings
from mathamr_lab.systems.mathamrplus.graph.configuration import GraphTraining, configured
from mathamr_lab.systems.mathamrplus.text.configuration import TextTraining, text_training

BEST = "best"
STAGES = ("graph", "text", "tune", "join")
"""All stages: train the graph network; train the text encoder; tune it further at a lower rate; join both encoders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinConfiguration:
    """How both encoders become one model.

    `learned` interpolates from the text encoder before training (0) to the trained one (1); `size` principal components of its
    states are kept; `shares` are the text's for formulas, sentences and documents, or ``best``: those with the best
    MRR@10 of the validation pairs among `others` further answers.
    """

    name: str = "mathamrplus"
    learned: float = 0.7
    size: int = 192
    shares: str = BEST
    others: int = 3000

    def __post_init__(self) -> None:
        check_ranges(self, "joining", {"learned": (0, 1), "size": (1, 1e5), "others": (0, 1e7)})
        self.given()

    def given(self) -> Shares | None:
        """Return the shares, unless they are to be chosen."""
        if self.shares == BEST:
            return None
        try:
            formula, sentence, document = map(float, self.shares.split(","))
        except ValueError as error:
            raise MathAMRError(
                f"shares are {BEST!r} or three numbers FORMULA,SENTENCE,DOCUMENT, not {self.shares!r}"
            ) from error
        return Shares(formula, sentence, document)


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeTraining:
    """A configuration of every stage; `graph` names that of the graph network, `stages` are the default stages."""

    graph: str
    text: TextTraining = field(default_factory=TextTraining)
    tune: TextTraining = field(default_factory=TextTraining)
    join: JoinConfiguration = field(default_factory=JoinConfiguration)
    stages: tuple[str, ...] = ("graph", "text", "join")


WHOLE = {
    "box": WholeTraining(
        graph="box",
        text=TextTraining(last_epoch=3),
        tune=TextTraining(epochs=3, learning_rate=6e-5, head_rate=4e-4, warmup=0.03),
        join=JoinConfiguration(shares="0.7,0.8,0.8"),
        stages=("graph", "text", "tune", "join"),
    ),
    "thesis": WholeTraining(graph="thesis"),
    "thesis-full": WholeTraining(graph="thesis-full"),
    "small": WholeTraining(
        graph="small", text=TextTraining(batch_size=16, epochs=1), join=JoinConfiguration(size=64)
    ),
}
"""By name: that of the model in the box first, then those of the graph network with the default text training."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageConfigurations:
    """The configurations of all stages after the user's changes."""

    model: ModelConfiguration
    graph: GraphTraining
    text: TextTraining
    tune: TextTraining
    join: JoinConfiguration
    stages: tuple[str, ...]


def stage_configurations(settings: TrainingSettings) -> StageConfigurations:
    """Return the named configuration with the changes of the settings."""
    if settings.config not in WHOLE:
        raise UnknownNameError("configuration", settings.config, list(WHOLE))
    settings.checked(STAGES)
    whole = WHOLE[settings.config]
    model, graph = configured(whole.graph, settings.of("graph"))
    joined: dict[str, Any] = changed({"joining": whole.join}, settings.of("join"))
    chosen = settings.stages or whole.stages
    return StageConfigurations(
        model=model,
        graph=graph,
        text=text_training(settings.of("text"), whole.text),
        tune=text_training(settings.of("tune"), whole.tune),
        join=joined["joining"],
        stages=tuple(stage for stage in STAGES if stage in chosen),
    )
