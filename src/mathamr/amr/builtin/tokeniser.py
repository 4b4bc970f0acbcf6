"""`Tokeniser`: splits text into words like spaCy's tokeniser, by the rules in a model's folder.

The algorithm is spaCy's (`Tokenizer._tokenize_affixes` and its successors): a string between spaces is looked up among the special
cases; else prefixes and suffixes are removed one by one, and the rest is split at infixes. The regular expressions take a tenth of
a second to compile, so they are compiled when the first word with other characters than letters arrives. A test compares with spaCy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from mathamr.amr.builtin.texthash import hashed
from mathamr.amr.builtin.wordvectors import TokenForm

ORTH, NORM = 65, 67
"""spaCy's numbers for the text of a token and for its norm."""
REMEMBERED = 50_000
_PLAIN = re.compile(r"[A-Za-z]+|FORMULA_\d+")
_STOPPED = re.compile(r"([A-Za-z]+|FORMULA_\d+)([?!,;:])")
"""No rule splits words of letters alone; these marks after such a word are suffixes."""

_NORMS = {
    norm: like
    for like, norms in {
        "'s": "'s 'S ’s ’S", "'": "’ ‘ ´ `", '"': "” “ '' `` ´´ „ » « ‘‘ ’’", "?": "？", "!": "！", ",": "，",
        ";": "；", ":": "：", ".": "。 ।", "...": "…", "-": "— – -- --- ——",
        "$": "€ £ ¥ ฿ US$ C$ A$ ₺ ₹ ৳ ₩ Mex$ ₣ E£",
    }.items()
    for norm in norms.split()
}  # fmt: skip
"""spaCy's norms of marks and currencies, the same for all languages."""

Special = tuple[tuple[str, str | None], ...]
"""Texts with their norms, None if no rule sets one."""


class Tokeniser:
    """Applies the rules in the file `tokenizer` of a model; `norms` maps the hash of a text to its norm."""

    def __init__(self, rules: Mapping[str, Any], norms: Mapping[int, str]) -> None:
        if rules["token_match"] is not None or rules["faster_heuristics"] is not True:
            raise ValueError("the tokeniser is not of the expected kind")
        self._rules, self._norms = rules, norms
        self._specials: dict[str, Special] = {
            text: tuple((each[ORTH], each.get(NORM)) for each in parts)
            for text, parts in rules["exceptions"].items()
        }
        self._known: dict[str, list[TokenForm]] = {}
        self._norms_of: dict[str, str] = {}

    def __call__(self, text: str) -> list[TokenForm]:
        """The words of a text whose only white space is single blanks between words."""
        tokens: list[TokenForm] = []
        known = self._known
        for span in text.split(" ") if text else ():
            tokens += known.get(span) or self._found(span)
        if tokens:
            tokens[-1] = tokens[-1]._replace(space=False)
        return tokens

    def norm(self, word: str) -> str:
        """The norm of a word for which no rule sets one."""
        found = self._norms_of.get(word)
        if found is None:
            if len(self._norms_of) > REMEMBERED:
                self._norms_of.clear()
            found = self._norms.get(hashed(word.encode())) or _NORMS.get(word) or word.lower()
            self._norms_of[word] = found
        return found

    def _found(self, span: str) -> list[TokenForm]:
        """The words of a string between spaces, as if a space followed."""
        if len(self._known) > REMEMBERED:
            self._known.clear()
        cut = self._cut(span, special=True)
        if not (len(cut) == 1 or (_STOPPED.fullmatch(span) and cut[-1][0] not in self._specials)):
            cut = self._merged(cut)
        found = [TokenForm(word, norm or self.norm(word), False) for word, norm in cut]
        found[-1] = found[-1]._replace(space=True)
        self._known[span] = found
        return found

    def _cut(self, span: str, *, special: bool) -> Special:
        if special and span in self._specials:
            return self._specials[span]
        if _PLAIN.fullmatch(span):
            return ((span, None),)
        if (stopped := _STOPPED.fullmatch(span)) and not (special and stopped[1] in self._specials):
            return ((stopped[1], None), (stopped[2], None))
        prefixes, middle, suffixes = self._affixes(span, special)
        inner = self._specials[middle] if special and middle in self._specials else self._infixes(middle)
        return (*((each, None) for each in prefixes), *inner, *((each, None) for each in reversed(suffixes)))

    def _affixes(self, text: str, special: bool) -> tuple[list[str], str, list[str]]:
        specials: Mapping[str, Special] = self._specials if special else {}
        prefixes: list[str] = []
        suffixes: list[str] = []
        before = -1
        while text and len(text) != before and text not in specials:
            before = len(text)
            first = _length(self._prefix.search(text))
            if first and text[first:] in specials:
                prefixes.append(text[:first])
                return prefixes, text[first:], suffixes
            last = _length(self._suffix.search(text[first:]))
            if last and text[:-last] in specials:
                suffixes.append(text[-last:])
                return prefixes, text[:-last], suffixes
            if first and last and first + last <= len(text):
                prefixes.append(text[:first])
                suffixes.append(text[-last:])
                text = text[first:-last]
            elif first:
                prefixes.append(text[:first])
                text = text[first:]
            elif last:
                suffixes.append(text[-last:])
                text = text[:-last]
        return prefixes, text, suffixes

    def _infixes(self, text: str) -> Special:
        if not text:
            return ()
        if self._url.match(text):
            return ((text, None),)
        words: list[str] = []
        start = 0
        for match in self._infix.finditer(text):
            if match.start() == 0:
                continue
            words += [text[start : match.start()], match.group()]
            start = match.end()
        return tuple((word, None) for word in (*words, text[start:]) if word)

    @cached_property
    def _prefix(self) -> re.Pattern[str]:
        return re.compile(self._rules["prefix_search"])

    @cached_property
    def _suffix(self) -> re.Pattern[str]:
        return re.compile(self._rules["suffix_search"])

    @cached_property
    def _infix(self) -> re.Pattern[str]:
        return re.compile(self._rules["infix_finditer"])

    @cached_property
    def _url(self) -> re.Pattern[str]:
        return re.compile(self._rules["url_match"])

    @cached_property
    def _scattered(self) -> dict[tuple[str, ...], Special]:
        """Special cases that the rules would split, keyed by the parts that would result."""
        found: dict[tuple[str, ...], Special] = {}
        for text, parts in self._specials.items():
            affixed = self._prefix.search(text) or self._infix.search(text) or self._suffix.search(text)
            if affixed and " " not in text and not text.isspace():
                found[tuple(word for word, _ in self._cut(text, special=False))] = parts
        return found

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._scattered), default=0)

    def _merged(self, tokens: Special) -> Special:
        """Joins special cases that were split; the longest one wins, then the first."""
        longest = self._longest
        words = [word for word, _ in tokens]
        matches = [
            (start, end, found)
            for start in range(len(words))
            for end in range(start + 1, min(len(words), start + longest) + 1)
            if (found := self._scattered.get(tuple(words[start:end]))) is not None
        ]
        if not matches:
            return tokens
        taken: set[int] = set()
        chosen: dict[int, tuple[int, Special]] = {}
        for start, end, parts in sorted(matches, key=lambda match: (match[0] - match[1], match[0])):
            if start not in taken and end - 1 not in taken:
                chosen[start] = (end, parts)
            taken.update(range(start, end))
        merged: list[tuple[str, str | None]] = []
        place = 0
        while place < len(tokens):
            end, parts = chosen.get(place, (place + 1, tokens[place : place + 1]))
            merged += parts
            place = end
        return tuple(merged)


def _length(match: re.Match[str] | None) -> int:
    return match.end() - match.start() if match else 0
