"""`Reranker`: reads a query together with each post that was found, and says how well the post answers it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mathamr.errors import MathAMRError, MissingExtraError
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.settings import RERANKER
from mathamr.systems.modelfolder import CONFIG

if TYPE_CHECKING:
    from mathamr.layers.language.pairlengths import Numbers
    from mathamr.layers.language.quantisedcross import QuantisedCross

NAME, RUNTIME = "cross", "onnxruntime"
LONGEST = 6_000
"""Characters of a post that are read: more than the pieces that the cross-encoder takes of it."""


class Reranker:
    """A cross-encoder over posts."""

    def __init__(self, cross: QuantisedCross) -> None:
        self._cross = cross

    def scores(self, query: Post, posts: Sequence[Post]) -> list[float]:
        """One score a post, in their order; higher is better, and only those of one query compare."""
        if not posts:
            return []
        asked, *given = self._pieces([query, *posts])
        return self._cross.scores(asked, given)

    def _pieces(self, posts: Sequence[Post]) -> list[Numbers]:
        from mathamr.layers.language.wording import wording_alone

        wordings = [wording_alone(_shortened(post))[0] for post in posts]
        return [cut.numbers for cut in self._cross.pieces.cut(wordings)]


def _shortened(post: Post) -> Post:
    """The beginning of a long post: the rest would only be cut off later."""
    if len(post.body) <= LONGEST:
        return post
    body = post.body[:LONGEST]
    return replace(post, body=body, formulas=formulas_of(post.id, post.title, body, post.markup))


def reranker_folder() -> Path:
    """Where the reranker is: the folder that `MATHAMR_RERANKER` names, or the one in the box."""
    if RERANKER.value:
        return RERANKER.path
    return Path(str(resources.files("mathamr.systems") / "box" / "rerank" / NAME))


def has_reranker() -> bool:
    """Whether there is one that can be loaded."""
    return (reranker_folder() / CONFIG).is_file() and find_spec(RUNTIME) is not None


def check_reranker() -> None:
    """Says what to do where there is none that can be loaded."""
    folder = reranker_folder()
    if not (folder / CONFIG).is_file():
        raise MathAMRError(
            f"there is no reranker in {folder}; train one with `mathamr train cross POSTS --out FOLDER` and name"
            f" FOLDER/model in {RERANKER.name}, or search without reranking"
        )
    if find_spec(RUNTIME) is None:
        raise MissingExtraError("ONNX Runtime, which the reranker needs", "pip install onnxruntime")


def load_reranker() -> Reranker:
    """The reranker, loaded once a process."""
    check_reranker()
    return _loaded(reranker_folder())


@lru_cache(maxsize=1)
def _loaded(folder: Path) -> Reranker:
    from mathamr.layers.language.quantisedcross import QuantisedCross, read_cross

    return Reranker(QuantisedCross(read_cross(folder)))
