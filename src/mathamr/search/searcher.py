"""`Index`: an index opened for searching; the one class that a program needs.

>>> from mathamr import Index                                                      # doctest: +SKIP
>>> with Index.open("my-index") as index:                                          # doctest: +SKIP
...     for hit in index.search("Why does $\\\\sum \\\\frac1n$ diverge?"):
...         print(hit)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from mathamr.core.closing import Closing
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.formulas.latex.macros import without_macros
from mathamr.index.engines.engine import ENGINES
from mathamr.index.engines.entry import Filter
from mathamr.index.freshness import FileChanges
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.location import found_index
from mathamr.index.scored import Scored
from mathamr.index.snapshot import CatalogueSnapshot
from mathamr.index.storage import IndexStorage
from mathamr.posts.post import Post
from mathamr.posts.postkind import KINDS
from mathamr.search.conditioncheck import ConditionCheck, narrow, rank_passing
from mathamr.search.confidence import BACKGROUND, Confidence, formula_match, found_of
from mathamr.search.filtercounts import FilterCounts
from mathamr.search.formularanker import CatalogueVisuals, FormulaRanker
from mathamr.search.grouping import Grouping, fold, group_ranked, ranks_needed
from mathamr.search.hitbuilder import HitBuilder, aligned_field, at_most_weak
from mathamr.search.hits import LISTED_BY, Hits
from mathamr.search.indexstate import IndexState
from mathamr.search.judge import Judge
from mathamr.search.listing import list_passing
from mathamr.search.locations import labelled_first, within
from mathamr.search.namedformulas import formulas_of, names_of
from mathamr.search.nameholders import name_notes
from mathamr.search.options import MAX_DEPTH, POOL, SearchOptions
from mathamr.search.postranker import PostRanker
from mathamr.search.query import Query
from mathamr.search.querycontext import QueryContext, StageTimer
from mathamr.search.queryencoder import QueryEncoder
from mathamr.search.ranker import Ranker
from mathamr.search.results import MOST_GRADED, PLACES, Placement, RankedResult
from mathamr.search.snippet import Wanted
from mathamr.systems.ranking import (
    TASKS,
    Ranking,
    Task,
    default_first,
    fields_of,
    uses_words,
    with_weights,
    word_parts,
)
from mathamr.systems.system import Item, System
from mathamr.text.backend import ONNX

if TYPE_CHECKING:
    from mathamr.amr.parser import AmrParser
    from mathamr.search.alignment import Alignment
    from mathamr.search.formulamatch import FormulaMatch

BY_WORDS = "lexical"
"""The name of the ranking that an index without complete vectors falls back to."""

P = ParamSpec("P")
T = TypeVar("T")


def _one_revision(method: Callable[Concatenate[Index, P], T]) -> Callable[Concatenate[Index, P], T]:
    """Make a method read one revision of the index, the newest, throughout."""

    @wraps(method)
    def reading(self: Index, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self.archive.reading():
            return method(self, *args, **kwargs)

    return reading


class Index(Closing):
    """The posts and formulas of an index directory. Several threads may search at the same time.

    Model and parser are loaded when the first query needs them; `warm` loads them in advance.
    """

    def __init__(self, archive: IndexStorage) -> None:
        self.archive = archive
        self._loading = threading.Lock()
        self._loaded_parser: AmrParser | None = None
        self._macros: tuple[int, Mapping[str, str]] = (-1, {})
        self._declares: tuple[int, bool] = (-1, False)
        self._state = IndexState(archive)
        self._judge = Judge(archive, lambda: self.has_declarations)
        self._encoder = QueryEncoder(self._parser, lambda: archive.system, archive.encoding)

    @classmethod
    def open(cls, path: Path | str, *, device: str = "auto", model: Path | str | None = None) -> Index:
        """Open an index for reading, by its folder or by the notes it was made from; `model` names its model, if that has moved."""
        return cls(IndexStorage.open(found_index(Path(path)), device=device, model=model))

    @property
    def macros(self) -> Mapping[str, str]:
        """The LaTeX macros of the collection by name; queries may use them."""
        revision = self.archive.catalogue.revision
        if self._macros[0] != revision:
            self._macros = (revision, self.archive.catalogue.macros())
        return self._macros[1]

    @property
    def has_declarations(self) -> bool:
        """True if some posts are declarations of a formal library, which are ranked by their tags too."""
        revision = self.archive.catalogue.revision
        if self._declares[0] != revision:
            self._declares = (revision, bool(self.archive.catalogue.tags_starting("module:", 1)))
        return self._declares[1]

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks that the system of the index supports."""
        return tuple(task for task in TASKS if task in self.archive.system_type.tasks)

    def rankings(self, task: Task = "answers") -> Mapping[str, Ranking]:
        """Return the named rankings of a task, the default first; this loads no weights."""
        system = self.archive.system_type
        if task not in system.tasks:
            raise MathAMRError(
                f"the index {self.archive.folder} was made by {system.kind}, which does not search for {task};"
                f" it searches for {' and '.join(self.tasks)}"
            )
        found = default_first(system.rankings[task], self.archive.manifest.model.default_rankings.get(task))
        if task == "answers" and self.has_declarations:
            from mathamr.search.library import library_rankings

            found = library_rankings(found)
        if task == "answers" and (weights := self.archive.manifest.model.weights):
            default = next(iter(found))
            found = {**found, default: with_weights(found[default], weights)}
        return found

    def ranking(self, task: Task, strategy: str | Ranking | None = None) -> tuple[str, Ranking]:
        """Return a ranking and its name; `strategy` is a name or a ranking, by default the first of `rankings`."""
        if strategy is not None and not isinstance(strategy, str):
            return type(strategy).__name__.lower(), strategy
        named = self.rankings(task)
        name = next(iter(named)) if strategy is None else strategy
        if name not in named:
            raise UnknownNameError("strategy", name, list(named))
        return name, named[name]

    def strategies(self, task: Task = "answers") -> list[str]:
        """Return the names of the rankings of a task, the default first."""
        return list(self.rankings(task))

    def __len__(self) -> int:
        return len(self.archive.catalogue)

    def posts(self) -> Iterator[Post]:
        """Return the posts of the index one by one, in the order in which they were added."""
        return self.archive.catalogue.every_post()

    def close(self) -> None:
        """Close the files of the index."""
        self.archive.close()

    def warm(self) -> None:
        """Load everything that a first query would load: the model in a thread of its own, beside the parser."""
        failures: list[BaseException] = []

        def load(part: Callable[[], object]) -> None:
            try:
                part()
            except BaseException as error:
                failures.append(error)

        loading = threading.Thread(target=load, args=(lambda: self.archive.system,))
        loading.start()
        if {"graph", "tensor"} & self.archive.system_type.needs:
            load(lambda: self._parser().parse(["Let FORMULA_0 be a set."]))
        loading.join()
        if failures:
            raise failures[0]
        _ = self.archive.engine
        with self.archive.reading():
            if isinstance(self.archive.catalogue, CatalogueSnapshot):
                self.archive.catalogue.hold_occurrences()
            for part in (self.archive.lexical.posts, self.archive.lexical.formulas):
                part.ids()  # once all are read, they are kept
            for task in self.tasks:
                self.search("$x$", task, k=1)

    @_one_revision
    def search(
        self,
        query: Query | Post | str,
        task: Task = "answers",
        strategy: str | Ranking | None = None,
        k: int = 10,
        *,
        offset: int = 0,
        exact: bool | None = None,
        where: Filter | None = None,
        pool: int = POOL,
        counted: int = 0,
        group: Grouping | None = None,
    ) -> Hits:
        """Return the `k` best hits after the first `offset`.

        A query is typed text with ``$latex$``, a `Query`, or a whole `Post`. `strategy` names one of `rankings`, or is
        a ranking itself; the default is that of the index's system. `where` filters the entries; `pool` is the number of
        posts that the strategy `rerank` scores again. With `exact=None`, the default, engines on a server search
        approximately; `exact=True` compares all entries exactly. `counted` is the number of best results of which kinds, tags and folders are counted. With `group="document"` the further sections
        of a document are in `others` of its best one, and `k` and `offset` count groups.
        """
        if k < 1:
            raise MathAMRError(f"k must be at least 1, got {k}")
        if offset < 0:
            raise MathAMRError(f"the offset must be at least 0, got {offset}")
        _check(task, where)
        if group is not None and task != "answers":
            raise MathAMRError("formulas are not grouped; leave the grouping out")
        timer = StageTimer()
        with timer("parse"):
            context, notes = self._context(query, task, timer)
            where = self.narrowed(context.query, where)
        name, ranking = self.ranking(task, strategy)
        if exact is None:
            exact = not ENGINES[self.archive.manifest.engine.name].remote
        end = offset + k + 1
        depth = max(
            end if group is None else min(ranks_needed(end), MAX_DEPTH), BACKGROUND.stop, MOST_GRADED, counted
        )
        options = SearchOptions.of_search(depth, where, pool, exact=exact)
        ranked, ranker = self._ranked(context, task, (name, ranking), options)
        by_words = uses_words(ranking)
        notes += self._encoder.notes(context.query)
        notes += ranker.notes if by_words else []
        notes += self._state.outdated()
        notes += name_notes(context.query)
        if behind := self.archive.behind:
            notes.append(f"these results are from an earlier state of the index: {behind}; open it again")
        if task == "answers":
            passing = self.archive.filters.posts(where) if where else None
            typed = context.query.typed or context.query.text
            first = labelled_first(self.archive.catalogue, typed, ranked, passing, options.depth)
            check = self._check(context.query) if first is not ranked else None
            ranked = check.posts(first) if check is not None else first
        groups = group_ranked(ranked, self.archive.catalogue) if group else [[each] for each in ranked]
        page = groups[offset : offset + k]
        with timer("snippet"):
            asked = ranker.query
            wanted = Wanted(asked if by_words else context.query, context.budget.compared_ngrams)
            is_listing = context.query.is_listing
            if wanted.is_empty and not is_listing:
                notes.append("the query has only common words; add more specific ones")
            near = not is_listing and any(True for _ in fields_of(ranking))
            confidence = self.confidence(asked, ranked)
            labels = confidence.matches() if task == "answers" else list(map(formula_match, ranked))
            if task == "formulas" or not confidence.unmentioned:
                notes += self._remarks(context.query, ranked, (name, ranking), where)
            matches = dict(zip((each.id for each in ranked), labels, strict=True))
            maker = HitBuilder(self.archive, context, wanted, matches)
            build = maker.posts if task == "answers" else maker.formulas
            hits = build(list(chain.from_iterable(page)), offset, near=near)
            if gone := {hit.formula.id if hit.formula else hit.id for hit in hits if hit.is_deleted}:
                labels = [
                    at_most_weak(label) if each.id in gone else label
                    for each, label in zip(ranked, labels, strict=True)
                ]
            if group:
                hits = fold(hits, page, ranked)
            notes += maker.notes
        absent = tuple(confidence.unmentioned if task == "answers" else ())
        found = found_of(labels, confidence if task == "answers" else None)
        checked = self._state.receipt(is_denial=bool(absent) or found in ("similar", "nothing"))
        return Hits(
            query=context.query,
            task=task,
            strategy=name,
            hits=hits,
            offset=offset,
            more=len(groups) > offset + k,
            seconds=timer.seconds,
            notes=(*context.query.notes, *notes),
            absent=absent,
            counts=self._counts(task, ranked[:counted]) if counted else None,
            found="similar" if found == "nothing" and hits and checked.changes else found,
            checked=checked,
        )

    @_one_revision
    def confidence(
        self,
        query: Query,
        ranked: Sequence[RankedResult],
        lexicon: LexicalPart | None = None,
    ) -> Confidence:
        """Return what judges the results of a query; `lexicon` has the words of other posts than those of the index."""
        return self._judge.confidence(query, ranked, lexicon)

    def _counts(self, task: Task, ranked: Sequence[RankedResult]) -> FilterCounts:
        found = self.archive.payloads(
            "posts" if task == "answers" else "formulas", [each.id for each in ranked]
        )
        return FilterCounts.of(found.values(), self.archive.catalogue.sources())

    @_one_revision
    def file_changes(self) -> FileChanges:
        """Compare the files of the index with those that were read, as far as they are on this machine."""
        return self._state.file_changes()

    @_one_revision
    def within(self, folders: Sequence[str], where: Filter | None = None) -> Filter:
        """Return the filter narrowed to posts of files in some folders, each named by any part of its path."""
        return within(self.archive.catalogue, folders, where or Filter())

    @_one_revision
    def narrowed(self, query: Query, where: Filter | None = None) -> Filter | None:
        """Return the filter narrowed to the tags, kinds and folders that were typed into a query."""
        return narrow(self.archive.catalogue, query.conditions.required, where)

    @_one_revision
    def rank(
        self,
        query: Query | Post | str,
        task: Task = "answers",
        strategy: str | Ranking | None = None,
        depth: int = 1000,
        *,
        exact: bool = True,
        where: Filter | None = None,
        pool: int = POOL,
    ) -> tuple[list[RankedResult], list[str]]:
        """Return ids and scores only, best first, and notes: for evaluations."""
        _check(task, where)
        chosen = self.ranking(task, strategy)
        context, notes = self._context(query, task, StageTimer())
        where = self.narrowed(context.query, where)
        found, ranker = self._ranked(
            context, task, chosen, SearchOptions.of_search(depth, where, pool, exact=exact)
        )
        more = [*self._encoder.notes(context.query), *(ranker.notes if uses_words(chosen[1]) else [])]
        return found, notes + more + self._remarks(context.query, found, chosen, where)

    @_one_revision
    def score(
        self,
        query: Query | Post | str,
        ids: Sequence[str],
        strategy: str | Ranking | None = None,
        task: Task = "answers",
    ) -> Sequence[Scored]:
        """Score given posts or visual classes by a strategy, best first; ids that the index lacks are left out."""
        _, ranking = self.ranking(task, strategy)
        context, _ = self._context(query, task, StageTimer())
        return self._ranker(context, task).score(ranking, ids)

    def _context(
        self, query: Query | Post | str, task: Task, timer: StageTimer
    ) -> tuple[QueryContext, list[str]]:
        """Return the context of a query, and a note if its target formula had to be guessed."""
        if isinstance(query, str):
            query = Query.of_text(query, task, macros=self.macros)
        elif isinstance(query, Post):
            query = Query.of_post(query)
        if task == "answers" and self.has_declarations:
            from mathamr.search.library import library_query

            query = library_query(query)
        formula, note = query.target() if task == "formulas" else (None, None)
        return QueryContext(query, self._encoder, formula=formula, timer=timer), [note] if note else []

    def _remarks(
        self, query: Query, found: Sequence[RankedResult], chosen: tuple[str, Ranking], where: Filter | None
    ) -> list[str]:
        """Return notes that explain unexpected hits."""
        if not found and not len(self):
            return ["the index is empty"]
        if not found and (query.conditions.looks_at_posts or query.is_listing):
            return ["no entry fulfils the conditions of the query (phrases, excluded words, fields)"]
        if not found and where:
            return ["nothing that passes the filter matches the query"]
        name, ranking = chosen
        parts = set(word_parts(ranking, name))
        if parts and found and not any({*parts, "label", LISTED_BY} & each.evidence.keys() for each in found):
            return ["no word or formula of the query occurs in these hits: they are only similar in meaning"]
        if uses_words(ranking) and not found:
            return ["no word or formula of the query occurs in what is searched"]
        return []

    def _ranked(
        self, context: QueryContext, task: Task, chosen: tuple[str, Ranking], options: SearchOptions
    ) -> tuple[list[RankedResult], Ranker]:
        """Return the results of a ranking, and the ranker that found them."""
        name, ranking = chosen
        if context.query.is_listing:
            with context.timer("search"):
                check = self._check(context.query)
                listed = list_passing(self.archive, check, options.where, options.depth)
                return listed, self._ranker(context, task)
        with context.timer("load"):
            ranker = self._ranker(context, task)
            fields = [self.archive.engine[each].field for each in fields_of(ranking)]
            if uses_words(ranking):
                _ = self.archive.lexical
        for field in fields:
            context.rows(field)
        check = self._check(context.query)
        if check is not None:
            return rank_passing(check, ranker, chosen, options, task), ranker
        return ranker.rank(ranking, options, name), ranker

    def _check(self, query: Query) -> ConditionCheck | None:
        """Return the check of posts against the conditions of a query; `None` if no condition needs the posts."""
        return ConditionCheck(self.archive, query.conditions) if query.conditions.looks_at_posts else None

    def _ranker(self, context: QueryContext, task: Task) -> Ranker:
        archive = self.archive
        if task == "formulas":
            return self._formula_ranker(context)
        return PostRanker(
            context,
            archive.engine,
            lambda: archive.lexical.posts,
            archive.payloads,
            archive.catalogue,
            filters=archive.filters,
            formula_ranker=self._formula_ranker,
            has_declarations=self.has_declarations,
        )

    def _formula_ranker(self, context: QueryContext) -> FormulaRanker:
        archive = self.archive
        return FormulaRanker(
            context,
            archive.engine,
            lambda: archive.lexical.formulas,
            CatalogueVisuals(archive.catalogue),
            archive.payloads,
            archive.filters,
        )

    @_one_revision
    def formulas_of(self, name: str) -> list[str]:
        """Return the formulas of a name as LaTeX: those of the table of named formulas, then those that posts give the name to."""
        from mathamr.search.collectionnames import formulas_in_collection

        own = formulas_in_collection(name, self.archive.lexical.posts, self.archive.catalogue)
        return list(dict.fromkeys((*formulas_of(name), *own)))

    @_one_revision
    def names_of(self, latex: str, macros: Sequence[str] = ()) -> list[str]:
        """Return what a formula is called, in these letters or others: its usual name, what posts call it, and its other names."""
        from mathamr.search.collectionnames import names_in_collection

        def ranker_of(query: Query) -> FormulaRanker:
            return self._formula_ranker(QueryContext(query, self._encoder, formula=query.formulas[0]))

        plain = without_macros(latex, macros) if macros else latex
        own = names_in_collection(plain, ranker_of, self.archive.catalogue)
        usual, *others = names_of(latex, tuple(macros)) or ("",)
        found = {name.lower(): name for name in [usual, *own, *others][::-1] if name}
        return list(found.values())[::-1]

    @_one_revision
    def explain(self, query: Query | Post | str, identifier: str) -> Alignment:
        """Explain why a post was found: the similarity of every part of the query to every part of the post.

        The identifier is that of a post, or of a formula, whose post is then explained.
        """
        from mathamr.search.explanations import aligned_post, field_to_align, found_post

        entry, post = found_post(self.archive, identifier)
        field = field_to_align(self.archive)
        context, _ = self._context(query, "formulas" if entry else "answers", StageTimer())
        return aligned_post(self.archive, context, field, post, entry)

    def placed(
        self, query: Query | Post | str, identifier: str, strategy: str | Ranking | None = None
    ) -> Placement | None:
        """Return the rank of a post under a strategy, with the score of each component; None below rank `PLACES`."""
        name, ranking = self.ranking("answers", strategy)
        found, _ = self.rank(query, "answers", ranking, PLACES)
        return next(
            (
                Placement(place, name, each.shown, each.evidence)
                for place, each in enumerate(found, 1)
                if each.id == identifier
            ),
            None,
        )

    @_one_revision
    def has_formula(self, identifier: str) -> bool:
        """Return True if the id is that of a formula and not of a post."""
        catalogue = self.archive.catalogue
        return not catalogue.posts([identifier]) and identifier in catalogue.formulas([identifier])

    @property
    def explains_posts(self) -> bool:
        """True if the system's vectors stand for parts of posts, so that `explain` can align them."""
        return aligned_field(self.archive) is not None

    @_one_revision
    def explain_formula(self, query: Query | Post | str, identifier: str) -> FormulaMatch:
        """Explain why a formula was found: which of its nodes matched which nodes of the query's formula.

        The pairs come from the index's system if it compares nodes (`MatchesNodes`), else from a tree alignment. A system that
        compares the sentences of formulas is explained by them, too.
        """
        from mathamr.search.explanations import found_formula, matched_formula

        entry = found_formula(self.archive, identifier)
        context, _ = self._context(query, "formulas", StageTimer())
        return matched_formula(self.archive, context, entry)

    def use_parser(self, parser: AmrParser) -> None:
        """Use an AMR parser that is already loaded; it must be the one that made the index's graphs."""
        with self._loading:
            self._loaded_parser = parser

    def _parser(self) -> AmrParser:
        """Return the parser that made the graphs of the index."""
        with self._loading:
            if self._loaded_parser is None:
                record = self.archive.manifest.parser
                if record is None:
                    raise MathAMRError(
                        f"the index {self.archive.folder} has no graphs, so it names no AMR parser"
                    )
                from mathamr.amr.parser import recorded_parser

                self._loaded_parser = recorded_parser(record.name, record.model, self.archive.folder)
            return self._loaded_parser


def load_for_forks(path: Path | str, *, device: str, model: Path | str | None = None) -> System | None:
    """Load the model of an index, so that processes forked while the result is kept share its memory; None if it cannot be
    shared.

    A model that torch runs, perhaps on a GPU, does not survive a fork: each process loads its own.
    """
    with Index.open(path, device=device, model=model) as index:
        if index.archive.manifest.model.text_backend != ONNX or {"graph", "tensor"} & index.archive.needs:
            return None
        system = index.archive.system
        # The first text makes ONNX Runtime lay out the weights; it starts no thread.
        list(system.encode([Item(post=Query.of_text("$x$").post)]))
        return system


def _check(task: str, where: Filter | None) -> None:
    if task not in TASKS:
        raise UnknownNameError("task", task, list(TASKS))
    if not where:
        return
    for kind in where.kinds:
        if kind not in KINDS:
            raise UnknownNameError("kind of post", kind, list(KINDS))
    if where.times == (None, None):
        return
    after, before = where.times
    if after is not None and before is not None and after >= before:
        raise MathAMRError(f"no date is both on or after {where.after} and before {where.before}")
