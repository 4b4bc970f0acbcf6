"""The recipe of text encoders alone: from posts to an encoder tuned on them, and to a small one that learned from a large one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.errors import MathAMRError
from mathamr.layers.language.encoder import TextEncoder
from mathamr.layers.language.files import load_text_encoder, save_difference, save_text_encoder
from mathamr.layers.language.windows import WINDOW
from mathamr.layers.weights import CONFIG
from mathamr.systems.mathamrplus.training.joining import between, with_principal_components, without_head
from mathamr.systems.mathamrplus.training.text.corpus import TextCorpus
from mathamr.systems.mathamrplus.training.text.trainer import TextTrainer
from mathamr.systems.mathamrplus.training.text.validation import PostVectors, among_others, searched
from mathamr.systems.modelfolder import TEXT, boxed, model_folder, part_of
from mathamr.systems.text.system import save_text_system
from mathamr.systems.text.training.configuration import CONFIGURATIONS, STAGES, TextRecipe, configured
from mathamr.systems.text.training.distilling import DistillingTrainer, read_taught, taught
from mathamr.systems.training.recipe import (
    StageResult,
    StageWork,
    TrainingSettings,
    TrainingSources,
    TrainingStage,
)
from mathamr.training.loop import train

CORPUS, TAUGHT, JOINING = "corpus.npz", "taught.npy", "joining.json"


class TextEncoderRecipe:
    """Encoders tuned on pairs, and encoders that learn from those."""

    configurations = tuple(CONFIGURATIONS)
    stages = STAGES

    def check(self, settings: TrainingSettings) -> None:
        """Refuses settings that cannot be trained."""
        configured(settings)

    def prepare(
        self,
        sources: TrainingSources,
        settings: TrainingSettings,
        folder: Path,
        say: Callable[[str], None],
    ) -> list[Path]:
        """Writes the corpus of all that is read: the path itself and further posts."""
        from mathamr.layers.language.minilm import packaged_minilm
        from mathamr.systems.text.training.materials import TextMaterials, gathered, read_materials

        materials = TextMaterials()
        for path in (sources.path, *sources.posts):
            read_materials(path, sources.without, materials)
        corpus = gathered(materials, packaged_minilm().pieces)
        path = folder / CORPUS
        corpus.save(path)
        train, held = corpus.parted()
        say(
            f"{len(corpus):,} texts with {len(train):,} pairs to train on and {len(held):,} to validate on in {path}"
            f" ({path.stat().st_size / 2**20:.1f} MiB)"
        )
        return [path]

    def planned(self, settings: TrainingSettings) -> Sequence[TrainingStage]:
        """The stages in order, each with its configuration."""
        found = configured(settings)
        runs: dict[str, Callable[[StageWork], StageResult]] = {
            "tune": lambda work: _tune(work, found),
            "teach": lambda work: _teach(work),
            "distil": lambda work: _distil(work, found),
            "join": lambda work: _join(work, found),
        }
        return [TrainingStage(name, runs[name]) for name in found.stages]


RECIPE = TextEncoderRecipe()


def start_of(name: str) -> TextEncoder:
    """The encoder that a training starts from, without a head."""
    if name == "mpnet":
        from mathamr.layers.language.mpnet import packaged_mpnet

        return packaged_mpnet()
    if name == "minilm":
        from mathamr.layers.language.minilm import packaged_minilm

        return packaged_minilm()
    folder = part_of(model_folder(name), TEXT) if name in boxed() else Path(name)
    return without_head(load_text_encoder(folder, "cpu"))


def _corpus(work: StageWork, encoder: TextEncoder) -> TextCorpus:
    return TextCorpus.load(work.prepared / CORPUS).cut(WINDOW).numbered_for(encoder.pieces)


def _tune(work: StageWork, found: TextRecipe) -> StageResult:
    base = start_of(found.base.start)
    corpus = _corpus(work, base).of_kinds(found.base.unasked.split())
    trainer = TextTrainer(
        corpus, corpus.texts, base, found.tune, work.resources.device, work.resources.processes
    )
    progress = train(trainer, work.folder("tune"), work.resources, fresh=work.fresh)
    before = [{"epoch": 0, "validation": progress.before}] if progress.before else []
    return StageResult([*before, *progress.history], progress.done)


def _teach(work: StageWork) -> StageResult:
    """Once for good: students are compared by what they learned from the same teacher."""
    path = work.out / TAUGHT
    if work.resources.processes.first and (work.fresh or not path.exists()):
        teacher = load_text_encoder(work.folder("tune"), str(work.resources.device))
        taught(teacher, _corpus(work, teacher), path)
    return StageResult([{"teacher's vectors": str(path)}])


def _distil(work: StageWork, found: TextRecipe) -> StageResult:
    base = start_of(found.base.start)
    if not found.base.teacher:
        raise MathAMRError(
            "a student needs a teacher: --set base.teacher=FILE, which the stage `teach` writes"
        )
    trainer = DistillingTrainer(
        _corpus(work, base),
        base,
        found.student,
        found.lessons,
        read_taught((work.out / found.base.teacher).resolve()),
        work.resources.device,
    )
    progress = train(trainer, work.folder("distil"), work.resources, fresh=work.fresh)
    before = [{"epoch": 0, "validation": progress.before}] if progress.before else []
    return StageResult([*before, *progress.history], progress.done)


def _join(work: StageWork, found: TextRecipe) -> StageResult:
    """The model folder: part of the way back to the start, in principal components, in few bits."""
    if not work.resources.processes.first:
        return StageResult([])
    folder = next((path for path in map(work.folder, ("distil", "tune")) if (path / CONFIG).exists()), None)
    if folder is None:
        raise MathAMRError(f"there is no trained text encoder in {work.out}; train it first")
    device = str(work.resources.device)
    base, tuned = start_of(found.base.start), load_text_encoder(folder, device)
    base = TextEncoder(base.model, base.pieces, device=device)
    corpus = _corpus(work, base)
    rows: list[dict[str, Any]] = []
    best: tuple[float, float] = (-1.0, 1.0)
    shares = found.join.shares()
    for share in shares if len(shares) > 1 else ():
        figures = validated(between(base, tuned, share), corpus)
        worth = float(np.mean(list(figures.values())))
        rows.append({"learned": share, **figures, "mean": worth})
        best = max(best, (worth, share))
    share = best[1] if len(shares) > 1 else shares[0]
    chosen = with_principal_components(between(base, tuned, share), corpus.texts, found.join.size)
    (save_difference if found.join.difference else save_text_encoder)(work.model / TEXT, chosen)
    save_text_system(work.model, found.join.name)
    stored = validated(load_text_encoder(work.model / TEXT, device), corpus)
    rows.append({"chosen": share, "model": str(work.model), "as stored": stored})
    (work.out / JOINING).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return StageResult(rows)


def validated(encoder: TextEncoder, corpus: TextCorpus) -> dict[str, float]:
    """MRR@10 of the answers that are held back, of every collection by itself, by whole texts and by MaxSim."""
    answers = np.unique(corpus.pairs[[kind.startswith("answer") for kind in corpus.kinds], 1])
    kinds = np.array(corpus.kinds)
    figures: dict[str, float] = {}
    for kind in sorted(set(kinds[corpus.held].tolist())):
        held = corpus.pairs[corpus.held & (kinds == kind)]
        found = searched(
            lambda posts: _vectors(encoder, corpus, posts),
            among_others(answers, held[:, 1]),
            held,
            corpus,
            encoder.device,
        )
        if found is not None:
            figures |= {f"{kind.rpartition(' ')[2]} {name}": value for name, value in found.figures.items()}
    return figures


def _vectors(encoder: TextEncoder, corpus: TextCorpus, posts: Sequence[int] | Any) -> list[PostVectors]:
    rows = encoder.encode_pieces([corpus.texts.posts[post] for post in posts])
    return [PostVectors(row.of, row.vectors, len(row.of) - 1) for row in rows]
