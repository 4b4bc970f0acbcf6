"""The stages that compute graphs and their tensors, for systems that use them."""

from __future__ import annotations

from collections.abc import Collection

from mathamr.amr.parser import check_recorded
from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.corpus import BuildCounts, build_graphs, build_tensors, use_vocabularies
from mathamr.graphs.maker import digest
from mathamr.graphs.store import GraphStore
from mathamr.index.catalogue.journal import PendingPost
from mathamr.index.indexing.buildlog import BuildLog
from mathamr.index.indexing.buildpool import FEW
from mathamr.index.manifest import ParserRecord
from mathamr.index.storage import GRAPHS, IndexStorage
from mathamr.systems.system import GraphInput

BATCH = 1024
"""Number of posts whose graphs are marked at a time."""


def parser_of(archive: IndexStorage) -> ParserRecord:
    """Return the AMR parser of an index's graphs."""
    parser = archive.manifest.parser
    if parser is None:
        raise MathAMRError(f"the manifest of {archive.folder} does not say which AMR parser makes its graphs")
    return parser


def make_graphs(archive: IndexStorage, workers: int, log: BuildLog) -> None:
    """Compute the graphs of new and changed posts, and deletes those of deleted posts."""
    catalogue, parser = archive.catalogue, parser_of(archive)
    check_recorded(parser.name, parser.model, archive.folder)
    count = catalogue.count_pending("graph")
    with (
        log.stage("graphs", total=count) as progress,
        GraphStore(archive.folder / GRAPHS, create=True) as store,
    ):
        counts = BuildCounts()
        living = (each for each in catalogue.pending("graph") if each.post is not None)
        # If posts were only deleted or renamed, no parser is loaded.
        if any(not has_graph(store, each, parser.fingerprint) for each in living):
            counts = build_graphs(
                (each.post for each in catalogue.pending("graph") if each.post is not None),
                store,
                parser=parser.name,
                model=parser.model,
                workers=workers,
                progress=progress,
                work=archive.work if workers == 1 or count <= FEW else None,
            )
        for batch in batches(catalogue.pending("graph"), BATCH):
            with store.transaction():
                for each in batch:
                    if each.post is None:
                        store.delete(each.id)
            store.flush()
            followed = [each for each in batch if has_graph(store, each, parser.fingerprint)]
            with catalogue.transaction():
                catalogue.mark("graph", followed)
        quarantine(archive, counts.lost, store, log)
    log.posts["graphs"] += counts.made
    log.fallbacks += counts.fallbacks


def quarantine(archive: IndexStorage, lost: dict[str, str], store: GraphStore | None, log: BuildLog) -> None:
    """Exclude posts from which something cannot be derived and record them, so that the others can continue."""
    catalogue = archive.catalogue
    if not lost:
        return
    with catalogue.transaction():
        for post_id, reason in lost.items():
            catalogue.quarantine(post_id, reason)
            log.fallbacks[f"post {post_id!r} is left out: {reason}"] += 1
    if store is not None:
        with store.transaction():
            for post_id in lost:
                store.delete(post_id)
    with catalogue.transaction():
        catalogue.mark("graph", [each for each in catalogue.pending("graph") if each.id in lost])


def sweep_graphs(archive: IndexStorage, outdated: Collection[str] = ()) -> None:
    """Delete graphs of posts that were deleted while no graphs were needed, and of posts that are parsed differently now."""
    if (archive.folder / GRAPHS).is_dir():
        with GraphStore(archive.folder / GRAPHS, create=True) as store, store.transaction():
            unwanted = set(outdated)
            for post_id in list(store.ids()):
                if post_id in unwanted or post_id not in archive.catalogue:
                    store.delete(post_id)


def make_tensors(archive: IndexStorage, workers: int, log: BuildLog) -> None:
    """Compute the tensors of all graphs that have none, numbered by the model's vocabularies."""
    with (
        log.stage("tensors", total=archive.catalogue.count_pending("vectors")) as progress,
        archive.graphs() as store,
    ):
        graphs = graph_input(archive)
        use_vocabularies(store, graphs.vocabulary, graphs.relations)
        configuration = GraphConfiguration.from_name(graphs.configuration)
        log.posts["tensors"] += build_tensors(store, configuration, workers=workers, progress=progress)


def graph_input(archive: IndexStorage) -> GraphInput:
    """Return the configuration of the graphs that the system of an index uses."""
    graphs = archive.system.graphs
    if graphs is None:
        raise MathAMRError(
            f"the system {archive.system.kind!r} needs tensors and does not say of which graphs"
        )
    return graphs


def has_graph(store: GraphStore, each: PendingPost, fingerprint: str) -> bool:
    """Return True if the store has the graph of this version of the post by this parser, or none of a deleted post."""
    expected = None if each.post is None else digest(each.post, fingerprint)
    return store.digest(each.id) == expected
