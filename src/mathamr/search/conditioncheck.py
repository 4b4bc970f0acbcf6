"""`ConditionCheck`: finds the entries of an index that fulfil the conditions of a query, and ranks only those."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, reduce

from mathamr.core.errors import MathAMRError
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.engines.entry import Filter
from mathamr.index.lexical.terms import called, words
from mathamr.index.preview import Preview
from mathamr.index.storage import IndexStorage
from mathamr.posts.markup import title_pieces
from mathamr.posts.passage import PLACEHOLDER
from mathamr.posts.post import Post
from mathamr.posts.postcontent import other_names
from mathamr.search.conditions import Conditions, Demand, Words
from mathamr.search.hitbuilder import read_parents, titled
from mathamr.search.locations import lies_in, within
from mathamr.search.namequery import has_phrase
from mathamr.search.options import MAX_DEPTH, SearchOptions
from mathamr.search.ranker import Ranker
from mathamr.search.results import RankedResult
from mathamr.systems.ranking import Ranking, Task

MOST_READ = 500
"""Candidates that are all read before the ranking; of more, those that rank first are read."""
MOST_PLACES = 200
"""Occurrences of a formula among which one in a fitting entry is looked for."""
_BATCH = 100


class ConditionCheck:
    """Checks posts against the conditions of one query; each post is read once."""

    def __init__(self, archive: IndexStorage, conditions: Conditions) -> None:
        self._archive, self._catalogue = archive, archive.catalogue
        self._required, self._excluded = conditions.required, conditions.excluded
        self._known: dict[str, bool] = {}

    @cached_property
    def candidates(self) -> frozenset[str] | None:
        """The posts that have the required words, in any order, or whose question has them; `None` if all may pass."""
        wanted = [
            *(("words", phrase) for phrase in self._required.phrases),
            *(("names", phrase) for phrase in self._required.titles),
        ]
        if not wanted:
            return None
        found = (self._with_children(self._holders(field, phrase)) for field, phrase in wanted)
        return reduce(frozenset.intersection, found)

    @cached_property
    def _refused(self) -> frozenset[str]:
        """The posts that have an excluded word."""
        single = {phrase[0] for phrase in self._excluded.phrases if len(phrase) == 1}
        holding = self._archive.lexical.posts.holding("words", single) if single else {}
        return frozenset(each for ids in holding.values() for each in ids)

    def few(self, where: Filter | None) -> list[str] | None:
        """Return all posts that fulfil the conditions and the filter if at most `MOST_READ` posts must be read for it; else
        `None`.
        """
        if self.candidates is None or len(self.candidates) > MOST_READ:
            return None
        among = self.candidates & self._archive.filters.posts(where) if where else self.candidates
        return sorted(self.passing(sorted(among)))

    def passing(self, ids: Sequence[str]) -> set[str]:
        """Return which of the posts fulfil the conditions."""
        unread = [each for each in dict.fromkeys(ids) if each not in self._known]
        for each in unread:
            if each in self._refused or (self.candidates is not None and each not in self.candidates):
                self._known[each] = False
        self._read([each for each in unread if each not in self._known])
        return {each for each in ids if self._known.get(each, False)}

    def posts(self, results: Sequence[RankedResult]) -> list[RankedResult]:
        """Return the results whose posts pass."""
        passed = self.passing([each.id for each in results])
        return [each for each in results if each.id in passed]

    def formulas(self, results: Sequence[RankedResult]) -> list[RankedResult]:
        """Return the formulas that occur in a post that passes, each at the first such place."""
        found: list[RankedResult] = []
        for result in results:
            places = [result.id, *self._catalogue.with_visual(result.visual)[:MOST_PLACES]]
            entries = self._catalogue.formulas(list(dict.fromkeys(places)))
            passed = self.passing([entry.post for entry in entries.values()])
            place = next((each for each in places if each in entries and entries[each].post in passed), None)
            if place is not None:
                found.append(replace(result, id=place))
        return found

    def _holders(self, field: str, phrase: Words) -> frozenset[str]:
        """Return the posts that have the two rarest words of a phrase in a field."""
        lexicon = self._archive.lexical.posts
        often = lexicon.frequencies(field, set(phrase))
        rarest = sorted(often, key=lambda word: (often[word], word))[:2]
        return reduce(frozenset.intersection, map(frozenset, lexicon.holding(field, rarest).values()))

    def _with_children(self, ids: frozenset[str]) -> frozenset[str]:
        """Return posts, and the answers that are shown under their titles."""
        return ids.union(self._catalogue.children(list(ids)))

    def _read(self, ids: Sequence[str]) -> None:
        previews = self._catalogue.previews(ids)
        read = read_parents(self._catalogue, previews.values())
        parents = {each: head.post for each, head in read.items()}
        for each, preview in previews.items():
            text = CheckedText(preview, titled(preview.post, parents))
            self._known[each] = text.has_all(self._required) and not text.has_any(self._excluded)


def first_passing(
    rank: Callable[[int], Sequence[RankedResult]],
    passing: Callable[[Sequence[RankedResult]], Sequence[RankedResult]],
    depth: int,
) -> list[RankedResult]:
    """Return the best `depth` results that pass; the ranking grows until enough pass or none are left."""
    wanted = min(MAX_DEPTH, 2 * depth)
    while True:
        found = rank(wanted)
        passed: list[RankedResult] = []
        for start in range(0, len(found), _BATCH):
            passed += passing(found[start : start + _BATCH])
            if len(passed) >= depth:
                return passed[:depth]
        if len(found) < wanted or wanted == MAX_DEPTH:
            return passed
        wanted = min(MAX_DEPTH, 4 * wanted)


def rank_passing(
    check: ConditionCheck,
    ranker: Ranker,
    chosen: tuple[str, Ranking],
    options: SearchOptions,
    task: Task,
) -> list[RankedResult]:
    """Return the results of a ranking that pass; where few posts can pass, exactly those are scored."""
    name, ranking = chosen
    few = check.few(options.where) if task == "answers" else None
    if few is not None:
        return ranker.rank_among(ranking, few, options, name)
    passing = check.posts if task == "answers" else check.formulas
    return first_passing(
        lambda depth: ranker.rank(ranking, replace(options, depth=depth), name), passing, options.depth
    )


def narrow(catalogue: Catalogue, required: Demand, where: Filter | None) -> Filter | None:
    """Return a filter narrowed to the tags, kinds and folders that a query requires."""
    if not (required.tags or required.kinds or required.folders):
        return where
    where = where or Filter()
    kinds = tuple(kind for kind in required.kinds if not where.kinds or kind in where.kinds)
    if required.kinds and not kinds:
        raise MathAMRError(
            f"no entry is both of the kind {' or '.join(required.kinds)} and {' or '.join(where.kinds)}; leave one out"
        )
    narrowed = replace(where, tags=(*where.tags, *required.tags), kinds=kinds or where.kinds)
    return within(catalogue, required.folders, narrowed) if required.folders else narrowed


class CheckedText:
    """The words of a post and of the title it is shown under."""

    def __init__(self, preview: Preview, shown: Post) -> None:
        self._preview, self._post, self._shown = preview, preview.post, shown

    def has_all(self, demand: Demand) -> bool:
        """Return True if the post has all phrases and title words; the rest of a required demand is a filter."""
        return all(map(self._has_title, demand.titles)) and all(map(self._has_phrase, demand.phrases))

    def has_any(self, demand: Demand) -> bool:
        """Return True if the post has any of the properties that are excluded."""
        return (
            any(tag in self._post.tags or tag in self._shown.tags for tag in demand.tags)
            or self._post.kind in demand.kinds
            or any(lies_in(self._post.source, folder) for folder in demand.folders)
            or any(map(self._has_title, demand.titles))
            or any(map(self._has_phrase, demand.phrases))
        )

    def _has_title(self, phrase: Words) -> bool:
        return any(has_phrase(name, list(phrase)) for name in self._names)

    def _has_phrase(self, phrase: Words) -> bool:
        return self._has_title(phrase) or any(has_phrase(run, list(phrase)) for run in self._runs)

    @cached_property
    def _names(self) -> list[list[str]]:
        """The title, cut at its formulas, and the other names."""
        if self._shown.markup == "declaration":
            return called(self._shown)
        pieces = title_pieces(self._shown.title, self._shown.markup)
        title = "".join(
            "\0" if piece.kind == "formula" else piece.text
            for piece in pieces
            if piece.kind not in ("link", "open", "close")
        )
        return [words(name) for name in (*title.split("\0"), *other_names(self._shown), *self._post.aliases)]

    @cached_property
    def _runs(self) -> list[list[str]]:
        """The words of the text between two formulas; a sentence may end inside a run."""
        return [words(run) for run in PLACEHOLDER.split("\n".join(self._preview.sentence_texts))[::2]]
