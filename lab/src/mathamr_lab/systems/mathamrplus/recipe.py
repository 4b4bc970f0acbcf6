"""The recipe of MathAMR+: from a store of graphs and its posts to two encoders and their joined model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import file_hash
from mathamr.core.modelfolder import CONFIG, WEIGHTS
from mathamr.graphs import shard as shards
from mathamr.systems.mathamrplus.graphencoder import GraphEncoder
from mathamr.systems.mathamrplus.graphfolder import RELATIONS, VOCABULARY
from mathamr.systems.mathamrplus.postencoder import Shares, save_joined
from mathamr.systems.models import GRAPH, TEXT
from mathamr.text.folder import PIECES
from mathamr.text.torchfolder import load_text_encoder, save_text_encoder
from mathamr_lab.recipes.bases import folder_base
from mathamr_lab.recipes.recipe import (
    StageResult,
    StageWork,
    TrainingSettings,
    TrainingSources,
    TrainingStage,
)
from mathamr_lab.systems.mathamrplus.configuration import (
    STAGES,
    WHOLE,
    StageConfigurations,
    stage_configurations,
)
from mathamr_lab.systems.mathamrplus.graph.materials import GraphMaterials
from mathamr_lab.systems.mathamrplus.graph.trainer import GraphTrainer
from mathamr_lab.systems.mathamrplus.joining import (
    between,
    chosen_shares,
    trial,
    with_principal_components,
)
from mathamr_lab.systems.mathamrplus.text.shard import TextShard, export_texts
from mathamr_lab.systems.mathamrplus.text.trainer import TextTrainer
from mathamr_lab.training.export import export_store
from mathamr_lab.training.loop import train

PAIRS, TEXTS, BASE = "pairs.npz", "texts.npz", "base"
JOINING = "joining.json"
GRAPH_FILES = (CONFIG, WEIGHTS, VOCABULARY, RELATIONS)
_TEXT_STAGES = {"text", "tune", "join"}


class MathAMRPlusRecipe:
    """Trains the graph network and the text encoder separately on the same pairs, and joins them."""

    configurations = tuple(WHOLE)
    stages = STAGES
    reads = ("posts", "graphs", "accepted", "without", "base")

    def check(self, settings: TrainingSettings) -> None:
        """Refuse settings that cannot be trained."""
        stage_configurations(settings)

    def prepare(
        self,
        sources: TrainingSources,
        settings: TrainingSettings,
        folder: Path,
        say: Callable[[str], None],
    ) -> list[Path]:
        """Write the pairs with their graphs and, if text is trained, the texts and the encoder to start from."""
        reads_text = bool(_TEXT_STAGES & set(stage_configurations(settings).stages))
        if reads_text and not sources.posts:
            raise MathAMRError(
                "the text encoder reads the posts that the graphs were built from: name them (--posts), or train the"
                " graph network alone (--stages graph)"
            )
        if not reads_text and (sources.posts or sources.base):
            raise MathAMRError(
                "the graph network reads no text: leave out --posts and --base, or train text too"
            )
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
        return [path, *(self._prepare_texts(sources, folder, say) if reads_text else ())]

    def _prepare_texts(
        self, sources: TrainingSources, folder: Path, say: Callable[[str], None]
    ) -> list[Path]:
        from mathamr.posts.reader import read_posts
        from mathamr.posts.report import Report
        from mathamr.text.configuration import WINDOW
        from mathamr.text.published import packaged_minilm

        base = folder_base(sources.base) if sources.base else packaged_minilm()
        posts = chain.from_iterable(read_posts(path, Report()) for path in sources.posts)
        say(export_texts(posts, shards.load(folder / PAIRS), base.pieces, WINDOW, folder / TEXTS))
        save_text_encoder(folder / BASE, base)
        return [folder / TEXTS, *(folder / BASE / name for name in (CONFIG, WEIGHTS, PIECES))]

    def planned(self, settings: TrainingSettings) -> Sequence[TrainingStage]:
        """Return the stages in order, each with its configuration."""
        found = stage_configurations(settings)
        runs: dict[str, Callable[[StageWork], StageResult]] = {
            "graph": lambda work: _graph(work, found),
            "text": lambda work: _text(work, found, "text", work.prepared / BASE),
            "tune": lambda work: _text(work, found, "tune", work.folder("text")),
            "join": lambda work: _join(work, found),
        }
        return [TrainingStage(name, runs[name]) for name in found.stages]


RECIPE = MathAMRPlusRecipe()


def _graph(work: StageWork, found: StageConfigurations) -> StageResult:
    trainer = GraphTrainer(
        GraphMaterials.load(work.prepared / PAIRS),
        found.model,
        found.graph,
        work.resources.device,
        half=True,
    )
    progress = train(trainer, work.folder("graph"), work.resources, fresh=work.fresh)
    return StageResult(progress.history, progress.done)


def _text(work: StageWork, found: StageConfigurations, stage: str, base: Path) -> StageResult:
    trainer = TextTrainer(
        shards.load(work.prepared / PAIRS),
        TextShard.load(work.prepared / TEXTS),
        load_text_encoder(base, "cpu"),
        found.text if stage == "text" else found.tune,
        work.resources.device,
    )
    progress = train(trainer, work.folder(stage), work.resources, fresh=work.fresh)
    before = [{"epoch": 0, "validation": progress.before}] if progress.before else []
    return StageResult([*before, *progress.history], progress.done)


def _trained_text(work: StageWork) -> Path:
    """Return the text encoder that was trained last."""
    tuned = work.folder("tune")
    return tuned if (tuned / CONFIG).exists() else work.folder("text")


def _join(work: StageWork, found: StageConfigurations) -> StageResult:
    """Write both encoders to one model folder: text as principal components in eight bits, and the shares of both."""
    graph, text, configuration = work.folder("graph"), _trained_text(work), found.join
    for folder, what in ((graph, "graph network"), (text, "text encoder")):
        if not (folder / CONFIG).exists():
            raise MathAMRError(f"{folder} has no {what} to join; train it first, or all stages")
    made_of = {
        "configuration": [str(configuration), found.graph.validation, found.graph.seed],
        "graph": file_hash(graph / CONFIG),
        "text": file_hash(text / CONFIG),
    }
    path = work.out / JOINING
    if not work.fresh and (before := _joined_before(path, work.model, made_of)):
        return StageResult(before)
    shard, texts = shards.load(work.prepared / PAIRS), TextShard.load(work.prepared / TEXTS)
    device = str(work.resources.device)
    tuned = between(
        load_text_encoder(work.prepared / BASE, device),
        load_text_encoder(text, device),
        configuration.learned,
    )
    reduced = with_principal_components(tuned, texts, configuration.size)
    save_text_encoder(work.model / TEXT, reduced)
    (work.model / GRAPH).mkdir(parents=True, exist_ok=True)
    for name in GRAPH_FILES:
        shutil.copyfile(graph / name, work.model / GRAPH / name)
    rows: list[dict[str, Any]] = []
    shares = configuration.given()
    if shares is None:
        shares, rows = _best_shares(work, found, shard, texts)
    save_joined(work.model, configuration.name, shares)
    rows.append({"chosen": shares.to_json(), "model": str(work.model)})
    path.write_text(json.dumps({"made of": made_of, "rows": rows}) + "\n", encoding="utf-8")
    return StageResult(rows)


def _best_shares(
    work: StageWork, found: StageConfigurations, shard: shards.Shard, texts: TextShard
) -> tuple[Shares, list[dict[str, Any]]]:
    last = found.tune if _trained_text(work) == work.folder("tune") else found.text
    for text in (found.text, last):
        if (text.validation, text.seed) != (found.graph.validation, found.graph.seed):
            raise MathAMRError(
                "graph and text hold out different validation pairs, so no shares can be chosen on them: give"
                " both the same validation and seed, or give the shares (join.shares=A,B,C)"
            )
    device = str(work.resources.device)
    # As it will be loaded: in eight bits.
    text_encoder = load_text_encoder(work.model / TEXT, device)
    tried = trial(
        shard,
        texts,
        GraphEncoder.load(work.folder("graph"), device),
        text_encoder,
        validation=found.graph.validation,
        seed=found.graph.seed,
        others=found.join.others,
    )
    shares, rows = chosen_shares(tried, text_encoder.size)
    return shares, [dict(row) for row in rows]


def _joined_before(path: Path, model: Path, made_of: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the report of an earlier joining of the same inputs."""
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        same = row["made of"] == made_of and (model / CONFIG).exists()
        return list(row["rows"]) if same else []
    except (OSError, ValueError, KeyError, TypeError):
        return []
