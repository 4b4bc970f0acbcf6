"""The trainers of MaRF's parts: masked words, context, formulas, fusion (Wang, Zheng and Kani, section 3.4)."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.core.arrays import IntArray
from mathamr.core.errors import MathAMRError
from mathamr.core.tensorfile import tensor_bytes
from mathamr.systems.marf.network import ContextEncoder, FormulaEncoder, MarfNetwork
from mathamr.systems.marf.postinput import padded
from mathamr.text.encoder import precision
from mathamr.text.wordpieces import PieceNumbers
from mathamr_lab.systems.marf.configuration import PartTraining
from mathamr_lab.systems.marf.freshnetwork import AddedPieces
from mathamr_lab.systems.marf.postshard import PostShard
from mathamr_lab.systems.marf.scoring import padded_maxsim, pooled
from mathamr_lab.training.pairs import Answers, checked, split
from mathamr_lab.training.plain import PlainTrainer
from mathamr_lab.training.trainer import TrainingSubject, Validation, ValidationFigure

LEARNED = "learned.safetensors"
MASKED = 0.15
_SEARCHED = 500
"""The number of validation pairs whose answers are searched."""
_AT_A_TIME = 50

Rows = tuple[Tensor, Tensor]
S = TypeVar("S")


class PartTrainer(PlainTrainer[S]):
    """The common part: the shard, the configuration, and the stored parameters: those that were trained, in sixteen bits."""

    what = "a part of MaRF"
    configuration: PartTraining

    def __init__(
        self,
        shard: PostShard,
        model: nn.Module,
        count: int,
        configuration: PartTraining,
        device: torch.device,
    ) -> None:
        self.shard = shard
        if configuration.pairs:
            count = min(count, configuration.pairs)
        super().__init__(model, count, configuration, device)

    def identity(self) -> dict[str, Any]:
        """Identifies the run."""
        return {
            "part": self.what,
            "training": self.configuration.to_json(),
            "materials": [len(self.shard), zlib.crc32(np.ascontiguousarray(self.shard.pairs).data)],
            "learned": {name: list(each.shape) for name, each in self.learned.items()},
        }

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        """Writes the trained parameters."""
        stored = {name: each.detach().to("cpu", torch.float16) for name, each in self.learned.items()}
        (folder / LEARNED).write_bytes(tensor_bytes(stored))

    def subject(self) -> TrainingSubject:
        """The pairs and the configuration."""
        parameters = sum(each.numel() for each in self.learned.values())
        return TrainingSubject(
            summary=f"training {self.what} on {self.count:,} {self.unit}; {parameters:,} parameters learn",
            monitor=self.measured[0].heading if self.measured else "nothing",
            validation="Validation searches the answers of validation pairs for each question's own",
            data=[("posts", f"{len(self.shard):,}"), (self.unit, f"{self.count:,}")],
            configurations={"training": self.configuration.to_json()},
        )


class MaskedWords(nn.Module):
    """A context encoder's transformer with a head that predicts masked pieces, tied to its embeddings (BERT)."""

    def __init__(self, context: ContextEncoder) -> None:
        super().__init__()
        size = context.transformer.configuration.size
        self.context = context
        self.transform = nn.Sequential(nn.Linear(size, size), nn.GELU(), nn.LayerNorm(size))
        self.bias = nn.Parameter(torch.zeros(context.transformer.configuration.pieces))

    def forward(self, numbers: Tensor, lengths: Tensor, hidden: Tensor) -> Tensor:
        """Returns the logits of hidden pieces."""
        states = self.context.transformer(numbers, lengths)[hidden]
        pieces = self.context.transformer.pieces
        assert isinstance(pieces, AddedPieces)
        return functional.linear(self.transform(states), pieces.weight, self.bias)


@dataclass(frozen=True, slots=True, eq=False)
class MaskedStep:
    """Rows with masked pieces, their positions, and the original pieces."""

    numbers: Tensor
    lengths: Tensor
    hidden: Tensor
    were: Tensor


class WordTrainer(PartTrainer[MaskedStep]):
    """Continues masked-language training on the posts' text, so that added tokens get a meaning."""

    what, unit = "words", "posts"

    def __init__(
        self,
        shard: PostShard,
        context: ContextEncoder,
        mask: int,
        configuration: PartTraining,
        device: torch.device,
    ) -> None:
        for parameter in context.head.parameters():
            parameter.requires_grad_(False)
        self._mask = mask
        self._words = MaskedWords(context)
        super().__init__(shard, self._words, len(shard), configuration, device)

    def step(self, batch: IntArray, epoch: int) -> MaskedStep:
        """Returns posts with 15 % of their pieces hidden: most by the mask, some by another piece, some unchanged."""
        chance = self.chance(batch, epoch)
        numbers, lengths = padded(
            [self.shard.posts[post].numbers[: self.configuration.length] for post in batch], 0
        )
        places = np.arange(numbers.shape[1])
        inside = (places > 0) & (places < lengths.numpy()[:, None] - 1)
        hidden = torch.from_numpy(inside & (chance.random(numbers.shape) < MASKED))
        were, kind = numbers[hidden], torch.from_numpy(chance.random(int(hidden.sum())))
        known = self._words.bias.shape[0]
        other = torch.from_numpy(chance.integers(min(1000, known // 2), known, len(were)))
        shown = torch.where(
            kind < 0.8, torch.full_like(were, self._mask), torch.where(kind < 0.9, other, were)
        )
        return MaskedStep(numbers.masked_scatter(hidden, shown), lengths, hidden, were)

    def loss(self, step: MaskedStep) -> Tensor:
        """The cross entropy of hidden pieces."""
        logits = self._words(
            step.numbers.to(self.device), step.lengths.to(self.device), step.hidden.to(self.device)
        )
        return functional.cross_entropy(logits.float(), step.were.to(self.device))

    def validate(self) -> None:
        """Returns nothing: the last epoch is taken."""
        return None


@dataclass(frozen=True, slots=True, eq=False)
class PairStep:
    """Texts and formulas of questions first, then of answers; `ignored` marks other answers of a question."""

    texts: Rows | None
    formulas: Rows | None
    ignored: Tensor


class PairTrainer(PartTrainer[PairStep]):
    """Learns that a question is nearer to its answer than to the others of the batch (equation 3)."""

    unit = "pairs"
    measured = (ValidationFigure("mrr", "MRR@10"), ValidationFigure("recall", "recall@10"))

    def __init__(
        self, shard: PostShard, model: nn.Module, configuration: PartTraining, device: torch.device
    ) -> None:
        pairs = checked(self._usable(shard, np.array(shard.pairs, np.int64)), len(shard))
        train, held = split(pairs, configuration.validation, configuration.seed)
        self.train, self.held = checked(train, len(shard)), held[:_SEARCHED]
        self.answers = Answers(pairs, len(shard))
        super().__init__(shard, model, len(self.train), configuration, device)

    def _usable(self, shard: PostShard, pairs: IntArray) -> IntArray:
        return pairs

    def step(self, batch: IntArray, epoch: int) -> PairStep:
        """The posts of some pairs."""
        chance = self.chance(batch, epoch)
        return self._step(self.train[batch], chance)

    def _step(self, pairs: IntArray, chance: np.random.Generator | None) -> PairStep:
        posts = pairs.T.flatten().tolist()
        ignored = self.answers.among(pairs[:, 0], pairs[:, 1])
        np.fill_diagonal(ignored, False)
        return PairStep(self._texts(posts), self._formulas(posts, chance), torch.from_numpy(ignored))

    def _texts(self, posts: Sequence[int]) -> Rows | None:
        return padded([self.shard.posts[post].numbers[: self.configuration.length] for post in posts], 0)

    def _formulas(self, posts: Sequence[int], chance: np.random.Generator | None) -> Rows | None:
        return None

    @abstractmethod
    def scores(self, step: PairStep) -> Tensor:
        """Returns the scores of every question of a step with every answer."""

    def loss(self, step: PairStep) -> Tensor:
        """InfoNCE over the batch."""
        logits = self.scores(step).float() / self.configuration.temperature
        logits = logits.masked_fill(step.ignored.to(self.device), -torch.inf)
        return functional.cross_entropy(logits, torch.arange(len(logits), device=self.device))

    def validate(self) -> Validation | None:
        """Returns MRR@10 and recall@10 of the validation questions' answers among each other."""
        if len(self.held) < 2:
            return None
        self.model.eval()
        ranks: list[int] = []
        with torch.inference_mode(), precision(self.device):
            for start in range(0, len(self.held), 2 * _AT_A_TIME):
                step = self._step(self.held[start : start + 2 * _AT_A_TIME], None)
                scores = self.scores(step).float().masked_fill(step.ignored.to(self.device), -torch.inf)
                own = scores.diagonal()[:, None]
                ranks += (scores > own).sum(1).tolist()
        mrr = float(np.mean([1 / (rank + 1) if rank < 10 else 0.0 for rank in ranks]))
        recall = float(np.mean([rank < 10 for rank in ranks]))
        return Validation(figures={"mrr": mrr, "recall": recall}, searched=2 * _AT_A_TIME, worth=mrr)

    def _rows(self, rows: Rows | None) -> Rows:
        if rows is None:
            raise MathAMRError("a step lacks the input of its part")
        return rows[0].to(self.device, non_blocking=True), rows[1].to(self.device, non_blocking=True)


class ContextTrainer(PairTrainer):
    """Trains the context encoder, by MaxSim over tokens."""

    what = "the context encoder"

    def __init__(
        self, shard: PostShard, context: ContextEncoder, configuration: PartTraining, device: torch.device
    ) -> None:
        for parameter in context.head.parameters():
            parameter.requires_grad_(True)
        self.context = context
        super().__init__(shard, context, configuration, device)

    def scores(self, step: PairStep) -> Tensor:
        """MaxSim of texts."""
        numbers, lengths = self._rows(step.texts)
        return _halves(self.context(numbers, lengths), lengths)


def _halves(vectors: Tensor, lengths: Tensor) -> Tensor:
    """Returns MaxSim of the first half of some rows with the second."""
    (questions, answers), (ours, theirs) = vectors.chunk(2), lengths.chunk(2)
    return padded_maxsim(questions, ours, answers, theirs)


class FormulaTrainer(PairTrainer):
    """Trains the formula encoder on a formula of a question against one of its answer, by token or as one vector."""

    what = "the formula encoder"

    def __init__(
        self,
        shard: PostShard,
        encoder: FormulaEncoder,
        scoring: str,
        configuration: PartTraining,
        device: torch.device,
    ) -> None:
        self.encoder, self._scoring = encoder, scoring
        super().__init__(shard, encoder, configuration, device)

    def _usable(self, shard: PostShard, pairs: IntArray) -> IntArray:
        has = np.array([bool(post.formulas) for post in shard.posts], np.bool_)
        return pairs[has[pairs].all(1)]

    def _texts(self, posts: Sequence[int]) -> Rows | None:
        return None

    def _formulas(self, posts: Sequence[int], chance: np.random.Generator | None) -> Rows | None:
        return padded([_chosen(self.shard.formulas(post), chance) for post in posts], 0)

    def scores(self, step: PairStep) -> Tensor:
        """MaxSim of formulas, or the cosine of their means."""
        numbers, lengths = self._rows(step.formulas)
        vectors = self.encoder(numbers, lengths)
        if self._scoring == "token":
            return _halves(vectors, lengths)
        questions, answers = pooled(vectors, lengths).chunk(2)
        return questions @ answers.T

    def identity(self) -> dict[str, Any]:
        """Identifies the run, including the scoring of formulas."""
        return {**super().identity(), "scoring": self._scoring}


class FusionTrainer(PairTrainer):
    """Trains the fusion with both encoders frozen; each post has one formula, at random or its longest."""

    what = "the fusion"

    def __init__(
        self, shard: PostShard, network: MarfNetwork, configuration: PartTraining, device: torch.device
    ) -> None:
        for part in (network.context, network.formula):
            for parameter in part.parameters():
                parameter.requires_grad_(False)
        self.network = network
        super().__init__(shard, network, configuration, device)

    def _formulas(self, posts: Sequence[int], chance: np.random.Generator | None) -> Rows | None:
        several = chance if self.network.configuration.formulas > 1 else None
        questions = len(posts) // 2
        # A search uses the longest formula of a question (Algorithm 1), so training does too.
        return padded(
            [
                _chosen(self.shard.formulas(post), several if place >= questions else None)
                for place, post in enumerate(posts)
            ],
            0,
        )

    def scores(self, step: PairStep) -> Tensor:
        """MaxSim of fused tokens."""
        (numbers, lengths), (tokens, counts) = self._rows(step.texts), self._rows(step.formulas)
        self.network.context.eval()
        self.network.formula.eval()
        with torch.no_grad():
            context = self.network.context(numbers, lengths)
            formula = self.network.formula(tokens, counts.clamp(min=1))
        return _halves(self.network.fused(context, formula, counts), lengths)


_NOTHING = np.zeros(0, np.uint16)


def _chosen(formulas: tuple[PieceNumbers, ...], chance: np.random.Generator | None) -> PieceNumbers:
    """Returns a random one of a post's formulas, or the longest; nothing if there is none."""
    if not formulas:
        return _NOTHING
    return formulas[0 if chance is None else int(chance.integers(len(formulas)))]
