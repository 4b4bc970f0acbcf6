"""The stages of MathAMR+'s training and their configurations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mathamr.core.configured import changed
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.systems.mathamrplus.configuration import ModelConfiguration
from mathamr.systems.mathamrplus.postencoder import Shares
from mathamr_lab.recipes.recipe import TrainingSettings
from mathamr_lab.systems.mathamrplus.graph.configuration import GraphTraining, configured

STAGES = ("graph", "join")
"""Train the graph network; write the model folder, with a text encoder beside it if one is given."""
CONFIGURATIONS = ("box", "thesis", "thesis-full", "small")


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinConfiguration:
    """The name of the model, and the text's shares for formulas, sentences and documents, if it is joined with a text encoder."""

    name: str = "mathamrplus"
    shares: str = "0.95,0.95,0.95"

    def __post_init__(self) -> None:
        self.given()

    def given(self) -> Shares:
        """Parse `shares` into the share of the text for formulas, sentences and documents."""
        try:
            formula, sentence, document = map(float, self.shares.split(","))
        except ValueError as error:
            raise MathAMRError(
                f"shares are three numbers FORMULA,SENTENCE,DOCUMENT, not {self.shares!r}"
            ) from error
        return Shares(formula, sentence, document)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageConfigurations:
    """The configurations of all stages after the user's changes."""

    model: ModelConfiguration
    graph: GraphTraining
    join: JoinConfiguration
    half: bool
    """True if the graph network is stored in sixteen bits, as in the box."""


def stage_configurations(settings: TrainingSettings) -> StageConfigurations:
    """Return the named configuration with the changes of the settings."""
    if settings.config not in CONFIGURATIONS:
        raise UnknownNameError("configuration", settings.config, list(CONFIGURATIONS))
    settings.checked(STAGES)
    model, graph = configured(settings.config, settings.of("graph"))
    joined: dict[str, Any] = changed({"joining": JoinConfiguration()}, settings.of("join"))
    return StageConfigurations(
        model=model,
        graph=graph,
        join=joined["joining"],
        half=settings.config == "box",
    )
