"""The training of a text encoder on pairs: contrastive, over whole posts and over their parts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from mathamr.errors import MathAMRError
from mathamr.graphs.shard import Shard
from mathamr.layers.device import chosen_device
from mathamr.layers.language.encoder import (
    BUDGET,
    PieceBatch,
    TextEncoder,
    batch_of,
    precision,
    vectors_of,
)
from mathamr.layers.language.transformer import Transformer
from mathamr.layers.language.wordpieces import Pieces
from mathamr.layers.textvectors import TextVectors
from mathamr.training.configuration import TrainingConfiguration
from mathamr.training.language.configuration import TextTraining
from mathamr.training.language.neighbours import Places, neighbour_batches
from mathamr.training.language.shard import TextShard
from mathamr.training.learner import rate
from mathamr.training.losses import Contrast, ContrastiveLoss
from mathamr.training.maxsim import Rows
from mathamr.training.pairs import Answers, checked, split

_AHEAD = 3


@dataclass(frozen=True, slots=True)
class TextStep:
    """The batch of one step: questions first, then their answers."""

    batch: PieceBatch
    contrast: Contrast
    query_rows: int


class TextTrainer:
    """Trains a text encoder; after every epoch it searches the validation pairs' answers among all answers."""

    def __init__(
        self,
        shard: Shard,
        texts: TextShard,
        base: TextEncoder,
        training: TextTraining,
        device: str = "auto",
        say: Callable[[str], None] = print,
    ) -> None:
        if len(texts) != len(shard):
            raise MathAMRError(f"{len(texts)} texts do not belong to a shard of {len(shard)} posts")
        self.shard, self.texts, self.training, self.say = shard, texts, training, say
        self.device = chosen_device(device)
        pairs = checked(np.array(shard.pairs, np.int64), len(shard))
        self.train_pairs, self.validation_pairs = split(pairs, training.validation, training.seed)
        self.answers = Answers(pairs, len(shard))
        torch.manual_seed(training.seed)
        self.encoder = TextEncoder(
            projected(base.model, training.projection), base.pieces, device=str(self.device)
        )
        self.loss = ContrastiveLoss(training.temperature, training.beta).to(self.device)
        self.whole = np.array([_whole(post.of, shard, place) for place, post in enumerate(texts.posts)])
        self._budget = BUDGET * (16 if self.device.type == "cuda" else 1)
        self.history: list[dict[str, Any]] = []

    def train(self, until: float = math.inf) -> Iterator[dict[str, Any]]:
        """One row of figures an epoch; stops after a step once the clock (`time.monotonic`) says so."""
        training, model = self.training, self.encoder.model
        torch.manual_seed(training.seed)
        head = list(model.head.parameters()) if model.head is not None else []
        fresh = {id(parameter) for parameter in head}
        body = [parameter for parameter in model.parameters() if id(parameter) not in fresh]
        optimizer = torch.optim.AdamW(
            [
                {"params": body, "weight_decay": training.weight_decay, "lr": training.learning_rate},
                {"params": head, "weight_decay": training.weight_decay, "lr": training.head_rate},
                {"params": list(self.loss.parameters()), "weight_decay": 0.0, "lr": training.head_rate},
            ]
        )
        shape = TrainingConfiguration(learning_rate=1.0, minimum_rate=0.0, warmup=training.warmup)
        rates = [group["lr"] for group in optimizer.param_groups]
        steps = training.epochs * max(1, -(-len(self.train_pairs) // training.batch_size))
        number = 0
        for epoch in range(training.epochs):
            started = time.monotonic()
            batches = self._batches(epoch)
            mined = time.monotonic() - started
            model.train()
            total, done = torch.zeros((), device=self.device), 0
            for step in _made_ahead(self._step, batches):
                for group, highest in zip(optimizer.param_groups, rates, strict=True):
                    group["lr"] = highest * rate(number, steps, shape)
                total += self._learn(step, optimizer)
                number, done = number + 1, done + 1
                if time.monotonic() > until:
                    break
            model.eval()
            loss = float(total) / max(1, done)
            taken = time.monotonic() - started
            row = {
                "epoch": epoch + 1,
                "loss": loss,
                "temperature": float(self.loss.temperature.detach()),
                "seconds": round(taken, 2),
                "mining": round(mined, 2),
                **self.validated(),
            }
            self.history.append(row)
            yield row
            if time.monotonic() > until:
                return

    def _learn(self, step: TextStep, optimizer: torch.optim.Optimizer) -> Tensor:
        batch = step.batch.to(self.device)
        with precision(self.device):
            vectors = vectors_of(self.encoder.model, batch)
        loss: Tensor = self.loss(vectors[: step.query_rows], vectors[step.query_rows :], step.contrast)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.encoder.model.parameters(), self.training.clip)
        optimizer.step()
        return loss.detach()

    def _batches(self, epoch: int) -> list[Places]:
        chance = np.random.default_rng([self.training.seed, 2, epoch])
        pairs = self.train_pairs
        if self.training.neighbours > 1:
            posts, places = np.unique(pairs, return_inverse=True)
            wholes = self._wholes(posts)
            joined = wholes[places.reshape(pairs.shape)].sum(1)
            vectors = nn.functional.normalize(joined, dim=-1)
        else:
            vectors = torch.zeros(len(pairs), 1)
        return neighbour_batches(vectors, self.training.batch_size, self.training.neighbours, chance)

    def _step(self, places: Places) -> TextStep:
        pairs = self.train_pairs[places]
        posts = [self.texts.posts[post] for post in pairs.T.flatten()]
        counts = np.array([len(post.of) for post in posts])
        wholes = np.cumsum(counts) - counts + self.whole[pairs.T.flatten()]
        questions = len(pairs)
        query_rows = int(counts[:questions].sum())
        ignored = self.answers.among(pairs[:, 0], pairs[:, 1])
        np.fill_diagonal(ignored, False)
        contrast = Contrast(
            Rows.of(counts[:questions], self.device),
            Rows.of(counts[questions:], self.device),
            torch.from_numpy(ignored).to(self.device),
            torch.from_numpy(wholes[:questions]).to(self.device),
            torch.from_numpy(wholes[questions:] - query_rows).to(self.device),
        )
        return TextStep(batch_of(posts, self.encoder.pieces, groups=4), contrast, query_rows)

    def _wholes(self, posts: Sequence[int] | Places) -> Tensor:
        """The vectors of whole posts; their parts are left out."""
        chosen = [_only(self.texts.posts[post], int(self.whole[post])) for post in posts]
        rows = self.encoder.encode_pieces(chosen, self._budget)
        return torch.from_numpy(np.concatenate([row.vectors for row in rows])).to(self.device)

    def vectors(self, posts: Sequence[int] | Places) -> list[TextVectors]:
        """The vectors of posts by number."""
        return self.encoder.encode_pieces([self.texts.posts[post] for post in posts], self._budget)

    def validated(self, most: int = 500) -> dict[str, float]:
        """MRR@10 of the validation questions' answers among all answers of the shard, by both ways of scoring."""
        asked = self.validation_pairs[:most]
        if not len(asked):
            return {}
        documents = np.unique(np.array(self.shard.pairs)[:, 1])
        own = np.searchsorted(documents, asked[:, 1])
        questions, answers = self.vectors(asked[:, 0]), self.vectors(documents)
        ignored = torch.from_numpy(self.answers.among(asked[:, 0], documents)).to(self.device)
        ignored[torch.arange(len(own)), torch.from_numpy(own)] = False
        by_whole = (
            torch.from_numpy(_stacked(questions, asked[:, 0], self.whole)).to(self.device)
            @ torch.from_numpy(_stacked(answers, documents, self.whole)).to(self.device).T
        )
        with torch.inference_mode():
            by_parts = self._by_parts(questions, answers)
        return {
            "mrr": _reciprocal(by_whole, own, ignored),
            "mrr_maxsim": _reciprocal(by_parts, own, ignored),
            "among": float(len(documents)),
        }

    def _by_parts(self, questions: Sequence[TextVectors], answers: Sequence[TextVectors]) -> Tensor:
        """MaxSim of questions and answers by their parts."""
        documents = torch.from_numpy(np.concatenate([row.vectors for row in answers])).to(self.device)
        owners = np.repeat(np.arange(len(answers)), [len(row.of) for row in answers])
        of = torch.from_numpy(owners).to(self.device)
        scores = torch.empty(len(questions), len(answers), device=self.device)
        for place, row in enumerate(questions):
            similar = torch.from_numpy(row.vectors).to(self.device) @ documents.T
            best = similar.new_full((len(similar), len(answers)), -1.0)
            best.scatter_reduce_(1, of.expand(len(similar), -1), similar, "amax")
            scores[place] = best.mean(0)
        return scores


def projected(model: Transformer, size: int) -> Transformer:
    """A copy of a transformer with a projection to vectors of this size, orthogonal to start with."""
    from dataclasses import replace

    copy = Transformer(replace(model.configuration, projection=size))
    weights = model.state_dict()
    if copy.head is not None and model.head is None:
        weights["head.weight"] = nn.init.orthogonal_(torch.empty(size, model.configuration.size))
    copy.load_state_dict(weights)
    return copy


def _whole(of: Any, shard: Shard, place: int) -> int:
    """Which of a post's spans is the whole post: the last representative; where it has no text, its first span."""
    last = int(shard.starts["reps"][place + 1] - shard.starts["reps"][place]) - 1
    (found,) = np.nonzero(of == last)
    if not len(of):
        raise MathAMRError(f"the post {shard.ids[place]!r} has no text")
    return int(found[0]) if len(found) else 0


def _only(post: Pieces, span: int) -> Pieces:
    chosen = slice(span, span + 1)
    return Pieces(post.numbers, post.of[chosen], post.starts[chosen], post.ends[chosen])


def _stacked(found: Sequence[TextVectors], posts: Any, whole: Any) -> Any:
    return np.stack([row.vectors[whole[post]] for post, row in zip(posts, found, strict=True)])


def _reciprocal(scores: Tensor, own: Any, ignored: Tensor) -> float:
    places = torch.from_numpy(own).to(scores.device)
    target = scores.gather(1, places[:, None])
    better = ((scores > target) & ~ignored).sum(1) + 1
    return float(torch.where(better <= 10, 1 / better, 0.0).mean())


def _made_ahead(make: Callable[[Places], TextStep], batches: Sequence[Places]) -> Iterator[TextStep]:
    """The steps in order, each made while those before it are learned."""
    with ThreadPoolExecutor(_AHEAD) as pool:
        waiting: list[Future[TextStep]] = [pool.submit(make, places) for places in batches[:_AHEAD]]
        for number in range(len(batches)):
            step = waiting.pop(0).result()
            if number + _AHEAD < len(batches):
                waiting.append(pool.submit(make, batches[number + _AHEAD]))
            yield step
