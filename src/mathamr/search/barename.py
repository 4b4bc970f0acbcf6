"""`BareName`: a query that only names something, as "Zippel lemma" or "nowhere dense": what has that name comes first.

Vectors say what is alike in meaning. Whoever types a name wants what is called so, or speaks of it: the rare word itself,
and the words of a name side by side. A word that no post has is taken for a misspelt one of a title.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.lexical.terms import Terms, misspellings, post_text, stems, title_names, words
from mathamr.index.scored import Scored
from mathamr.posts.post import Post
from mathamr.search.query import Query
from mathamr.search.stopwords import STOP_WORDS

MOST_WORDS = 5
"""A longer text says more than a name."""
RARE_SHARE, RARE_AT_LEAST = 0.02, 5
"""A word is rare in at most this share of the posts, or in so few."""
CANDIDATES = 100
"""Posts with a rare word whose text is looked at for the whole name."""
_SIMILAR_TITLES = 20
_BELOW_A_WORD = 0.19
"""What the best score counts beside a word: less than one word of `MOST_WORDS`."""
_TOGETHER, _TITLED = 2.0, 2.0
"""What counts above any number of single words: the name as it is, and that in a title."""

Posts = Callable[[Sequence[str]], Mapping[str, Post]]


@dataclass(frozen=True, slots=True)
class BareName:
    """The words of a name as the index spells them, and which posts have its rare ones."""

    words: tuple[str, ...]
    rare: Mapping[str, frozenset[str]]
    """The posts with each rare word."""
    corrected: Mapping[str, str]
    """Words that no post has, and those they were taken for."""

    @classmethod
    def of(cls, query: Query, lexicon: LexicalPart, posts: Posts) -> BareName | None:
        """What a query names; `None` where it says more than a name, or nothing rare."""
        asked = _asked(query)
        if not asked:
            return None
        known = lexicon.frequencies("words", asked)
        corrected = {
            word: right
            for word in asked
            if not known[word] and (right := _corrected(word, lexicon, posts)) is not None
        }
        found = tuple(corrected.get(word, word) for word in asked)
        most = max(RARE_AT_LEAST, RARE_SHARE * lexicon.count())
        few = [
            word
            for word, count in lexicon.frequencies("words", found).items()
            if 0 < count <= most and word not in STOP_WORDS
        ]
        rare = {word: frozenset(ids) for word, ids in lexicon.holding("words", few).items()}
        return cls(found, rare, corrected) if rare else None

    @property
    def terms(self) -> Terms:
        """What the corrected words add to a query."""
        right = list(self.corrected.values())
        return {"words": right, "stems": stems(right), "names": right}

    @property
    def notes(self) -> list[str]:
        """What the person should know about the words."""
        return [f"no post has {word!r}; searched for {right!r} too" for word, right in self.corrected.items()]

    def first(self, hits: Sequence[Scored], posts: Posts) -> tuple[list[Scored], dict[str, float]]:
        """Hits with what has the name first, and how much of it each has, up to 1.

        First come titles with the whole name, then texts with it, then texts with its rare words, the more the earlier.
        """
        bonus = {
            hit.id: sum(hit.id in ids for ids in self.rare.values()) / len(self.rare)
            for hit in hits
            if any(hit.id in ids for ids in self.rare.values())
        }
        if len(self.words) > 1:
            for post_id, post in posts(list(bonus)[:CANDIDATES]).items():
                if _has_phrase(words(post_text(post)), self.words):
                    bonus[post_id] += _TOGETHER + _TITLED * _has_phrase(title_names(post), self.words)
        else:
            for post_id, post in posts(list(bonus)[:CANDIDATES]).items():
                bonus[post_id] += _TITLED * (self.words[0] in title_names(post))
        if not bonus:
            return list(hits), {}
        scale = _BELOW_A_WORD / (max((hit.score for hit in hits), default=0.0) or 1.0)
        raised = [Scored(hit.id, scale * hit.score + bonus.get(hit.id, 0.0)) for hit in hits]
        shown = {name: round(value / (1 + _TOGETHER + _TITLED), 3) for name, value in bonus.items()}
        return sorted(raised, key=lambda hit: (-hit.score, hit.id)), shown


def _asked(query: Query) -> tuple[str, ...]:
    """The words of a query that is no more than a name."""
    if query.formulas or "?" in query.text:
        return ()
    found = tuple(words(query.text))
    if not found or len(found) > MOST_WORDS or found[0] in STOP_WORDS:
        return ()
    return found


def _corrected(word: str, lexicon: LexicalPart, posts: Posts) -> str | None:
    """The word of a title that a word was meant to be, most used first; `None` where there is none like it."""
    remnants = misspellings(word)
    if not remnants:
        return None
    near = [hit.id for hit in lexicon.search({"names": sorted(remnants)}, _SIMILAR_TITLES)]
    alike = {
        right
        for post in posts(near).values()
        for right in title_names(post)
        if abs(len(right) - len(word)) <= 1 and remnants.keys() & misspellings(right).keys()
    }
    used = lexicon.frequencies("words", sorted(alike))
    return max(used, key=lambda right: (used[right], right), default=None)


def _has_phrase(text: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether the words of a name stand side by side in a text."""
    size, first = len(phrase), phrase[0]
    return any(
        word == first and tuple(text[place : place + size]) == tuple(phrase)
        for place, word in enumerate(text)
    )
