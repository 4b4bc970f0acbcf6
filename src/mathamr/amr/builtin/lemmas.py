"""Lemmas of English words by rules and a table of irregular forms.

The table is compiled by `python -m mathamr_lab.amr.tables` from WordNet's exception lists, as spaCy's lookup tables hold them; see
NOTICE for their licences.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from mathamr.amr.builtin.frames import table_lines
from mathamr.amr.builtin.mathematics import is_formula

TABLE = Path(__file__).parent / "data" / "lemmas.tsv.gz"
RULES = {
    "n": [("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y")],
    "v": [("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")],
    "j": [("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
}  # fmt: skip
"""WordNet's endings of nouns, verbs and adjectives."""
_CONTRACTIONS = {
    "'m": "be", "'re": "be", "'s": "'s", "n't": "not", "'ll": "will", "'d": "would", "'ve": "have", "ca": "can",
    "wo": "will", "sha": "shall", "an": "a", "is": "be", "are": "be", "was": "be", "were": "be", "am": "be",
    "fig.": "figure", "figs.": "figure", "fig": "figure", "figs": "figure",
}  # fmt: skip
_INVARIANT = frozenset({"analysis", "basis", "mathematics", "physics", "series", "statistics"})
_UNCHANGED = frozenset({"NN", "JJ", "RB", "VB", "MD", "RP", "NNP"})


class Lemmas:
    """The table: irregular forms, and words without an ending, by part of speech (n, v, j, r)."""

    def __init__(self, lines: list[str]) -> None:
        self.irregular: dict[tuple[str, str], str] = {}
        self.known: dict[str, frozenset[str]] = {}
        for line in lines:
            letter, *words = line.split("\t")
            if letter[0] == "=":
                self.known[letter[1:]] = frozenset(words[0].split())
            else:
                self.irregular[letter, words[0]] = words[1]

    def find(self, form: str, letter: str) -> str:
        """Return the lemma of a lower-case word that is not a base form."""
        irregular = self.irregular.get((letter, form))
        if irregular is not None:
            return irregular
        if letter not in RULES:
            return form
        known = self.known.get(letter, frozenset())
        forms = [form[: len(form) - len(old)] + new for old, new in RULES[letter] if form.endswith(old)]
        for candidate in forms:
            if candidate in known:
                return candidate
        if letter == "n" and len(forms) > 1:
            return forms[-1]
        if letter == "v" and forms and form.endswith(("ed", "ing")) and len(forms[-1]) > 2:
            return _verb_stem(forms[-1])
        return forms[0] if forms and len(forms[0]) > 2 and form not in known else form


def _verb_stem(stem: str) -> str:
    """Return a verb that the table does not hold, without its ending: "hoovered", "refactored", "googling"."""
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "aeioslz":
        return stem[:-1]
    if stem.endswith(("at", "iz", "is", "uc", "ut", "ur", "v", "l")) and stem[-2] not in "eo":
        return stem + "e"
    return stem


@cache
def load_lemmas() -> Lemmas:
    """Return the table of the package, read once."""
    return Lemmas(table_lines(TABLE))


@lru_cache(maxsize=50_000)
def lemma(word: str, tag: str) -> str:
    """Return the lower-case dictionary form of a word with a Penn Treebank tag.

    >>> lemma("Limits", "NNS"), lemma("is", "VBZ"), lemma("converging", "VBG"), lemma("better", "JJR"), lemma("FORMULA_0", "NN")
    ('limit', 'be', 'converge', 'good', 'FORMULA_0')
    """
    if is_formula(word):
        return word
    form = word.lower().replace("’", "'")
    form = _CONTRACTIONS.get(form, form)
    letter = {"N": "n", "V": "v", "J": "j", "R": "r"}.get(tag[:1], "")
    return form if not letter or tag in _UNCHANGED or form in _INVARIANT else load_lemmas().find(form, letter)
