"""`Confidence`: how surely a found post is what was asked, so that a search can say that there is nothing.

Scores are comparable only within one search. A logistic model turns what can be compared between searches into a
probability: how similar the vectors are, and how far the hit stands out from the results behind it. Its weights were fitted
on questions of a forum and names of an encyclopedia, each asked once with what answers it in the collection and once
without (`python -m mathamr_lab.studies emptiness` prints them and the curve of wrongly shown against wrongly hidden).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.lexical.terms import other_names, post_text, stems, words
from mathamr.posts.passage import PLACEHOLDER, Passage
from mathamr.posts.post import Post
from mathamr.search.generalwords import general_words
from mathamr.search.hits import Match
from mathamr.search.query import Query
from mathamr.search.results import RankedResult
from mathamr.search.stopwords import STOP_WORDS

STRONG, WEAK = 0.5, 0.25
"""The probabilities from which a hit is a strong or a weak match."""
WEAK_DECLARATION = 0.1
"""The same for declarations of a library, where many are as similar as the one that was asked for (lab/notes/lean.md)."""
ALL_WORDS, CLOSE, CLOSE_FORMULA = 0.9, 0.4, 0.5
"""A hit with this share of the query's words and this cosine is at least a weak match, and so is one with this MaxSim to a query without
words: in a collection about one subject many entries are close, and none stands out."""
BACKGROUND = slice(4, 12)
"""The places of a ranking whose scores are the background that a match stands out from."""
NAMED = 0.35
"""The share of the greatest bonus from which a post's title has the whole name that was asked for."""
ALIKE = 0.7
"""The share of aligned nodes from which a formula is nearly the same."""


class Features(NamedTuple):
    """What the confidence in a hit depends on."""

    similarity: float
    """The cosine of the whole query and the whole post."""
    parts: float
    """The mean similarity of the query's parts to the nearest parts of the post (MaxSim)."""
    parts_ahead: float
    """How far that is ahead of the background."""
    words_ahead: float
    """How far the score by words is ahead of the background."""
    words: float
    """The share of the query's words that the post has, weighted by their rarity."""


class ConfidenceWeights(NamedTuple):
    """A logistic model over the features."""

    intercept: float
    weights: Features

    def probability(self, found: Features) -> float:
        """The probability that a hit with these features is what was asked."""
        total = self.intercept + math.fsum(a * b for a, b in zip(self.weights, found, strict=True))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


class CalibratedWeights(NamedTuple):
    """The weights for the vectors of one model."""

    short: ConfidenceWeights
    """For names and short questions."""
    long: ConfidenceWeights
    """For whole questions."""


_OF_MATHAMR_2 = CalibratedWeights(
    ConfidenceWeights(-8.39, Features(5.01, 1.20, 19.17, 4.71, 0.0)),
    ConfidenceWeights(-2.54, Features(6.95, -7.94, 13.49, 8.53, 0.0)),
)
CALIBRATED = {"mathamr-2": _OF_MATHAMR_2, "mathamr-3": _OF_MATHAMR_2}
"""By the beginnings of the names of models whose cosines were measured; those of mathamr-3 are as large as those of mathamr-2."""
BY_WORDS = ConfidenceWeights(-3.28, Features(0.0, 0.0, 0.0, 9.26, 2.21))
"""Without vectors: for models whose cosines were not measured, and for searches by words."""


class Confidence:
    """Judges the hits of one query; `ranked` is the beginning of its ranking."""

    def __init__(
        self,
        query: Query,
        lexicon: LexicalPart,
        model: str,
        ranked: Sequence[RankedResult] = (),
        corrected: Collection[str] = (),
    ) -> None:
        self._query, self._lexicon, self._model = query, lexicon, model
        self._corrected = corrected
        behind = ranked[BACKGROUND] or ranked[1:] or ranked
        self._background = {
            name: math.fsum(each.evidence.get(name, 0.0) for each in behind) / len(behind) if behind else 0.0
            for name in ("maxsim", "lexical")
        }

    @cached_property
    def absent(self) -> list[str]:
        """The words of a short query that no post has in any form, as they were typed; not those that were corrected."""
        if self._query.kind == "question":
            return []
        often = self._lexicon.frequencies("stems", sorted(set(stems(self._content))))
        gone = {
            word
            for word, stem in zip(self._content, stems(self._content), strict=True)
            if not often.get(stem) and word not in self._corrected and word.isalpha() and len(word) > 2
        }
        typed = (part for part in PLACEHOLDER.sub(" ", self._text).split() if set(words(part)) & gone)
        return list(dict.fromkeys(part.strip(".,;:?!()[]\"'“”‘’") for part in typed))

    @property
    def unmentioned(self) -> list[str]:
        """The absent words that a user should know about: names and special terms, or all of a query; not a general word such as "set"."""
        if len(self.absent) >= len(set(self._content)):
            return self.absent
        return [word for word in self.absent if word[:1].isupper() or word.lower() not in general_words()]

    def features(self, post: Post, evidence: Mapping[str, float], read: Passage | None = None) -> Features:
        """The features of a hit."""
        return self._of_scores(evidence)._replace(words=self._words_in(post, read))

    def _of_scores(self, evidence: Mapping[str, float]) -> Features:
        """The features of a hit but for its words, for which its text has to be read."""
        parts = evidence.get("maxsim", 0.0)
        return Features(
            evidence.get("single", 0.0),
            parts,
            parts - self._background["maxsim"],
            evidence.get("lexical", 0.0) - self._background["lexical"],
            0.0,
        )

    def match(self, post: Post, evidence: Mapping[str, float], read: Passage | None = None) -> Match:
        """What a hit is to the query; a post that has the query as its name or label is what was asked.

        `read` is the passage of the post, if it is known; it saves reading the post's markup again.

        If no post mentions a name of the query, such as Cantelli, a hit can only be similar; if none has some other word of
        it, which notes may say in other words, a hit is at most a weak match.
        """
        if evidence.get("label") or evidence.get("name", 0.0) >= NAMED:
            return "strong"
        if any(map(self._is_name, self.absent)):
            return "similar"
        weights = BY_WORDS
        calibrated = next((CALIBRATED[name] for name in CALIBRATED if self._model.startswith(name)), None)
        if calibrated is not None and {"single", "maxsim"} <= evidence.keys():
            weights = calibrated.long if self._query.kind == "question" else calibrated.short
        found = self.features(post, evidence, read) if weights.weights.words else self._of_scores(evidence)
        chance = weights.probability(found)
        if chance >= STRONG and not self.absent:
            return "strong"
        least = WEAK_DECLARATION if post.markup == "declaration" else WEAK
        return "weak" if chance >= least or self._is_close(found, post, read) else "similar"

    def _is_close(self, found: Features, post: Post, read: Passage | None) -> bool:
        """True for a hit that has the query's words, or is like a formula alone, even if many hits are as good.

        What mentions a name that is the whole query is no less, however far from it the rest of its text is.
        """
        if self._query.kind == "question":
            return False
        if not self._content:
            return found.parts >= CLOSE_FORMULA
        is_name = len(self._content) == 1 and self._content[0] not in general_words()
        return (is_name or found.similarity >= CLOSE) and self._words_in(post, read) >= ALL_WORDS

    def _is_name(self, word: str) -> bool:
        """True for a capitalised word, unless it only begins the query."""
        begins = self._query.text.lstrip().startswith(word)
        return word[:1].isupper() and not (begins and word.lower() in general_words())

    @cached_property
    def _rarity(self) -> Mapping[str, float]:
        """The inverse document frequency of the stem of each word of the query, common words left out."""
        count = self._lexicon.count()
        frequency = self._lexicon.frequencies("stems", sorted(set(stems(self._content))))
        return {stem: math.log((count + 1) / (often + 0.5)) for stem, often in frequency.items()}

    @cached_property
    def _text(self) -> str:
        return " ".join(sentence.text for sentence in self._query.passage.sentences)

    @cached_property
    def _content(self) -> list[str]:
        return [word for word in words(PLACEHOLDER.sub(" ", self._text)) if word not in STOP_WORDS]

    def _words_in(self, post: Post, read: Passage | None) -> float:
        """The share of the query's words that a post has, weighted by rarity."""
        total = math.fsum(self._rarity.values())
        if total <= 0:
            return 0.0
        text = post_text(post) if read is None or post.markup == "declaration" else _text_of(post, read)
        held = set(stems(sorted(set(words(text)))))
        return math.fsum(value for stem, value in self._rarity.items() if stem in held) / total


def _text_of(post: Post, read: Passage) -> str:
    """The text of a post without its formulas, from its passage; an answer's title is its question's."""
    sentences = (each for each in read.sentences if each.field == "body" or post.role != "answer")
    return " ".join((*other_names(post), *(PLACEHOLDER.sub(" ", each.text) for each in sentences)))


def formula_match(found: RankedResult) -> Match:
    """What a found formula is to the query's: the same up to renaming variables, nearly the same, or similar."""
    if found.exact or found.evidence.get("renamed") or found.evidence.get("pattern"):
        return "strong"
    return "weak" if found.evidence.get("aligned", 0.0) >= ALIKE else "similar"
