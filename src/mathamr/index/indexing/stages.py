"""The stages that derive an index from its catalogue: lexical entries first, then graphs, tensors, vectors.

Words are quick to compute and can be searched while the rest is computed. Stages that the system does not need are skipped.
Each stage processes the posts or visual classes for which its part is outdated, in batches: it writes and flushes the results,
and only then marks them in the catalogue. Repeating work changes nothing, so a kill costs only the work that was not marked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext

from mathamr.amr.parser import check_recorded
from mathamr.core.batches import batches, every
from mathamr.core.workers import Lost
from mathamr.graphs.corpus import use_vocabularies
from mathamr.graphs.maker import digest
from mathamr.graphs.store import GraphStore
from mathamr.index.archive import GRAPHS, Archive
from mathamr.index.catalogue.journal import PendingPost, Sketch
from mathamr.index.engines.entry import Entry
from mathamr.index.indexing.buildlog import BuildLog
from mathamr.index.indexing.buildpool import FEW, BuildPool
from mathamr.index.indexing.duplicates import fetched, take_over
from mathamr.index.indexing.encoding import NOTHING, Encoders, NewPost, Prepared, source_digest
from mathamr.index.indexing.entries import (
    PostEntries,
    entries_of,
    says_nothing,
    sketch,
    visual_entry,
)
from mathamr.index.indexing.graphstages import (
    graph_input,
    make_graphs,
    make_tensors,
    parser_of,
    quarantine,
    tensor_of,
)
from mathamr.index.payloads import is_tagged_by_question
from mathamr.posts.post import Post
from mathamr.systems.field import FieldTarget
from mathamr.systems.system import Encoded, Item

BATCH = 1024
"""Number of posts or visual classes that are read from the catalogue at a time."""
SECONDS = 2.0
"""Seconds between two writes: the results of this time are written, flushed and marked together."""
LEXICAL_BATCH = 1024
"""The same for terms, which take less room; fewer and larger segments are merged less often."""


class IndexStages:
    """The stages over one archive that is open for changes; one thread at a time."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._has_vocabularies = False
        """True if the graph store has the model's vocabularies, so that single changes need not check again."""

    def settle(
        self,
        *,
        pool: BuildPool | None = None,
        log: BuildLog | None = None,
        prepared: Prepared = NOTHING,
    ) -> BuildLog:
        """Brings all parts up to date with the catalogue; `prepared` are vectors that need not be computed again."""
        log, pool = log or BuildLog(), pool or BuildPool()
        archive, catalogue = self._archive, self._archive.catalogue
        self._skip_needless()
        self._follow_words(pool, log)
        take_over(archive)
        count = max(catalogue.count_pending("vectors"), catalogue.count_stale_visuals("vectors"))
        if count > FEW:
            pool.dismiss()  # frees the processors for the encoders
        with Encoders(archive, pool, count, prepared) as encoders:
            if encoders.are_apart and catalogue.count_pending("graph"):
                self.make_new(encoders, log)
            if catalogue.count_pending("graph"):
                make_graphs(archive, pool.workers, log)
            self._follow_words(pool, log)  # posts without a graph were excluded
            if count := catalogue.count_pending("vectors"):
                if count > FEW and "tensor" in archive.needs and not encoders.are_apart:
                    make_tensors(archive, pool.workers, log)
                self.make_vectors(encoders, log)
            if catalogue.stale_visuals("vectors", 1):
                self.make_visual_vectors(encoders, log)
        with catalogue.transaction():
            catalogue.purge()
        return log

    def _follow_words(self, pool: BuildPool, log: BuildLog) -> None:
        if not self._archive.catalogue.has_words:
            self.make_lexical(pool, log)

    def _skip_needless(self) -> None:
        """Marks the stages that the system does not need as done."""
        kinds = {field.of for field in self._archive.manifest.model.fields}
        with self._archive.catalogue.transaction():
            if not self._archive.has_graphs:
                self._archive.catalogue.skip("graph")
            if not kinds & {"posts", "formulas"}:
                self._archive.catalogue.skip("vectors")
            if "visual" not in kinds:
                self._archive.catalogue.skip_visuals("vectors")

    def make_new(self, encoders: Encoders, log: BuildLog) -> None:
        """Computes graphs, tensors and vectors of new posts in one pass: the process that parses a post also encodes it."""
        archive, catalogue, parser = self._archive, self._archive.catalogue, parser_of(self._archive)
        check_recorded(parser.name, parser.model, archive.folder)
        with (
            log.stage("graphs and vectors", total=catalogue.count_pending("graph")) as progress,
            GraphStore(archive.folder / GRAPHS, create=True) as store,
        ):
            self._use_vocabularies(store)
            waiting: deque[tuple[PendingPost, bytes]] = deque()

            def posts() -> Iterator[Post]:
                """One stream over all batches, so that no worker idles at the end of a batch."""
                for batch in batches(catalogue.pending("graph"), BATCH * encoders.scale):
                    for each in self._without_anything(batch):
                        if each.post is None:
                            continue
                        wanted = digest(each.post, parser.fingerprint)
                        if store.digest(each.id) != wanted:
                            waiting.append((each, wanted))
                            yield each.post

            results = ((*waiting.popleft(), new) for new in encoders.new(posts()))
            for part in every(SECONDS, progress.each(results) if progress else results):
                self._write_new(store, part, log)

    def _without_anything(self, batch: list[PendingPost]) -> Iterator[PendingPost]:
        """The posts that lack both a graph and valid vectors."""
        catalogue = self._archive.catalogue
        encoded = catalogue.encoded(batch)
        for each in batch:
            if each.post is not None and each.id not in encoded and not catalogue.follows("vectors", each.id):
                yield each

    def _write_new(
        self, store: GraphStore, part: list[tuple[PendingPost, bytes, NewPost | Lost]], log: BuildLog
    ) -> None:
        """Writes, flushes and marks the results for some posts, each with the digest that its graph must have.

        Posts over which processes were lost are excluded.
        """
        archive, catalogue, graphs = self._archive, self._archive.catalogue, self._archive.system.graphs
        results = [(each, new) for each, _, new in part if isinstance(new, NewPost)]
        wanted = {each.id: digest for each, digest, _ in part}
        with store.transaction():
            for each, new in results:
                store.put([new.graph])
                if new.tensor is not None and graphs is not None:
                    store.put_tensors(graphs.configuration, [(each.id, new.tensor)])
        store.flush()
        with catalogue.transaction():
            catalogue.put_passages((each, new.passage) for each, new in results)
            catalogue.mark("graph", [each for each, new in results if new.graph.digest == wanted[each.id]])
        entries = self._entry_maker([each for each, _ in results])
        self._write_vectors([(each, entries(each, new.encoded)) for each, new in results])
        for stage in ("graphs", "vectors"):
            log.posts[stage] += len(results)
        for _, new in results:
            log.fallbacks.update(new.graph.fallbacks)
        quarantine(
            archive, {each.id: new.message for each, _, new in part if isinstance(new, Lost)}, store, log
        )

    def _use_vocabularies(self, store: GraphStore) -> None:
        """Makes the store number its tensors by the model's vocabularies."""
        if "tensor" in self._archive.needs and not self._has_vocabularies:
            graphs = graph_input(self._archive)
            use_vocabularies(store, graphs.vocabulary, graphs.relations)
            self._has_vocabularies = True

    def make_vectors(self, encoders: Encoders, log: BuildLog) -> None:
        """Computes the entries of new and changed posts and of their formulas, and deletes those of deleted posts.

        Results are written every few seconds, so that a kill loses no more.
        """
        catalogue, archive = self._archive.catalogue, self._archive
        total = catalogue.count_pending("vectors")
        with (
            log.stage("vectors", total=total) as progress,
            archive.graphs() if archive.has_graphs else nullcontext() as store,
        ):
            if store is not None:
                self._use_vocabularies(store)
            for batch in batches(catalogue.pending("vectors"), BATCH * encoders.scale):
                unchanged = self._unchanged_vectors(batch)
                results = self._entries(encoders, store, batch, unchanged)
                for part in every(SECONDS, progress.each(results) if progress else results):
                    self._write_vectors(part)
                log.posts["vectors"] += sum(each.post is not None for each in batch) - len(unchanged)

    def _write_vectors(self, results: list[tuple[PendingPost, PostEntries]]) -> None:
        """Writes, flushes and marks the entries of some posts."""
        catalogue, engine = self._archive.catalogue, self._archive.engine
        current = {entry.id for _, entries in results for entry in entries.formulas}
        had = {name for each, _ in results for name in (*each.gone, *(name for name, _ in each.formulas))}
        engine.delete("formulas", sorted(had - current))
        engine.delete("posts", [each.id for each, entries in results if entries.post is None])
        self._upsert("posts", [entries.post for _, entries in results if entries.post is not None])
        self._upsert("formulas", [entry for _, entries in results for entry in entries.formulas])
        engine.flush()
        with catalogue.transaction():
            for each, entries in results:
                catalogue.mark_vectors(
                    each,
                    Sketch() if entries.post is None else self._sketch("posts", entries.post),
                    {entry.id: self._sketch("formulas", entry) for entry in entries.formulas},
                )

    def _unchanged_vectors(self, batch: list[PendingPost]) -> dict[str, Encoded]:
        """The vectors of posts that changed only in votes, tags or place, if the engine still has all of them."""
        wanted = self._archive.catalogue.encoded(batch)
        chosen = [(each, each.post) for each in batch if each.post is not None and each.id in wanted]
        posts = fetched(self._archive, "posts", [each.id for each, _ in chosen])
        formulas = fetched(
            self._archive, "formulas", [name for each, _ in chosen for name, _ in each.formulas]
        )
        found: dict[str, Encoded] = {}
        for each, post in chosen:
            names = zip(post.formulas, each.formulas, strict=True)
            encoded = Encoded(
                id=each.id,
                post=posts.get(each.id, {}),
                formulas=tuple((formula.id, formulas.get(name, {})) for formula, (name, _) in names),
            )
            rows = sum(map(len, encoded.post.values()))
            if wanted[each.id] == (rows, sum(len(own) for _, by in encoded.formulas for own in by.values())):
                found[each.id] = encoded
        return found

    def _upsert(self, of: FieldTarget, entries: list[Entry]) -> None:
        if entries:
            self._archive.engine.upsert(of, entries)

    def _sketch(self, of: FieldTarget, entry: Entry) -> Sketch:
        return sketch(entry.rows, self._archive.manifest.model.fields, of)

    def _entries(
        self,
        encoders: Encoders,
        store: GraphStore | None,
        batch: list[PendingPost],
        unchanged: Mapping[str, Encoded],
    ) -> Iterator[tuple[PendingPost, PostEntries]]:
        """Yields the entries of the posts of a batch; a deleted post has none."""
        living = [each.post for each in batch if each.post is not None]
        if store is not None and encoders.prepared.tensors:
            tensors = encoders.prepared.tensors
            with store.transaction():
                store.put_tensors(
                    graph_input(self._archive).configuration,
                    [(post.id, tensors[post.id]) for post in living if post.id in tensors],
                )
        newly_encoded = encoders.posts(
            [post for post in living if post.id not in unchanged],
            lambda posts: (self._item(store, post) for post in posts),
        )
        entries = self._entry_maker(batch)
        for each in batch:
            if each.post is None:
                yield each, PostEntries()
            else:
                yield each, entries(each, unchanged.get(each.id) or next(newly_encoded))
        # Read to the end: a generator that is left early ends its processes, which the next batch needs.
        if next(newly_encoded, None) is not None:
            raise AssertionError("more posts were encoded than requested")

    def _entry_maker(self, batch: list[PendingPost]) -> Callable[[PendingPost, Encoded], PostEntries]:
        """A function that builds the entries of posts from their vectors; an answer gets the tags of its question."""
        living = [each.post for each in batch if each.post is not None]
        questions = self._archive.catalogue.posts(
            sorted({post.parent for post in living if post.parent and is_tagged_by_question(post)})
        )

        def entries(each: PendingPost, encoded: Encoded) -> PostEntries:
            post = each.post
            if post is None or says_nothing(post):
                return PostEntries()
            question = questions.get(post.parent or "") if is_tagged_by_question(post) else None
            return entries_of(each, post, encoded, question.tags if question else None)

        return entries

    def _item(self, store: GraphStore | None, post: Post) -> Item:
        """A post with the graph and tensor that the system needs."""
        needs = self._archive.needs
        if store is None:
            return Item(post=post)
        return Item(
            post=post,
            graph=store.graph(post.id) if "graph" in needs else None,
            tensor=tensor_of(store, post.id, graph_input(self._archive)) if "tensor" in needs else None,
        )

    def make_visual_vectors(self, encoders: Encoders, log: BuildLog) -> None:
        """Computes the entries of new visual classes and of those with a new representative, and deletes those that are gone."""
        catalogue, engine = self._archive.catalogue, self._archive.engine
        with log.stage("visual", "visual", catalogue.count_stale_visuals("vectors")) as progress:
            catalogue.choose_representatives("vectors")
            while visuals := catalogue.stale_visuals("vectors", BATCH * encoders.scale):
                found = catalogue.representatives(visuals)
                sources = {visual: source_digest(*formula) for visual, formula in found.items()}
                before = catalogue.visuals_made_of(visuals)
                wanted = [visual for visual in found if before.get(visual) != sources[visual]]
                encoded = encoders.visuals([(visual, found[visual]) for visual in wanted])
                results = {
                    visual: visual_entry(visual, rows) for visual, rows in zip(wanted, encoded, strict=True)
                }
                gone = [visual for visual in visuals if visual not in found]
                engine.delete(
                    "visual", [*gone, *(visual for visual, entry in results.items() if entry is None)]
                )
                self._upsert("visual", [entry for entry in results.values() if entry is not None])
                engine.flush()
                with catalogue.transaction():
                    for visual, entry in results.items():
                        own = Sketch() if entry is None else self._sketch("visual", entry)
                        catalogue.mark_visual_vectors(visual, sources[visual], own)
                    catalogue.mark_visuals(
                        "vectors", [visual for visual in found if visual not in results], gone
                    )
                log.posts["visual"] += len(results)
                if progress:
                    progress.advance(len(visuals))

    def make_lexical(self, pool: BuildPool, log: BuildLog) -> None:
        """Computes the terms of new and changed posts, and of visual classes."""
        catalogue, lexical = self._archive.catalogue, self._archive.lexical
        total = catalogue.count_pending("lexical") + catalogue.count_stale_visuals("lexical")
        with log.stage("lexical", "entries", total) as progress:
            catalogue.choose_representatives("lexical")
            for batch in batches(catalogue.pending("lexical"), LEXICAL_BATCH):
                chosen = self._with_represented(batch)
                results = list(pool.post_bags([(post, list(places.values())) for post, places in chosen]))
                lexical.posts.update_bags(
                    ((post.id, bag) for (post, _), (bag, _) in zip(chosen, results, strict=True)),
                    [each.id for each in batch if each.post is None],
                )
                visuals = [visual for _, places in chosen for visual in places]
                lexical.formulas.update_bags(
                    zip(visuals, (bag for _, bags in results for bag in bags), strict=True)
                )
                with catalogue.transaction():
                    catalogue.mark("lexical", batch)
                    catalogue.mark_visuals("lexical", visuals)
                log.posts["lexical"] += len(chosen)
                if progress:
                    progress.advance(len(batch) + len(visuals))
            while visuals := catalogue.stale_visuals("lexical", 2 * LEXICAL_BATCH):
                found = catalogue.representatives(visuals)
                gone = [visual for visual in visuals if visual not in found]
                lexical.formulas.update_bags(
                    zip(found, pool.formula_bags(list(found.values())), strict=True), gone
                )
                with catalogue.transaction():
                    catalogue.mark_visuals("lexical", found, gone)
                if progress:
                    progress.advance(len(visuals))

    def _with_represented(self, batch: list[PendingPost]) -> list[tuple[Post, dict[str, int]]]:
        """The living posts of a batch, each with the stale visual classes it represents and the places of their formulas.

        The terms of a post and of its formulas are computed together, so that no formula is parsed twice.
        """
        represented = self._archive.catalogue.represented_by([each.number for each in batch])
        found: list[tuple[Post, dict[str, int]]] = []
        for each in batch:
            if each.post is not None:
                wanted = represented.get(each.number, ())
                places: dict[str, int] = {}
                for place, (_, visual) in enumerate(each.formulas):
                    if visual in wanted:
                        places.setdefault(visual, place)
                found.append((each.post, places))
        return found
