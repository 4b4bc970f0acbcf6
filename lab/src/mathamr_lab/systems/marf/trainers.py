"""The trainers of MaRF's parts: masked words, context, formulas, fusion (Wang, Zheng and Kani, section 3.4)."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.core.arrays import IntArray
from mathamr.core.errors import MathAMRError
from mathamr.systems.marf.network import ContextEncoder, FormulaEncoder, MarfNetwork
from mathamr.systems.marf.postinput import PostInput, padded
from mathamr.text.encoder import precision
from mathamr.text.wordpieces import PieceNumbers
from mathamr_lab.systems.marf.configuration import PartTraining
from mathamr_lab.systems.marf.postshard import PostShard
from mathamr_lab.systems.marf.scoring import LIMIT, padded_maxsim
from mathamr_lab.systems.stateencoder import StateEncoder, mean_vectors
from mathamr_lab.training.losses import info_nce
from mathamr_lab.training.pairs import Answers, checked, split
from mathamr_lab.training.plain import PlainTrainer
from mathamr_lab.training.trainer import Validation, ValidationFigure

MASKED = 0.15
_SEARCHED = 500
"""The number of validation pairs whose answers are searched."""
_AT_A_TIME = 50

Rows = tuple[Tensor, Tensor]
S = TypeVar("S")


class PartTrainer(PlainTrainer[S]):
    """The common part: the shard and the configuration."""

    what = "a part of MaRF"
    divides = True
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
        """Return what identifies the run."""
        return {
            "part": self.what,
            "training": self.configuration.to_json(),
            "materials": [len(self.shard), zlib.crc32(np.ascontiguousarray(self.shard.pairs).data)],
            "learned": [[name, *each.shape] for name, each in self.learned.items()],
        }

    @property
    def summary(self) -> str:
        """One line on the part."""
        parameters = sum(each.numel() for each in self.learned.values())
        return f"training {self.what} on {self.count:,} {self.unit}; {parameters:,} parameters learn"


class MaskedWords(nn.Module):
    """A base with heads that predict masked tokens, tied to its embeddings, and whether a sentence follows another (BERT)."""

    def __init__(self, base: StateEncoder) -> None:
        super().__init__()
        self.base = base
        self.transform = nn.Sequential(nn.Linear(base.size, base.size), nn.GELU(), nn.LayerNorm(base.size))
        self.bias = nn.Parameter(torch.zeros(len(base.embeddings)))
        self.follows = nn.Linear(base.size, 2)

    def forward(self, numbers: Tensor, lengths: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of hidden tokens, and of whether the second sentence of each row follows the first."""
        states = self.base(numbers, lengths)
        return (
            functional.linear(self.transform(states[hidden]), self.base.embeddings, self.bias),
            self.follows(states[:, 0]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class MaskedStep:
    """Rows with masked tokens, the masked positions, the original tokens, and which rows follow on."""

    numbers: Tensor
    lengths: Tensor
    hidden: Tensor
    were: Tensor
    follows: Tensor | None


class WordTrainer(PartTrainer[MaskedStep]):
    """Continues the pretraining of a base on the posts' text, so that added tokens get a meaning (section 3.4)."""

    what, unit = "words", "posts"

    def __init__(
        self, shard: PostShard, base: StateEncoder, configuration: PartTraining, device: torch.device
    ) -> None:
        self._mask = base.mask
        self._words = MaskedWords(base)
        super().__init__(shard, self._words, len(shard), configuration, device)

    def step(self, batch: IntArray, epoch: int) -> MaskedStep:
        """Return posts with 15 % of their tokens hidden: most by the mask, some by another token, some unchanged."""
        chance = self.chance(batch, epoch)
        length, is_pair = self.configuration.length, self.configuration.next_sentence
        if is_pair:
            rows, follow = self._sentence_pairs(batch, chance)
        else:
            rows, follow = [self.shard.posts[post].numbers for post in batch], []
        numbers, lengths = padded([row[:length] for row in rows], 0)
        places = np.arange(numbers.shape[1])
        inside = (places > 0) & (places < lengths.numpy()[:, None] - 1)
        hidden = torch.from_numpy(inside & (chance.random(numbers.shape) < MASKED))
        were, kind = numbers[hidden], torch.from_numpy(chance.random(int(hidden.sum())))
        known = self._words.bias.shape[0]
        other = torch.from_numpy(chance.integers(min(1000, known // 2), known, len(were)))
        shown = torch.where(
            kind < 0.8, torch.full_like(were, self._mask), torch.where(kind < 0.9, other, were)
        )
        follows = torch.tensor(follow) if is_pair else None
        return MaskedStep(numbers.masked_scatter(hidden, shown), lengths, hidden, were, follows)

    def _sentence_pairs(
        self, batch: IntArray, chance: np.random.Generator
    ) -> tuple[list[PieceNumbers], list[int]]:
        """Return a sentence of each post with the next one, or in half of all rows with one of another post."""
        rows, follow = [], []
        for post in batch.tolist():
            first = _sentences(self.shard.posts[post])
            place = int(chance.integers(max(1, len(first) - 1)))
            is_next = bool(chance.random() < 0.5) and place + 1 < len(first)
            other = _sentences(self.shard.posts[int(chance.integers(len(self.shard)))])
            second = first[place + 1] if is_next else other[int(chance.integers(len(other)))]
            begin, end = self.shard.posts[post].numbers[:1], self.shard.posts[post].numbers[-1:]
            half = self.configuration.length // 2
            head = np.concatenate([begin, first[place][: half - 2], end])
            rows.append(np.concatenate([head, second[: half - 1], end]))
            follow.append(int(is_next))
        return rows, follow

    def first(self, count: int, epoch: int) -> MaskedStep:
        """Return the first rows of an epoch's first step."""
        step = self.step(self.plan(epoch)[0], epoch)
        hidden = step.hidden[:count]
        return MaskedStep(
            step.numbers[:count],
            step.lengths[:count],
            hidden,
            step.were[: int(hidden.sum())],
            None if step.follows is None else step.follows[:count],
        )

    def loss(self, step: MaskedStep) -> Tensor:
        """Return the cross entropy of hidden tokens, and of which sentences follow each other."""
        rows = [
            step.numbers,
            step.lengths,
            step.hidden,
            torch.zeros_like(step.numbers).masked_scatter(step.hidden, step.were),
        ]
        if step.follows is not None:
            rows.append(step.follows)
        hidden = int(step.hidden.sum())
        sums = self.in_parts(self._sums, *(each.to(self.device) for each in rows))
        words, follows = torch.unbind(sums.sum(0))
        found = words / hidden
        return found if step.follows is None else found + follows / len(step.follows)

    def _sums(
        self, numbers: Tensor, lengths: Tensor, hidden: Tensor, were: Tensor, following: Tensor | None = None
    ) -> Tensor:
        """Return the sums of both cross entropies over some rows (1, 2)."""
        words, follows = self._words(numbers, lengths, hidden)
        found = functional.cross_entropy(words.float(), were[hidden], reduction="sum")
        if following is None:
            return torch.stack([found, torch.zeros_like(found)])[None]
        return torch.stack([found, functional.cross_entropy(follows.float(), following, reduction="sum")])[
            None
        ]

    def validate(self) -> None:
        """Return nothing: the last epoch is taken."""
        return None


def _sentences(post: PostInput) -> list[PieceNumbers]:
    """Return the tokens of each sentence of a post without its marks; of an empty post an empty sentence."""
    numbers, of = post.numbers[1:-1], post.sentences[1:-1]
    if not len(numbers):
        return [numbers]
    return np.split(numbers, np.flatnonzero(np.diff(of)) + 1)


@dataclass(frozen=True, slots=True, eq=False)
class PairStep:
    """Texts and formulas of questions first, then of answers; `ignored` marks other answers of a question."""

    texts: Rows | None
    formulas: Rows | None
    ignored: Tensor


class PairTrainer(PartTrainer[PairStep]):
    """Learns that a question is nearer to its answer than to the others of the batch (equation 3)."""

    unit = "pairs"
    compared = 16.0 * LIMIT
    measured = (ValidationFigure("mrr", "MRR@10"), ValidationFigure("recall", "recall@10"))

    def __init__(
        self, shard: PostShard, model: nn.Module, configuration: PartTraining, device: torch.device
    ) -> None:
        pairs = checked(self._usable(shard, np.array(shard.pairs, np.int64)), len(shard))
        train, held = split(pairs, configuration.validation, configuration.seed)
        self.train, self.held = checked(train, len(shard)), held[:_SEARCHED]
        self.answers = Answers(pairs, len(shard))
        super().__init__(shard, model, len(self.train), configuration, device)

    def _usable(self, _shard: PostShard, pairs: IntArray) -> IntArray:
        return pairs

    def step(self, batch: IntArray, epoch: int) -> PairStep:
        """Return the posts of some pairs."""
        chance = self.chance(batch, epoch)
        return self._step(self.train[batch], chance)

    def _step(self, pairs: IntArray, chance: np.random.Generator | None) -> PairStep:
        posts = pairs.T.flatten().tolist()
        ignored = self.answers.among(pairs[:, 0], pairs[:, 1])
        np.fill_diagonal(ignored, False)
        return PairStep(self._texts(posts), self._formulas(posts, chance), torch.from_numpy(ignored))

    def first(self, count: int, epoch: int) -> PairStep:
        """Return the first pairs of an epoch's first step."""
        step = self.step(self.plan(epoch)[0], epoch)
        whole = len(step.ignored)

        def few(rows: Rows | None) -> Rows | None:
            if rows is None:
                return None
            numbers, lengths = (torch.cat([each[:count], each[whole : whole + count]]) for each in rows)
            return numbers, lengths

        return PairStep(few(step.texts), few(step.formulas), step.ignored[:count, :count])

    def _texts(self, posts: Sequence[int]) -> Rows | None:
        return padded([self.shard.posts[post].numbers[: self.configuration.length] for post in posts], 0)

    def _formulas(self, _posts: Sequence[int], _chance: np.random.Generator | None) -> Rows | None:
        return None

    @abstractmethod
    def scores(self, step: PairStep) -> Tensor:
        """Return the scores of every question of a step with every answer."""

    def loss(self, step: PairStep) -> Tensor:
        """Return InfoNCE over the batch (equation 3 with the exponential of InfoNCE)."""
        scores = self.scores(step).float()
        return info_nce(scores, self.configuration.temperature, step.ignored.to(self.device))

    def validate(self) -> Validation | None:
        """Return MRR@10 and recall@10 of the validation questions' answers among each other."""
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

    def _halves(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Return MaxSim of the first half of some rows with the second, as a mean or a sum over tokens."""
        (questions, answers), (ours, theirs) = vectors.chunk(2), lengths.chunk(2)
        found = padded_maxsim(questions, ours, answers, theirs)
        return found * ours[:, None] if self.configuration.total else found

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
        self.context = context
        super().__init__(shard, context, configuration, device)

    def scores(self, step: PairStep) -> Tensor:
        """Return MaxSim of texts."""
        numbers, lengths = self._rows(step.texts)
        return self._halves(self.in_parts(self.context, numbers, lengths), lengths)


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

    def _texts(self, _posts: Sequence[int]) -> Rows | None:
        return None

    def _formulas(self, posts: Sequence[int], chance: np.random.Generator | None) -> Rows | None:
        return padded([_chosen(self.shard.formulas(post), chance) for post in posts], 0)

    def scores(self, step: PairStep) -> Tensor:
        """Return MaxSim of formulas, or the cosine of their means."""
        numbers, lengths = self._rows(step.formulas)
        vectors = self.in_parts(self.encoder, numbers, lengths)
        if self._scoring == "token":
            return self._halves(vectors, lengths)
        questions, answers = mean_vectors(vectors, lengths).chunk(2)
        return questions @ answers.T

    def identity(self) -> dict[str, Any]:
        """Return what identifies the run, including the scoring of formulas."""
        return {**super().identity(), "scoring": self._scoring}


class FusionTrainer(PairTrainer):
    """Trains the fusion with both encoders frozen; each post has one formula, at random or its longest."""

    what = "the fusion"

    def __init__(
        self, shard: PostShard, network: MarfNetwork, configuration: PartTraining, device: torch.device
    ) -> None:
        network.requires_grad_(False)
        network.fusion.requires_grad_(True)
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
        """Return MaxSim of fused tokens."""
        (numbers, lengths), (tokens, counts) = self._rows(step.texts), self._rows(step.formulas)
        return self._halves(self.in_parts(self._fused, numbers, lengths, tokens, counts), lengths)

    def _fused(self, numbers: Tensor, lengths: Tensor, tokens: Tensor, counts: Tensor) -> Tensor:
        self.network.context.eval()
        self.network.formula.eval()
        with torch.no_grad():
            states = self.network.context.transformer(numbers, lengths)
            formula = self.network.formula(tokens, counts.clamp(min=1))
        context = functional.normalize(self.network.context.head(states).float(), dim=-1)
        return self.network.fused(context, formula, counts)


_NOTHING = np.zeros(0, np.uint16)


def _chosen(formulas: tuple[PieceNumbers, ...], chance: np.random.Generator | None) -> PieceNumbers:
    """Return a random one of a post's formulas, or the longest; nothing if there is none."""
    if not formulas:
        return _NOTHING
    return formulas[0 if chance is None else int(chance.integers(len(formulas)))]
