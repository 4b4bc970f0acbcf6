"""The mathematical vocabulary, which a parser of general English would misread.

Phrases that mean one thing ("greatest lower bound", "if and only if") are merged into one word; training shows spaCy an everyday
word with the same syntax instead, so that its tags and dependencies come out right. Nouns that general
English would read as events ("limit", "function", "map") stay nouns in mathematical sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from mathamr.core.listing import names

FORMULA = re.compile(r"FORMULA_[0-9]+")
PHRASES = {
    "if and only if": "if", "iff": "if", "such that": "where", "s.t.": "where", "so that": "so",
    "with respect to": "regarding", "w.r.t.": "regarding", "wrt": "regarding",
    "greatest lower bound": "bound", "least upper bound": "bound", "upper bound": "bound", "lower bound": "bound",
    "greatest common divisor": "divisor", "least common multiple": "multiple", "one to one": "unique",
    "one - to - one": "unique", "linearly independent": "independent",
    "linearly dependent": "dependent", "at least": "over", "at most": "over", "without loss of generality": "thus",
    "wlog": "thus", "i.e.": "thus", "e.g.": "thus", "necessary and sufficient": "necessary", "well defined": "valid",
    "well - defined": "valid", "almost everywhere": "everywhere", "almost surely": "surely", "l ' hopital": "Smith",
    "by induction": "slowly",
}  # fmt: skip
_JOINED = {
    "iff": "if-and-only-if", "s.t.": "such-that", "w.r.t.": "with-respect-to",
    "wrt": "with-respect-to", "wlog": "without-loss-of-generality", "one - to - one": "one-to-one",
    "well - defined": "well-defined", "so that": "so-that", "l ' hopital": "l'hopital",
}  # fmt: skip

_BY_FIRST: dict[str, list[tuple[list[str], str]]] = {}
for _phrase in sorted(PHRASES, key=lambda phrase: -len(phrase.split())):
    _words = _phrase.split()
    _BY_FIRST.setdefault(_words[0], []).append((_words, _JOINED.get(_phrase, "-".join(_words))))


TERMS = names("""
    adjoint algebra algebraic antiderivative asymptotic automorphism axiom bijection bijective binomial calculus
    cardinality coefficient cohomology congruence conjecture contour convergent coprime corollary cosine countable
    denominator derivative determinant differentiable divergent eigenvalue eigenvector ellipse equation exponent
    factorial functor gcd homology homomorphism homotopic homotopy hypotenuse inequality infimum injective integer
    integral integrand irrational irreducible isomorphism lemma logarithm manifold matrix metric modulo monoid monotone
    morphism numerator parabola permutation polygon polynomial quadratic quotient sine subgroup subset summation
    supremum surjection surjective tensor theorem topology totient triangle trigonometric uncountable vertex
""")
"""Words that make a sentence mathematical even if it has no formula."""

STRONG = TERMS | names("""
    banach cauchy converge dedekind diophantine diverge euler fermat fourier gauss hilbert jacobi laplace lebesgue
    riemann taylor zfc
""")

LIKELY = STRONG | names("""
    arithmetic axiomatic basis bounded closed compact continuity continuous convergence convex cyclic diagonal differential dimension
    disjoint divisor finite function geometry graph infinite infinity interval inverse linear limit mathematics mod nonnegative norm
    operator positive prime probability proof prove rational recurrence scalar sequence series smooth space subspace sum symmetric topological
    transitive variable vector zeta
""")
"""Words that make a sentence mathematical unless it is about biology."""

OBJECTS = names("""
    angle ball base branch bundle cell chain circle class cluster complement cone constant cube curve cycle
    diagram disk distance edge entry fiber filter fraction frame hull lattice level loop
    matching mathematician mean minor model net object orbit pair parameter path pole preorder probability
    projection pullback pushout radical radius ratio recurrence scheme section segment sheaf string structure
    surface table torsion trace tree type ultrafilter valuation walk wheel
""")
"""Further such nouns, which general English or biology would read as something else: a cell of a table, lines that are no cell lines.

Like the adjectives below, each is a word of at least two of PlanetMath's titles, Mathlib's names and the sample's posts, so that no source is
copied (`tests/lab/amr/test_mathematics.py`).
"""

NOUNS = (
    TERMS
    | OBJECTS
    | names("""
    basis bound closure cover degree dimension distribution element factor field form
    formula function graph group hypothesis ideal image index intersection interval inverse kernel limit line map mapping
    measure multiple neighborhood neighbourhood norm notation number operator order partition plane point power product
    range relation ring root sequence series set sign space square sum symbol term transform
    union value variable vector
""")
)
"""Nouns that name mathematical objects: in a mathematical sentence they are concepts of their own, never frames."""

ADJECTIVES = names("""
    characteristic continuous dense exact faithful fixed free invariant
    measurable normal open ordered principal proper radical regular singular smooth stable uniform
""")
"""Adjectives with a mathematical sense that no frame has: continuous functions do not continue, smooth curves are not free of trouble."""

THINGS = names("""
    anchor calculator compiler computer conductor controller decoder emitter encoder estimator evaluator generator guide holder
    indexer mapper monitor operator predictor printer processor regulator roller ruler scanner server terminator wrapper
""")
"""Nouns that end like those for persons but name things."""


@lru_cache(maxsize=16_384)
def is_formula(word: str) -> bool:
    """Return True if a word is the placeholder of a formula."""
    return word.startswith("FORMULA_") and FORMULA.fullmatch(word) is not None


def merged_phrases(words: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield the words with phrases joined by hyphens, each with its first and last word.

    >>> list(merged_phrases(["FORMULA_0", "if", "and", "only", "if", "it"]))
    [('FORMULA_0', 0, 0), ('if-and-only-if', 1, 4), ('it', 5, 5)]
    """
    place = 0
    while place < len(words):
        size, merged = 1, words[place]
        for phrase, joined in _BY_FIRST.get(merged.lower(), ()):
            if [word.lower() for word in words[place : place + len(phrase)]] == phrase:
                size, merged = len(phrase), joined
                break
        yield merged, place, place + size - 1
        place += size


def is_mathematical(words: Sequence[str], lemmas: Sequence[str]) -> bool:
    """Return True if a sentence has a formula or an unmistakable word of mathematics."""
    return any(map(is_formula, words)) or not STRONG.isdisjoint(lemmas)


def is_likely(lemmas: Sequence[str]) -> bool:
    """Return True if the words of a sentence make it mathematical, unless it is about biology: one or two of them.

    >>> is_likely(["two", "line", "intersect", "in", "a", "point"]), is_likely(["the", "point", "be", "clear"])
    (True, False)
    """
    return not LIKELY.isdisjoint(lemmas) or len((NOUNS | ADJECTIVES).intersection(lemmas)) > 1
