from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mathamr.posts.identifiers import SeenIds


@given(st.lists(st.text("ab1", max_size=4)))
def test_an_id_is_new_exactly_once(ids):
    seen, wanted = SeenIds(), set()
    for identifier in ids:
        assert seen.add(identifier) == (identifier not in wanted)
        wanted.add(identifier)
    assert len(seen) == len(wanted)


def test_it_grows_without_losing_an_id():
    seen = SeenIds()
    assert all(seen.add(str(n)) for n in range(50_000))
    assert not any(seen.add(str(n)) for n in range(50_000))
    assert len(seen) == 50_000
