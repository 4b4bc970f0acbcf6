"""`TextTrainer`: the text encoder learns from pairs, over complete posts and over their parts."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from mathamr.core.arrays import BoolArray, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.core.tensorfile import under
from mathamr.systems.layers.stack import packed
from mathamr.text.encoder import (
    BUDGET,
    PieceBatch,
    TextEncoder,
    batch_of,
    precision,
    vectors_of,
)
from mathamr.text.torchfolder import save_text_encoder
from mathamr.text.transformer import Transformer
from mathamr.text.wordpieces import Pieces
from mathamr_lab.systems.text.corpus import TextCorpus
from mathamr_lab.systems.text.neighbours import neighbour_batches
from mathamr_lab.systems.text.training import TextTraining
from mathamr_lab.systems.text.validation import (
    ASKED,
    MEASURED,
    PostVectors,
    among_others,
    compared,
)
from mathamr_lab.training.contrastive import ContrastiveStep, ContrastiveTrainer
from mathamr_lab.training.losses import Contrast, ContrastiveLoss, TemperedLoss
from mathamr_lab.training.optimiser import Optimiser, ParameterGroup, Schedule
from mathamr_lab.training.trainer import Validation


class TextTrainer(ContrastiveTrainer[PieceBatch]):
    """Trains a text encoder; validation searches the validation pairs' answers among others."""

    unit = "pairs"
    pretrained = True
    measured = MEASURED

    def __init__(
        self,
        corpus: TextCorpus,
        base: TextEncoder,
        configuration: TextTraining,
        device: torch.device,
    ) -> None:
        self.corpus, self.texts, self.configuration, self.device = corpus, corpus.texts, configuration, device
        self.epochs, self.patience = configuration.epochs, configuration.patience
        self.examples = configuration.batch_size
        self.train, self.validation = corpus.parted()
        self.whole = np.array([_whole(corpus, place) for place in range(len(corpus))])
        rest = len(self.train) % configuration.batch_size
        self.steps = len(self.train) // configuration.batch_size + (rest > 1)
        if not self.steps:
            raise MathAMRError("too few training pairs are left after the validation pairs were held out")
        torch.manual_seed(configuration.seed)
        self._base = _checksum(base.model)
        self.encoder = TextEncoder(
            projected(base.model, configuration.projection), base.pieces, device=str(device)
        )
        self._plan: tuple[int, list[IntArray]] | None = None
        self.model, self.size, self.loss = self.encoder.model, self.encoder.size, self._loss().to(device)
        self.optimiser = self._optimiser()
        torch.manual_seed(configuration.seed)

    def _optimiser(self) -> Optimiser:
        configuration, model = self.configuration, self.encoder.model
        for name, parameter in model.named_parameters():
            if name.startswith(tuple(configuration.frozen.split())):
                parameter.requires_grad_(False)
        named = {f"model.{name}": each for name, each in model.named_parameters() if each.requires_grad}
        fresh = {name for name in named if name.startswith("model.head.")}
        rate, decay = configuration.head_rate, configuration.weight_decay
        groups = [
            ParameterGroup(
                parameters={name: each for name, each in named.items() if name not in fresh},
                rate=configuration.learning_rate,
                weight_decay=decay,
            ),
            ParameterGroup(parameters={name: named[name] for name in fresh}, rate=rate, weight_decay=decay),
            ParameterGroup(
                parameters={f"loss.{name}": each for name, each in self.loss.named_parameters()}, rate=rate
            ),
        ]
        return Optimiser(groups, self._schedule, clip=configuration.clip, clipped=model.parameters())

    def _loss(self) -> TemperedLoss:
        return ContrastiveLoss(self.configuration.temperature, self.configuration.beta)

    @property
    def _schedule(self) -> Schedule:
        steps = max(1, -(-len(self.train) // self.configuration.batch_size))
        return Schedule(self.configuration.epochs * steps, self.configuration.warmup)

    def encode(self, part: PieceBatch) -> Tensor:
        """Return the vectors of the parts of some texts."""
        with precision(self.device):
            return vectors_of(self.encoder.model, part.to(self.device))

    def identity(self) -> dict[str, Any]:
        """Return what identifies the run."""
        return {
            "model": self.encoder.model.configuration.to_json(),
            "training": self.configuration.to_json(),
            "materials": [self.texts.fingerprint(), zlib.crc32(np.ascontiguousarray(self.corpus.pairs).data)],
            "base": self._base,
        }

    def plan(self, epoch: int) -> list[IntArray]:
        """Return batches of neighbours by the weights at the start of the epoch; they are kept until its end."""
        if self._plan is None or self._plan[0] != epoch:
            self._plan = epoch, self._batches(epoch)
        return self._plan[1]

    def _batches(self, epoch: int) -> list[IntArray]:
        configuration, pairs = self.configuration, self.train
        generator = np.random.default_rng([configuration.seed, 2, epoch])
        vectors = torch.zeros(len(pairs), 1)
        if configuration.neighbours > 1:
            posts, places = np.unique(pairs, return_inverse=True)
            vectors = nn.functional.normalize(
                self._likened(posts)[places.reshape(pairs.shape)].sum(1), dim=-1
            )
        return neighbour_batches(vectors, configuration.batch_size, configuration.neighbours, generator)

    def _likened(self, posts: IntArray) -> Tensor:
        """Return the vectors that decide which pairs are neighbours."""
        return self._wholes(posts)

    def step(self, batch: IntArray, epoch: int) -> ContrastiveStep[PieceBatch]:
        """Return the word pieces of a batch: questions first, then their answers."""
        pairs = self.train[batch]
        chosen, posts, foils = self.read(batch, epoch)
        counts = np.array([len(post.of) for post in posts])
        ends = np.array(
            [
                self.whole[number] if post is self.texts.posts[number] else len(post.of) - 1
                for number, post in zip(chosen, posts, strict=True)
            ]
        )
        wholes = np.cumsum(counts) - counts + ends
        questions = len(pairs)
        rows = int(counts[:questions].sum())
        costs = ((post, len(post)) for post in posts)
        return ContrastiveStep(
            parts=tuple(
                batch_of(part, self.encoder.pieces, groups=4)
                for part in packed(costs, self.configuration.budget)
            ),
            questions=rows,
            contrast=Contrast.of(
                counts[:questions],
                counts[questions:],
                answers=self._answered(pairs, chosen[questions:], foils),
                query_documents=wholes[:questions],
                document_documents=wholes[questions:] - rows,
                device=self.device,
            ),
        )

    def _answered(self, pairs: IntArray, documents: IntArray, foils: int) -> BoolArray:
        """Return which document answers which question; the last ones, the foils, answer none."""
        found = self.corpus.among(pairs[:, 0], documents)
        found[:, len(documents) - foils :] = False
        return found

    def read(self, batch: IntArray, epoch: int) -> tuple[IntArray, list[Pieces], int]:
        """Return the numbers and texts of a batch, questions, documents and foils of documents, and how many the foils are.

        What is read in other letters, and which foils are added, depends on seed, epoch and batch alone. A text that is its own
        document is asked for in other letters, with its foil as a negative.
        """
        chosen = self.train[batch].T.flatten()
        posts = [self.texts.posts[post] for post in chosen]
        settings, corpus, questions = self.configuration, self.corpus, len(batch)
        if not (len(corpus.forms.of) or len(corpus.foils.of)):
            return chosen, posts, 0
        generator = np.random.default_rng([settings.seed, 5, epoch, int(batch[0])])
        lots, foils = generator.random(len(chosen)), []
        for place, number in enumerate(chosen.tolist()):
            is_own = place < questions and number == chosen[place + questions]
            share = settings.renamed if place < questions else settings.renamed_documents
            if is_own or lots[place] < share:
                posts[place] = corpus.forms.drawn(number, generator) or posts[place]
            foil = (
                corpus.foils.drawn(number, generator)
                if is_own and generator.random() < settings.foils
                else None
            )
            if foil is not None:
                foils.append((number, foil))
        numbers = np.concatenate([chosen, np.array([number for number, _ in foils], np.int64)])
        return numbers, [*posts, *(foil for _, foil in foils)], len(foils)

    def vectors(self, posts: Sequence[int] | IntArray) -> list[PostVectors]:
        """Return the vectors of posts by number, and which of them is the complete post's."""
        self.encoder.model.eval()
        chosen = [self.texts.posts[post] for post in posts]
        found = self.encoder.encode_pieces(chosen, self._budget)
        return [
            PostVectors(row.of, row.vectors, int(self.whole[post]))
            for post, row in zip(posts, found, strict=True)
        ]

    def _wholes(self, posts: Sequence[int] | IntArray) -> Tensor:
        """Return the vectors of complete posts, without their parts."""
        self.encoder.model.eval()
        chosen = [self.texts.posts[post].only(int(self.whole[post])) for post in posts]
        rows = self.encoder.encode_pieces(chosen, self._budget)
        return torch.from_numpy(np.concatenate([row.vectors for row in rows])).to(self.device)

    @property
    def _budget(self) -> int:
        return BUDGET * (16 if self.device.type == "cuda" else 1)

    def validate(self) -> Validation | None:
        """Return MRR@10 of the validation questions' answers among those of the corpus, by complete posts and by MaxSim."""
        documents = among_others(np.unique(self.corpus.pairs[:, 1]), self.validation[:, 1])
        asked = self.validation[:ASKED]
        if not len(asked):
            return None
        found = self.vectors(asked[:, 0]), self.vectors(documents)
        return compared(*found, documents, asked, self.corpus, self.device)

    def state(self) -> dict[str, Tensor]:
        """Return everything that the next step depends on, including the batches of the current epoch."""
        state = super().state()
        if self._plan is not None:
            epoch, batches = self._plan
            state["plan.epoch"] = torch.tensor(epoch)
            state["plan.counts"] = torch.tensor([len(batch) for batch in batches])
            state["plan.places"] = torch.from_numpy(np.concatenate(batches))
        return state

    def use_state(self, state: dict[str, Tensor]) -> None:
        """Restore what `state` returned."""
        super().use_state(state)
        plan = under(state, "plan.")
        if plan:
            cuts = np.cumsum(plan["counts"].numpy())[:-1]
            self._plan = int(plan["epoch"]), np.split(plan["places"].numpy(), cuts)

    def save(self, folder: Path, _about: dict[str, Any]) -> None:
        """Write the folder of the text encoder."""
        save_text_encoder(folder, self.encoder, half=self.configuration.half)

    @property
    def summary(self) -> str:
        """One line on the pairs and the encoder."""
        train, held = len(self.train), len(self.validation)
        parameters = sum(parameter.numel() for parameter in self.encoder.model.parameters())
        return f"training on {train:,} pairs, validating on {held:,}; {parameters:,} parameters"


def projected(model: Transformer, size: int) -> Transformer:
    """Return a copy of a transformer with a projection to vectors of this size, orthogonal at first."""
    copy = Transformer(replace(model.configuration, projection=size))
    weights = model.state_dict()
    if copy.head is not None and model.head is None:
        weights["head.weight"] = nn.init.orthogonal_(torch.empty(size, model.configuration.size))
    copy.load_state_dict(weights)
    return copy


def _whole(corpus: TextCorpus, place: int) -> int:
    """Return which of a text's spans is the complete text: the first of its last part."""
    of = corpus.texts.posts[place].of
    if not len(of):
        raise MathAMRError(f"the post {corpus.ids[place]!r} has no text")
    return int(np.flatnonzero(of == of[-1])[0])


def _checksum(model: nn.Module) -> int:
    check = 0
    for tensor in model.state_dict().values():
        check = zlib.crc32(tensor.detach().cpu().contiguous().numpy().data, check)
    return check
