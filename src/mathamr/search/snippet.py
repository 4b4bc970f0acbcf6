"""Snippets: the sentences of a post that match the query best, with matched words and formulas marked."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, chain, pairwise

import numpy as np

from mathamr.core.arrays import BoolArray, DoubleArray, IndexArray, Int32Array, IntArray
from mathamr.core.cancellation import check_cancelled
from mathamr.index.lexical.terms import STOP_WORDS, WORD, stems, words
from mathamr.index.preview import (
    Preview,
    SentenceNumbers,
    TitlePart,
    hash_term,
    title_parts,
    token_numbers,
)
from mathamr.posts.formats.latex.references import number_references
from mathamr.posts.passage import PLACEHOLDER, Sentence
from mathamr.posts.post import Post
from mathamr.search.fragment import GAP, Fragment, shortened
from mathamr.search.query import Query
from mathamr.search.workbudget import Affords, QueryBudget, WorkBudget

LENGTH = 300
"""The approximate length of a snippet; a long formula may exceed it."""
ALIKE = 0.6
"""The least Dice coefficient of the LaTeX 1- to 3-grams of formulas that count as matched."""

FORMULAS_COMPARED = 32
"""The greatest number of formulas of a query that are compared with those of a post."""

CACHED_PARTS = 16_384
"""Size of the caches of words and sentences."""

_COMPARISON = 20
"""The least work of a comparison, in n-grams."""
_DENSE_SHARE = 0.5


class WantedFormulas:
    """The formulas of a query, compared with many formulas of posts at once by the 1- to 3-grams of tokens that they share."""

    def __init__(self, latex: Sequence[str]) -> None:
        listed = list(map(token_numbers, latex))
        tokens = [np.array(own, np.int32) for own in listed]
        self._known = np.array(sorted(set().union(*listed)), np.int32)
        self._wanted = []
        for own in tokens:
            grams, _ = self._grams(own, np.zeros(len(own), np.int64))
            self._wanted.append((*np.unique(grams, return_counts=True), len(grams)))

    def __len__(self) -> int:
        return len(self._wanted)

    def alike(self, tokens: Int32Array, lengths: Int32Array, affords: Affords) -> DoubleArray:
        """Return the greatest Dice coefficient of each formula with one of the query's, -1 for those that are not afforded.

        `tokens` has the hashes of all tokens, `lengths` how many of them each formula has.
        """
        sizes = np.where(lengths > 1, 3 * lengths - 3, lengths)
        least = sum(_COMPARISON + len(keys) for keys, _, _ in self._wanted)
        works = (least + len(self._wanted) * sizes).tolist()
        afforded = True if affords(sum(works)) else np.fromiter(map(affords, works), np.bool_, len(works))
        grams, held = self._grams(tokens, np.repeat(np.arange(len(lengths)), lengths))
        best = np.zeros(len(lengths))
        for keys, counts, size in self._wanted:
            if not len(keys):
                continue
            places = np.minimum(np.searchsorted(keys, grams), len(keys) - 1)
            same = np.flatnonzero(keys[places] == grams)
            often = np.bincount(
                held[same] * len(keys) + places[same], minlength=len(lengths) * len(keys)
            ).reshape(len(lengths), len(keys))
            shared = np.minimum(often, counts).sum(axis=1)
            np.maximum(best, 2 * shared / np.maximum(1, size + sizes), out=best)
        return np.where(afforded, best, -1.0)

    def _grams(self, tokens: Int32Array, owners: IntArray) -> tuple[IntArray, IntArray]:
        """Return the 1- to 3-grams of the query's tokens as numbers, and the formula that each is of."""
        if not len(self._known):
            return owners[:0], owners[:0]
        base = len(self._known) + 2
        numbers = np.searchsorted(self._known, tokens)
        known = self._known[np.minimum(numbers, len(self._known) - 1)] == tokens
        numbers += 1
        pairs = known[:-1] & known[1:] & (owners[:-1] == owners[1:])
        triples = pairs[:-1] & pairs[1:]
        doubled = base * numbers[:-1] + numbers[1:]
        tripled = base * doubled[:-1] + numbers[2:]
        return (
            np.concatenate([numbers[known], doubled[pairs], tripled[triples]]),
            np.concatenate([owners[known], owners[:-1][pairs], owners[:-2][triples]]),
        )


class Wanted:
    """The words and formulas of a query that a snippet should show, with corrections of misspelt words.

    Formulas beyond the budget are not compared, but counted.
    """

    def __init__(self, query: Query, budget: WorkBudget | None = None) -> None:
        said = {*query.words, *query.corrected.values()} - STOP_WORDS
        self._stems = frozenset(query.stems(said))
        self._numbers = np.array(sorted(set(map(hash_term, self._stems))), np.int32)
        initials = "".join(map(re.escape, sorted({stem[0] for stem in self._stems})))
        pattern = rf"(?<![^\W_])(?!formula_\d)[{initials}][^\W_]*"
        self._beginning = re.compile(pattern, re.IGNORECASE) if initials else None
        self.has_word = _KnownWords(self._stems)
        distinct = list(dict.fromkeys(formula.latex for formula in query.formulas))
        self._formulas = WantedFormulas(distinct[:FORMULAS_COMPARED])
        self._known: dict[str, float] = {}
        self._budget = budget or QueryBudget().compared_ngrams
        self.uncompared = 0
        """Formulas of posts that were not compared with those of the query."""
        self.phrases = query.conditions.required.phrases + query.conditions.required.titles

    @property
    def is_empty(self) -> bool:
        """True if there are neither formulas nor words beside stop words."""
        return not self._stems and not self._formulas

    @property
    def has_words(self) -> bool:
        """True if there are words beside stop words, or phrases."""
        return bool(self._stems or self.phrases)

    def phrase_words(self, text: str) -> set[int]:
        """Return the places in a text where the words of the query's phrases begin, if they stand side by side."""
        if not self.phrases:
            return set()
        found = [(match.start(), word) for match in WORD.finditer(text) for word in words(match.group())]
        return {
            found[place + step][0]
            for phrase in self.phrases
            for place in range(len(found) - len(phrase) + 1)
            if all(found[place + step][1] == word for step, word in enumerate(phrase))
            for step in range(len(phrase))
        }

    def words_in(self, text: str) -> Iterable[re.Match[str]]:
        """Return matches of the words that may be in the query; of all words for a text with accents or hyphens, or if the
        query has phrases.
        """
        is_simple = self._beginning is not None and not self.phrases and is_plain(text)
        return self._beginning.finditer(text) if self._beginning and is_simple else WORD.finditer(text)

    def word_shares(self, stems: Int32Array, counts: Int32Array) -> DoubleArray:
        """Return the share of the query's words that each sentence has; `stems` are hashed, `counts` says how many each has."""
        if not len(self._numbers):
            return np.zeros(len(counts))
        places = np.minimum(np.searchsorted(self._numbers, stems), len(self._numbers) - 1)
        (same,) = np.nonzero(self._numbers[places] == stems)
        has = np.zeros((len(counts), len(self._numbers)), np.bool_)
        has[np.repeat(np.arange(len(counts)), counts)[same], places[same]] = True
        shares: DoubleArray = has.sum(axis=1) / len(self._stems)
        return shares

    def formula_shares(self, tokens: Int32Array, counts: Int32Array, titles: Iterable[str]) -> DoubleArray:
        """Return the similarity of each formula to the query's, 0 to 1; `titles` are compared too, for calls of `formula`."""
        check_cancelled()
        if not self._formulas:
            return np.zeros(len(counts))
        unknown = {each: token_numbers(each) for each in titles if each not in self._known}
        own = list(chain.from_iterable(unknown.values()))
        lengths = list(map(len, unknown.values()))
        found = self._formulas.alike(
            np.concatenate([tokens, np.array(own, np.int32)]),
            np.concatenate([counts, np.array(lengths, np.int32)]),
            self._budget.affords,
        )
        self.uncompared += int(np.count_nonzero(found < 0))
        shares = np.maximum(found, 0.0)
        self._known |= zip(unknown, shares[len(counts) :].tolist(), strict=True)
        return shares[: len(counts)]

    def formula(self, latex: str) -> float:
        """Return the greatest similarity of a formula to one of the query's, from 0 to 1."""
        if latex not in self._known and self._formulas:
            self.formula_shares(np.empty(0, np.int32), np.empty(0, np.int32), [latex])
        return self._known.get(latex, 0.0)


class _KnownWords(dict[str, bool]):
    """Maps a word to whether the query has it in some inflection; caches each word."""

    def __init__(self, wanted: Collection[str]) -> None:
        self._wanted = frozenset(wanted)

    def __missing__(self, word: str) -> bool:
        self[word] = not self._wanted.isdisjoint(_stems_of(word))
        return self[word]


class Snippets:
    """The snippets of some posts, chosen for all of them at once: sentences that match the query best.

    `similarities` has, for each post, the similarity of every sentence's vector, NaN for those without one; `held` the number of the
    formula by which it was found, whose sentence is chosen first; `titles` are formulas of titles.
    """

    def __init__(
        self,
        previews: Sequence[Preview],
        wanted: Wanted,
        similarities: Sequence[DoubleArray | None],
        held: Sequence[int | None],
        titles: Iterable[str] = (),
    ) -> None:
        self._previews, self._wanted = previews, wanted
        sentences, formulas, places, stems, tokens = (
            np.concatenate(each) for each in zip(*(preview.numbers for preview in previews), strict=True)
        )
        sizes, _, in_body, _, _, _, stem_counts, place_counts = sentences.T
        counts = [len(preview.numbers.sentences) for preview in previews]
        bases = [0, *accumulate(len(preview.numbers.formulas) for preview in previews)]
        owners = np.repeat(np.arange(len(previews)), counts)
        numbers = places[:, 0] + np.repeat(bases[:-1], [len(preview.numbers.places) for preview in previews])
        words = wanted.word_shares(stems, stem_counts)
        if wanted.phrases:
            texts = chain.from_iterable(preview.sentence_texts for preview in previews)
            words += [bool(wanted.phrase_words(text)) for text in texts]
        alike = wanted.formula_shares(tokens, formulas[:, 3], titles)
        chosen = [base + number for base, number in zip(bases, held, strict=False) if number is not None]
        alike[chosen] = 1.0
        is_candidate = (in_body | ~np.bincount(owners, in_body, len(previews)).astype(bool)[owners]) > 0
        worth = words + _best_of_each(alike[numbers], place_counts)
        known = [
            np.full(count, np.nan) if each is None else each
            for each, count in zip(similarities, counts, strict=True)
        ]
        worth += _stand_out(np.concatenate(known), owners, is_candidate)
        if chosen:
            is_held = np.zeros(len(alike), np.bool_)
            is_held[chosen] = True
            worth[np.repeat(np.arange(len(owners)), place_counts)[is_held[numbers]]] = 10.0
        (candidates,) = np.nonzero(is_candidate)
        order = candidates[np.lexsort((-worth[candidates], owners[candidates]))]
        ends = np.searchsorted(owners[order], np.arange(len(previews) + 1))
        self._order = [order[start:end].tolist() for start, end in pairwise(ends.tolist())]
        self._worth, self._alike, self._has_words = worth.tolist(), alike.tolist(), (words > 0).tolist()
        self._sentences, self._formulas, self._numbers = (
            sentences.tolist(),
            formulas.tolist(),
            numbers.tolist(),
        )
        self._starts = [0, *accumulate(counts)]
        self._texts = _Slices([preview.sentences for preview in previews], sizes)
        self._latex = _Slices([preview.latex for preview in previews], formulas[:, 1])
        self._ids = _Slices([preview.ids for preview in previews], formulas[:, 0])
        self._places = [0, *place_counts.cumsum().tolist()]

    def __getitem__(self, place: int) -> tuple[Fragment, ...]:
        """Return the best sentences of a post in about `LENGTH` characters, in the order of the text."""
        chosen: dict[int, list[Fragment]] = {}
        room = LENGTH
        for number in self._order[place]:
            if chosen and (room <= 0 or self._worth[number] <= 0):
                break
            length = self._sentences[number][1]
            if not chosen or length <= room:
                chosen[number] = self._marked(number, self._previews[place].post)
                room -= length
        return _joined(sorted(chosen.items()), self._starts[place + 1])

    def _marked(self, number: int, post: Post) -> list[Fragment]:
        """Return a sentence as fragments, those that occur in the query marked; a sentence that is too long is cut to a
        window.
        """
        text, own = self._texts[number], SentenceNumbers(*self._sentences[number])
        if post.body:
            text = number_references(
                Sentence(text, "body" if own.in_body else "title", own.start, own.end), post
            )
        parts = PLACEHOLDER.split(text)
        rest = parts[0]
        found: list[Fragment] = []
        places = self._numbers[self._places[number] : self._places[number + 1]]
        for place, name, after in zip(places, parts[1::2], parts[2::2], strict=False):
            display = self._formulas[place][2]
            if display < 0:
                rest += f"FORMULA_{name}{after}"
                continue
            found += self._split(rest, number)
            latex, is_alike = self._latex[place], self._alike[place] >= ALIKE
            found.append(Fragment("formula", latex, self._ids[place], bool(display), is_alike))
            rest = after
        found += self._split(rest, number)
        return _windowed(found) if post.body or own.length > LENGTH + LENGTH // 4 else found

    def _split(self, text: str, number: int) -> list[Fragment]:
        if text and (self._has_words[number] or not is_plain(text)):
            return _split(text, self._wanted)
        return [Fragment("text", text)] if text else []


class _Slices:
    """Texts that were joined, cut again where one is needed."""

    def __init__(self, texts: Sequence[str], sizes: Int32Array) -> None:
        self._text, self._ends = "".join(texts), [0, *sizes.cumsum().tolist()]

    def __getitem__(self, number: int) -> str:
        return self._text[self._ends[number] : self._ends[number + 1]]


def _best_of_each(values: DoubleArray, counts: Int32Array) -> DoubleArray:
    """Return the greatest of the values of each sentence, 0 if it has none; `counts` says how many each has."""
    best = np.zeros(len(counts))
    (some,) = np.nonzero(counts)
    if len(some):
        best[some] = np.maximum.reduceat(values, (counts.cumsum() - counts)[some])
    return best


def _stand_out(similarities: DoubleArray, owners: IndexArray, is_candidate: BoolArray) -> DoubleArray:
    """Return the bonus of each sentence for its similarity: 0 for the least similar one of a post, `_DENSE_SHARE` for the
    most similar.
    """
    (known,) = np.nonzero(is_candidate & ~np.isnan(similarities))
    found = np.zeros(len(similarities))
    if len(known):
        own, values = owners[known], similarities[known]
        is_first = np.append(True, own[1:] != own[:-1])
        (starts,) = np.nonzero(is_first)
        group = is_first.cumsum() - 1
        low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
        span = np.where(high > low, high - low, np.inf)[group]
        found[known] = _DENSE_SHARE * (values - low[group]) / span
    return found


def title(parts: Iterable[TitlePart], wanted: Wanted | None = None) -> tuple[Fragment, ...]:
    """Return the parts of a title as fragments."""
    found: list[Fragment] = []
    for part in parts:
        if not isinstance(part, str):
            latex, formula = part
            is_alike = wanted is not None and formula is not None and wanted.formula(latex) >= ALIKE
            found.append(Fragment("formula", latex, formula, False, is_alike))
        else:
            found.extend(_split(part, wanted) if wanted else [Fragment("text", part)])
    return tuple(found)


def title_of(post: Post) -> tuple[Fragment, ...]:
    """Return the title of a post as fragments."""
    return title(title_parts(post, post.formulas))


def _split(text: str, wanted: Wanted) -> list[Fragment]:
    """Split a text so that words of the query are fragments of their own."""
    if not wanted.has_words:
        return [Fragment("text", text)] if text else []
    found: list[Fragment] = []
    done = 0
    together = wanted.phrase_words(text)
    for match in wanted.words_in(text):
        if match.start() in together or wanted.has_word[match.group()]:
            if match.start() > done:
                found.append(Fragment("text", text[done : match.start()]))
            found.append(Fragment("text", match.group(), matched=True))
            done = match.end()
    if done < len(text):
        found.append(Fragment("text", text[done:]))
    return found


def _windowed(sentence: list[Fragment]) -> list[Fragment]:
    """Shorten a sentence that is too long to a window that begins shortly before its first match."""
    if sum(map(len, sentence)) <= LENGTH + LENGTH // 4:
        return sentence
    first = next((n for n, fragment in enumerate(sentence) if fragment.matched), 0)
    start, before = first, 0
    while start > 0 and before + len(sentence[start - 1]) <= LENGTH // 4:
        start -= 1
        before += len(sentence[start])
    window = sentence[start:]
    if start > 0 and sentence[start - 1].kind == "text":
        tail = sentence[start - 1].text[-(LENGTH // 4) :].partition(" ")[2]
        window = [GAP, replace(sentence[start - 1], text=tail), *window]
    elif start > 0:
        window = [GAP, *window]
    return shortened(window, LENGTH)


def _joined(sentences: list[tuple[int, list[Fragment]]], count: int) -> tuple[Fragment, ...]:
    found: list[Fragment] = []
    last: int | None = None
    for number, sentence in sentences:
        if last is not None:
            found.append(_joint(found[-1]) if number == last + 1 else GAP)
        found.extend(sentence)
        last = number
    if last is not None and last + 1 < count and found[-1].kind != "gap":
        found.append(replace(GAP, text=GAP.text.rstrip()))
    return tuple(found)


def _joint(last: Fragment) -> Fragment:
    """Return what stands between two sentences; a heading or an item that ends without a stop is told from what follows."""
    return Fragment("text", " · " if last.kind == "text" and last.text.rstrip()[-1:].isalnum() else " ")


@lru_cache(maxsize=CACHED_PARTS)
def _stems_of(word: str) -> tuple[str, ...]:
    """Return the stems of what is written like a word, such as `Banach-Tarski`; common words have none."""
    return tuple(stems([part for part in words(word) if part not in STOP_WORDS]))


def is_plain(text: str) -> bool:
    """Return True if a text is ASCII without apostrophes or hyphens, so that a simple pattern finds its words."""
    return text.isascii() and "'" not in text and "-" not in text
