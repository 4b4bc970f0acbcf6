"""The recipe of MathAMR+: from a store of graphs to the graph network, alone or joined with a text encoder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.modelfolder import CONFIG, WEIGHTS
from mathamr.graphs import shard as shards
from mathamr.systems.mathamrplus.graphfolder import RELATIONS, VOCABULARY
from mathamr.systems.mathamrplus.postencoder import save_joined
from mathamr.systems.models import GRAPH, TEXT
from mathamr.text.folder import PIECES
from mathamr.text.torchfolder import save_text_encoder
from mathamr_lab.recipes.bases import BASE, folder_base
from mathamr_lab.recipes.recipe import (
    StageResult,
    StageWork,
    TrainingSettings,
    TrainingSources,
    TrainingStages,
    rank_as_published,
)
from mathamr_lab.systems.mathamrplus.configuration import (
    CONFIGURATIONS,
    STAGES,
    StageConfigurations,
    stage_configurations,
)
from mathamr_lab.systems.mathamrplus.graph.trainer import GraphTrainer
from mathamr_lab.training.export import export_store
from mathamr_lab.training.loop import train

PAIRS = "pairs.npz"
GRAPH_FILES = (CONFIG, WEIGHTS, VOCABULARY, RELATIONS)
PUBLISHED = ("thesis", "thesis-full")
"""The configurations of Tables 4.5 and 4.18, which rank by MaxSim."""
TEXT_FILES = (CONFIG, WEIGHTS, PIECES)


class MathAMRPlusRecipe:
    """Trains the graph network on pairs of questions and answers; a text encoder of the recipe `text` may stand beside it."""

    configurations = CONFIGURATIONS
    stages = STAGES
    reads = ("graphs", "accepted", "without", "base")

    def check(self, settings: TrainingSettings) -> None:
        """Refuse settings that cannot be trained."""
        stage_configurations(settings)

    def prepare(
        self,
        sources: TrainingSources,
        _settings: TrainingSettings,
        folder: Path,
        say: Callable[[str], None],
    ) -> list[Path]:
        """Write the pairs with their graphs and, if one is given, the text encoder to join."""
        path = folder / PAIRS
        if sources.path.is_dir():
            said = export_store(
                sources.path, sources.graphs, path, accepted_only=sources.accepted, without=sources.without
            )
            say(said)
        elif {"accepted", "graphs", "without"} & set(sources.given()):
            raise MathAMRError(
                "a shard has its graphs and pairs already: --graphs, --without and --accepted apply only to a store"
            )
        else:
            shards.load(sources.path)
            shutil.copyfile(sources.path, path)
        if sources.base is None:
            shutil.rmtree(folder / BASE, ignore_errors=True)
            return [path]
        save_text_encoder(folder / BASE, folder_base(sources.base))
        return [path, *(folder / BASE / name for name in TEXT_FILES)]

    def planned(self, settings: TrainingSettings) -> TrainingStages:
        """Return the stages in order, each with its configuration."""
        found = stage_configurations(settings)
        return settings.chosen(
            {
                "graph": partial(_graph, found=found),
                "join": partial(_join, found=found, is_published=settings.config in PUBLISHED),
            }
        )


RECIPE = MathAMRPlusRecipe()


def _graph(work: StageWork, found: StageConfigurations) -> StageResult:
    trainer = GraphTrainer(
        shards.load(work.prepared / PAIRS),
        found.model,
        found.graph,
        work.resources.device,
        half=found.half,
    )
    progress = train(trainer, work.folder("graph"), work.resources, fresh=work.fresh)
    return StageResult(progress.history, progress.done)


def _join(work: StageWork, found: StageConfigurations, *, is_published: bool) -> StageResult:
    """Write the model folder: the graph network alone, or in `graph/` with the text encoder in `text/` and the shares of both."""
    graph, text = work.folder("graph"), work.prepared / BASE
    if not (graph / CONFIG).exists():
        raise MathAMRError(f"{graph} has no graph network to join; train it first, or all stages")
    is_joined = (text / CONFIG).exists()
    _copy(graph, work.model / GRAPH if is_joined else work.model, GRAPH_FILES)
    row = {"model": str(work.model)}
    if not is_joined:
        if is_published:
            rank_as_published(work.model, {"answers": "maxsim", "formulas": "maxsim"})
        return StageResult([row])
    _copy(text, work.model / TEXT, TEXT_FILES)
    shares = found.join.given()
    save_joined(work.model, found.join.name, shares)
    return StageResult([{"shares": shares.to_json(), **row}])


def _copy(source: Path, target: Path, names: Sequence[str]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copyfile(source / name, target / name)
