"""Explanations: what a query's parts have in common with a post that was found, or with a formula, node by node."""

from __future__ import annotations

from dataclasses import replace

from mathamr.core.errors import MathAMRError
from mathamr.formulas.trees import trees_of
from mathamr.index.catalogue.occurrences import FormulaEntry
from mathamr.index.lexical.terms import READING
from mathamr.index.storage import IndexStorage
from mathamr.posts.post import Post
from mathamr.search.alignment import Alignment, align
from mathamr.search.formulamatch import ALIGNMENT, FormulaMatch, SentenceMatch, aligned_views, sentence_with
from mathamr.search.fragment import plain
from mathamr.search.hitbuilder import aligned_field, titled
from mathamr.search.querycontext import QueryContext
from mathamr.search.snippet import title_of
from mathamr.systems.abilities import ComparesSentences, JoinsWording, MatchesNodes
from mathamr.systems.field import Field
from mathamr.systems.system import VisualFormula


class UnknownPostError(MathAMRError):
    """Raised for an id that no post or formula of the index has."""


def found_post(archive: IndexStorage, identifier: str) -> tuple[FormulaEntry | None, Post]:
    """Return the post of an id, and the formula if the id is that of one; its post is then explained."""
    formula: FormulaEntry | None = None
    post = archive.catalogue.posts([identifier]).get(identifier)
    if post is None:
        formula = archive.catalogue.formulas([identifier]).get(identifier)
        post = archive.catalogue.posts([formula.post]).get(formula.post) if formula else None
    if post is None:
        raise _unknown(archive, identifier)
    return formula, post


def found_formula(archive: IndexStorage, identifier: str) -> FormulaEntry:
    """Return the formula of an id."""
    entry = archive.catalogue.formulas([identifier]).get(identifier)
    if entry is None:
        raise _unknown(archive, identifier)
    return entry


def field_to_align(archive: IndexStorage) -> Field:
    """Return the field whose vectors stand for parts of posts; raise an error if the model has none."""
    field = aligned_field(archive)
    if field is None:
        raise MathAMRError(
            f"the index {archive.folder} was made by {archive.system_type.kind}, whose vectors do not"
            " stand for parts of posts, so they cannot be aligned; explain one of its formulas, or use an index of another"
            " model"
        )
    return field


def aligned_post(
    archive: IndexStorage, context: QueryContext, field: Field, post: Post, formula: FormulaEntry | None
) -> Alignment:
    """Return the similarity of every part of a query to every part of a post, or of a formula of the post."""
    catalogue = archive.catalogue
    shown = titled(post, catalogue.posts([post.parent]) if post.parent else {})
    formula_id = formula.formula.id if formula else None
    try:
        stored = archive.vectors(post.id, field.name)
    except MathAMRError as error:
        if post.id not in catalogue:  # deleted since it was read
            raise _unknown(archive, formula.id if formula else post.id) from error
        raise
    # Some systems join two vectors, that of the wording first; the others need not know.
    system = archive.system
    wording = system.wording_size if isinstance(system, JoinsWording) else 0
    shown_title = plain(title_of(shown))
    asked = context.rows(field)
    compared = replace(asked, vectors=archive.engine[field.name].as_compared(asked.vectors))
    return align(context.query.post, compared, post, stored, shown_title, formula_id, wording)


def matched_formula(archive: IndexStorage, context: QueryContext, entry: FormulaEntry) -> FormulaMatch:
    """Return which nodes of a formula match which nodes of the query's.

    The pairs come from the index's system if it compares nodes (`MatchesNodes`), else from a tree alignment. A system that
    compares the sentences of formulas is explained by them, too.
    """
    assert context.formula is not None
    by = ALIGNMENT
    ours, theirs = context.lexical_trees, trees_of(entry.formula, entry.macros, READING)[0]
    kind: object = archive.system_type  # asked before any weights are loaded
    if not isinstance(kind, MatchesNodes):
        views = aligned_views(ours, theirs)
    else:
        ours, theirs = context.trees, trees_of(entry.formula, entry.macros)[0]
        system = archive.system
        assert isinstance(system, MatchesNodes)
        query_visual = VisualFormula(key=context.visual, formula=context.formula, opt=ours[0], slt=ours[1])
        found_visual = VisualFormula(key=entry.visual, formula=entry.formula, opt=theirs[0], slt=theirs[1])
        by, views = archive.system_type.kind, tuple(system.match_nodes(query_visual, found_visual))
    sentences = _matched_sentences(archive, context, entry)
    by = by if sentences is None else archive.system_type.kind
    return FormulaMatch(
        entry.post, entry.id, by, context.formula, entry.formula, ours, theirs, views, sentences
    )


def _matched_sentences(
    archive: IndexStorage, context: QueryContext, entry: FormulaEntry
) -> SentenceMatch | None:
    """Return the sentences of both formulas and their similarity, if the system ranks by them."""
    kind = archive.system_type
    name = kind.sentence_field if isinstance(kind, ComparesSentences) else None
    field = next((each for each in archive.manifest.model.fields if each.name == name), None)
    stored = None if field is None else archive.engine[field.name].fetch([entry.id]).get(entry.id)
    post = archive.catalogue.posts([entry.post]).get(entry.post)
    if field is None or stored is None or post is None or context.formula is None:
        return None
    return SentenceMatch(
        float(context.rows(field).vectors[0] @ stored.vectors[0]),
        sentence_with(context.query.post, context.formula.id),
        sentence_with(post, entry.formula.id),
    )


def _unknown(archive: IndexStorage, identifier: str) -> UnknownPostError:
    return UnknownPostError(
        f"no post or formula {identifier!r} in the index {archive.folder}; ids are in the output of mathamr search"
    )
