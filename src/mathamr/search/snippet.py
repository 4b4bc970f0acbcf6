"""Snippets: the sentences of a post that match the query best, with matched words and formulas marked."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice, repeat
from typing import Any

import numpy as np

from mathamr.core.arrays import IntArray
from mathamr.core.cancellation import check_cancelled
from mathamr.index.catalogue.storedpassages import Preview
from mathamr.index.lexical.terms import latex_tokens, stems, word_tokens, words
from mathamr.posts.markup import title_pieces
from mathamr.posts.markup.piece import Piece
from mathamr.posts.passage import PLACEHOLDER
from mathamr.posts.post import Formula, Markup, Post
from mathamr.search.commonwords import STOP_WORDS
from mathamr.search.fragment import GAP, Fragment, formula_length, fragments, shortened
from mathamr.search.query import Query
from mathamr.search.workbudget import Affords, QueryBudget, WorkBudget

LENGTH = 300
"""The approximate length of a snippet; a long formula may exceed it."""
ALIKE = 0.6
"""The least Dice coefficient of the LaTeX 1- to 3-grams of formulas that count as matched."""

FORMULAS_COMPARED = 32
"""The greatest number of formulas of a query that are compared with those of a post."""

CACHED_POSTS, CACHED_PARTS = 512, 16_384
"""Sizes of the caches of posts, and of sentences and formulas."""

_BETWEEN = "\0"
"""The token between two formulas that are compared together."""
_COMPARISON = 20
"""The least work of a comparison, in n-grams."""
_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
_DENSE_SHARE = 0.5


class WantedFormulas:
    """The formulas of a query, compared with many formulas of posts at once by the 1- to 3-grams of tokens that they share."""

    def __init__(self, latex: Sequence[str]) -> None:
        tokens = [latex_tokens(each) for each in latex]
        self._numbers = {token: number for number, token in enumerate(dict.fromkeys(chain(*tokens)), 1)}
        self._numbers[_BETWEEN] = -1
        self._wanted = []
        for own in tokens:
            numbers = np.array([self._numbers[token] for token in own], np.int64)
            grams, _ = self._grams(numbers, np.zeros(len(own), np.int64))
            self._wanted.append((*np.unique(grams, return_counts=True), len(grams)))

    def __len__(self) -> int:
        return len(self._wanted)

    def alike(self, latex: Sequence[str], affords: Affords) -> dict[str, float]:
        """Return the greatest Dice coefficient of each formula with one of the query's; those that are not afforded are left out."""
        text = f"\n{_BETWEEN}\n".join(each.replace(_BETWEEN, " ") for each in latex)
        tokens = latex_tokens(text)
        numbers = np.fromiter(map(self._numbers.get, tokens, repeat(0)), np.int64, len(tokens))
        is_token = numbers >= 0
        numbers, owners = numbers[is_token], np.cumsum(~is_token, dtype=np.int64)[is_token]
        lengths = np.bincount(owners, minlength=len(latex))
        sizes = np.where(lengths > 1, 3 * lengths - 3, lengths)
        least = sum(_COMPARISON + len(keys) for keys, _, _ in self._wanted)
        works = (least + len(self._wanted) * sizes).tolist()
        chosen = [number for number, work in enumerate(works) if affords(work)]
        if len(chosen) < len(latex):
            return self.alike([latex[number] for number in chosen], lambda _: True) if chosen else {}
        grams, held = self._grams(numbers, owners)
        best = np.zeros(len(latex))
        for keys, counts, size in self._wanted:
            places = np.minimum(np.searchsorted(keys, grams), len(keys) - 1)
            same = np.flatnonzero(keys[places] == grams) if len(keys) else places[:0]
            often = np.bincount(
                held[same] * len(keys) + places[same], minlength=len(latex) * len(keys)
            ).reshape(len(latex), len(keys))
            shared = np.minimum(often, counts).sum(axis=1)
            np.maximum(best, 2 * shared / np.maximum(1, size + sizes), out=best)
        return dict(zip(latex, best.tolist(), strict=True))

    def _grams(self, numbers: IntArray, owners: IntArray) -> tuple[IntArray, IntArray]:
        """Return the 1- to 3-grams of known tokens as numbers, and the formula that each is of."""
        base, known = len(self._numbers) + 1, numbers > 0
        pairs = known[:-1] & known[1:] & (owners[:-1] == owners[1:])
        triples = pairs[:-1] & pairs[1:]
        doubled = base * numbers[:-1] + numbers[1:]
        tripled = base * doubled[:-1] + numbers[2:]
        return (
            np.concatenate([numbers[known], doubled[pairs], tripled[triples]]),
            np.concatenate([owners[known], owners[:-1][pairs], owners[:-2][triples]]),
        )


class Wanted:
    """The words and formulas of a query that a snippet should show; `more` are corrections of misspelt words.

    Formulas beyond the budget are not compared, but counted.
    """

    def __init__(self, query: Query, more: Iterable[str] = (), budget: WorkBudget | None = None) -> None:
        texts = (*(sentence.text for sentence in query.passage.sentences), *more)
        self._stems = frozenset(stem for text in texts for stem in _stems(text))
        self._initials = frozenset(stem[0] for stem in self._stems)
        initials = "".join(map(re.escape, sorted(self._initials)))
        pattern = rf"(?<![^\W_])(?!formula_\d)[{initials}][^\W_]*"
        self._beginning = re.compile(pattern, re.IGNORECASE) if initials else None
        self._known_stems = _KnownStems(self._stems)
        distinct = list(dict.fromkeys(formula.latex for formula in query.formulas))
        self._formulas = WantedFormulas(distinct[:FORMULAS_COMPARED])
        self._known: dict[str, float] = {}
        self._budget = budget or QueryBudget().compared_ngrams
        self.uncompared = 0
        """Formulas of posts that were not compared with those of the query."""
        self._words: dict[str, bool] = {}
        self._phrases = query.conditions.required.phrases + query.conditions.required.titles

    @property
    def is_empty(self) -> bool:
        """True if there are neither formulas nor words beside stop words."""
        return not self._stems and not self._formulas

    @property
    def has_words(self) -> bool:
        """True if there are words beside stop words, or phrases."""
        return bool(self._stems or self._phrases)

    def word(self, word: str) -> bool:
        """Return True if the query has the word in some inflection."""
        if _is_plain(word):
            return bool(self._known_stems[word])
        if word not in self._words:
            self._words[word] = not self._stems.isdisjoint(_stems(word))
        return self._words[word]

    def words(self, text: str) -> float:
        """Return the share of the query's words that a sentence has; a phrase counts as much as all words."""
        own = len(self._stems.intersection(self._stems_in(text))) / max(1, len(self._stems))
        return own + bool(self._phrases and self.phrase_words(text))

    def phrase_words(self, text: str) -> set[int]:
        """Return the places in a text where the words of the query's phrases begin, if they stand side by side."""
        if not self._phrases:
            return set()
        found = [(match.start(), word) for match in _WORD.finditer(text) for word in words(match.group())]
        return {
            found[place + step][0]
            for phrase in self._phrases
            for place in range(len(found) - len(phrase) + 1)
            if all(found[place + step][1] == word for step, word in enumerate(phrase))
            for step in range(len(phrase))
        }

    def _stems_in(self, text: str) -> Iterable[str]:
        """Return the stems of a sentence that may be in the query, chosen by their first letter, which stemming does not change."""
        if self._beginning is None:
            return ()
        if _is_plain(text):
            found = self._beginning.findall(text)
        else:
            found = [word for word in words(PLACEHOLDER.sub(" ", text)) if word[0] in self._initials]
        return map(self._known_stems.__getitem__, found)

    def words_in(self, text: str) -> Iterable[re.Match[str]]:
        """Match of words that may be in the query; in a text with accents or hyphens, or for phrases, of all words."""
        is_simple = self._beginning is not None and not self._phrases and _is_plain(text)
        return self._beginning.finditer(text) if self._beginning and is_simple else _WORD.finditer(text)

    def compare(self, latex: Iterable[str]) -> None:
        """Compare formulas of posts with the query's, all at once, as far as the budget lasts."""
        check_cancelled()
        unknown = [each for each in dict.fromkeys(latex) if each not in self._known]
        if unknown and self._formulas:
            self._known |= self._formulas.alike(unknown, self._budget.affords)

    def formula(self, latex: str) -> float:
        """Return the greatest similarity of a formula to one of the query's, from 0 to 1."""
        if not self._formulas:
            return 0.0
        if latex not in self._known:
            self.compare([latex])
            self.uncompared += latex not in self._known
        return self._known.get(latex, 0.0)


class _KnownStems(dict[str, str]):
    """Maps a word to its stem if the query has that stem, else to an empty string; caches each word."""

    def __init__(self, wanted: Collection[str]) -> None:
        self._wanted = wanted

    def __missing__(self, word: str) -> str:
        small = word.lower()
        stem = _stem(small)
        self[word] = stem if stem in self._wanted and small not in STOP_WORDS else ""
        return self[word]


def snippet(
    preview: Preview,
    wanted: Wanted,
    similarities: Mapping[int, float] | None = None,
    formula: str | None = None,
) -> tuple[Fragment, ...]:
    """Return the best sentences of a post in about `LENGTH` characters, in the order of the text.

    `similarities` has the similarity of each sentence by number, if the search used vectors. The sentence with the
    formula `formula` is chosen first.
    """
    post, rows = preview.post, preview.rows
    latex = preview.formulas.latex
    alike = {identifier: wanted.formula(each) for identifier, each in latex.items()}
    if formula is not None:
        alike[formula] = 1.0
    candidates = [n for n, row in enumerate(rows) if row["field"] == "body"] or list(range(len(rows)))
    worth = _worth(rows, candidates, wanted, alike, similarities)
    if formula is not None:
        for number in candidates:
            if any(place[1] == formula for place in rows[number].get("placeholders", ())):
                worth[number] = 10.0
    chosen: dict[int, list[Fragment]] = {}
    room = LENGTH
    for number in sorted(candidates, key=worth.__getitem__, reverse=True):
        if chosen and (room <= 0 or worth[number] <= 0):
            break
        length = _length(rows[number], latex, room if chosen else None)
        if not chosen or length <= room:
            sentence = preview.sentence(number)
            shown = fragments(sentence, preview.formulas.of(sentence), post)
            chosen[number] = _windowed(_marked(shown, wanted, alike))
            room -= length
    return _joined(sorted(chosen.items()), len(rows))


def _length(row: Mapping[str, Any], latex: Mapping[str, str], most: int | None) -> int:
    """Return the length of a sentence's fragments, computed without making them, since most are not shown; from `most` on, a lower bound."""
    places = row.get("placeholders", ())
    length = len(row["text"]) - sum(len(place[0]) for place in places)
    if most is not None and length > most:
        return length
    return length + sum(
        formula_length(latex[place[1]]) if place[1] in latex else len(place[0]) for place in places
    )


def shown_latex(previews: Iterable[Preview], titled: Iterable[Preview]) -> Iterator[str]:
    """Yield the formulas that snippets, and the titles of other posts, may show."""
    for preview in previews:
        yield from preview.formulas.latex.values()
    for preview in titled:
        pieces = _pieces_of_title(preview.post.title, preview.post.markup)
        count = sum(piece.kind == "formula" for piece in pieces)
        yield from islice(preview.formulas.latex.values(), count)


def title(
    post: Post, wanted: Wanted | None = None, formulas: Sequence[Formula] | None = None
) -> tuple[Fragment, ...]:
    """Return the title of a post as fragments; the formulas of the title are the first ones of the post."""
    left = iter(post.formulas if formulas is None else formulas)
    found: list[Fragment] = []
    for piece in _pieces_of_title(post.title, post.markup):
        if piece.kind == "formula":
            formula = next(left, None)
            latex = formula.latex if formula else piece.text
            is_alike = wanted is not None and formula is not None and wanted.formula(formula.latex) >= ALIKE
            found.append(Fragment("formula", latex, formula.id if formula else None, False, is_alike))
        elif piece.kind in ("text", "code"):
            text = Fragment("text", " ".join(piece.text.split("\n")))
            found.extend(_split(text, wanted) if wanted else [text])
    return tuple(found)


def _worth(
    rows: Sequence[Mapping[str, Any]],
    candidates: Sequence[int],
    wanted: Wanted,
    alike: Mapping[str, float],
    similarities: Mapping[int, float] | None,
) -> dict[int, float]:
    """Return the score of each sentence: shared words, its best formula, and the similarity of its vector."""
    worth = {}
    values = [similarities[n] for n in candidates if n in similarities] if similarities else []
    low, span = (min(values), max(values) - min(values)) if values else (0.0, 0.0)
    for number in candidates:
        worth[number] = wanted.words(rows[number]["text"])
        if places := rows[number].get("placeholders"):
            worth[number] += max(alike.get(place[1], 0.0) for place in places)
        if similarities and number in similarities and span:
            worth[number] += _DENSE_SHARE * (similarities[number] - low) / span
    return worth


def _marked(sentence: Sequence[Fragment], wanted: Wanted, alike: Mapping[str, float]) -> list[Fragment]:
    found: list[Fragment] = []
    for fragment in sentence:
        if fragment.kind == "formula":
            is_alike = alike.get(fragment.formula or "", 0.0) >= ALIKE
            found.append(replace(fragment, matched=True) if is_alike else fragment)
        else:
            found.extend(_split(fragment, wanted))
    return found


def _split(fragment: Fragment, wanted: Wanted) -> list[Fragment]:
    """Split a text so that words of the query are fragments of their own."""
    if not wanted.has_words:
        return [fragment] if fragment.text else []
    found: list[Fragment] = []
    done = 0
    together = wanted.phrase_words(fragment.text)
    for match in wanted.words_in(fragment.text):
        if match.start() in together or wanted.word(match.group()):
            if match.start() > done:
                found.append(Fragment("text", fragment.text[done : match.start()]))
            found.append(Fragment("text", match.group(), matched=True))
            done = match.end()
    if done < len(fragment.text):
        found.append(Fragment("text", fragment.text[done:]))
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
            found.append(Fragment("text", " ") if number == last + 1 else GAP)
        found.extend(sentence)
        last = number
    if last is not None and last + 1 < count and found[-1].kind != "gap":
        found.append(replace(GAP, text=GAP.text.rstrip()))
    return tuple(found)


@lru_cache(maxsize=CACHED_PARTS)
def _stem(word: str) -> str:
    (stem,) = stems([word])
    return stem


@lru_cache(maxsize=CACHED_PARTS)
def _stems(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a sentence without stop words."""
    content = [word for word in words(PLACEHOLDER.sub(" ", text)) if word not in STOP_WORDS]
    return tuple(word_tokens(" ".join(content)))


def _pieces_of_title(title: str, markup: Markup) -> Sequence[Piece]:
    """Return the pieces of a title, cached if short: all answers to one question share it."""
    return _short_title(title, markup) if len(title) <= 4 * LENGTH else list(title_pieces(title, markup))


@lru_cache(maxsize=CACHED_POSTS)
def _short_title(title: str, markup: Markup) -> tuple[Piece, ...]:
    return tuple(title_pieces(title, markup))


def _is_plain(text: str) -> bool:
    """Return True if a text is ASCII without apostrophes or hyphens, so that a simple pattern finds its words."""
    return text.isascii() and "'" not in text and "-" not in text
