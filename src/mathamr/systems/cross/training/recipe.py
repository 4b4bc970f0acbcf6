"""The recipe of cross-encoders: from posts to a small one that learned from a large one what is easily mistaken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mathamr.errors import MathAMRError
from mathamr.layers.language.crossencoder import CrossEncoder
from mathamr.layers.language.crossfiles import load_cross_encoder, save_cross_encoder
from mathamr.layers.language.encoder import TextEncoder
from mathamr.layers.language.files import load_text_encoder, save_text_encoder
from mathamr.layers.language.fourbits import coded, decoded
from mathamr.layers.language.pairlengths import PairLengths
from mathamr.layers.language.transformer import Transformer
from mathamr.layers.language.windows import WINDOW
from mathamr.layers.tensorfile import read_tensors, tensor_bytes
from mathamr.layers.weights import CONFIG
from mathamr.systems.cross.training.candidates import Candidates, Finder
from mathamr.systems.cross.training.configuration import (
    CONFIGURATIONS,
    STAGES,
    CrossRecipe,
    CrossTraining,
    configured,
)
from mathamr.systems.cross.training.likeness import Likeness, with_lessons
from mathamr.systems.cross.training.trainer import CrossTrainer, reciprocal, scored, standard
from mathamr.systems.mathamrplus.training.text.corpus import TextCorpus
from mathamr.systems.modelfolder import TEXT, boxed, model_folder, part_of
from mathamr.systems.text.training.recipe import CORPUS, start_of
from mathamr.systems.text.training.recipe import RECIPE as TEXTS
from mathamr.systems.training.recipe import (
    StageResult,
    StageWork,
    TrainingSettings,
    TrainingSources,
    TrainingStage,
)
from mathamr.training.loop import train

MINED, FOUND, SCORED = "mined.npz", "found.npz", "scored.npz"
"""Candidates of the training questions, of the validation questions, and the former with the teacher's scores."""
OFTEN = 3
"""How often candidates of pairs that count more are there."""
SCORE = "score.safetensors"
"""The linear map of a teacher, beside its text encoder."""


class CrossEncoderRecipe:
    """A large cross-encoder on mined candidates, and a small one on what that says of them."""

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
        """Writes the corpus that text encoders learn from, too."""
        return TEXTS.prepare(sources, settings, folder, say)

    def planned(self, settings: TrainingSettings) -> Sequence[TrainingStage]:
        """The stages in order, each with its configuration."""
        found = configured(settings)
        runs: dict[str, Callable[[StageWork], StageResult]] = {
            "mine": lambda work: _mine(work, found),
            "teach": lambda work: _teach(work, found),
            "score": lambda work: _score(work, found),
            "distil": lambda work: _distil(work, found),
            "shorten": lambda work: _shorten(work, found),
            "join": _join,
        }
        return [TrainingStage(name, runs[name]) for name in found.stages]


RECIPE = CrossEncoderRecipe()


def _corpus(work: StageWork) -> TextCorpus:
    return TextCorpus.load(work.prepared / CORPUS).cut(WINDOW)


def _mine(work: StageWork, found: CrossRecipe) -> StageResult:
    """Once for good: teachers and students see the same candidates."""
    if not work.fresh and (work.out / FOUND).exists():
        return StageResult([{"mined": str(work.out / MINED)}])
    work.out.mkdir(parents=True, exist_ok=True)
    corpus = _corpus(work)
    unwanted = [kind for kind in set(corpus.kinds) if kind.startswith(tuple(found.mine.unasked.split()))]
    corpus = corpus.of_kinds(unwanted)
    base = start_of(found.mine.finder)
    finder = Finder(TextEncoder(base.model, base.pieces, device=str(work.resources.device)), corpus)
    learned, held = corpus.parted()
    mined, searched = finder.mined(learned, found.mine.found), finder.searched(held)
    row: dict[str, Any] = {"questions": len(mined), "validation": len(searched)}
    if found.mine.lessons:
        mined, row["sharpness"] = with_lessons(
            mined, searched, Likeness(_encoder(found.mine.lessons, work), corpus)
        )
    if found.mine.often:
        of = np.array(corpus.kinds)[corpus.learned]
        often = [kind.endswith(tuple(found.mine.often.split())) for kind in of]
        mined = mined.repeated(np.where(often, OFTEN, 1))
    mined.save(work.out / MINED)
    searched.save(work.out / FOUND)
    return StageResult([row])


def _encoder(name: str, work: StageWork) -> TextEncoder:
    """A model of the box, or the folder of a text encoder, with its head."""
    folder = part_of(model_folder(name), TEXT) if name in boxed() else Path(name)
    return load_text_encoder(folder, str(work.resources.device))


def begun(training: CrossTraining) -> CrossEncoder:
    """An untrained cross-encoder upon a text encoder, with some of its layers."""
    base = start_of(training.start)
    if training.bits == 4:
        embeddings = base.model.pieces.weight
        with torch.no_grad():
            embeddings.copy_(torch.from_numpy(decoded(*coded(embeddings.detach().float().numpy()))))
    torch.manual_seed(training.seed)
    return CrossEncoder(
        _with_layers(base.model, training), base.pieces, PairLengths(training.query, training.document)
    )


def shortened(whole: CrossEncoder, training: CrossTraining) -> CrossEncoder:
    """Some layers of a trained cross-encoder, with what it makes a score of its last state by."""
    made = CrossEncoder(
        _with_layers(whole.text, training), whole.pieces, PairLengths(training.query, training.document)
    )
    made.score.load_state_dict(whole.score.state_dict())
    return made


def _with_layers(whole: Transformer, training: CrossTraining) -> Transformer:
    weights, shape = whole.state_dict(), whole.configuration
    kept = training.kept_layers() or tuple(range(shape.layers))
    if not all(0 <= number < shape.layers for number in kept):
        raise MathAMRError(
            f"what {training.start} is has the layers 0 to {shape.layers - 1}, not {training.layers}"
        )
    if max(reads.width for reads in training.reads()) > shape.positions:
        raise MathAMRError(
            f"rows are read up to {shape.positions} pieces: read less of queries and documents"
        )
    chosen = {name: tensor for name, tensor in weights.items() if not name.startswith("layers.")}
    for new, old in enumerate(kept):
        before = f"layers.{old}."
        chosen |= {
            f"layers.{new}.{name.removeprefix(before)}": tensor
            for name, tensor in weights.items()
            if name.startswith(before)
        }
    model = Transformer(replace(shape, layers=len(kept)))
    model.load_state_dict(chosen)
    return model


def _trained(
    work: StageWork,
    stage: str,
    training: CrossTraining,
    lists: Path,
    save: Callable[[Path, CrossEncoder], None],
    whole: CrossEncoder | None = None,
) -> StageResult:
    trainer = CrossTrainer(
        begun(training) if whole is None else shortened(whole, training),
        _corpus(work),
        Candidates.load(lists).drawn(training.questions, training.seed),
        Candidates.load(work.out / FOUND),
        training,
        work.resources.device,
        save,
        whole,
    )
    progress = train(trainer, work.folder(stage), work.resources, fresh=work.fresh)
    return StageResult(progress.history, progress.done)


def _teach(work: StageWork, found: CrossRecipe) -> StageResult:
    return _trained(work, "teach", found.teach, work.out / MINED, _save_teacher)


def _save_teacher(folder: Path, model: CrossEncoder) -> None:
    """In sixteen bits: a teacher is worked with, not shipped."""
    (folder).mkdir(parents=True, exist_ok=True)
    score = {name: tensor.detach().cpu().float() for name, tensor in model.score.state_dict().items()}
    (folder / SCORE).write_bytes(tensor_bytes(score))
    save_text_encoder(
        folder, TextEncoder(model.text, model.pieces, device=str(model.score.weight.device)), half=True
    )


def _teacher(work: StageWork, found: CrossRecipe) -> CrossEncoder:
    folder = work.folder("teach")
    if not (folder / CONFIG).exists():
        raise MathAMRError(f"there is no teacher in {folder}; do the stage `teach` first")
    device = str(work.resources.device)
    encoder = load_text_encoder(folder, device)
    model = CrossEncoder(encoder.model, encoder.pieces, PairLengths(found.teach.query, found.teach.document))
    model.score.load_state_dict(read_tensors(folder / SCORE))
    return model.to(work.resources.device).eval()


def _score(work: StageWork, found: CrossRecipe) -> StageResult:
    """The teacher's scores of the candidates of all questions; once for good."""
    path = work.out / SCORED
    if not work.fresh and path.exists():
        return StageResult([{"scored": str(path)}])
    teacher, mined = _teacher(work, found), Candidates.load(work.out / MINED)
    texts = _corpus(work).numbered_for(teacher.pieces).texts.posts
    most = max(2, found.distil.candidates)
    few = replace(mined, texts=mined.texts[:, :most], scores=mined.scores[:, :most])
    scores = scored(teacher, few, texts)
    replace(few, scores=scores).save(path)
    held = Candidates.load(work.out / FOUND)
    own = scored(teacher, held, texts)
    return StageResult(
        [
            {
                "teacher": reciprocal(own, held.right),
                "with the finder's scores": reciprocal(standard(own) + standard(held.scores), held.right),
                "the right one is first": float((scores.argmax(1) == 0).mean()),
            }
        ]
    )


def _distil(work: StageWork, found: CrossRecipe) -> StageResult:
    from_teacher = found.distil.lessons and not found.mine.lessons
    return _trained(
        work, "distil", found.distil, work.out / (SCORED if from_teacher else MINED), save_cross_encoder
    )


def _shorten(work: StageWork, found: CrossRecipe) -> StageResult:
    """Some layers of what was distilled; all of them teach, as they are stored."""
    whole = load_cross_encoder(_last(work, ("distil",)), str(work.resources.device))
    return _trained(work, "shorten", found.shorten, work.out / MINED, save_cross_encoder, whole)


def _last(work: StageWork, stages: Sequence[str]) -> Path:
    """The folder of the first of these stages that left a cross-encoder."""
    folder = next((path for path in map(work.folder, stages) if (path / CONFIG).exists()), None)
    if folder is None:
        raise MathAMRError(f"there is no trained cross-encoder in {work.out}; train it first")
    return folder


def _join(work: StageWork) -> StageResult:
    """The folder of the best epoch, as it is stored."""
    folder = _last(work, ("shorten", "distil"))
    model = load_cross_encoder(folder, str(work.resources.device))
    save_cross_encoder(work.model, model)
    held = Candidates.load(work.out / FOUND)
    scores = scored(model, held, _corpus(work).numbered_for(model.pieces).texts.posts)
    row = {
        "model": str(work.model),
        "found": reciprocal(held.scores, held.right),
        "reranked": reciprocal(scores, held.right),
        **{
            f"with the finder's scores, {weight:g}": reciprocal(
                standard(held.scores) + weight * standard(scores), held.right
            )
            for weight in (0.5, 1, 2)
        },
    }
    return StageResult([row])
