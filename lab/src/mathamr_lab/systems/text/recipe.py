"""The recipe of text encoders alone: from posts to a tuned encoder, and to a small one distilled from a large one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.core.errors import MathAMRError
from mathamr.core.modelfolder import CONFIG
from mathamr.systems.models import TEXT, boxed, model_folder, part_of
from mathamr.systems.text.system import save_text_system
from mathamr.text.configuration import WINDOW, WINDOWS
from mathamr.text.encoder import TextEncoder
from mathamr.text.torchfolder import load_text_encoder, save_text_encoder
from mathamr_lab.recipes.bases import folder_base
from mathamr_lab.recipes.recipe import (
    StageResult,
    StageWork,
    TrainingSettings,
    TrainingSources,
    TrainingStages,
)
from mathamr_lab.systems.text.configuration import (
    CONFIGURATIONS,
    STAGES,
    TextRecipe,
    configured,
    kept_parts,
)
from mathamr_lab.systems.text.corpus import TextCorpus, pieces_of_bert
from mathamr_lab.systems.text.distilling import DistillingTrainer, read_taught, taught
from mathamr_lab.systems.text.following import FollowingTrainer, passage_vectors
from mathamr_lab.systems.text.joining import (
    between,
    with_learned_projection,
    with_principal_components,
    without_head,
)
from mathamr_lab.systems.text.passages import Passages
from mathamr_lab.systems.text.trainer import TextTrainer
from mathamr_lab.systems.text.validation import validated
from mathamr_lab.training.loop import train

CORPUS, TAUGHT, JOINING = "corpus.npz", "taught.npy", "joining.json"
PASSAGES, SIDE_BY_SIDE = "passages.npz", "sidebyside.npy"


class TextEncoderRecipe:
    """Trains encoders on pairs, and encoders that learn from those."""

    configurations = tuple(CONFIGURATIONS)
    stages = STAGES
    reads = ("posts", "without")

    def check(self, settings: TrainingSettings) -> None:
        """Refuse settings that cannot be trained."""
        configured(settings)

    def check_use(self, settings: TrainingSettings, base: Path | None) -> None:  # noqa: ARG002 - as other recipes
        """Refuse an encoder to start from that is not installed."""
        name = configured(settings).base.start
        try:
            start_of(name)
        except MathAMRError as error:
            raise MathAMRError(
                f"training would start from the text encoder {name!r}, which cannot be loaded: {error}; name another with"
                " --set base.start=NAME"
            ) from error

    def prepare(
        self,
        sources: TrainingSources,
        settings: TrainingSettings,
        folder: Path,
        say: Callable[[str], None],
    ) -> list[Path]:
        """Write the corpus of the path and further posts."""
        from mathamr_lab.systems.text.materials import TextMaterials, gathered, read_materials, same_texts

        found, materials = configured(settings), TextMaterials()
        pieces, wanted = pieces_of_bert(start_of(found.base.start).pieces), "follow" in found.stages
        for path in (sources.path, *sources.posts):
            read_materials(path, sources.without, materials)
        if found.base.letters:
            same_texts(materials)
        longest = WINDOW * (WINDOWS if wanted else 1)
        corpus = gathered(materials, pieces, found.base.letters, longest=longest)
        path = folder / CORPUS
        corpus.cut(WINDOW).save(path)
        train, held = corpus.parted()
        say(
            f"{len(corpus):,} texts with {len(train):,} pairs to train on and {len(held):,} to validate on in {path}"
            f" ({path.stat().st_size / 2**20:.1f} MiB)"
        )
        if not wanted:
            return [path]
        passages = Passages.of(corpus)
        passages.save(folder / PASSAGES)
        say(f"{len(passages):,} passages in {folder / PASSAGES}")
        return [path, folder / PASSAGES]

    def planned(self, settings: TrainingSettings) -> TrainingStages:
        """Return the stages in order, each with its configuration."""
        found = configured(settings)
        runs = {
            "tune": _tune,
            "teach": _teach,
            "distil": _distil,
            "vectors": _vectors,
            "follow": _follow,
            "join": _join,
        }
        return {name: partial(runs[name], found=found) for name in found.stages}


RECIPE = TextEncoderRecipe()


def start_of(name: str) -> TextEncoder:
    """Return the encoder that a training starts from, without a head."""
    if name == "minilm":
        from mathamr.text.published import packaged_minilm

        return packaged_minilm()
    folder = part_of(model_folder(name), TEXT) if name in boxed() else Path(name)
    return without_head(folder_base(folder))


def _corpus(work: StageWork, encoder: TextEncoder) -> TextCorpus:
    return TextCorpus.load(work.prepared / CORPUS).cut(WINDOW).numbered_for(encoder.pieces)


def _tune(work: StageWork, found: TextRecipe) -> StageResult:
    base = start_of(found.base.start)
    corpus = _corpus(work, base).of_kinds(found.base.unasked.split())
    trainer = TextTrainer(corpus, base, found.tune, work.resources.device)
    progress = train(trainer, work.folder("tune"), work.resources, fresh=work.fresh)
    before = [{"epoch": 0, "validation": progress.before}] if progress.before else []
    return StageResult([*before, *progress.history], progress.done)


def _teach(work: StageWork, found: TextRecipe) -> StageResult:  # noqa: ARG001 - as the other stages
    """Write the teacher's vectors unless they exist: students are comparable only if they learned from the same teacher."""
    path = work.out / TAUGHT
    if work.fresh or not path.exists():
        teacher = load_text_encoder(_trained(work, ("tune",)), str(work.resources.device))
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


def _teachers(found: TextRecipe, device: str) -> list[TextEncoder]:
    """Return the teachers of passages: the named one, and the encoder that training starts from."""
    if not found.base.teacher:
        raise MathAMRError("a student of two needs the first teacher: --set base.teacher=FOLDER")
    both = [without_head(folder_base(Path(found.base.teacher))), start_of(found.base.start)]
    return [TextEncoder(each.model, each.pieces, device=device) for each in both]


def _vectors(work: StageWork, found: TextRecipe) -> StageResult:
    """Write both teachers' vectors of passages side by side, unless they exist; each has the length √½."""
    path = work.out / SIDE_BY_SIDE
    if work.fresh or not path.exists():
        passages = Passages.load(work.prepared / PASSAGES)
        teachers = _teachers(found, str(work.resources.device))
        rows = [passage_vectors(each, passages) for each in teachers]
        work.out.mkdir(parents=True, exist_ok=True)
        np.save(path, np.concatenate(rows, 1) * np.float16(0.5**0.5), allow_pickle=False)
    return StageResult([{"teachers' vectors": str(path)}])


def _follow(work: StageWork, found: TextRecipe) -> StageResult:
    base = start_of(found.base.start)
    taught = read_taught(work.out / SIDE_BY_SIDE)
    trainer = FollowingTrainer(
        Passages.load(work.prepared / PASSAGES),
        _corpus(work, base),
        base,
        found.passages,
        taught,
        taught.shape[1] - base.size,
        work.resources.device,
    )
    progress = train(trainer, work.folder("follow"), work.resources, fresh=work.fresh)
    return StageResult(progress.history, progress.done)


def _trained(work: StageWork, stages: Sequence[str]) -> Path:
    """Return the folder of the encoder from the first of these stages that left one."""
    folder = next((path for path in map(work.folder, stages) if (path / CONFIG).exists()), None)
    if folder is None:
        raise MathAMRError(f"{work.out} has no trained text encoder; train it first")
    return folder


def _tried(base: TextEncoder, tuned: TextEncoder, learned: str, corpus: TextCorpus) -> list[dict[str, Any]]:
    """Return the validation of every interpolation between the start and the tuned encoder."""
    rows: list[dict[str, Any]] = []
    for share in kept_parts(learned):
        figures = validated(between(base, tuned, share), corpus)
        rows.append({"learned": share, **figures, "mean": float(np.mean(list(figures.values())))})
    return rows


def _join(work: StageWork, found: TextRecipe) -> StageResult:
    """Write the model folder: interpolated towards the start, in principal components, in few bits."""
    device = str(work.resources.device)
    folder = _trained(work, ("follow", "distil", "tune"))
    base, tuned = start_of(found.base.start), load_text_encoder(folder, device)
    base = TextEncoder(base.model, base.pieces, device=device)
    corpus = _corpus(work, base)
    parts = kept_parts(found.join.learned)
    rows = _tried(base, tuned, found.join.learned, corpus) if len(parts) > 1 else []
    share = max(rows, key=lambda row: float(row["mean"]))["learned"] if rows else parts[0]
    project = with_learned_projection if found.join.trained else with_principal_components
    chosen = project(between(base, tuned, share), corpus.texts, found.join.size)
    save_text_encoder(work.model / TEXT, chosen)
    save_text_system(work.model, found.join.name)
    rows.append({"as trained": validated(between(base, tuned, share), corpus)})
    rows.append({"projected": validated(chosen, corpus)})
    stored = validated(load_text_encoder(work.model / TEXT, device), corpus)
    rows.append({"chosen": share, "model": str(work.model), "as stored": stored})
    (work.out / JOINING).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return StageResult(rows)
