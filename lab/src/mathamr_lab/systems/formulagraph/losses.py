"""The losses over nodes (Amador and Zanibbi, equations 2 and 3), and one that learns an order from a teacher."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

LEAST = 1e-3
"""The lower bound of MaxSim in a harmonic mean, which needs positive numbers."""


def node_losses(ours: Tensor, owners: Tensor, theirs: Tensor, starts: Tensor, temperature: float) -> Tensor:
    """Return the loss of equation 2 for every node of the first graphs.

    Its partner in each graph of the second kind is the node with the highest cosine; the one of its own formula is
    positive, those of all other formulas of the batch are negative.
    """
    owners = owners.long()
    best = best_in_each(ours, theirs, starts) / temperature
    positive = best.gather(0, owners[None])[0]
    own = torch.zeros_like(best, dtype=torch.bool).scatter_(0, owners[None], True)
    return best.masked_fill(own, -torch.inf).logsumexp(0) - positive


def best_in_each(ours: Tensor, theirs: Tensor, starts: Tensor) -> Tensor:
    """Return the highest cosine of every node of ours (columns) in each graph of theirs (rows).

    Graph i has the vectors from `starts[i]` to `starts[i + 1]`. Nodes that are equally similar share the gradient. That of
    `torch.segment_reduce` divides a positive gradient among them and gives each the whole of a negative one, which pulls
    the nodes of one formula together as often as they have doubles.
    """
    similar, lengths = theirs @ ours.T, starts.diff().long()
    with torch.no_grad():
        best = torch.segment_reduce(similar, "max", lengths=lengths, axis=0, unsafe=True)
        is_best = (similar == best.repeat_interleave(lengths, 0, output_size=len(similar))).to(similar.dtype)
        doubles = torch.segment_reduce(is_best, "sum", lengths=lengths, axis=0, unsafe=True)
        shares = is_best / doubles.repeat_interleave(lengths, 0, output_size=len(similar))
    return torch.segment_reduce(similar * shares, "sum", lengths=lengths, axis=0, unsafe=True)


def joint_loss(of_pairs: Sequence[tuple[str, Tensor]]) -> Tensor:
    """Return the loss of equation 3: the mean over both views of the mean loss of their nodes, averaged over the pairings of
    each.

    Every entry is the view of the first graph of a pairing and the losses of its nodes.
    """
    views = sorted({view for view, _ in of_pairs})
    means = [
        torch.stack([losses.mean() for view, losses in of_pairs if view == each]).mean() for each in views
    ]
    return torch.stack(means).mean()


def mutual_scores(
    queries: Tensor, query_starts: Tensor, theirs: Tensor, starts: Tensor, pairs: tuple[Tensor, Tensor]
) -> Tensor:
    """Return for pairs (query, other) the harmonic mean of MaxSim in both directions.

    MaxSim itself (equation 4) measures only what of the query is in the other formula, not what else it contains.
    """
    there = maxsim_scores(queries, query_starts, theirs, starts)
    back = maxsim_scores(theirs, starts, queries, query_starts)
    ours, others = pairs
    one, two = there[ours, others].clamp(min=LEAST), back[others, ours].clamp(min=LEAST)
    return 2 * one * two / (one + two)


def maxsim_scores(ours: Tensor, our_starts: Tensor, theirs: Tensor, starts: Tensor) -> Tensor:
    """Return MaxSim (equation 4, as a mean) of every formula of ours with every one of theirs."""
    return segment_means(best_in_each(ours, theirs, starts).T.contiguous(), our_starts)


def segment_means(values: Tensor, starts: Tensor) -> Tensor:
    """Return the means of runs of rows."""
    return torch.segment_reduce(values, "mean", lengths=starts.diff().long(), axis=0, unsafe=True)


def near_loss(scores: Tensor, places: Tensor, is_near: Tensor, temperature: float) -> Tensor:
    """Return the mean loss of finding, for each row, the near formula in column `places` among all that are not near."""
    ignored = is_near.scatter(1, places[:, None], False)
    return functional.cross_entropy((scores / temperature).masked_fill(ignored, -torch.inf), places)


def order_loss(scores: Tensor, wanted: Tensor, temperature: float) -> Tensor:
    """Return the mean divergence between the order of candidates (a row for each query) and a teacher's, both as distributions."""
    return functional.kl_div(
        (scores / temperature).log_softmax(1),
        (wanted / temperature).log_softmax(1),
        log_target=True,
        reduction="batchmean",
    )
