"""`NameQuery`: a query that only names something, as "Zippel lemma" or "nowhere dense": what has that name comes first.

Vectors say what is alike in meaning. Whoever types a name wants what is called so, or what defines it: the name as a title,
its words side by side, set off as where a thing is defined. How much each counts was chosen on names of an encyclopedia
(docs/hybrid.md). A word that no post has is taken for a misspelt one of a title.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.lexical.terms import Terms, called, misspellings, stems, title_names, words
from mathamr.index.scored import Scored
from mathamr.posts.markup import pieces, title_pieces
from mathamr.posts.markup.piece import Piece
from mathamr.posts.post import Post
from mathamr.search.definedterms import emphasised_terms
from mathamr.search.query import Query
from mathamr.search.stopwords import STOP_WORDS

MOST_WORDS = 5
"""A longer text says more than a name."""
_SYMBOL = re.compile(r"\\?[a-zA-Z]+(?:\{[a-zA-Z]+\})?")
"""A formula that may be part of a name, as in "$p$-adic number"."""
HARDLY_ANY = 3
"""Posts with a word that is all but a name by itself: they come before all others."""
CANDIDATES, READ = 100, 30
"""Posts of the first ranks whose titles are looked at for the name, and those of them whose texts are read for it."""
BEGINNING = 3_000
"""Characters of a text that are read for it."""
_SIMILAR_TITLES = 20
_WORDS, _TOGETHER, _DEFINED = 1.0, 1.0, 2.0
"""What all words of the name count, its words side by side, and the name set off; in deviations of the scores."""
_RARE, _TITLED = 30.0, 100.0
"""What counts above any of these: a word that hardly any post has; the name in a title."""

Posts = Callable[[Sequence[str]], Mapping[str, Post]]


@dataclass(frozen=True, slots=True)
class NameQuery:
    """The words of a name as the index spells them, how rare each is, and which posts have the rarest."""

    words: tuple[str, ...]
    rarity: Mapping[str, float]
    """By stem, the logarithm of one in how many posts has it."""
    rare: frozenset[str]
    """The posts with a word that hardly any has."""
    corrected: Mapping[str, str]
    """Words that no post has, and those they were taken for."""

    @classmethod
    def of(cls, query: Query, lexicon: LexicalPart, posts: Posts) -> NameQuery | None:
        """What a query names; `None` where it says more than a name, or nothing that any post has."""
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
        count = lexicon.count()
        rarity = {
            stem: math.log((count + 1) / often)
            for stem, often in lexicon.frequencies("stems", stems(list(found))).items()
            if often
        }
        if not any(rarity.values()) or all(word in STOP_WORDS for word in found):
            return None
        few = [
            word
            for word, often in lexicon.frequencies("words", found).items()
            if 0 < often <= HARDLY_ANY and word not in STOP_WORDS and len(word) > 2
        ]
        rare = frozenset(each for ids in lexicon.holding("words", few).values() for each in ids)
        return cls(found, rarity, rare, corrected)

    @property
    def terms(self) -> Terms:
        """What the corrected words add to a query."""
        right = list(self.corrected.values())
        return {"words": right, "stems": stems(right), "names": right}

    @property
    def notes(self) -> list[str]:
        """What the person should know about the words."""
        return [f"no post has {word!r}; searched for {right!r} too" for word, right in self.corrected.items()]

    def first(self, hits: Sequence[Scored], posts: Posts) -> tuple[Sequence[Scored], dict[str, float]]:
        """Hits with what has the name first, and how much of it each has, up to 1.

        First come titles with the whole name, the shorter the earlier, then posts with a word that hardly any has. The
        others keep their scores, raised where the text has the words of the name, has them side by side, or sets them off.
        """
        spread = _deviation([hit.score for hit in hits])
        read = {hit.id for place, hit in enumerate(hits) if place < READ or hit.id in self.rare}
        looked = [hit.id for place, hit in enumerate(hits) if place < CANDIDATES or hit.id in read]
        bonus = {
            each: value
            for each, post in posts(looked).items()
            if (value := self._titled(post) + (self._told(post) if each in read else 0.0)) > 0
        }
        if not bonus:
            return list(hits), {}
        raised = [Scored(hit.id, hit.score + spread * bonus.get(hit.id, 0.0)) for hit in hits]
        most = 2 * _TITLED + 2 * _RARE + _WORDS + _TOGETHER + _DEFINED
        shown = {name: round(value / most, 3) for name, value in bonus.items()}
        return sorted(raised, key=lambda hit: (-hit.score, hit.id)), shown

    def _titled(self, post: Post) -> float:
        """What the name counts in a title, in another name or in the label of a post: the more, the less else stands there."""
        name = stems(list(self.words))
        shares = (len(name) / len(each) for each in map(stems, called(post)) if has_phrase(each, name))
        return max((_TITLED * (1 + share) for share in shares), default=0.0)

    def _told(self, post: Post) -> float:
        """How much of the name a text has."""
        post = replace(post, body=post.body[:BEGINNING])
        name, text = stems(list(self.words)), stems(words(_with_formulas(post)))
        held, together = set(text), has_phrase(text, name)
        whole = math.fsum(self.rarity.values()) or 1.0
        worth = _WORDS * math.fsum(value for stem, value in self.rarity.items() if stem in held) / whole
        worth += _TOGETHER * together
        if any(stems(words(each)) == name for each in emphasised_terms(post.body, post.markup)):
            worth += _DEFINED
        return worth + (_RARE * (1 + together) if post.id in self.rare else 0.0)


def _with_formulas(post: Post) -> str:
    """The text of a post with its formulas as LaTeX: a letter may be part of a name."""
    title = () if post.role == "answer" else title_pieces(post.title, post.markup)
    parts = [*title, Piece("break", 0, 0, "paragraph"), *pieces(post.body, post.markup)]
    return "".join(piece.text if piece.kind in ("text", "formula", "code") else " " for piece in parts)


def _deviation(scores: Sequence[float]) -> float:
    """The standard deviation of scores; 1 where they are all the same."""
    mean = math.fsum(scores) / max(1, len(scores))
    found = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / max(1, len(scores)))
    return found if found > 1e-9 else 1.0


def _asked(query: Query) -> tuple[str, ...]:
    """The words of a query that is no more than a name; a short formula may be one of them."""
    if "?" in query.text or not all(_SYMBOL.fullmatch(formula.latex.strip()) for formula in query.formulas):
        return ()
    if not query.has_words:
        return ()
    found = tuple(words(_with_formulas(query.post)))
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


def has_phrase(text: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether the words of a name stand side by side in a text.

    >>> has_phrase(["a", "nowhere", "dense", "set"], ["nowhere", "dense"]), has_phrase(["dense"], ["nowhere", "dense"])
    (True, False)
    """
    size, first = len(phrase), phrase[0]
    return any(
        word == first and tuple(text[place : place + size]) == tuple(phrase)
        for place, word in enumerate(text)
    )
