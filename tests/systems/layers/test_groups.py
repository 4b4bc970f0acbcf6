from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mathamr.systems.layers.groups import EdgeGroups, radix_argsort


@given(st.lists(st.integers(0, 200_000), max_size=60))
def test_radix_argsort_is_a_stable_argsort(numbers: list[int]) -> None:
    array = np.array(numbers, np.int64)
    expected = np.argsort(array, kind="stable")
    assert radix_argsort(array, 200_001).tolist() == expected.tolist()


@given(st.data(), st.integers(1, 12))
def test_groups_hold_every_edge_once_in_each_of_the_three_orders(data: st.DataObject, nodes: int) -> None:
    edge = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1), st.integers(0, 4))
    edges = data.draw(st.lists(edge, max_size=40))
    array = np.array(edges, np.int64).reshape(-1, 3)
    groups = EdgeGroups.of(array[:, 0], array[:, 1], array[:, 2], nodes)
    members: dict[tuple[int, int], list[int]] = {}
    for source, target, relation in edges:
        members.setdefault((relation, target), []).append(source)
    keys = sorted(members)
    starts = groups.starts.tolist()
    found = [
        (groups.relations[rank], target)
        for rank, target in zip(groups.ranks.tolist(), groups.targets.tolist(), strict=True)
    ]
    assert found == keys
    for number, key in enumerate(keys):
        inside = slice(starts[number], starts[number + 1])
        assert sorted(groups.sources[inside].tolist()) == sorted(members[key])
        assert np.allclose(groups.weights[inside].numpy(), 1 / len(members[key]))
    for node in range(nodes):
        fed = groups.fed[groups.fed_starts[node] : groups.fed_starts[node + 1]].tolist()
        assert sorted(fed) == sorted(
            n for n, key in enumerate(keys) for source in members[key] if source == node
        )
        reached = groups.reached[groups.reached_starts[node] : groups.reached_starts[node + 1]].tolist()
        assert sorted(reached) == [n for n, (_, target) in enumerate(keys) if target == node]
    for relation in range(6):
        span, edge_span = groups.span(relation)
        assert [keys[n] for n in range(span.start, span.stop)] == [key for key in keys if key[0] == relation]
        assert edge_span.stop - edge_span.start == sum(1 for edge in edges if edge[2] == relation)
