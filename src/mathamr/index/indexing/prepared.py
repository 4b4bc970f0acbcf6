"""Computes the vectors of posts that are about to be stored, while the index can still be searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mathamr.core.batches import batches
from mathamr.core.workers import Lost
from mathamr.graphs.corpus import stored_post
from mathamr.index.catalogue.journal import unpacked
from mathamr.index.indexing.analysis import AnalysedPost
from mathamr.index.indexing.encoding import (
    Derived,
    Material,
    Prepared,
    ReadFormula,
    derive,
    encode_visuals,
    source_digest,
)
from mathamr.index.storage import IndexStorage
from mathamr.posts.post import Post
from mathamr.systems.vectors import Vectors

VISUALS = 8
"""Visual classes that are encoded at a time; a query waits for so many at most."""


def prepare(archive: IndexStorage, posts: Sequence[AnalysedPost]) -> Prepared:
    """Encode new posts and new visual classes without holding up queries for long."""
    read = [unpacked(post.row.packed) for post in posts]
    known = archive.catalogue.known_meanings(read)
    targets = {each.of for each in archive.manifest.model.fields}
    derived: dict[bytes, Derived] = {}
    for post, analysed in zip(read, posts, strict=True):
        if targets & {"posts", "formulas"} and post.id not in known:
            material = Material(analysed.row.packed, analysed.row.passage)
            if archive.has_graphs:
                answer = archive.work([post.to_json()])  # the worker process has made it already
                if isinstance(answer, Lost):
                    continue
                material = replace(material, graph=stored_post(answer[0]).text)
            with archive.encoding.yielding():
                (derived[material.packed],) = derive(archive.system, [material])
    visuals = [post.row.visuals for post in posts]
    return Prepared(derived, _visuals(archive, read, visuals) if "visual" in targets else {})


def _visuals(
    archive: IndexStorage, posts: Sequence[Post], visuals: Sequence[Sequence[str]]
) -> dict[bytes, Mapping[str, Vectors]]:
    first: dict[str, ReadFormula] = {}
    for post, keys in zip(posts, visuals, strict=True):
        for formula, key in zip(post.formulas, keys, strict=True):
            first.setdefault(key, (formula, post.macros))
    known = archive.catalogue.visuals(list(first))
    encoded: dict[bytes, Mapping[str, Vectors]] = {}
    for batch in batches(((key, read) for key, read in first.items() if key not in known), VISUALS):
        with archive.encoding.yielding():
            for (_, read), rows in zip(batch, encode_visuals(archive.system, batch), strict=True):
                encoded[source_digest(*read)] = rows
    return encoded
