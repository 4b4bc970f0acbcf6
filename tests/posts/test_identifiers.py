from __future__ import annotations

from mathamr.posts.identifiers import SeenIds


def test_it_grows_without_losing_an_id():
    seen = SeenIds()
    assert all(seen.add(str(n)) for n in range(50_000))
    assert not any(seen.add(str(n)) for n in range(50_000))
    assert len(seen) == 50_000
