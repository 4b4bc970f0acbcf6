"""Finds posts whose formulas are stored under keys that this version does not make."""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import suppress

from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.indexing.analysis import visual_keys

BATCH = 500
"""Posts that are read together."""


def posts_with_other_keys(catalogue: Catalogue, without: Container[str] = ()) -> Iterator[str]:
    """Yield the posts whose formulas have other visual classes in the catalogue than they would get now.

    An exact formula is not found in them. Such an index comes of an update by a version that read formulas otherwise than the one
    before and did not notice.
    """
    for posts in batches(catalogue.every_post(without), BATCH):
        stored = catalogue.keys_of([post.id for post in posts])
        for post in posts:
            before = stored.get(post.id, {})
            with suppress(MathAMRError):
                if any(before.get(place, key) != key for place, key in enumerate(visual_keys(post))):
                    yield post.id
