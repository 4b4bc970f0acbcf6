"""The stages that derive an index from its catalogue: lexical entries first, then graphs with vectors.

Words are computed where posts are read and written with them (`WordWriter`), so that they can be searched while the rest is computed.
Stages that the system does not need are skipped. Each stage processes the posts or visual classes for which its part is outdated:
it writes and flushes the results, and only then marks them in the catalogue. Repeating work changes nothing, so a kill costs
only the work that was not marked.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace

from mathamr.amr.parser import check_recorded
from mathamr.core.batches import batches, every
from mathamr.core.workers import Lost
from mathamr.graphs.maker import digest
from mathamr.graphs.store import GraphStore
from mathamr.index.catalogue.journal import PendingPost
from mathamr.index.indexing.analysis import AnalysedPost, Unusable
from mathamr.index.indexing.buildlog import BuildLog
from mathamr.index.indexing.buildpool import FEW, BuildPool
from mathamr.index.indexing.encoding import (
    Derived,
    Encoders,
    Material,
    parser_of,
    source_digest,
)
from mathamr.index.indexing.entries import (
    PostEntries,
    count_rows,
    entries_of,
    take_over,
    visual_entry,
    write_vectors,
)
from mathamr.index.indexing.reading import analysed
from mathamr.index.lexical.bags import formula_bag
from mathamr.index.storage import GRAPHS, IndexStorage

BATCH = 1024
"""Number of posts or visual classes that are read from the catalogue at a time."""
SECONDS = 4.0
"""Seconds between two writes: the results of this time are written, flushed and marked together."""
LEXICAL_BATCH = 1024
"""The same for terms, which take less room; fewer and larger segments are merged less often."""
UNREAD = "sentence beyond what the model reads of an entry, found by its words alone"


class WordWriter:
    """Writes the words of posts that were just stored, and of the visual classes that their formulas represent."""

    def __init__(self, archive: IndexStorage, log: BuildLog) -> None:
        self._archive, self._log = archive, log

    def write(
        self, stored: Sequence[tuple[int, AnalysedPost]], new: set[str], represented: dict[str, str | None]
    ) -> None:
        """Write the words of posts with these numbers and mark them; `represented` are the visual classes before.

        The first post by id represents a visual class. Where a class was outdated already, its words are left to a later stage.
        """
        started = time.perf_counter()
        first: dict[str, tuple[str, int, AnalysedPost, int]] = {}
        for number, post in stored:
            for place, visual in enumerate(post.row.visuals):
                if visual not in first or post.row.id < first[visual][0]:
                    first[visual] = (post.row.id, number, post, place)
        visuals = {post.row.id: set(post.row.visuals) for _, post in stored}
        chosen: dict[str, tuple[str, int, AnalysedPost, int]] = {}
        same: list[str] = []
        for visual, found in first.items():
            before = represented.get(visual)
            if before in visuals and visual not in visuals[before]:
                continue  # its post was changed and has no such formula any more
            if visual not in represented or (before is not None and found[0] <= before):
                chosen[visual] = found
            elif before is not None:
                same.append(visual)
        lexical, catalogue = self._archive.lexical, self._archive.catalogue
        lexical.posts.update_bags(((post.row.id, post.bags.joined()) for _, post in stored), new=new)
        lexical.formulas.update_bags(
            ((visual, post.bags.formulas[place]) for visual, (_, _, post, place) in chosen.items()),
            new={visual for visual in chosen if visual not in represented},
        )
        with catalogue.transaction():
            done = (
                PendingPost(number, post.row.id, post.row.digest, post.row.packed) for number, post in stored
            )
            catalogue.mark("lexical", done)
            catalogue.mark_represented(
                ((visual, number) for visual, (_, number, _, _) in chosen.items()), same
            )
        self._log.posts["lexical"] += len(stored)
        self._log.add_seconds("lexical", time.perf_counter() - started)


class IndexStages:
    """The stages over one archive that is open for changes; one thread at a time."""

    def __init__(self, archive: IndexStorage) -> None:
        self._archive = archive

    def update_parts(self, *, pool: BuildPool | None = None, log: BuildLog | None = None) -> BuildLog:
        """Bring all parts up to date with the catalogue."""
        log, pool = log or BuildLog(), pool or BuildPool()
        archive, catalogue = self._archive, self._archive.catalogue
        self._skip_needless()
        if not catalogue.count_pending("vectors"):
            log.leave_out("vectors")
        if not catalogue.has_words:
            self.make_lexical(pool, log)
        take_over(archive)
        count = catalogue.count_vectors_waiting()
        if count > FEW:
            pool.dismiss()  # frees the processors for the encoders
        with Encoders(archive, pool, count) as encoders:
            self._settle_graphs()
            if catalogue.count_pending("vectors"):
                self.make_vectors(encoders, log)
            if catalogue.stale_visuals("vectors", 1):
                self.make_visual_vectors(encoders, log)
        with catalogue.transaction():
            catalogue.purge()
        return log

    def _settle_graphs(self) -> None:
        """Delete the graphs of deleted posts and mark those that are valid; posts whose graphs are not are derived again."""
        archive, catalogue = self._archive, self._archive.catalogue
        if not catalogue.count_pending("graph"):
            return
        parser = parser_of(archive)
        with GraphStore(archive.folder / GRAPHS, create=True) as store:
            for batch in batches(catalogue.pending("graph"), BATCH):
                with store.transaction():
                    for each in batch:
                        if each.is_deleted:
                            store.delete(each.id)
                store.flush()
                wanted = {each.id: digest(each.post, parser.fingerprint) for each in batch if each.post}
                missing = [each for each in batch if store.digest(each.id) != wanted.get(each.id)]
                with catalogue.transaction():
                    catalogue.mark("graph", [each for each in batch if each not in missing])
                    catalogue.unmark("vectors", [each.id for each in missing])

    def _skip_needless(self) -> None:
        """Mark the stages that the system does not need as done."""
        kinds = {field.of for field in self._archive.manifest.model.fields}
        with self._archive.catalogue.transaction():
            if not self._archive.has_graphs:
                self._archive.catalogue.skip("graph")
            if not kinds & {"posts", "formulas"}:
                self._archive.catalogue.skip("vectors")
            if "visual" not in kinds:
                self._archive.catalogue.skip_visuals("vectors")

    def make_vectors(self, encoders: Encoders, log: BuildLog) -> None:
        """Compute the entries of new and changed posts and of their formulas, and delete those of deleted posts.

        Where processes encode, they also make the graphs. Results are written every few seconds, so that a kill loses no more.
        """
        catalogue, archive = self._archive.catalogue, self._archive
        waiting: deque[tuple[PendingPost, bytes | None]] = deque()
        gone: deque[PendingPost] = deque()
        if archive.has_graphs:
            parser = parser_of(archive)
            check_recorded(parser.name, parser.model, archive.folder)
        with (
            log.stage("vectors", total=catalogue.count_pending("vectors")) as progress,
            GraphStore(archive.folder / GRAPHS, create=True)
            if archive.has_graphs
            else nullcontext() as store,
        ):

            def materials() -> Iterator[Material]:
                """Yield the materials of all batches as one stream, so that no worker idles at the end of a batch."""
                for batch in batches(catalogue.pending("vectors"), BATCH):
                    passages = catalogue.stored_passages([each.number for each in batch])
                    for each in batch:
                        if each.packed is None:
                            gone.append(each)
                        else:
                            material = Material(each.packed, passages.get(each.number))
                            wanted = None
                            if store is not None:
                                material, wanted = self._with_graph(store, each, material)
                            waiting.append((each, wanted))
                            yield material

            results = encoders.derive(materials())
            for part in every(SECONDS, progress.each(results) if progress else results):
                self._write(store, part, waiting, gone, log)
            self._write(store, [], waiting, gone, log)

    def _with_graph(
        self, store: GraphStore, each: PendingPost, material: Material
    ) -> tuple[Material, bytes | None]:
        """Return a post's material with the graph that is stored, or the digest that its new graph must have."""
        assert each.post is not None
        wanted = digest(each.post, parser_of(self._archive).fingerprint)
        if store.digest(each.id) != wanted:
            return material, wanted
        return replace(material, graph=store.text(each.id)), None

    def _write(
        self,
        store: GraphStore | None,
        derived: Sequence[Derived | Lost],
        waiting: deque[tuple[PendingPost, bytes | None]],
        gone: deque[PendingPost],
        log: BuildLog,
    ) -> None:
        """Write, flush and mark the results for some posts; those over which processes were lost have words alone."""
        archive, catalogue = self._archive, self._archive.catalogue
        found = [(*waiting.popleft(), each) for each in derived]
        made = [(each, wanted, new) for each, wanted, new in found if isinstance(new, Derived)]
        lost = [(each, new) for each, _, new in found if isinstance(new, Lost)]
        if store is not None:
            with store.transaction():
                store.put([new.graph for _, _, new in made if new.graph is not None])
            store.flush()
            with catalogue.transaction():
                right = (each for each, wanted, new in made if new.graph and new.graph.digest == wanted)
                catalogue.mark("graph", [*right, *(each for each, _ in lost)])
            log.posts["graphs"] += sum(new.graph is not None for _, _, new in made)
            for _, _, new in made:
                log.fallbacks.update(new.graph.fallbacks if new.graph is not None else ())
        tags = self._tags_of_questions(new for _, _, new in made)
        without = [*(gone.popleft() for _ in range(len(gone))), *(each for each, _ in lost)]
        results = [PostEntries(each) for each in without]
        for each, _, new in made:
            payload = (
                new.payload if new.tagged_by not in tags else replace(new.payload, tags=tags[new.tagged_by])
            )
            results.append(entries_of(each, new.made_of, payload, new.formulas, new.encoded))
            if new.encoded.unread:
                log.fallbacks[UNREAD] += new.encoded.unread
        write_vectors(archive, results)
        log.posts["vectors"] += len(made)
        if lost:
            with catalogue.transaction():
                catalogue.remember_failed(each.id for each, _ in lost)
        log.fallbacks.update(
            f"post {each.id!r} is found by its words alone: {new.message}" for each, new in lost
        )

    def _tags_of_questions(self, derived: Iterable[Derived]) -> dict[str | None, tuple[str, ...]]:
        """Return the tags of questions whose answers are filtered by them."""
        wanted = sorted({each.tagged_by for each in derived if each.tagged_by is not None})
        return {name: question.tags for name, question in self._archive.catalogue.posts(wanted).items()}

    def make_visual_vectors(self, encoders: Encoders, log: BuildLog) -> None:
        """Compute the entries of new visual classes and of those with a new representative, and delete those that are gone."""
        catalogue, engine = self._archive.catalogue, self._archive.engine
        with log.stage("visual", "visual", catalogue.count_stale_visuals("vectors")) as progress:
            with catalogue.transaction():
                catalogue.choose_representatives("vectors")
            while visuals := catalogue.stale_visuals("vectors", BATCH):
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
                if entries := [entry for entry in results.values() if entry is not None]:
                    engine.upsert("visual", entries)
                engine.flush()
                with catalogue.transaction():
                    for visual, entry in results.items():
                        catalogue.mark_visual_vectors(visual, sources[visual], count_rows(entry))
                    catalogue.mark_visuals(
                        "vectors", [visual for visual in found if visual not in results], gone
                    )
                log.posts["visual"] += len(results)
                if progress:
                    progress.advance(len(visuals))

    def make_lexical(self, pool: BuildPool, log: BuildLog) -> None:
        """Compute the terms of posts and of visual classes that were not written when they were read."""
        catalogue, lexical = self._archive.catalogue, self._archive.lexical
        total = catalogue.count_pending("lexical") + catalogue.count_stale_visuals("lexical")
        with log.stage("lexical", "entries", total) as progress:
            words = WordWriter(self._archive, BuildLog())
            for batch in batches(catalogue.pending("lexical"), LEXICAL_BATCH):
                living = [each for each in batch if not each.is_deleted]
                posts = (each.post for each in living if each.post is not None)
                found = [
                    (each.number, post)
                    for each, post in zip(living, analysed(posts, pool), strict=True)
                    if not isinstance(post, Unusable)
                ]
                lexical.posts.update_bags((), [each.id for each in batch if each.is_deleted])
                with catalogue.transaction():
                    catalogue.rekey([(number, post.row) for number, post in found])
                visuals = sorted({visual for _, post in found for visual in post.row.visuals})
                words.write(found, set(), catalogue.represented_words(visuals))
                with catalogue.transaction():
                    catalogue.put_passages(
                        (number, post.row.digest, post.row.passage) for number, post in found
                    )
                    catalogue.mark("lexical", batch)
                log.posts["lexical"] += len(found)
                if progress:
                    progress.advance(len(batch))
            with catalogue.transaction():
                catalogue.choose_representatives("lexical")
            while stale := catalogue.stale_visuals("lexical", 2 * LEXICAL_BATCH):
                formulas = catalogue.representatives(stale)
                gone = [visual for visual in stale if visual not in formulas]
                lexical.formulas.update_bags(
                    ((visual, formula_bag(*read)) for visual, read in formulas.items()), gone
                )
                with catalogue.transaction():
                    catalogue.mark_visuals("lexical", formulas, gone)
                if progress:
                    progress.advance(len(stale))
