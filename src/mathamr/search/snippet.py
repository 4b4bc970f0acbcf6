"""Snippets: the sentences of a post that match the query best, with matched words and formulas marked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, pairwise

from mathamr.core.cancellation import check_cancelled
from mathamr.index.catalogue.storedpassages import Preview
from mathamr.index.lexical.terms import latex_tokens, stems, word_tokens, words
from mathamr.posts.markup import title_pieces
from mathamr.posts.markup.piece import Piece
from mathamr.posts.passage import PLACEHOLDER, Passage, Sentence
from mathamr.posts.post import Formula, Markup, Post
from mathamr.search.commonwords import STOP_WORDS
from mathamr.search.fragment import GAP, Fragment, formula_length, formulas_by_id, fragments, shortened
from mathamr.search.query import Query
from mathamr.search.workbudget import QueryBudget, WorkBudget

LENGTH = 300
"""The approximate length of a snippet; a long formula may exceed it."""
ALIKE = 0.6
"""The least Dice coefficient of the LaTeX 1- to 3-grams of formulas that count as matched."""

FORMULAS_COMPARED = 32
"""The greatest number of formulas of a query that are compared with those of a post."""

CACHED_POSTS, CACHED_PARTS = 512, 16_384
"""Sizes of the caches of posts, and of sentences and formulas."""

_COMPARISON = 20
"""The least work of a comparison, in n-grams."""
_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
_DENSE_SHARE = 0.5


class WantedFormula:
    """A formula of a query, compared with those of posts by the 1- to 3-grams of tokens that they share."""

    def __init__(self, latex: str) -> None:
        tokens = _tokens(latex)
        self._ngrams = dict(Counter(_ngrams(tokens)))
        self._known = frozenset(tokens)
        self._size = _count_ngrams(len(tokens))

    def work(self, tokens: Sequence[str]) -> int:
        """Return the work of a comparison, in n-grams."""
        return _COMPARISON + len(self._ngrams) + _count_ngrams(len(tokens))

    def alike(self, tokens: Sequence[str], above: float = 0.0) -> float:
        """Return the Dice coefficient of the n-grams of both formulas; 0 if it cannot exceed `above`."""
        size = _count_ngrams(len(tokens))
        total = self._size + size
        if not total or 2 * min(self._size, size) <= above * total or self._known.isdisjoint(tokens):
            return 0.0
        left, shared = self._ngrams.copy(), 0
        for gram in filter(left.__contains__, _ngrams(tokens)):
            if left[gram]:
                left[gram] -= 1
                shared += 1
        return 2 * shared / total


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
        self._formulas = [WantedFormula(latex) for latex in distinct[:FORMULAS_COMPARED]]
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

    def word(self, word: str) -> bool:
        """Return True if the query has the word in some inflection."""
        if word[0].lower() not in self._initials and _is_plain(word):
            return False
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
        if not _is_plain(text):
            return _stems(text)
        return map(self._known_stems.__getitem__, self._beginning.findall(text))

    def words_in(self, text: str) -> Iterable[re.Match[str]]:
        """Match of words that may be in the query; in a text with accents or hyphens, or for phrases, of all words."""
        is_simple = self._beginning is not None and not self._phrases and _is_plain(text)
        return self._beginning.finditer(text) if self._beginning and is_simple else _WORD.finditer(text)

    def formula(self, formula: Formula) -> float:
        """Return the greatest similarity of a formula to one of the query's, from 0 to 1."""
        if not self._formulas:
            return 0.0
        if formula.latex not in self._known:
            check_cancelled()
            tokens, best = _tokens(formula.latex), 0.0
            if not self._budget.affords(sum(wanted.work(tokens) for wanted in self._formulas)):
                self.uncompared += 1
                return 0.0
            for wanted in self._formulas:
                best = max(best, wanted.alike(tokens, above=best))
            self._known[formula.latex] = best
        return self._known[formula.latex]


class _KnownStems(dict[str, str]):
    """Maps a word to its stem if the query has that stem, else to an empty string; caches each word."""

    def __init__(self, wanted: Collection[str]) -> None:
        self._wanted = wanted

    def __missing__(self, word: str) -> str:
        small = word.lower()
        (stem,) = stems([small])
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
    post, read = preview.post, preview.passage
    formulas = formulas_by_id(post)
    alike = {identifier: wanted.formula(each) for identifier, each in formulas.items()}
    if formula is not None:
        alike[formula] = 1.0
    candidates = [n for n, sentence in enumerate(read.sentences) if sentence.field == "body"]
    candidates = candidates or list(range(len(read.sentences)))
    worth = _worth(read, candidates, wanted, alike, similarities)
    if formula is not None:
        for number in candidates:
            if any(place.formula == formula for place in read.sentences[number].placeholders):
                worth[number] = 10.0
    chosen: dict[int, list[Fragment]] = {}
    room = LENGTH
    for number in sorted(candidates, key=lambda n: (-worth[n], n)):
        if chosen and (room <= 0 or worth[number] <= 0):
            break
        length = _length(read.sentences[number], formulas)
        if not chosen or length <= room:
            sentence = fragments(read.sentences[number], formulas, post)
            chosen[number] = _windowed(_marked(sentence, wanted, alike))
            room -= length
    return _joined(sorted(chosen.items()), len(read.sentences))


def _length(sentence: Sentence, formulas: Mapping[str, Formula]) -> int:
    """Return the length of a sentence's fragments, computed without making them, since most sentences are not shown."""
    length = len(sentence.text)
    for place in sentence.placeholders:
        formula = formulas.get(place.formula)
        if formula:
            length += formula_length(formula.latex) - len(place.name)
    return length


def title(post: Post, wanted: Wanted | None = None) -> tuple[Fragment, ...]:
    """Return the title of a post as fragments; the formulas of the title are the first ones of the post."""
    formulas = iter(post.formulas)
    found: list[Fragment] = []
    for piece in _pieces_of_title(post.title, post.markup):
        if piece.kind == "formula":
            formula = next(formulas, None)
            latex = formula.latex if formula else piece.text
            is_alike = wanted is not None and formula is not None and wanted.formula(formula) >= ALIKE
            found.append(Fragment("formula", latex, formula.id if formula else None, False, is_alike))
        elif piece.kind in ("text", "code"):
            text = Fragment("text", " ".join(piece.text.split("\n")))
            found.extend(_split(text, wanted) if wanted else [text])
    return tuple(found)


def _worth(
    read: Passage,
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
        sentence = read.sentences[number]
        formulas = (alike.get(place.formula, 0.0) for place in sentence.placeholders)
        worth[number] = wanted.words(sentence.text) + max(formulas, default=0.0)
        if similarities and number in similarities and span:
            worth[number] += _DENSE_SHARE * (similarities[number] - low) / span
    return worth


def _marked(sentence: Sequence[Fragment], wanted: Wanted, alike: Mapping[str, float]) -> list[Fragment]:
    found: list[Fragment] = []
    for fragment in sentence:
        if fragment.kind == "formula":
            matched = alike.get(fragment.formula or "", 0.0) >= ALIKE
            found.append(Fragment("formula", fragment.text, fragment.formula, fragment.display, matched))
        else:
            found.extend(_split(fragment, wanted))
    return found


def _split(fragment: Fragment, wanted: Wanted) -> list[Fragment]:
    """Split a text so that words of the query are fragments of their own."""
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


@lru_cache(maxsize=CACHED_PARTS)
def _tokens(latex: str) -> tuple[str, ...]:
    return tuple(latex_tokens(latex))


def _ngrams(tokens: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """Return the 1-, 2- and 3-grams of the tokens of a formula."""
    return chain(
        zip(tokens, strict=True), pairwise(tokens), zip(tokens, tokens[1:], tokens[2:], strict=False)
    )


def _count_ngrams(tokens: int) -> int:
    return 3 * tokens - 3 if tokens > 1 else tokens
