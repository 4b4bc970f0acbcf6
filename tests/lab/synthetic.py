"""Shards of synthetic graphs with the shape of real ones, whose pairs share a topic: for benchmarks and tests."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.graphs.flatgraph import DOCUMENT_EDGE, FORMULA_EDGE, SENTENCE_EDGE, VIRTUAL_EDGES, NodePart
from mathamr.graphs.shard import FORMAT, Shard
from mathamr.graphs.vocabulary import SPECIAL, UNKNOWN_RELATION, RelationVocabulary, Vocabulary
from mathamr.posts.level import Level

_ROLES = 1 + len(VIRTUAL_EDGES)


def synthetic_shard(
    pairs: int,
    *,
    seed: int = 0,
    labels: int = 20_000,
    relations: int = 266,
    formulas: float = 8.7,
    sentences: float = 6.6,
    sentence_nodes: float = 8.0,
    formula_nodes: float = 14.0,
    topic: float = 0.3,
    topic_labels: int = 12,
) -> Shard:
    """Makes questions 0, 2, 4… and their answers 1, 3, 5…; the sizes are means per post, by default those of the thesis's corpus.

    A share `topic` of the nodes of a pair has one of the `topic_labels` labels of the pair.
    """
    draw = np.random.default_rng(seed)
    posts = 2 * pairs
    counts = np.stack([1 + draw.poisson(max(0.0, sentences - 1), posts), draw.poisson(formulas, posts)], 1)
    part_posts = np.repeat(np.arange(posts), counts.sum(1))
    within = np.arange(len(part_posts)) - np.repeat(np.cumsum(counts.sum(1)) - counts.sum(1), counts.sum(1))
    is_formula = within >= counts[part_posts, 0]
    sizes = 2 + draw.poisson(np.where(is_formula, formula_nodes - 2, sentence_nodes - 2))
    real = np.bincount(part_posts, sizes, posts).astype(np.int64)
    part_starts = np.cumsum(sizes) - sizes
    first = part_starts - np.repeat((np.cumsum(real) - real), counts.sum(1))
    # Virtual nodes are ordered: formulas, then sentences, then the document.
    virtual = real[part_posts] + np.where(
        is_formula, within - counts[part_posts, 0], counts[part_posts, 1] + within
    )
    nodes = real + counts.sum(1) + 1

    node_parts = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(node_parts)) - part_starts[node_parts]
    local = first[node_parts] + place
    inner = place > 0
    parents = (draw.random(len(place)) * place).astype(np.int64)
    names = 2 * (_zipf(draw, relations - _ROLES, len(place)) + _ROLES)
    later = within > 0
    edges = [
        _edges(
            part_posts[node_parts][inner], (first[node_parts] + parents)[inner], names[inner], local[inner]
        ),
        _edges(part_posts[later], np.zeros(later.sum()), 2 * _ROLES, first[later]),
        _edges(
            part_posts[node_parts],
            virtual[node_parts],
            np.where(is_formula[node_parts], _role(FORMULA_EDGE), _role(SENTENCE_EDGE)),
            local,
        ),
        _edges(part_posts, nodes[part_posts] - 1, _role(DOCUMENT_EDGE), virtual),
        _edges(np.arange(posts), nodes - 1, _role(DOCUMENT_EDGE), np.zeros(posts)),
    ]
    table = np.concatenate(edges)
    table = table[np.argsort(table[:, 0], kind="stable")]

    ids = len(SPECIAL) + _zipf(draw, labels - len(SPECIAL), len(place))
    topics = len(SPECIAL) + draw.integers(0, labels - len(SPECIAL), (pairs, topic_labels))
    own = topics[part_posts[node_parts] // 2, draw.integers(0, topic_labels, len(place))]
    ids = np.where(draw.random(len(place)) < topic, own, ids)
    starts = {"nodes": _starts(nodes), "edges": _starts(np.bincount(table[:, 0], minlength=posts))}
    starts["reps"] = _starts(counts.sum(1) + 1)
    columns = _nodes(starts["nodes"], real, counts, ids, part_posts, local, node_parts, is_formula)
    columns |= {"sources": table[:, 1], "relations": table[:, 2].astype(np.uint16), "targets": table[:, 3]}
    rep_counts = np.diff(starts["reps"])
    columns["representatives"] = np.repeat(real, rep_counts) + _within(rep_counts)
    columns["levels"] = columns["nodes"][
        np.repeat(starts["nodes"][:-1], rep_counts) + columns["representatives"]
    ] - SPECIAL.index("VIRTUAL_FORMULA")
    assert set(np.unique(columns["levels"])) <= {int(level) for level in Level}
    return Shard(
        "both-hierarchy-none",
        tuple(map(str, range(posts))),
        tuple((2 * number, 2 * number + 1) for number in range(pairs)),
        Vocabulary(SPECIAL + tuple(f"label-{n}" for n in range(labels - len(SPECIAL)))),
        RelationVocabulary(
            (UNKNOWN_RELATION, *VIRTUAL_EDGES, *(f":role-{n}" for n in range(relations - _ROLES)))
        ),
        tuple(tuple(map(str, range(count))) for count in rep_counts.tolist()),
        columns,
        starts,
    )


def _nodes(
    starts: AnyArray,
    real: AnyArray,
    counts: AnyArray,
    ids: AnyArray,
    part_posts: AnyArray,
    local: AnyArray,
    node_parts: AnyArray,
    is_formula: AnyArray,
) -> dict[str, AnyArray]:
    """Labels and parts of all nodes: the real ones of each post, then its virtual ones."""
    labels, kinds = np.zeros(starts[-1], np.int32), np.full(starts[-1], int(NodePart.VIRTUAL), np.uint8)
    places = starts[:-1][part_posts[node_parts]] + local
    labels[places] = ids
    kinds[places] = np.where(is_formula[node_parts], int(NodePart.OPT), int(NodePart.CONCEPT))
    virtual = np.stack([counts[:, 1], counts[:, 0], np.ones(len(real), np.int64)], 1)
    special = SPECIAL.index("VIRTUAL_FORMULA") + np.tile(np.arange(3), len(real))
    total = virtual.sum(1)
    labels[np.repeat(starts[:-1] + real, total) + _within(total)] = np.repeat(special, virtual.ravel())
    return {"nodes": labels, "parts": kinds}


def _role(name: str) -> int:
    return 2 * (1 + VIRTUAL_EDGES.index(name))


def _edges(posts: AnyArray, sources: AnyArray, relations: AnyArray | int, targets: AnyArray) -> AnyArray:
    return np.stack([posts, sources, np.broadcast_to(relations, posts.shape), targets], 1).astype(np.int64)


def _zipf(draw: np.random.Generator, bound: int, count: int) -> AnyArray:
    """Draws numbers below the bound, low ones far more often: uniform in their logarithm."""
    return np.minimum((bound + 1) ** draw.random(count) - 1, bound - 1).astype(np.int64)


def _starts(counts: AnyArray) -> AnyArray:
    return np.append(0, np.cumsum(counts)).astype(np.int64)


def _within(counts: AnyArray) -> AnyArray:
    found: AnyArray = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return found


def save(shard: Shard, path: Path) -> None:
    """Writes a shard as `mathamr.graphs.shard.export` would."""
    head = {
        "format": FORMAT,
        "configuration": shard.configuration,
        "ids": shard.ids,
        "labels": shard.vocabulary.labels,
        "relations": shard.relations.relations,
        "references": shard.references,
    }
    arrays = {name: shard.columns[name] for name in ("nodes", "parts", "relations", "levels")}
    arrays |= {
        name: np.diff(shard.columns[name].astype(np.int64), prepend=0)
        for name in ("sources", "targets", "representatives")
    }
    arrays |= {f"count_{name}": np.diff(starts).astype(np.int32) for name, starts in shard.starts.items()}
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            allow_pickle=False,
            head=np.frombuffer(json.dumps(head).encode(), np.uint8),
            pairs=np.array(shard.pairs, np.int32).reshape(-1, 2),
            **arrays,
        )
