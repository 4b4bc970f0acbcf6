from __future__ import annotations

import numpy as np

from mathamr.graphs.shard import Shard
from mathamr.graphs.virtual import FORMULA_EDGE
from mathamr.posts.level import Level
from mathamr_lab.systems.mathamrplus.graph.formulapairs import FormulaBags


def test_bags_hold_the_labels_of_every_formulas_nodes(shard: Shard) -> None:
    bags = FormulaBags.of(shard)
    relation = shard.relations.number(FORMULA_EDGE)
    number = 0
    for post in range(len(shard)):
        tensor = shard[post]
        for place, (node, level) in enumerate(zip(tensor.representatives, tensor.levels, strict=True)):
            found = int(bags.formulas[shard.starts["reps"][post] + place])
            if level != Level.FORMULA:
                assert found == -1
                continue
            assert found == number
            number += 1
            own = (tensor.edge_index[0] == node) & (tensor.relation_ids == relation)
            expected = sorted(tensor.node_ids[tensor.edge_index[1, own]].tolist())
            assert bags.labels[bags.starts[found] : bags.starts[found + 1]].tolist() == expected


def test_the_likest_formula_is_found_and_small_or_unlike_ones_are_not() -> None:
    lists = [[10, 11, 12, 13], [10, 11], [10, 11, 12, 13, 14], [1, 2, 3, 4], [10, 11]]
    starts = np.append(0, np.cumsum([len(row) for row in lists]))
    labels = np.array([label for row in lists for label in row])
    bags = FormulaBags(starts, labels, np.arange(5), np.zeros(5, np.uint64))
    assert bags.shared(np.array([0, 1, 3]), np.array([4, 2])) == [(0, 1)]
    assert bags.shared(np.array([], np.int64), np.array([1])) == []


def test_equal_bags_have_equal_hashes(shard: Shard) -> None:
    bags = FormulaBags.of(shard)
    seen: dict[tuple[int, ...], int] = {}
    for number in range(len(bags.starts) - 1):
        key = tuple(bags.labels[bags.starts[number] : bags.starts[number + 1]].tolist())
        assert seen.setdefault(key, int(bags.hashes[number])) == int(bags.hashes[number])
    assert len(set(seen.values())) == len(seen)
