"""Empties the derived parts of an index that come from another model, engine, parser or version, so that they are recomputed."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.graphs.store import GraphStore
from mathamr.index.catalogue.journal import STAGES
from mathamr.index.chosenmodel import chosen_model
from mathamr.index.engines.engine import create_engine
from mathamr.index.indexing.fingerprints import PIECES_READ, Fingerprints
from mathamr.index.indexing.formulakeys import posts_with_other_keys
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.lexical.terms import terms_fingerprint
from mathamr.index.storage import GRAPHS, LEXICAL, VECTORS
from mathamr.posts.passage import passage, passage_fingerprints
from mathamr.systems.models import OF_OTHERS, TEXT, model_folder, part_of
from mathamr.text.configuration import WINDOW, WINDOWS
from mathamr.text.folder import load_word_pieces
from mathamr.text.wording import Wording, written

AT_A_TIME = 64


def reset_outdated(archive: IndexWriter) -> None:
    """Empty the parts that do not belong to the model, engine, parser and version in the manifest, or are missing."""
    catalogue, manifest = archive.catalogue, archive.manifest
    _unmark_changed_code(archive)
    _unmark_changed_markups(archive)
    _unmark_long_posts(archive)
    catalogue.unmark_outdated_passages()
    catalogue.retry_failed()
    graphs_by = manifest.parser.fingerprint if manifest.parser else ""
    if (catalogue.meta("graphs by") or "") != graphs_by:
        if graphs_by:
            sweep_graphs(archive)
        with catalogue.transaction():
            catalogue.unmark("graph")
            catalogue.unmark("vectors")
            catalogue.set_meta("graphs by", graphs_by)
    engine = manifest.engine
    fields = " ".join(f"{field.of}.{field.name}:{field.size}:{field.many}" for field in manifest.model.fields)
    vectors_by = f"{manifest.model.fingerprint} {fields} {engine.name} {sorted(engine.options.items())}"
    if catalogue.meta("vectors by") != vectors_by:
        reset_vectors(archive)
        create_engine(archive.folder / VECTORS, manifest.model.fields, engine.name, engine.options).close()
        with catalogue.transaction():
            catalogue.set_meta("vectors by", vectors_by)
    if catalogue.meta("lexical by") != terms_fingerprint():
        reset_lexical(archive)
        with catalogue.transaction():
            catalogue.set_meta("lexical by", terms_fingerprint())


def _unmark_changed_code(archive: IndexWriter) -> None:
    """Empty or unmark what this version makes otherwise than the one that made it (see `Fingerprints`)."""
    catalogue, made = archive.catalogue, Fingerprints(archive.catalogue, archive.needs)
    if made.are_current:
        return
    if len(catalogue):
        if not made.formulas:
            reset_lexical(
                archive
            )  # the posts are read again for their words, and their formulas get new keys
            with catalogue.transaction():
                catalogue.unmark_visuals("vectors")
        if not made.graphs:
            reset_graphs(archive)
        markups = set(made.outdated_wordings())
        ids = [post.id for post in catalogue.every_post() if post.markup in markups] if markups else []
        with catalogue.transaction():
            catalogue.unmark("vectors", ids)
            if made.is_first:
                catalogue.unmark_empty()
    made.remember()


def reset_other_keys(archive: IndexWriter) -> None:
    """Let all formulas get their keys again if one has a key that this version does not make, and all files be read again."""
    with archive.catalogue.transaction():
        archive.catalogue.distrust_units()
    if any(True for _ in posts_with_other_keys(archive.catalogue)):
        reset_lexical(archive)


def _unmark_changed_markups(archive: IndexWriter) -> None:
    """Unmark all stages of posts whose markup is now split into sentences by other rules."""
    catalogue, now = archive.catalogue, passage_fingerprints()
    stored = {markup: catalogue.meta(f"{markup} by") for markup in now}
    if stored == now:
        return
    changed = {markup for markup, mark in now.items() if stored[markup] not in (None, mark)}
    ids = [post.id for post in catalogue.every_post() if post.markup in changed]
    if ids:
        sweep_graphs(archive, ids)
    with catalogue.transaction():
        for stage in STAGES:
            catalogue.unmark(stage, ids)
        for markup, mark in now.items():
            catalogue.set_meta(f"{markup} by", mark)


def _unmark_long_posts(archive: IndexWriter) -> None:
    """Unmark the vectors of posts whose end was not read when they were made; with no model at hand, the next build tries again."""
    catalogue, before = archive.catalogue, Fingerprints(archive.catalogue, archive.needs).pieces_read
    if before == WINDOW * WINDOWS:
        return
    long: list[str] = []
    if len(catalogue) and "wording" in archive.needs and archive.manifest.model.system not in OF_OTHERS:
        try:
            folder = model_folder(chosen_model(archive.manifest.model, archive.model_source))
            pieces, _ = load_word_pieces(part_of(folder, TEXT))
        except MathAMRError:
            return
        for few in batches(catalogue.every_post(), AT_A_TIME):
            cut = pieces.cut([Wording(written(post, passage(post))[0], ()) for post in few])
            long += [post.id for post, own in zip(few, cut, strict=True) if len(own) > before]
    with catalogue.transaction():
        catalogue.unmark("vectors", long)
        catalogue.set_meta(PIECES_READ, str(WINDOW * WINDOWS))


def sweep_graphs(archive: IndexWriter, outdated: Collection[str] = ()) -> None:
    """Delete graphs of posts that were deleted while no graphs were needed, and of posts that are parsed differently now."""
    if (archive.folder / GRAPHS).is_dir():
        with GraphStore(archive.folder / GRAPHS, create=True) as store, store.transaction():
            unwanted = set(outdated)
            for post_id in list(store.ids()):
                if post_id in unwanted or post_id not in archive.catalogue:
                    store.delete(post_id)


def reset_vectors(archive: IndexWriter) -> None:
    """Remove all vectors; `reset_outdated` then creates an empty engine."""
    with archive.catalogue.transaction():
        archive.catalogue.unmark("vectors")
        archive.catalogue.unmark_visuals("vectors")
        archive.catalogue.set_meta("vectors by", "")
    archive.close_engine()
    remove(archive.folder / VECTORS)


def reset_graphs(archive: IndexWriter) -> None:
    """Remove all graphs."""
    remove(archive.folder / GRAPHS)
    with archive.catalogue.transaction():
        archive.catalogue.unmark("graph")


def reset_lexical(archive: IndexWriter) -> None:
    """Remove all lexical entries."""
    catalogue = archive.catalogue
    with catalogue.transaction():
        catalogue.unmark("lexical")
        catalogue.unmark_visuals("lexical")
        catalogue.set_meta("lexical by", "")
    archive.close_lexical()
    remove(archive.folder / LEXICAL)


def remove(folder: Path) -> None:
    """Delete a part of an index."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise MathAMRError(f"cannot delete {folder}: {error.strerror or error}") from error
