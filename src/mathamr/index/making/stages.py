"""The stages that derive an index from its catalogue: graphs, tensors, vectors, lexical entries.

Each takes the posts that its part does not follow yet, some at a time, writes and flushes them, and only then marks
them in the catalogue. Doing some of it twice changes nothing, so a kill at any moment costs no more than the work on
the posts that were not marked yet.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

from mathamr.amr.parser import check_recorded
from mathamr.batches import batches
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.corpus import build_graphs, build_tensors, use_vocabularies
from mathamr.graphs.maker import digest
from mathamr.graphs.store import GraphStore
from mathamr.graphs.tensor import GraphTensor, tensorise
from mathamr.index.archive import GRAPHS, Archive
from mathamr.index.catalogue.journal import Waiting
from mathamr.index.making.crew import FEW, Crew
from mathamr.index.making.entries import Entries, entries_of, is_tagged_by_question
from mathamr.posts.post import Post
from mathamr.progress import Progress

BATCH = 1024
"""Posts whose vectors are written, flushed and marked at a time."""
LEXICAL_BATCH = 2048
"""The same for terms, which take less room; fewer and larger segments are merged less often."""


@dataclass(slots=True)
class Account:
    """What the stages did: seconds and posts by stage, and what needed a fallback on the way to a graph."""

    seconds: dict[str, float] = field(default_factory=dict)
    posts: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[str] = field(default_factory=Counter)
    show: bool = False

    @contextmanager
    def stage(
        self,
        name: str,
        unit: str = "posts",
        total: int | None = None,
        share: Callable[[], float | None] | None = None,
    ) -> Iterator[Progress | None]:
        """Times a stage and shows how far it has come."""
        started = time.perf_counter()
        try:
            with Progress(name, unit, total, share) if self.show else nullcontext() as progress:
                yield progress
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started


class Stages:
    """The stages over one archive that is open for changes; one thread at a time."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._has_vocabularies = False
        """Whether the graph store is known to have the model's vocabularies: single changes need not look again."""

    def settle(self, *, crew: Crew | None = None, account: Account | None = None) -> Account:
        """Lets all parts follow the catalogue; nothing to do is done at once."""
        account, crew = account or Account(), crew or Crew()
        catalogue, workers = self._archive.catalogue, crew.workers
        if catalogue.count_waiting("graph"):
            self.make_graphs(workers, account)
        if count := catalogue.count_waiting("vectors"):
            if count > FEW:
                self.make_tensors(workers, account)
            self.make_vectors(account)
        if catalogue.count_waiting("lexical") or catalogue.stale_visuals(1):
            self.make_lexical(crew, account)
        with catalogue.transaction():
            catalogue.purge()
        return account

    def make_graphs(self, workers: int, account: Account) -> None:
        """The graphs of new and changed posts; those of deleted ones go."""
        catalogue, parser = self._archive.catalogue, self._archive.manifest.parser
        check_recorded(parser.name, parser.model, self._archive.folder)
        count = catalogue.count_waiting("graph")
        with (
            account.stage("graphs", total=count) as progress,
            GraphStore(self._archive.folder / GRAPHS, create=True) as store,
        ):
            posts = (each.post for each in catalogue.waiting("graph") if each.post is not None)
            counts = build_graphs(
                posts,
                store,
                parser=parser.name,
                model=parser.model,
                workers=workers,
                progress=progress,
                work=self._archive.work if workers == 1 or count <= FEW else None,
            )
            for batch in batches(catalogue.waiting("graph"), BATCH):
                with store.transaction():
                    for each in batch:
                        if each.post is None:
                            store.delete(each.id)
                store.flush()
                followed = [each for each in batch if _has_graph(store, each, parser.fingerprint)]
                with catalogue.transaction():
                    catalogue.mark("graph", followed)
            self._quarantine(counts.lost, store, account)
        account.posts["graphs"] += counts.made
        account.fallbacks += counts.fallbacks

    def _quarantine(self, lost: dict[str, str], store: GraphStore, account: Account) -> None:
        """Takes posts out that no graph can be made of within bounds, and remembers them: the others go on."""
        catalogue = self._archive.catalogue
        if not lost:
            return
        with catalogue.transaction():
            for post_id, reason in lost.items():
                catalogue.quarantine(post_id, reason)
                account.fallbacks[f"post {post_id!r} is left out: {reason}"] += 1
        with store.transaction():
            for post_id in lost:
                store.delete(post_id)
        with catalogue.transaction():
            catalogue.mark("graph", [each for each in catalogue.waiting("graph") if each.id in lost])

    def make_tensors(self, workers: int, account: Account) -> None:
        """The tensors of all graphs that have none, numbered by the model's vocabularies."""
        encoder = self._archive.encoder
        with (
            account.stage("tensors", total=self._archive.catalogue.count_waiting("vectors")) as progress,
            self._archive.graphs() as store,
        ):
            use_vocabularies(store, encoder.vocabulary, encoder.relations)
            configuration = GraphConfiguration.from_name(encoder.graphs)
            account.posts["tensors"] += build_tensors(
                store, configuration, workers=workers, progress=progress
            )

    def make_vectors(self, account: Account) -> None:
        """The points of new and changed posts and of their formulas; those of deleted ones go."""
        catalogue, engine, encoder = self._archive.catalogue, self._archive.engine, self._archive.encoder
        total = catalogue.count_waiting("vectors")
        with account.stage("vectors", total=total) as progress, self._archive.graphs() as store:
            if not self._has_vocabularies:
                use_vocabularies(store, encoder.vocabulary, encoder.relations)
                self._has_vocabularies = True
            for batch in batches(catalogue.waiting("vectors"), BATCH):
                made = dict(
                    zip((each.id for each in _living(batch)), self._entries(store, batch), strict=True)
                )
                kept = {point.id for entries in made.values() for point in entries.formulas}
                had = {name for each in batch for name in (*each.gone, *(name for name, _ in each.formulas))}
                engine.formulas.delete(sorted(had - kept))
                engine.posts.delete(
                    [each.id for each in batch if each.id not in made or made[each.id].post is None]
                )
                engine.posts.upsert([entries.post for entries in made.values() if entries.post is not None])
                engine.formulas.upsert([point for entries in made.values() for point in entries.formulas])
                engine.flush()
                with catalogue.transaction():
                    for each in batch:
                        entries = made.get(each.id, Entries(None, (), 0, 0.0))
                        names = [point.id for point in entries.formulas]
                        catalogue.mark_vectors(each, entries.rows, entries.sketch, names)
                account.posts["vectors"] += len(made)
                if progress:
                    progress.advance(len(batch))

    def _entries(self, store: GraphStore, batch: list[Waiting]) -> Iterator[Entries]:
        living = [(each, each.post) for each in batch if each.post is not None]
        items = ((post, self._tensor(store, each.id)) for each, post in living)
        questions = self._archive.catalogue.posts(
            sorted({post.parent for _, post in living if post.parent and is_tagged_by_question(post)})
        )
        for (each, post), vectors in zip(living, self._archive.encoder.encode(items), strict=True):
            question = questions.get(post.parent or "") if is_tagged_by_question(post) else None
            yield entries_of(each, post, vectors, question.tags if question else None)

    def _tensor(self, store: GraphStore, post_id: str) -> GraphTensor:
        """The stored tensor of a post, or a new one, which is stored."""
        encoder = self._archive.encoder
        if store.has_tensor(encoder.graphs, post_id):
            return store.tensor(encoder.graphs, post_id)
        configuration = GraphConfiguration.from_name(encoder.graphs)
        tensor = tensorise(store.graph(post_id), encoder.vocabulary, encoder.relations, configuration)
        with store.transaction():
            store.put_tensors(encoder.graphs, [(post_id, tensor.to_bytes())])
        return tensor

    def make_lexical(self, crew: Crew, account: Account) -> None:
        """The terms of new and changed posts, and of formulas by how they look."""
        catalogue, lexical = self._archive.catalogue, self._archive.lexical
        total = catalogue.count_waiting("lexical") + catalogue.count_stale_visuals()
        with account.stage("lexical", "entries", total) as progress:
            catalogue.choose_standing()
            for batch in batches(catalogue.waiting("lexical"), LEXICAL_BATCH):
                chosen = self._with_standing(batch)
                made = list(crew.post_bags([(post, list(looks.values())) for post, looks in chosen]))
                lexical.posts.update_bags(
                    ((post.id, bag) for (post, _), (bag, _) in zip(chosen, made, strict=True)),
                    [each.id for each in batch if each.post is None],
                )
                visuals = [visual for _, looks in chosen for visual in looks]
                lexical.formulas.update_bags(
                    zip(visuals, (bag for _, bags in made for bag in bags), strict=True)
                )
                with catalogue.transaction():
                    catalogue.mark("lexical", batch)
                    catalogue.mark_visuals(visuals)
                account.posts["lexical"] += len(chosen)
                if progress:
                    progress.advance(len(batch) + len(visuals))
            while visuals := catalogue.stale_visuals(2 * LEXICAL_BATCH):
                looks = catalogue.looking(visuals)
                lexical.formulas.update_bags(
                    zip(looks, crew.formula_bags(list(looks.values())), strict=True),
                    [visual for visual in visuals if visual not in looks],
                )
                with catalogue.transaction():
                    catalogue.mark_visuals(visuals)
                if progress:
                    progress.advance(len(visuals))

    def _with_standing(self, batch: list[Waiting]) -> list[tuple[Post, dict[str, int]]]:
        """The living posts of a batch, each with the stale looks it stands for and the places of their formulas.

        What a post and its formulas need is made together: then no formula is parsed twice.
        """
        standing = self._archive.catalogue.standing_in([each.number for each in batch])
        found: list[tuple[Post, dict[str, int]]] = []
        for each in batch:
            if each.post is not None:
                wanted = standing.get(each.number, ())
                places: dict[str, int] = {}
                for place, (_, visual) in enumerate(each.formulas):
                    if visual in wanted:
                        places.setdefault(visual, place)
                found.append((each.post, places))
        return found


def _has_graph(store: GraphStore, each: Waiting, fingerprint: str) -> bool:
    expected = None if each.post is None else digest(each.post, fingerprint)
    return store.digest(each.id) == expected


def _living(batch: list[Waiting]) -> list[Waiting]:
    return [each for each in batch if each.post is not None]
