"""Joins a trained graph network and a trained text encoder into one model, and chooses the weight of each.

The text encoder learns through a projection, but its states hold more than the projection keeps: the model keeps their
principal components instead. The shares of text and graph are chosen on validation pairs that neither was trained on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from mathamr.core.arrays import BoolArray, FloatArray, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.graphs.shard import Shard
from mathamr.systems.mathamrplus.graphencoder import GraphEncoder
from mathamr.systems.mathamrplus.postencoder import PostEncoder, Shares
from mathamr.systems.vectors import Vectors
from mathamr.text.encoder import TextEncoder
from mathamr.text.transformer import Transformer
from mathamr_lab.systems.mathamrplus.text.shard import TextShard
from mathamr_lab.training.optimiser import Optimiser, ParameterGroup, Schedule
from mathamr_lab.training.pairs import checked, split

SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def between(base: TextEncoder, tuned: TextEncoder, share: float) -> TextEncoder:
    """Interpolate between two encoders: this share of the tuned weights, the rest of the base.

    This restores what a tuned model forgot of texts outside its training (Wortsman et al., "Robust fine-tuning",
    2022). The head, which the base does not have, is that of the tuned one.
    """
    if not 0 <= share <= 1:
        raise MathAMRError(f"the learned share must be from 0 to 1, got {share}")
    before, after = base.model.state_dict(), dict(tuned.model.state_dict())
    for name, weights in before.items():
        if name not in after or after[name].shape != weights.shape:
            raise MathAMRError(f"the two text encoders have different shapes: {name}")
        after[name] = weights + share * (after[name] - weights)
    model = Transformer(tuned.model.configuration)
    model.load_state_dict(after)
    return TextEncoder(model, tuned.pieces, device=str(tuned.device))


def averaged(encoders: Sequence[TextEncoder]) -> TextEncoder:
    """Average the weights of several encoders that had the same start."""
    states = [encoder.model.state_dict() for encoder in encoders]
    if any(
        state.keys() != states[0].keys() or any(state[name].shape != states[0][name].shape for name in state)
        for state in states
    ):
        raise MathAMRError("encoders of different shapes cannot be averaged")
    model = Transformer(encoders[0].model.configuration)
    model.load_state_dict(
        {name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]}
    )
    return TextEncoder(model, encoders[0].pieces, device=str(encoders[0].device))


def without_head(encoder: TextEncoder) -> TextEncoder:
    """Return the encoder without its projection: its vectors are the means of its states."""
    return _headed(encoder, None)


def with_principal_components(
    encoder: TextEncoder, texts: TextShard, size: int, most: int = 2000
) -> TextEncoder:
    """Return the encoder with a projection to the first principal components of its states, computed on some of the texts."""
    return _headed(encoder, _components(_vectors_of_some(encoder, texts, most), size))


def with_learned_projection(
    encoder: TextEncoder, texts: TextShard, size: int, *, most: int = 20_000, steps: int = 1500
) -> TextEncoder:
    """Return the encoder with a projection that keeps the order of similar texts, trained from the principal components.

    A step compares vectors of some of the texts with their nearest neighbours, before and after the projection, by the divergence of
    the two distributions. The encoder itself does not change.
    """
    device, generator = encoder.device, torch.Generator().manual_seed(0)
    found = _vectors_of_some(encoder, texts, most)
    head = torch.nn.Parameter(_components(found[: 4 * most], size).to(device))
    rows = torch.from_numpy(found).to(device)
    optimiser = Optimiser([ParameterGroup(parameters={"head": head}, rate=1e-3)], Schedule(steps))
    for number in range(steps):
        drawn = rows[torch.randint(len(rows), (_DRAWN,), generator=generator).to(device)]
        near = (drawn @ rows.T).topk(min(_NEAREST, len(rows))).indices
        near = torch.unique(near)
        loss = _divergence(drawn @ head.T, rows[near] @ head.T, drawn @ rows[near].T)
        optimiser.minimise(loss, number)
    return _headed(encoder, head.detach().cpu())


_DRAWN, _NEAREST, _SHARPNESS = 256, 16, 0.04


def _divergence(drawn: torch.Tensor, near: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    normal = torch.nn.functional.normalize
    similar = normal(drawn, dim=-1) @ normal(near, dim=-1).T
    return torch.nn.functional.kl_div(
        torch.log_softmax(similar / _SHARPNESS, -1),
        torch.log_softmax(wanted / _SHARPNESS, -1),
        reduction="batchmean",
        log_target=True,
    )


def _vectors_of_some(encoder: TextEncoder, texts: TextShard, most: int) -> FloatArray:
    plain = without_head(encoder)
    places = np.random.default_rng(0).permutation(len(texts))[:most]
    found = [row.vectors for row in plain.encode_pieces([texts.posts[place] for place in places])]
    return np.concatenate([np.zeros((0, plain.size), np.float32), *found])


def _components(vectors: FloatArray, size: int) -> torch.Tensor:
    """Return the first principal components, about the origin, not the mean, so that cosines are preserved."""
    if len(vectors) < size:
        raise MathAMRError(f"{len(vectors)} vectors of texts are too few for {size} principal components")
    exact = vectors.astype(np.float64)
    _, directions = np.linalg.eigh(exact.T @ exact)
    return torch.from_numpy(directions[:, ::-1][:, :size].T.astype(np.float32).copy())


def _headed(encoder: TextEncoder, head: torch.Tensor | None) -> TextEncoder:
    size = 0 if head is None else len(head)
    model = Transformer(replace(encoder.model.configuration, projection=size))
    weights = {name: tensor for name, tensor in encoder.model.state_dict().items() if name != "head.weight"}
    if head is not None:
        weights["head.weight"] = head
    model.load_state_dict(weights)
    return TextEncoder(model, encoder.pieces, device=str(encoder.device))


@dataclass(frozen=True, eq=False)
class Trial:
    """Posts with the vectors of both encoders, and which of them are questions and answers: shares are tried on them."""

    pairs: IntArray
    documents: IntArray
    ignored: BoolArray
    graph: dict[int, Vectors]
    text: dict[int, Any]

    def reciprocal(self, shares: Shares, size: int) -> float:
        """Return MRR@10 of the validation questions' answers by MaxSim with these shares."""
        answers = [self._joined(int(post), shares, size) for post in self.documents]
        table = np.concatenate(answers)
        counts = np.array([len(rows) for rows in answers])
        starts = np.cumsum(counts) - counts
        own = np.searchsorted(self.documents, self.pairs[:, 1])
        total = 0.0
        for place, (question, _) in enumerate(self.pairs):
            similar = self._joined(int(question), shares, size) @ table.T
            scores = np.maximum.reduceat(similar, starts, axis=1).mean(0)
            better = int(((scores > scores[own[place]]) & ~self.ignored[place]).sum())
            total += 1 / (better + 1) if better < 10 else 0.0
        return total / max(1, len(self.pairs))

    def _joined(self, post: int, shares: Shares, size: int) -> FloatArray:
        return PostEncoder.side_by_side(self.graph[post], self.text[post], shares, size).vectors


def trial(
    shard: Shard,
    texts: TextShard,
    graph: GraphEncoder,
    text: TextEncoder,
    *,
    validation: float = 0.1,
    seed: int = 0,
    others: int = 3000,
) -> Trial:
    """Encode the validation pairs of a training, with further answers, by both encoders."""
    pairs = checked(np.array(shard.pairs, np.int64), len(shard))
    _, held = split(pairs, validation, seed)
    if not len(held):
        raise MathAMRError("there are no validation pairs to choose shares on: set them (join.shares=A,B,C)")
    rest = np.setdiff1d(np.unique(pairs[:, 1]), held[:, 1])
    drawn = np.random.default_rng(1).permutation(rest)[:others]
    documents = np.union1d(held[:, 1], drawn)
    posts = np.union1d(documents, held[:, 0])
    answered = {(int(question), int(answer)) for question, answer in pairs}
    ignored = np.array(
        [[(int(q), int(d)) in answered and d != a for d in documents] for q, a in held], np.bool_
    ).reshape(len(held), len(documents))
    graphs = dict(zip(posts.tolist(), graph.encode(shard[int(post)] for post in posts), strict=True))
    worded = text.encode_pieces([texts.posts[int(post)] for post in posts])
    return Trial(held, documents, ignored, graphs, dict(zip(posts.tolist(), worded, strict=True)))


def chosen_shares(
    tried: Trial, size: int, shares: Sequence[float] = SHARES
) -> tuple[Shares, list[dict[str, float]]]:
    """Return the shares with the best MRR@10 of the validation pairs: one for all levels first, then one for formulas."""
    rows: list[dict[str, float]] = []

    def worth(candidate: Shares) -> float:
        found = tried.reciprocal(candidate, size)
        rows.append({**candidate.to_json(), "mrr": found})
        return found

    same: Iterable[Shares] = (Shares(share, share, share) for share in shares)
    best = max(same, key=worth)
    formulas = [replace(best, formula=share) for share in shares if share != best.formula]
    worths = {candidate: worth(candidate) for candidate in formulas}
    top = max(worths, key=lambda candidate: worths[candidate])
    before = max(row["mrr"] for row in rows[: len(shares)])
    return (top if worths[top] > before else best), rows
