"""`WordColumns`: the words of many sentences as arrays of numbers, the input of the models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from mathamr.amr.builtin.features import (
    CLOSING,
    FUNCTION_DEPS,
    MAX_PATH,
    OPENING,
    POSITIONS,
    ROOT,
    SUBJECTS,
)
from mathamr.amr.builtin.lookup import ABSENT, NumberTable, StringNumbers, places_of, ranges
from mathamr.amr.builtin.syntax import VECTOR, SyntaxSentence
from mathamr.core.arrays import BoolArray, FloatArray, IntArray, UInt64Array

FAR = "far"
BASE, ALL, HALF = 0x9E3779B97F4A7C15, (1 << 64) - 1, (1 << 63) - 1
"""The base of the polynomial that hashes a text, and masks of 64 and of 63 bits."""
_BASE = np.uint64(BASE)


class WordColumns:
    """The words of a batch, one entry per word; heads and neighbours are positions in the same arrays."""

    def __init__(self, sentences: Sequence[SyntaxSentence], strings: StringNumbers) -> None:
        self.strings = strings
        sizes = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        self.starts: IntArray = np.cumsum(sizes) - sizes
        self.size = int(sizes.sum())
        joined = chain.from_iterable
        self.lemma = strings.numbers(joined([sentence.lemmas for sentence in sentences]))
        self.tag = strings.numbers(joined([sentence.tags for sentence in sentences]))
        self.dep = strings.numbers(joined([sentence.deps for sentence in sentences]))
        own = np.fromiter(joined([sentence.heads for sentence in sentences]), np.int64, self.size)
        self.place: IntArray = ranges(np.zeros_like(sizes), sizes)
        self.left: IntArray = np.repeat(sizes, sizes) - self.place - 1
        self.head: IntArray = own + np.repeat(self.starts, sizes)
        self.root: BoolArray = self.head == np.arange(self.size)
        self.depth: IntArray = np.array(
            [depth for sentence in sentences for depth in sentence.depths], dtype=np.int64
        )
        last = [strings[sentence.words[-1]] if sentence.words else ABSENT for sentence in sentences]
        self.last: IntArray = np.repeat(np.array(last, dtype=np.int64), sizes)
        vectors = [sentence.vectors for sentence in sentences if len(sentence)]
        self.vectors: FloatArray = (
            np.concatenate(vectors) if vectors else np.zeros((0, VECTOR), dtype=np.float32)
        )

    def dense(self, words: IntArray) -> FloatArray:
        """The dense inputs of words: their own vectors and those of their heads."""
        return np.concatenate([self.vectors[words], self.vectors[self.head[words]]], axis=1)

    def among(self, column: IntArray, texts: frozenset[str] | Sequence[str]) -> BoolArray:
        """Marks the entries of a column that are among the texts."""
        wanted = np.zeros(len(self.strings.texts) + len(texts), dtype=np.bool_)
        wanted[[self.strings[text] for text in texts]] = True
        return wanted[column]

    def _shifted(self, column: IntArray, by: int, outside: int) -> IntArray:
        result = np.full(self.size, outside, dtype=np.int64)
        inside = self.place + by >= 0 if by < 0 else self.left >= by
        result[inside] = column[places_of(inside) + by]
        return result

    @cached_property
    def around(self) -> dict[str, IntArray]:
        """The parts of `features.AROUND_FORMS`, each a column; `features.around_parts` returns the same for one word."""
        strings, lemma, tag = self.strings, self.lemma, self.tag
        opening, closing, root = strings[OPENING], strings[CLOSING], strings[ROOT]
        letters = strings.numbers(strings.texts[number][0] for number in tag.tolist())
        positions = np.array([strings[text] for text in POSITIONS], dtype=np.int64)
        has_subject = np.zeros(self.size, dtype=np.bool_)
        has_subject[self.head[~self.root & self.among(self.dep, SUBJECTS)]] = True
        bare = (letters == strings["V"]) & ~has_subject
        return {
            "lemma": lemma,
            "tag": tag,
            "dep": self.dep,
            "head_lemma": np.where(self.root, root, lemma[self.head]),
            "head_tag": np.where(self.root, root, tag[self.head]),
            "previous": self._shifted(lemma, -1, opening),
            "previous_tag": self._shifted(tag, -1, opening),
            "following": self._shifted(lemma, 1, closing),
            "following_tag": self._shifted(tag, 1, closing),
            "last": self.last,
            "letter": letters,
            "position": positions[np.minimum(self.place, 2)],
            "second_following": self._shifted(lemma, 2, ABSENT),
            "second_previous": self._shifted(lemma, -2, ABSENT),
            "bare_verb": np.where(bare, tag, ABSENT),
        }

    @cached_property
    def children(self) -> IntArray:
        """All words that have a head, in the order of their heads."""
        found = places_of(~self.root)
        return found[np.argsort(self.head[found], kind="stable")]

    @cached_property
    def child_kinds(self) -> tuple[IntArray, IntArray]:
        """The distinct dependencies under each word, as two columns: words in ascending order, and dependencies."""
        kinds = np.sort(self.head[self.children] << 32 | self.dep[self.children])
        kinds = kinds[np.diff(kinds, prepend=-1) > 0]  # np.unique would load numpy's masked arrays
        return kinds >> 32, kinds & 0xFFFFFFFF

    @cached_property
    def function_children(self) -> IntArray:
        """The children that are function words."""
        return self.children[self.among(self.dep[self.children], FUNCTION_DEPS)]


class TextHashes(NamedTuple):
    """Hashes that can be concatenated without their texts: a polynomial of the bytes modulo 2^64, and the power of its base."""

    value: UInt64Array
    power: UInt64Array

    @classmethod
    def of(cls, texts: Sequence[str]) -> TextHashes:
        """The hashes of texts, all at once."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        sizes = np.array([len(text) for text in encoded], dtype=np.int64)
        longest = int(sizes.max()) if len(sizes) else 0
        table = np.zeros((len(encoded), longest), dtype=np.uint8)
        table[np.arange(longest) < sizes[:, None]] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        result = cls(np.zeros(len(encoded), np.uint64), np.ones(len(encoded), np.uint64))
        for place in range(longest):
            inside = places_of(sizes > place)
            result.value[inside] = result.value[inside] * _BASE + table[inside, place] + np.uint64(1)
            result.power[inside] *= _BASE
        return result

    def pick(self, rows: IntArray) -> TextHashes:
        """The hashes of some of the texts."""
        return TextHashes(self.value[rows], self.power[rows])

    def joined(self, other: TextHashes) -> TextHashes:
        """The hashes of each text followed by another one."""
        return TextHashes(self.value * other.power + other.value, self.power * other.power)

    @property
    def keys(self) -> IntArray:
        """The hashes as keys of a `NumberTable`: without the highest bit, because the lowest one distinguishes last characters."""
        return (self.value & np.uint64(HALF)).view(np.int64)


class PathColumns:
    """Dependency paths between words of a batch, of which only the `known` ones are distinguished.

    `features.Paths` does the same for one sentence. Most paths are unknown to the models, so their texts are never
    written: the hashes of their parts are concatenated and looked up.
    """

    def __init__(self, known: Iterable[str], strings: StringNumbers) -> None:
        self._far = strings[FAR]
        paths = list(dict.fromkeys(known))
        self._known = NumberTable()
        self._known.put(TextHashes.of(paths).keys, strings.numbers(paths))

    def between(self, words: WordColumns, sources: IntArray, targets: IntArray) -> tuple[IntArray, IntArray]:
        """The numbers of the paths' texts (`ABSENT` if unknown), and the paths' lengths."""
        above, up, down = self._chains(words)
        rises = np.full(len(sources), -1, dtype=np.int64)
        falls = np.zeros(len(sources), dtype=np.int64)
        open_pairs = np.arange(len(sources))
        for rise in range(MAX_PATH + 1):
            meeting = above[sources[open_pairs], rise]
            same = above[targets[open_pairs]] == meeting[:, None]
            is_common = same.any(axis=1) & (meeting >= 0)
            rises[open_pairs[is_common]] = rise
            falls[open_pairs[is_common]] = same[is_common].argmax(axis=1)
            open_pairs = open_pairs[~is_common & (meeting >= 0)]
        lengths = np.where(rises < 0, MAX_PATH + 1, np.minimum(rises + falls, MAX_PATH + 1))
        near = places_of(lengths <= MAX_PATH)
        width = MAX_PATH + 1
        paths_up = up.pick(sources[near] * width + rises[near])
        found = self._known.find(paths_up.joined(down.pick(targets[near] * width + falls[near])).keys)
        paths = np.full(len(sources), self._far, dtype=np.int64)
        paths[near] = np.maximum(found, ABSENT)
        return paths, lengths

    def _chains(self, words: WordColumns) -> tuple[IntArray, TextHashes, TextHashes]:
        """The words above each word by distance (-1 beyond a root), and the hashes of the paths up and down."""
        names_up, names_down = _step_names(words)
        shape = (words.size, MAX_PATH + 1)
        above = np.full(shape, -1, dtype=np.int64)
        above[:, 0] = np.arange(words.size)
        up = TextHashes(np.zeros(shape, np.uint64), np.ones(shape, np.uint64))
        down = TextHashes(np.zeros(shape, np.uint64), np.ones(shape, np.uint64))
        open_words = places_of(~words.root)
        for step in range(1, MAX_PATH + 1):
            here = above[open_words, step - 1]
            names = here if step > 1 else here + words.size
            above[open_words, step] = words.head[here]
            before, now = (open_words, step - 1), (open_words, step)
            up.value[now], up.power[now] = TextHashes(up.value[before], up.power[before]).joined(
                names_up.pick(names)
            )
            down.value[now], down.power[now] = names_down.pick(names).joined(
                TextHashes(down.value[before], down.power[before])
            )
            open_words = open_words[~words.root[above[open_words, step]]]
        return (
            above,
            TextHashes(up.value.ravel(), up.power.ravel()),
            TextHashes(down.value.ravel(), down.power.ravel()),
        )


def _step_names(words: WordColumns) -> tuple[TextHashes, TextHashes]:
    """The hashes of the steps up and down through each word, followed by those of the steps that begin or end at it.

    A step is named by its dependency, and in the middle of a path by the preposition too.
    """
    texts = words.strings.texts
    keys = np.where(words.among(words.tag, ("IN", "TO")), words.lemma, ABSENT) << 32 | words.dep
    distinct, places = np.unique(np.concatenate([keys, words.dep]), return_inverse=True)
    names = [
        texts[key & 0xFFFFFFFF] + (":" + texts[key >> 32] if key >> 32 else "") for key in distinct.tolist()
    ]
    hashed = (
        np.array([*map(_step_hashes, names)], dtype=np.uint64).reshape(-1, 4)[places.reshape(-1)].T.copy()
    )
    return TextHashes(hashed[0], hashed[1]), TextHashes(hashed[2], hashed[3])


@lru_cache(maxsize=20_000)
def _step_hashes(name: str) -> tuple[int, int, int, int]:
    """Value and power of the hashes of a step up and of a step down; cached, since the same few dependencies recur."""
    return *_text_hash("^" + name), *_text_hash("v" + name)


def _text_hash(text: str) -> tuple[int, int]:
    """Value and power of `TextHashes` for one text."""
    value, power = 0, 1
    for byte in text.encode("utf-8", "surrogatepass"):
        value, power = (value * BASE + byte + 1) & ALL, power * BASE & ALL
    return value, power
