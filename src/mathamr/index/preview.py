"""`Preview`: what a hit shows of a post, packed when the post is indexed, so that a search parses, stems and tokenises nothing.

| part    | content                                                                                                         |
|---------|-----------------------------------------------------------------------------------------------------------------|
| head    | the post without text and formulas, and its title, cut at its formulas; all that an answer shows of its question |
| numbers | sizes of sentences and formulas, the stems of each sentence, the tokens of each formula (hashed to 32 bits)      |
| texts   | the sentences with placeholders, the LaTeX and the ids of the formulas                                           |
"""

from __future__ import annotations

import json
import re
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import numpy as np

from mathamr.core.arrays import Int32Array
from mathamr.core.sqlite import inflated
from mathamr.index.lexical.terms import STOP_WORDS, latex_tokens, stems, words
from mathamr.posts.markup import formulas_of, title_pieces
from mathamr.posts.passage import PLACEHOLDER, Passage, Placeholder, Sentence, passage
from mathamr.posts.post import Formula, Post

TitlePart = str | tuple[str, str | None]
"""A stretch of a title: text, or the LaTeX of a formula and its id."""
EQUATION_LABEL = re.compile(r"\\label\s*\{[^{}]*\}\s*")
"""The label of an equation, which is not part of the formula."""
UNNAMED = "[formula]"
"""What is shown of a formula without LaTeX."""
_FORMULA = "qqformulaqq"
"""Stands for a formula among the words of a sentence."""
_SIZE = 4
"""The bytes that hold the length of the head."""


class SentenceNumbers(NamedTuple):
    """What is known of a sentence without its text: a row of `PreviewNumbers.sentences`, or its columns."""

    size: int
    """The characters of its text with placeholders."""
    length: int
    """The characters that are shown, with formulas as LaTeX."""
    in_body: int
    is_code: int
    start: int
    end: int
    stems: int
    """How many stems it has."""
    places: int
    """How many placeholders it has."""


class FormulaNumbers(NamedTuple):
    """What is known of a formula without its text: a row of `PreviewNumbers.formulas`."""

    id_size: int
    size: int
    """The characters of its LaTeX."""
    display: int
    """1 or 0; -1 if the post does not list it, so that it cannot be shown."""
    tokens: int
    """How many tokens it has."""


class PreviewNumbers(NamedTuple):
    """The numbers of a post."""

    sentences: Int32Array
    """A row of `SentenceNumbers` for each."""
    formulas: Int32Array
    """A row of `FormulaNumbers` for each."""
    places: Int32Array
    """The formula of each placeholder by number, and its offsets in the post, sentence by sentence."""
    stems: Int32Array
    """The hashes of the stems of each sentence, 0 for stop words and formulas."""
    tokens: Int32Array
    """The hashes of the tokens of each formula."""

    def to_bytes(self) -> bytes:
        """Return the sizes of the arrays, then the arrays."""
        return b"".join(each.tobytes() for each in (np.array([each.size for each in self], np.int32), *self))

    @classmethod
    def from_bytes(cls, content: bytes) -> tuple[PreviewNumbers, int]:
        """Read the numbers from the bytes of `to_bytes`, and return them with the number of bytes that were read."""
        sizes = np.frombuffer(content, np.int32, len(cls._fields)).tolist()
        numbers = np.frombuffer(content, np.int32, sum(sizes), 4 * len(sizes))
        first, second, third, fourth, _ = accumulate(sizes)
        found = cls(
            numbers[:first].reshape(-1, len(SentenceNumbers._fields)),
            numbers[first:second].reshape(-1, len(FormulaNumbers._fields)),
            numbers[second:third].reshape(-1, 3),
            numbers[third:fourth],
            numbers[fourth:],
        )
        return found, 4 * (len(sizes) + len(numbers))

    def count_characters(self) -> tuple[int, int, int]:
        """Return the characters of all sentences, of all LaTeX and of all ids.

        Raises `ValueError` for numbers that do not fit together, since an index may come from somebody else.
        """
        sentences, formulas, places = (each.ravel().tolist() for each in self[:3])
        per_sentence, per_formula = len(SentenceNumbers._fields), len(FormulaNumbers._fields)
        ids, latex, _, tokens = (formulas[column::per_formula] for column in range(per_formula))
        sizes, stems, counts = (sentences[column::per_sentence] for column in (0, 6, 7))
        has_negative = min(chain(sentences, ids, latex, tokens), default=0) < 0
        numbers = places[::3]
        is_outside = numbers and not 0 <= min(numbers) <= max(numbers) < len(ids)
        held = (len(self.stems), len(numbers), len(self.tokens))
        if has_negative or is_outside or (sum(stems), sum(counts), sum(tokens)) != held:
            raise ValueError("the numbers of a preview do not fit together")
        return sum(sizes), sum(latex), sum(ids)


@dataclass(frozen=True, slots=True)
class PreviewHead:
    """A post without text and formulas, and the parts of its title."""

    post: Post
    title: Sequence[TitlePart]

    @classmethod
    def unpack(cls, packed: bytes, most: int) -> PreviewHead:
        """Return the head of a packed preview."""
        content = inflated(packed[_SIZE : _SIZE + int.from_bytes(packed[:_SIZE], "little")], most)
        row, title = content.decode("utf-8", "surrogatepass").split("\n")
        return cls(Post.from_json(row), json.loads(title))


class Preview:
    """The head of a post, and its sentences, LaTeX and ids of formulas, each one text that the numbers cut."""

    def __init__(self, head: PreviewHead, content: bytes) -> None:
        """Read the numbers and the texts in `content`."""
        self.head, self.post, self.weight = head, head.post, len(content)
        self.numbers, done = PreviewNumbers.from_bytes(content)
        texts = content[done:].decode("utf-8", "surrogatepass")
        first, second, third = accumulate(self.numbers.count_characters())
        if third != len(texts):
            raise ValueError("the numbers of a preview do not fit its texts")
        self.sentences, self.latex, self.ids = texts[:first], texts[first:second], texts[second:]

    @classmethod
    def of(cls, post: Post, read: Passage | None = None) -> Preview:
        """Return the preview of a post that has none in the index; `read` are its sentences if they are known."""
        return cls.unpack(pack_preview(post, read or passage(post)), 1 << 32)

    @classmethod
    def unpack(cls, packed: bytes, most: int) -> Preview:
        """Return a packed preview, if no part of it has more than `most` bytes."""
        start = _SIZE + int.from_bytes(packed[:_SIZE], "little")
        return cls(PreviewHead.unpack(packed, most), inflated(packed[start:], most))

    @property
    def sentence_texts(self) -> list[str]:
        """The text of each sentence."""
        return _cut(self.sentences, self.numbers.sentences[:, 0])

    @property
    def word_count(self) -> int:
        """How many words there are beside the formulas."""
        return len(self.numbers.stems) - len(self.numbers.places)

    @property
    def formula_ids(self) -> list[str]:
        """The id of each formula."""
        return _cut(self.ids, self.numbers.formulas[:, 0])

    @property
    def formula_latex(self) -> list[str]:
        """The LaTeX of each formula."""
        return _cut(self.latex, self.numbers.formulas[:, 1])

    def sentences_saying(self, numbers: Sequence[int]) -> list[str]:
        """Return the sentences that have stems of these hashes side by side; 0 stands for any word."""
        own, ends = self.numbers.stems, self.numbers.sentences[:, 6].cumsum()
        many = max(0, len(own) - len(numbers) + 1)
        fits = [own[step : step + many] == number for step, number in enumerate(numbers) if number]
        starts = np.flatnonzero(np.logical_and.reduce(fits)) if fits else np.arange(many)
        owners = np.searchsorted(ends, starts, side="right")
        inside = owners[starts + len(numbers) <= ends[owners]].tolist()
        texts = self.sentence_texts if inside else []
        return [texts[number] for number in dict.fromkeys(inside)]

    def passage(self) -> Passage:
        """Return the sentences."""
        ids, left = self.formula_ids, iter(self.numbers.places.tolist())
        found = []
        for text, row in zip(self.sentence_texts, self.numbers.sentences.tolist(), strict=True):
            own = SentenceNumbers(*row)
            places = tuple(
                Placeholder(match.group(), ids[number], start, end)
                for match, (number, start, end) in zip(PLACEHOLDER.finditer(text), left, strict=False)
            )
            found.append(
                Sentence(
                    text,
                    "body" if own.in_body else "title",
                    own.start,
                    own.end,
                    places,
                    "code" if own.is_code else "prose",
                )
            )
        return Passage(self.post.id, tuple(found))


def _cut(text: str, sizes: Int32Array) -> list[str]:
    return [text[start:end] for start, end in pairwise([0, *sizes.cumsum().tolist()])]


def pack_preview(post: Post, read: Passage) -> bytes:
    """Return the preview of a post in the form in which it is stored.

    MathML, text and links are left out; references of LaTeX are looked up in them when they are shown.
    """
    is_referring = post.markup == "latex" and any(link.label for link in post.links)
    is_listed = post.formulas or not any(read.placeholders)
    listed = post.formulas if is_listed else formulas_of(post.id, post.title, post.body, post.markup)
    unlisted = {place.formula for place in read.placeholders}.difference(each.id for each in listed)
    formulas = [*listed, *(Formula(each, "") for each in sorted(unlisted))]
    shown = replace(post, formulas=()) if is_referring else replace(post, body="", formulas=(), links=())
    head = f"{shown.to_json()}\n{json.dumps(title_parts(post, listed), ensure_ascii=False)}"
    texts = [*(each.text for each in read.sentences), *(each.latex for each in formulas)]
    text = "".join([*texts, *(each.id for each in formulas)])
    first = zlib.compress(head.encode("utf-8", "surrogatepass"), 6)
    content = _numbers_of(read, formulas, len(listed)).to_bytes() + text.encode("utf-8", "surrogatepass")
    return len(first).to_bytes(_SIZE, "little") + first + zlib.compress(content, 6)


def title_parts(post: Post, formulas: Iterable[Formula]) -> list[TitlePart]:
    """Return the parts of a title; its formulas are the first ones of the post."""
    left = iter(formulas)
    found: list[TitlePart] = []
    for piece in title_pieces(post.title, post.markup):
        if piece.kind == "formula":
            formula = next(left, None)
            found.append((formula.latex, formula.id) if formula else (piece.text, None))
        elif piece.kind in ("text", "code"):
            found.append(" ".join(piece.text.split("\n")))
    return found


def _numbers_of(read: Passage, formulas: Sequence[Formula], listed: int) -> PreviewNumbers:
    """Return the numbers of a post whose preview stores the LaTeX of its first `listed` formulas only."""
    known = {each.id: number for number, each in enumerate(formulas)}
    tokens = [token_numbers(each.latex) for each in formulas]
    stems = [stem_numbers(each.text) for each in read.sentences]
    lengths = [formula_length(each.latex) for each in formulas]
    rows = []
    for each, own in zip(read.sentences, stems, strict=True):
        grown = sum(
            lengths[known[place.formula]] - len(place.name)
            for place in each.placeholders
            if known[place.formula] < listed
        )
        rows.append(
            SentenceNumbers(
                len(each.text),
                len(each.text) + grown,
                each.field == "body",
                each.kind == "code",
                each.start,
                each.end,
                len(own),
                len(each.placeholders),
            )
        )
    displays = [each.display for each in formulas[:listed]] + [-1] * (len(formulas) - listed)
    return PreviewNumbers(
        _array(rows),
        _array(
            FormulaNumbers(len(each.id), len(each.latex), display, len(own))
            for each, display, own in zip(formulas, displays, tokens, strict=True)
        ),
        _array((known[place.formula], place.start, place.end) for place in read.placeholders),
        _array(stems),
        _array(tokens),
    )


def _array(rows: Iterable[Sequence[int]]) -> Int32Array:
    return np.frombuffer(array("i", [*chain.from_iterable(rows)]), np.int32)


def formula_length(latex: str) -> int:
    """Return the number of characters of a formula when it is printed.

    >>> formula_length("x  + 1") == len("$x + 1$")
    True
    """
    return len(printed(latex)) + 2 if latex else len(UNNAMED)


def printed(latex: str) -> str:
    """Return a formula in one line, without its label."""
    return " ".join((EQUATION_LABEL.sub("", latex) if "\\label" in latex else latex).split())


def stem_numbers(text: str) -> list[int]:
    """Return the hashes of the stems of a sentence, 0 for stop words and formulas.

    >>> [number != 0 for number in stem_numbers("the set FORMULA_0 is open")]
    [False, True, False, False, True]
    """
    return list(map(_stem_number, words(PLACEHOLDER.sub(f" {_FORMULA} ", text))))


def token_numbers(latex: str) -> list[int]:
    """Return the hashes of the tokens of a formula."""
    return list(map(hash_term, latex_tokens(latex)))


@lru_cache(maxsize=1 << 15)
def _stem_number(word: str) -> int:
    return 0 if word in STOP_WORDS or word == _FORMULA else hash_term(*stems([word]))


@lru_cache(maxsize=1 << 15)
def hash_term(term: str) -> int:
    """Return a hash of a term, from -2³¹ to 2³¹ - 1."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass")) - (1 << 31)
