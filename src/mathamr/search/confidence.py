"""`Confidence`: how surely a found post is what was asked, so that a search can say that there is nothing.

Scores are comparable only within one search. A logistic model turns what can be compared between searches into a
probability: the share of the query's words that a post has, what its formulas are to the query's, how similar the vectors are, and
how far a hit stands out from the results behind it. Its weights were fitted on typed formulas, titles and questions, each asked once
with what answers it in the collection and once without (the study `emptiness`, see lab/notes/typed.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise

from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.lexical.terms import STOP_WORDS, is_ideograph, word_tokens, words
from mathamr.index.preview import Preview, hash_term
from mathamr.search.formulagrade import CONTAINED, CONTAINED_RENAMED, RENAMED, SIMILAR
from mathamr.search.hits import HOLDS, LISTED, LISTED_BY, MATCHES, NAMED, Found, Match
from mathamr.search.labelweights import DEFAULT_WEIGHTS, Features, Group, LabelWeights
from mathamr.search.namequery import general_words, has_phrase
from mathamr.search.query import Query
from mathamr.search.results import GRADE, MOST_GRADED, RankedResult
from mathamr.systems.ranking import QueryKind

STRONG, WEAK = 0.5, 0.2
"""The probabilities from which a hit is a strong or a weak match."""
WEAK_QUESTION = 0.1
"""The same for whole questions, of which no feature tells well enough whether they have an answer, so that few are called unanswered."""
WEAK_DECLARATION = 0.1
"""The same for declarations of a library, where many are as similar as the one that was asked for (lab/notes/lean.md)."""
MOST_LOOKED_AT = 3
"""How many of the first results say whether what was asked is there at all."""
SURELY_ABSENT: Mapping[QueryKind, float] = {
    "name": 0.1, "words": 0.02, "formula": 0.15, "mixed": 0.05, "question": 0.0,
}  # fmt: skip
"""The probability of the best of these below which it surely is not: right in nine of ten cases (lab/notes/typed.md)."""
MOST_KEYWORDS, STANDS_OUT = 6, 0.1
"""An answer to a question may hold none of the words in which it was asked. Where one is among the first results, words are surely not
answered only if there are no more than these, and if no result stands out so far by the vectors of its parts (lab/notes/typed.md)."""
BACKGROUND = slice(4, 12)
"""The places of a ranking whose scores are the background that a match stands out from."""
ALIKE = 0.7
"""The alignment of trees from which a formula is nearly the same."""

_EQUATION = re.compile(
    r"\s*(?:equations?|eqs?n?\.?|formulas?)?\s*\((\d{1,4}(?:\.\d{1,4}){0,5}[a-z]?)\)[\s.?]*", re.IGNORECASE
)
"""The number of an equation as a query, such as `equation (2.1)`."""
_NUMBERED = re.compile(r"\W*[^\W\d_]{2,20}\.?\s+\(?[A-Z]?\d{1,4}(?:\.\d{1,4}){0,5}[a-z]?\)?[\s.?]*")
"""A kind with a number as a query, such as `Theorem 2.1`."""

Previews = Callable[[Sequence[str]], Mapping[str, Preview]]
"""Returns what posts say."""


class Confidence:
    """Judges the results of one query; `ranked` is the beginning of its ranking.

    `weights` are those of the index's model, `declarations` are the results that are declarations of a library, and `previews` reads
    the texts in which the words of a short query may stand side by side. `answers` are the results that answer questions.
    """

    def __init__(
        self,
        query: Query,
        lexicon: LexicalPart,
        weights: LabelWeights,
        ranked: Sequence[RankedResult] = (),
        *,
        declarations: Collection[str] = (),
        answers: Collection[str] = (),
        previews: Previews | None = None,
    ) -> None:
        self._query, self._lexicon, self._ranked = query, lexicon, ranked
        self._weights, self._answers = weights, answers
        self._declarations, self._previews = declarations, previews
        self._weak = WEAK_QUESTION if query.kind == "question" else WEAK
        behind = ranked[BACKGROUND] or ranked[1:] or ranked
        self._background = {
            name: math.fsum(each.evidence.get(name, 0.0) for each in behind) / len(behind) if behind else 0.0
            for name in ("maxsim", "lexical")
        }

    @property
    def group(self) -> Group:
        """The group of the query."""
        match self._query.kind:
            case "name" | "words":
                return "text"
            case kind:
                return kind

    @cached_property
    def absent(self) -> list[str]:
        """The words of a short query that no post has in any form, as they were typed; not those that were corrected.

        None is absent where a result has the whole query as its label, name or number, or where a word alone names a symbol of formulas.
        """
        if self._query.kind == "question" or any(map(is_exact, self._ranked)):
            return []
        if self._has_symbol or self._numbered:
            return []
        query = self._query
        gone = {
            word
            for word, stem in zip(query.content, query.stems(query.content), strict=True)
            if not self._frequencies.get(stem)
            and word not in query.corrected
            and word.isalpha()
            and len(word) > 2
        }
        typed = (part for part in query.prose.split() if gone and set(words(part)) & gone)
        return list(dict.fromkeys(part.strip(".,;:?!()[]\"'“”‘’") for part in typed))

    @property
    def unmentioned(self) -> list[str]:
        """The absent words that a user should know about: names and special terms, or all of a query; not a general word such as "set"."""
        if len(self.absent) >= len(set(self._query.content)):
            return self.absent
        return [word for word in self.absent if word[:1].isupper() or word.lower() not in general_words()]

    def matches(self) -> list[Match]:
        """Return the label of each result; no result has a better label than one that is ranked before it.

        A post that has what was typed is at least a weak match, whatever else it is, and so is what stands before it.
        """
        if any(map(self._is_name, self.absent)):
            return ["similar"] * len(self._ranked)
        least = [self.least(each) for each in reversed(self._ranked)]
        probabilities = isotonic([self._judged(each) for each in self._ranked])
        floors = reversed(list(accumulate(least, max)))
        called: Iterable[Match] = map(self._called, self._ranked, map(max, probabilities, floors))
        exact = [n for n, each in enumerate(self._ranked) if is_exact(each) or each.id in self._numbered]
        if exact and _NUMBERED.fullmatch(self._query.text):
            # Theorem 2.2 has nearly all words of "Theorem 2.1".
            called = (label if place <= exact[-1] else "similar" for place, label in enumerate(called))
        return list(accumulate(called, lambda *pair: max(pair, key=MATCHES.index)))

    @property
    def is_surely_absent(self) -> bool:
        """True if the first results are so improbable that what was asked is surely not there; never for a question."""
        if self._may_be_answered:
            return False
        least = 0.0 if self._query.text.rstrip().endswith("?") else SURELY_ABSENT[self._query.kind]
        return max(map(self._judged, self._ranked[:MOST_LOOKED_AT]), default=0.0) < least

    @property
    def _may_be_answered(self) -> bool:
        """True if one of the first results answers a question, and the query may be one in other words."""
        first = self._ranked[:MOST_LOOKED_AT]
        if self.group != "text" or not any(each.id in self._answers for each in first):
            return False
        ahead = max(self.features(each).parts_ahead for each in first)
        return len(self._query.content) > MOST_KEYWORDS or ahead >= STANDS_OUT

    def probability(self, found: RankedResult) -> float:
        """Return the probability that a result is what was asked, by its features alone."""
        weights = (self._weights if "maxsim" in found.evidence else DEFAULT_WEIGHTS)[self.group]
        return weights.probability(self.features(found))

    def features(self, found: RankedResult) -> Features:
        """Return the features of a result."""
        evidence = found.evidence
        parts = evidence.get("maxsim", 0.0)
        return Features(
            self._coverage.get(found.id, 0.0),
            evidence.get(GRADE, 0.0),
            evidence.get("lexical", 0.0) - self._background["lexical"],
            evidence.get("single", 0.0),
            parts,
            parts - self._background["maxsim"],
        )

    def _judged(self, found: RankedResult) -> float:
        """Return the probability of a result; a post that has the query as its name, label, tag or entry is what was asked."""
        return 1.0 if is_exact(found) else self.probability(found)

    def least(self, found: RankedResult) -> float:
        """Return the least probability of a result that has what was typed, or 0.

        A post with a formula that was asked for alone, or with one that contains it, is what was asked; beside words, or in other letters, it may be.
        So may be a post with the only word of the query, or with its words side by side, and a very similar declaration of a
        library: it states in code what the query says in words, and shares few of them.
        """
        grade = found.evidence.get(GRADE, 0.0)
        if self.group == "formula" and grade >= CONTAINED:
            return STRONG
        if found.id in self._numbered:
            return 1.0
        if grade >= (CONTAINED_RENAMED if self.group == "formula" else CONTAINED) or found.id in self._saying:
            return self._weak
        if found.id not in self._declarations:
            return 0.0
        from mathamr.search.library import PROFILE  # its notation is of no use elsewhere

        return self._weak if found.evidence.get("maxsim", 0.0) >= PROFILE.very_similar else 0.0

    @cached_property
    def _saying(self) -> frozenset[str]:
        """The results that have the only word of the query, or of a short query without formulas all words side by side."""
        wanted = self._query.wanted
        if self.group != "text" or not len(wanted):
            return frozenset()
        ids = [each.id for each in self._ranked]
        held = wanted.counts(self._lexicon)[self._lexicon.names.find(ids)]
        whole = [each for each, count in zip(ids, held.tolist(), strict=True) if count == len(wanted)]
        if len(wanted) == 1 or self._previews is None or self._query.formulas:
            return frozenset(whole if len(wanted) == 1 else ())
        first = {each.id for each in self._ranked[:MOST_GRADED]}
        read = self._previews([each for each in whole if each in first])
        return frozenset(each for each, own in read.items() if self._says(own, self._query.phrase))

    def _says(self, read: Preview, phrase: Sequence[str]) -> bool:
        """Return True if the words of a phrase stand side by side in a sentence or a formula; stored stems tell where to look."""
        wanted, latex = self._query.stems(phrase), read.latex.lower()
        pairs = zip(phrase, wanted, strict=True)
        said = read.sentences_saying([0 if word in STOP_WORDS else hash_term(stem) for word, stem in pairs])
        if all(stem[:-1] in latex for stem in wanted):
            said += read.formula_latex
        return any(has_phrase(word_tokens(one), wanted) for one in said)

    @cached_property
    def _numbered(self) -> frozenset[str]:
        """The first results that show the number of an equation, if the query is one."""
        asked = _EQUATION.fullmatch(self._query.text)
        if asked is None or self._previews is None:
            return frozenset()
        shown = re.compile(rf"\({re.escape(asked[1])}\)|\\tag\*?\{{{re.escape(asked[1])}\}}")
        read = self._previews([each.id for each in self._ranked[:MOST_GRADED]])
        return frozenset(
            each
            for each, own in read.items()
            if any(map(shown.search, (*own.sentence_texts, *own.formula_latex)))
        )

    @cached_property
    def _has_symbol(self) -> bool:
        """True if the query is a word or letter that names a symbol, and some post has it in a formula."""
        wanted = self._query.symbol_terms
        held = self._lexicon.frequencies("latex", frozenset().union(*wanted)) if wanted else {}
        return any(all(map(held.get, terms)) for terms in wanted)

    def _called(self, found: RankedResult, probability: float) -> Match:
        """Return the label of a result of this probability.

        If no post mentions a name of the query, such as Cantelli, nothing is more than similar (`matches`); if none has some other
        word of it, which notes may say in other words, a result is at most a weak match.
        """
        if probability >= STRONG and (probability == 1.0 or not self.absent):
            return "strong"
        weak = min(self._weak, WEAK_DECLARATION) if found.id in self._declarations else self._weak
        return "weak" if probability >= weak else "similar"

    def _is_name(self, word: str) -> bool:
        """Return True for a capitalised word, unless it only begins the query."""
        begins = self._query.text.lstrip().startswith(word)
        return word[:1].isupper() and not (begins and word.lower() in general_words())

    @cached_property
    def _frequencies(self) -> dict[str, int]:
        """The number of posts that have each stem of the query."""
        return self._lexicon.frequencies("stems", sorted(set(self._query.stems(self._query.content))))

    @cached_property
    def _coverage(self) -> Mapping[str, float]:
        """The share of the query's words that each result has, weighted by rarity, common words left out.

        Of Chinese or Japanese, whose single characters say little, it is the share of the pairs that stand side by side.
        """
        pairs = [pair for pair in pairwise(self._query.phrase) if all(map(is_ideograph, pair))]
        if pairs and self._previews is not None:
            read = self._previews([each.id for each in self._ranked[:MOST_GRADED]])
            return {
                each: sum(self._says(own, pair) for pair in pairs) / len(pairs) for each, own in read.items()
            }
        count = self._lexicon.count()
        rarity = {stem: math.log((count + 1) / (often + 0.5)) for stem, often in self._frequencies.items()}
        total = math.fsum(rarity.values())
        if total <= 0:
            return {}
        held = self._lexicon.having("stems", rarity, [each.id for each in self._ranked])
        return {name: math.fsum(rarity[stem] for stem in own) / total for name, own in held.items()}


def is_exact(found: RankedResult) -> bool:
    """Return True for a post that has the whole query as its label, tag or entry, or in its name, or the formula of that name."""
    evidence = found.evidence
    is_called = evidence.get("name", 0.0) >= NAMED or not LISTED.keys().isdisjoint(evidence)
    has_formula = evidence.get(HOLDS, 0.0) >= RENAMED
    return bool(evidence.get("label") or is_called or has_formula or evidence.get(LISTED_BY))


def found_of(labels: Sequence[Match], confidence: Confidence | None) -> Found:
    """Return the best label of the first results; `nothing` where surely none of them is what was asked, or there are none."""
    best: Found = min(labels[:MOST_GRADED], key=MATCHES.index, default="nothing")
    return "nothing" if best == "similar" and (confidence is None or confidence.is_surely_absent) else best


def isotonic(values: Sequence[float]) -> list[float]:
    """Return the nearest values that never rise: neighbours in the wrong order share their mean (pool adjacent violators).

    >>> isotonic([0.9, 0.2, 0.6, 0.1])
    [0.9, 0.4, 0.4, 0.1]
    """
    blocks: list[tuple[float, int]] = []
    for value in values:
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-2][0] < blocks[-1][0]:
            (above, many), (below, few) = blocks[-2], blocks.pop()
            blocks[-1] = ((above * many + below * few) / (many + few), many + few)
    return [mean for mean, count in blocks for _ in range(count)]


def formula_match(found: RankedResult) -> Match:
    """Return what a found formula is to the query's: the same up to renaming variables or one that contains it, nearly the same, or similar."""
    grade = found.evidence.get(GRADE, 0.0)
    if found.exact or found.evidence.get("pattern") or grade >= CONTAINED:
        return "strong"
    return "weak" if grade >= min(CONTAINED_RENAMED, SIMILAR * ALIKE) else "similar"
