"""Names in mathematical English: which words name a person, a place or an organisation, and which only look so.

Capitals say little here: titles have them, and "Cauchy sequence", "Meijer G-function" and "Fermat's last theorem" name
mathematical objects. A word is a name if it is known as one or is not an English word, and if it does not belong to a term.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from mathamr.amr.builtin.lemmas import lemma
from mathamr.amr.builtin.mathematics import NOUNS
from mathamr.amr.builtin.words import WordSentence
from mathamr.core.listing import names

PERSONS = names("""
    abel alembert archimedes artin atiyah banach bayes bernoulli bernstein bessel bézout bezout bolzano boole borel bourbaki brouwer
    cantor cardano cartan catalan cauchy cavalieri cayley cesàro chebyshev chern cohen conway cramer dedekind descartes
    dirichlet diophantus eisenstein eilenberg einstein erdős erdos euclid euler fatou fejér fermat fibonacci fourier fréchet
    fredholm frobenius fubini galois gauss germain gödel godel goldbach green grothendieck hadamard hahn halmos hardy hausdorff heine
    hermite hilbert hölder hopf hopital hurwitz jacobi jensen jordan kepler klein kolmogorov kronecker kummer lagrange laguerre
    lang laplace laurent lebesgue legendre leibniz levi lie liouville lipschitz littlewood lorentz lusin mac markov mersenne minkowski
    möbius mobius morse munkres neumann newton noether pascal pearson peano poincaré poincare poisson ramanujan riemann riesz ritz
    rolle rudin russell schmidt schröder schwarz serre simpson sobolev spivak stein stieltjes stirling stokes stolz sturm sylow
    sylvester tao tarski taylor titchmarsh tonelli turing tychonoff urysohn vandermonde viète vieta vitali wallis weierstrass weil
    weyl wiener wiles wilson young zermelo zorn
""")
PLACES = {
    place: kind
    for kind, places in {
        "country": """america austria belgium brazil britain canada china denmark egypt england finland france germany greece hungary
            india iran ireland israel italy japan korea mexico netherlands norway poland portugal romania russia scotland spain
            sweden switzerland turkey ukraine usa""",
        "city": """amsterdam berlin bonn boston budapest cambridge chicago copenhagen göttingen kyoto leipzig london madrid moscow
            oxford paris petersburg prague princeton rome stanford tokyo toronto vienna warsaw zurich""",
        "continent": "africa asia europe",
    }.items()
    for place in places.split()
}
ORGANISATIONS = {
    "university": "university", "college": "university", "school": "school", "institute": "research-institute",
    "academy": "organization", "society": "organization", "press": "company", "springer": "company", "department": "organization",
}  # fmt: skip
CONCEPTS = names(
    "geogebra macsyma maple math mathematica maths mathjax matlab python sage wikipedia wolfram desmos latex"
)
"""Words with a capital, such as languages and programs, that stay concepts."""
_NOT_TERMS = names("proof notation solution")
HEADS = (NOUNS - _NOT_TERMS) | names("""
    algorithm analysis approximation bracket class condition constant construction coordinate criterion curve decomposition delta diagram dual duality domain expansion extension fraction
    functional geometry hypothesis identity infinity integrable integration interpolation invariant iteration law mapping mean method metric model multiplier operator
    paradox polygon postulate principle problem process property pseudoinverse radical quadrature remainder rule semigroup sphere summation surface test theory
    topology tower transformation triangle trick
""")
"""Nouns that end the name of a mathematical object: "Cauchy sequence", "Fermat's last theorem"."""
_ENDING = re.compile(
    r"(?:ian|ean|ism|ic|ics|al|ive|able|ible|ous|ity|tion|ness|ing|ed|ly|ment|ence|ance|oid|morphism|ologies|s)$"
)
"""Endings of words that are no names, however rare."""
_TITLES = names("mr mrs dr prof professor mr. mrs. dr. prof.")
_INSIDE = names("de von van di der la")
_BEING = names("is are be was were not being")
_WITHIN = 5


class Name(NamedTuple):
    """The last word of a name, and what it names; nothing if it only belongs to the name of a mathematical object."""

    last: int
    kind: str


def find_names(sentence: WordSentence, is_word: Callable[[str], bool]) -> dict[int, Name]:
    """Return the names of a sentence by their first words; `is_word` says whether English has a word.

    >>> from mathamr.amr.builtin.words import cut
    >>> find_names(cut("In Paris Weil often met Robin Chapman."), lambda word: word in ("in", "often", "met"))
    {1: Name(last=1, kind='city'), 2: Name(last=2, kind='person'), 5: Name(last=6, kind='person')}
    >>> find_names(cut("The Meijer G-function is a Cauchy product."), lambda word: word in ("the", "product"))
    {1: Name(last=1, kind=''), 7: Name(last=7, kind='')}
    """
    words = sentence.words
    looks = [_is_title(word) for word in words]
    in_title = sum(looks) > 2 and all(
        look or len(word) < 4 or not word.isalpha() for look, word in zip(looks, words, strict=True)
    )
    is_known: Callable[[str], bool] = (lambda _: True) if in_title else is_word
    found: dict[int, Name] = {}
    token = 0
    while token < len(words):
        kind = _kind(words, token, is_known) if looks[token] else None
        last = token
        if kind:
            while last + 1 < len(words) and _goes_on(words, last + 1, kind, is_known):
                last += 1
            heads = [
                ORGANISATIONS[word.lower()]
                for word in words[token : last + 1]
                if word.lower() in ORGANISATIONS
            ]
            kind = heads[0] if heads else kind
            if kind == "person" and (
                _is_attributive(words, last) or (token and words[token - 1].lower() in _BEING)
            ):
                found |= {each: Name(each, "") for each in range(token, last + 1)}
            else:
                found[token] = Name(last, kind)
        token = last + 1
    return found


def _is_title(word: str) -> bool:
    return len(word) > 1 and word.isalpha() and word[0].isupper() and word[1:].islower()


def _kind(words: list[str], token: int, is_word: Callable[[str], bool]) -> str | None:
    low = words[token].lower()
    if low in PLACES:
        return PLACES[low]
    if low in PERSONS:
        return "person"
    if low in ORGANISATIONS:
        return ORGANISATIONS[low] if token and words[token + 1 : token + 2] in (["of"], ["for"]) else None
    if low in CONCEPTS or is_word(low) or _ENDING.search(low):
        return None
    before = words[token - 1].lower() if token else ""
    after = words[token + 1] if token + 1 < len(words) else ""
    if before in _TITLES or _is_title(after) or after in ("'s", "’s", "and", ","):
        return "person" if token or before or after not in (",", "") else None
    return "person" if token else None


def _goes_on(words: list[str], token: int, kind: str, is_word: Callable[[str], bool]) -> bool:
    """Return True if a word continues the name before it."""
    low = words[token].lower()
    after = words[token + 1] if token + 1 < len(words) else ""
    if low in ("of", "for") and words[token - 1].lower() in ORGANISATIONS:
        return _is_title(after)
    if not _is_title(words[token]):
        return kind == "person" and low in _INSIDE and _is_title(after)
    if words[token - 1].lower() in ("of", "for"):
        return True
    if low in ORGANISATIONS:
        return True
    return kind == "person" and _kind(words, token, is_word) == "person"


def _is_attributive(words: list[str], last: int) -> bool:
    """Return True if the name is part of the name of a mathematical noun that follows it, as in "Cauchy sequence"."""
    for word in words[last + 1 : last + 1 + _WITHIN]:
        low = word.lower()
        if low in HEADS or lemma(low, "NNS") in HEADS:
            return True
        if not (low.isalpha() or low in ("'s", "’s", "'", "-", "–")) or low in (
            "and",
            "or",
            "in",
            "is",
            "of",
            "has",
            "the",
            "a",
            "to",
        ):
            return False
    return False
