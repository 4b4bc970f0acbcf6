"""The recipe of MaRF: words, context, formulas, fusion, each a stage; then the model folder (Wang, Zheng and Kani, section 3.4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from mathamr.core.errors import MathAMRError
from mathamr.posts.post import Post
from mathamr.systems.marf.configuration import CONFIGURATIONS, MarfConfiguration
from mathamr.systems.marf.inference import fused_vectors
from mathamr.systems.marf.latextokens import latex_tokens
from mathamr.systems.marf.mathtokens import MathTokens
from mathamr.systems.marf.model import LATEX_TOKENS, MATH_TOKENS, MarfVocabularies, made_model, save_marf
from mathamr.systems.marf.network import MarfNetwork
from mathamr.systems.marf.postinput import LatexVocabulary
from mathamr_lab.recipes.bases import check_base, copy_base, prepared_base, training_base
from mathamr_lab.recipes.recipe import (
    StageResult,
    StageWork,
    TrainingSettings,
    TrainingSources,
    TrainingStages,
)
from mathamr_lab.systems.marf.configuration import STAGES, MarfTraining, PartTraining, marf_training
from mathamr_lab.systems.marf.freshnetwork import fresh_network, principal_components, stored_weights
from mathamr_lab.systems.marf.postshard import PostShard
from mathamr_lab.systems.marf.trainers import (
    ContextTrainer,
    FormulaTrainer,
    FusionTrainer,
    PartTrainer,
    WordTrainer,
)
from mathamr_lab.systems.stateencoder import StateEncoder
from mathamr_lab.training.export import ids_in, listed
from mathamr_lab.training.loop import train
from mathamr_lab.training.plain import LEARNED, use_learned

POSTS, MODEL = "posts.npz", "model.json"
MOST_COMMANDS, LEAST_COMMANDS = 400, 25
MOST_TOKENS, LEAST_TOKENS = 1500, 5
_AT_A_TIME = 1000
VOTES = 5
_SAMPLE = 2000
"""The number of answers from whose fused rows the principal components are computed."""
_BEFORE = {
    "context": ("words",),
    "fusion": ("context", "formulas"),
    "join": ("context", "formulas", "fusion"),
}
PREFIX = {"words": "context.transformer.", "context": "context.", "formulas": "formula.", "fusion": ""}
"""What the names of a stage's parameters have before them in the network; those of words begin with `base.`."""


class MarfRecipe:
    """Trains all parts of MaRF, one after the other, from pairs of questions and answers."""

    configurations = tuple(CONFIGURATIONS)
    stages = STAGES
    reads = ("posts", "without", "base")

    def check(self, settings: TrainingSettings) -> None:
        """Refuse settings that cannot be trained."""
        marf_training(settings)

    def check_use(self, settings: TrainingSettings, base: Path | None) -> None:
        """Refuse a text encoder that is not installed."""
        check_base(marf_training(settings).model.base, base)

    def prepare(
        self, sources: TrainingSources, settings: TrainingSettings, folder: Path, say: Callable[[str], None]
    ) -> list[Path]:
        """Read posts, and write those of pairs as word pieces and tokens, with the vocabularies."""
        from mathamr.posts.reader import read_posts
        from mathamr.posts.report import Report

        model = marf_training(settings).model
        converted: list[Path] = []
        if sources.base is not None:
            name, converted = prepared_base(sources.base, folder)
            model = replace(model, base=name)
        unwanted = {name for path in sources.without for name in ids_in(path)}
        posts = {post.id: post for post in _posts(sources, lambda path: read_posts(path, Report()))}
        every = settings.config != "paper"
        pairs = [
            (post.parent, post.id)
            for post in posts.values()
            if post.parent in posts
            and not listed(post.id, unwanted)
            and not listed(post.parent or "", unwanted)
            and (every or is_positive(post, posts[post.parent or ""]))
        ]
        used = {name for pair in pairs for name in pair}
        chosen = [post for post in posts.values() if post.id in used]
        vocabularies = vocabularies_of(chosen)
        vocabularies.save(folder)
        reader = vocabularies.reader(training_base(model.base, folder).pieces, model)
        read = chain.from_iterable(
            reader.posts(chosen[start : start + _AT_A_TIME]) for start in range(0, len(chosen), _AT_A_TIME)
        )
        PostShard.of([post.id for post in chosen], read, [(str(q), a) for q, a in pairs]).save(folder / POSTS)
        (folder / MODEL).write_text(json.dumps(model.to_json()) + "\n", encoding="utf-8")
        say(
            f"{len(pairs):,} pairs of {len(chosen):,} posts;"
            f" {len(vocabularies.mathematics.commands)} mathematical tokens, {len(vocabularies.latex):,} of LaTeX"
        )
        return [*(folder / name for name in (POSTS, MATH_TOKENS, LATEX_TOKENS, MODEL)), *converted]

    def planned(self, settings: TrainingSettings) -> TrainingStages:
        """Return the stages in order."""
        found = marf_training(settings)
        runs = {stage: partial(_learn, training=found, stage=stage) for stage in found.parts}
        return settings.chosen({**runs, "join": partial(_join, training=found)})


RECIPE = MarfRecipe()


def is_positive(answer: Post, question: Post) -> bool:
    """Return True if an answer is learned from as published: it is accepted or has more than five votes (section 3.4).

    Where neither votes nor an accepted answer are known, every answer counts.
    """
    if answer.score is None:
        return question.accepted_answer in (None, answer.id)
    return answer.score > VOTES or question.accepted_answer == answer.id


def vocabularies_of(posts: Sequence[Post]) -> MarfVocabularies:
    """Return the commands and tokens that occur often enough in posts."""
    return MarfVocabularies(
        MathTokens.frequent((f.latex for p in posts for f in p.formulas), MOST_COMMANDS, LEAST_COMMANDS),
        LatexVocabulary.frequent(
            (latex_tokens(f.latex) for p in posts for f in p.formulas), MOST_TOKENS, LEAST_TOKENS
        ),
    )


def _posts(sources: TrainingSources, read: Callable[[Path], Iterator[Post]]) -> Iterator[Post]:
    for path in dict.fromkeys((sources.path, *sources.posts)):
        yield from read(path)


def _prepared(work: StageWork) -> tuple[MarfConfiguration, MarfVocabularies]:
    row = json.loads((work.prepared / MODEL).read_text(encoding="utf-8"))
    return MarfConfiguration.from_json(row), MarfVocabularies.load(work.prepared)


def _network(work: StageWork, before: Sequence[str], training: MarfTraining, seed: int) -> MarfNetwork:
    """Return a new network with the weights of the stages before."""
    model, vocabularies = _prepared(work)
    torch.manual_seed(seed)
    base = StateEncoder(
        training_base(model.base, work.prepared),
        model.base,
        tuning=training.tuning,
        rank=model.rank,
        commands=vocabularies.mathematics,
        projected=False,
    )
    network = fresh_network(base, model, len(vocabularies.latex))
    for stage in before:
        path = work.folder(stage) / LEARNED
        if path.exists():
            use_learned(network, path, PREFIX[stage])
        elif stage != "words":
            raise MathAMRError(f"{path} does not exist: train the stage {stage} first, or all stages")
    return network


def part_trainer(
    stage: str, shard: PostShard, network: MarfNetwork, configuration: PartTraining, device: torch.device
) -> PartTrainer[Any]:
    """Return the trainer of a stage."""
    network.to(device)
    if stage == "words":
        base = network.context.transformer
        assert isinstance(base, StateEncoder)
        return WordTrainer(shard, base, configuration, device)
    if stage == "context":
        return ContextTrainer(shard, network.context, configuration, device)
    if stage == "formulas":
        return FormulaTrainer(shard, network.formula, network.configuration.scoring, configuration, device)
    return FusionTrainer(shard, network, configuration, device)


def _learn(work: StageWork, training: MarfTraining, stage: str) -> StageResult:
    configuration = training.of(stage)
    network = _network(work, _BEFORE.get(stage, ()), training, configuration.seed)
    shard = PostShard.load(work.prepared / POSTS)
    if stage == "fusion" and training.tuning == "full":
        # The fusion learns over the context as it is stored, so that nothing is lost between them.
        _as_stored(network)
    trainer = part_trainer(stage, shard, network, configuration, work.resources.device)
    progress = train(trainer, work.folder(stage), work.resources, fresh=work.fresh)
    return StageResult(progress.history, progress.done)


def _as_stored(network: MarfNetwork) -> None:
    """Give a network's base the weights that a folder would give it back: its own plus changes of the stored rank."""
    base = network.context.transformer
    assert isinstance(base, StateEncoder)
    base.use_stored(network.configuration.rank)


def _join(work: StageWork, training: MarfTraining) -> StageResult:
    """Write the learned weights and the principal components of fused rows as one model folder."""
    network = _network(work, _BEFORE["join"], training, 0)
    if training.tuning == "full":
        _as_stored(network)
    device = work.resources.device
    network.to(device).eval()
    shard = PostShard.load(work.prepared / POSTS)
    sample = [shard.posts[place] for place in shard.pairs[:_SAMPLE, 1].tolist()]
    rows = torch.cat([each for own in fused_vectors(network, sample, device, 1) for each in own])
    model, vocabularies = _prepared(work)
    weights = stored_weights(network.cpu(), principal_components(rows.cpu(), model.stored))
    system = "marf-paper" if training.tuning == "full" else "marf"
    text = training_base(model.base, work.prepared)
    save_marf(work.model, made_model(text, vocabularies, model, weights, name=system), system)
    copy_base(model.base, work.prepared, work.model)
    return StageResult([{"model": str(work.model)}])
