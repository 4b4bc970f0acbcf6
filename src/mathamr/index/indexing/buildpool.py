"""`BuildPool`: the workers of a build. They compute visual keys and terms of many posts; a few posts are done in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any, TypeVar

from mathamr.core.batches import batches
from mathamr.core.closing import Closing
from mathamr.core.errors import MathAMRError
from mathamr.core.workers import Allowance, Lost, Pool, WorkerPool
from mathamr.index.indexing.cluster.clusters import ClusterCounts
from mathamr.index.indexing.formulacache import KEPT, MOST_KEPT, FormulaCache, ParsedPost
from mathamr.index.indexing.visualkeys import visual_keys
from mathamr.index.lexical.bags import Bag, PostBags, formula_bag, from_json, to_json
from mathamr.index.lexical.terms import terms_fingerprint
from mathamr.posts.post import Formula, Post

CHUNK = 24
FEW = 64
"""Up to this many posts are done in this process: starting workers would take longer."""
T = TypeVar("T")
ReadFormula = tuple[Formula, tuple[str, ...]]
"""A formula, and the macros for parsing it."""
Chosen = tuple[Post, Sequence[int]]
"""A post, and the places of some of its formulas."""


class PostWork:
    """The task of a worker: it turns posts or formulas as JSON into their visual keys or terms."""

    @property
    def hello(self) -> str:
        """The fingerprint of the rules for terms, which must be the same on all workers."""
        return terms_fingerprint()

    def __call__(self, request: list[Any]) -> list[Any]:
        """One answer per item; the first element of the request says what to compute."""
        wanted, *items = request
        if wanted == "visual":
            return [to_json(formula_bag(Formula(**formula), tuple(macros))) for formula, macros in items]
        if wanted == "keys":
            return [visual_keys(Post.from_json(line)) for line in items]
        if wanted in ("intake", "intake and trees"):
            with_trees = wanted != "intake"
            return [ParsedPost.of(Post.from_json(line), with_trees).to_json() for line in items]
        made = (_bags((Post.from_json(line), places)) for line, places in items)
        return [(to_json(bag), [*map(to_json, bags)]) for bag, bags in made]


class BuildPool(Closing):
    """Processes of this machine, started when there is enough to do; a context manager."""

    scale = 1
    """Factor by which batches of posts are larger than two processes need."""
    portion = 1
    """About how many seconds of work a worker gets with one request."""
    device = "cpu"
    """The device on which workers encode."""
    has_index = True
    """True if all workers can read the index folder."""
    cluster_counts: ClusterCounts | None = None
    """The work of the cluster, if there is one."""
    keeps_trees = False
    """True if graphs will be computed from the posts, so that caching their trees is worthwhile."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        """Processes on this machine."""
        self.kept = self._empty_cache()
        """The results that were computed while posts were read."""

    @property
    def is_alone(self) -> bool:
        """True if all work is done in this process."""
        return self.workers < 2

    def workers_for(
        self,
        factory: str,
        arguments: Sequence[Any] = (),
        *,
        allowance: Allowance | None = None,
        made_with: str = "",
    ) -> Pool:
        """Workers of one kind, as `WorkerPool` starts them; `made_with` names what the answers depend on besides the requests."""
        return WorkerPool(factory, arguments, workers=self.workers, allowance=allowance)

    def visual_keys(self, posts: Sequence[Post]) -> Iterator[list[str]]:
        """The visual classes of the formulas of each post."""
        yield from self._made("keys", posts, Post.to_json, visual_keys, list)

    def taken_in(self, posts: Sequence[Post]) -> Iterator[list[str]]:
        """The visual keys of the formulas of each post; terms and trees of the same parse are cached for later stages.

        When the cache is full, only the keys are computed.
        """
        if self.kept.is_full:
            yield from self.visual_keys(posts)
            return
        with_trees = self.keeps_trees and self.has_index and not self.is_alone
        made = self._made(
            "intake and trees" if with_trees else "intake",
            posts,
            Post.to_json,
            lambda post: ParsedPost.of(post, with_trees),
            ParsedPost.from_json,
        )
        for post, parsed in zip(posts, made, strict=True):
            self.kept.put(post, parsed)
            yield parsed.keys

    def post_bags(self, chosen: Sequence[Chosen]) -> Iterator[tuple[Bag, list[Bag]]]:
        """The terms of each post, and those of its chosen formulas."""
        kept = [self.kept.bags(post) for post, _ in chosen]
        made = self._made(
            "posts",
            [each for each, bags in zip(chosen, kept, strict=True) if bags is None],
            lambda each: (each[0].to_json(), each[1]),
            _bags,
            lambda answer: (from_json(answer[0]), [*map(from_json, answer[1])]),
        )
        for (_, places), bags in zip(chosen, kept, strict=True):
            yield next(made) if bags is None else (bags.joined(), [bags.formulas[place] for place in places])

    def formula_bags(self, visuals: Sequence[ReadFormula]) -> Iterator[Bag]:
        """The terms of each formula."""
        yield from self._made(
            "visual",
            visuals,
            lambda visual: (asdict(visual[0]), visual[1]),
            lambda visual: formula_bag(*visual),
            from_json,
        )

    def _made(
        self,
        wanted: str,
        items: Sequence[T],
        sent: Callable[[T], Any],
        make: Callable[[T], Any],
        received: Callable[[Any], Any],
    ) -> Iterator[Any]:
        if self.is_alone or len(items) <= FEW:
            yield from map(make, items)
            return
        requests = ([wanted, *map(sent, chunk)] for chunk in batches(items, CHUNK))
        for request, answer in self._pool.map(requests):
            if isinstance(answer, Lost):
                raise MathAMRError(f"a worker was lost ({answer.message}); run the command again to resume")
            yield from understood(received, request, answer)

    @cached_property
    def _pool(self) -> Pool:
        return self.workers_for("mathamr.index.indexing.buildpool:PostWork")

    def close(self) -> None:
        """Ends the workers and clears the cache."""
        self.kept = self._empty_cache()
        self.dismiss()

    def _empty_cache(self) -> FormulaCache:
        return FormulaCache(min(KEPT * self.workers, MOST_KEPT))

    def dismiss(self) -> None:
        """Ends the workers; later work starts new ones."""
        pool = self.__dict__.pop("_pool", None)
        if pool is not None:
            pool.close()


def understood(convert: Callable[[Any], T], request: Sequence[Any], answer: Any) -> Iterator[T]:
    """The answers to the items of a request; a malformed answer raises an error."""
    try:
        if not isinstance(answer, list) or len(answer) != len(request) - 1:
            raise ValueError("not one answer per item")
        made = list(map(convert, answer))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise MathAMRError(
            f"an answer to {request[0]!r} cannot be read ({type(error).__name__}: {error}); if others may write where"
            " the shards are, name another place with --shards"
        ) from error
    yield from made


def _bags(chosen: Chosen) -> tuple[Bag, list[Bag]]:
    post, places = chosen
    bags = PostBags.of(post)
    return bags.joined(), [bags.formulas[place] for place in places]
