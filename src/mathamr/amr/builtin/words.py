"""`WordSentence`: the words of a sentence with their places in it; the network adds tags and lemmas."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from mathamr.amr.builtin.mathematics import is_formula, is_likely, is_mathematical, merged_phrases

_IGNORED = re.compile(
    r"</?[A-Za-z][^<>]{0,80}>|[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff\ufffe\uffff]+"
)
"""Markup and control characters; they separate words."""
_TAG = re.compile(r"</?(i|b|em|italic|bold|xref|su[bp])(?:\s[^<>]{0,80})?>")
"""Markup of papers that is taken out, so that "<i>BRAF</i>" and "Figure <xref>1</xref>A" are read as they are printed."""
_SURROGATES = re.compile("[\ud800-\udfff]")
"""Halves of characters, which no encoder reads."""
_WORD = re.compile(
    r"""FORMULA_[0-9]+
      | n['’]t\b | ['’](?:s|re|ve|ll|d|m)\b
      | (?:[a-z]\.){2,} | (?:mr|mrs|dr|prof|st|vs|etc|cf|figs?|eqs?|al|resp|approx|ca)\.
      | [0-9]+(?:[.,][0-9]+)+
      | (?=[0-9]*[^\W\d_])[^\W_]+(?:[-/][0-9]+)+(?![^\W_]) | [0-9]+-[0-9]+-[0-9]+(?![^\W_])
      | can(?=not\b) | [^\W_]+?(?=n['’]t\b) | [^\W_]+
      | \.{2,} | -{2,} | \S""",
    re.VERBOSE | re.IGNORECASE,
)
LONGEST_WORD = 100
"""Longer runs of letters are cut, as in the text encoder."""


@dataclass
class WordSentence:
    """A sentence as words; `spaces` says whether a space follows each."""

    text: str
    words: list[str]
    places: list[tuple[int, int]]
    spaces: list[bool]
    tags: list[str] = field(default_factory=list)
    lemmas: list[str] = field(default_factory=list)
    biological: bool = True
    """True unless the sentence is known not to be about biology, whose names and meanings it may then have."""
    names: Mapping[int, tuple[int, str]] = field(default_factory=dict)
    """The last word and the kind of each name, by its first word, in a sentence that is not about biology."""

    def __len__(self) -> int:
        return len(self.words)

    def part(self, first: int, last: int) -> WordSentence:
        """Return the words [first, last) as a sentence of their own."""
        chosen = slice(first, last)
        part = WordSentence(self.text, self.words[chosen], self.places[chosen], self.spaces[chosen])
        part.biological = self.biological
        part.names = {
            start - first: (min(end, last - 1) - first, kind)
            for start, (end, kind) in self.names.items()
            if first <= start < last
        }
        return part

    @property
    def tokens(self) -> tuple[str, ...]:
        """The words as they are written, phrases joined."""
        shown = (self.text[start:end] for start, end in self.places)
        return tuple([
            each if each.lower() == word.lower() else word for each, word in zip(shown, self.words, strict=True)
        ])  # fmt: skip

    @cached_property
    def mathematical(self) -> bool:
        """True if the sentence is about mathematics."""
        lemmas = self.lemmas or [word.lower() for word in self.words]
        return is_mathematical(self.words, lemmas) or (is_likely(lemmas) and not self.biological)


def cut(text: str) -> WordSentence:
    """Return the words of a text, as the Penn Treebank cuts them, with hyphens apart.

    >>> cut("FORMULA_0 isn't well-known, e.g. in U.S. schools.").words
    ['FORMULA_0', 'is', "n't", 'well', '-', 'known', ',', 'e.g.', 'in', 'U.S.', 'schools', '.']
    >>> cut("x holds if and only if y").places[2]
    (8, 22)
    """
    text = _TAG.sub(lambda match: " " if match[1].startswith("su") else "", _SURROGATES.sub(" ", text))
    shown = _IGNORED.sub(lambda match: " " * len(match[0]), text)
    parts = [
        (start, min(match.end(), start + LONGEST_WORD))
        for match in _WORD.finditer(shown)
        for start in range(match.start(), match.end(), LONGEST_WORD)
    ]
    words: list[str] = []
    places: list[tuple[int, int]] = []
    for word, first, last in merged_phrases([shown[start:end] for start, end in parts]):
        words.append(word)
        places.append((parts[first][0], parts[last][1]))
    return WordSentence(text, words, places, [shown[end : end + 1].isspace() for _, end in places])


SHAPES = (
    "formula", "number", "mark", "lower", "title", "upper", "mixed", "lower after a hyphen", "title first",
)  # fmt: skip


def shape(sentence: WordSentence, token: int) -> int:
    """Return the shape of a word, which the text encoder does not see: its pieces have no capitals."""
    word = sentence.words[token]
    if is_formula(word):
        return 0
    if not any(map(str.isalnum, word)):
        return 2
    if any(map(str.isdigit, word)):
        return 1 if not any(map(str.isalpha, word)) else 6
    if word.islower():
        return 7 if token and sentence.words[token - 1] == "-" else 3
    if word.isupper() and len(word) > 1:
        return 5
    if word[:1].isupper() and (len(word) == 1 or word[1:].islower()):
        return 4 if token else 8
    return 6
