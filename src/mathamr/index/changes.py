"""Single changes to an open index: posts put and deleted one by one, each acknowledged when it is safe."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.errors import MathAMRError
from mathamr.index.archive import Archive
from mathamr.index.entries import visual_keys
from mathamr.index.intake import check_usable
from mathamr.index.stages import settle
from mathamr.posts.post import Post

OWN_INPUT = ""
"""The input of posts that came from no file: only `delete` removes them."""


def put(archive: Archive, posts: Sequence[Post]) -> None:
    """Adds or replaces posts; they belong to no file from then on, so no later reading of a file changes them."""
    _check_writable(archive)
    for post in posts:
        check_usable(post)
    visuals = [visual_keys(post) for post in posts]
    with archive.writing:
        with archive.catalogue.transaction():
            for post, keys in zip(posts, visuals, strict=True):
                archive.catalogue.put(post, OWN_INPUT, keys)
        settle(archive)


def delete(archive: Archive, ids: Sequence[str]) -> list[str]:
    """Deletes posts; which of them were there. A post of a file comes back when the file is read again."""
    _check_writable(archive)
    with archive.writing:
        with archive.catalogue.transaction():
            gone = [post_id for post_id in dict.fromkeys(ids) if archive.catalogue.delete(post_id)]
        if gone:
            settle(archive)
    return gone


def _check_writable(archive: Archive) -> None:
    if archive.read_only:
        raise MathAMRError(f"the index {archive.folder} was opened for reading only")
