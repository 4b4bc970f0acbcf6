"""Concept identification: from words to the nodes they contribute, with the edges inside each word's template."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mathamr.amr.builtin.features import (
    WordNode,
    core_features,
    neighbour_features,
    template_features,
    word_features,
)
from mathamr.amr.builtin.lexicon import (
    INSIDE,
    NAME,
    NONE,
    NUMBER,
    STRING,
    FrameCandidate,
    Lexicon,
    number_value,
)
from mathamr.amr.builtin.mathematics import FORMULA
from mathamr.amr.builtin.network import Array, Weights, sum_rows
from mathamr.amr.builtin.syntax import SyntaxSentence
from mathamr.amr.builtin.templates import PLAIN, Template

MEMORY = 50_000
_PLURAL = re.compile(r"[A-Z0-9][A-Za-z0-9-]*[A-Z0-9]s$")


@dataclass
class Draft:
    """The nodes of a sentence before they are related, and the edges that templates bring."""

    sentence: SyntaxSentence
    nodes: list[WordNode] = field(default_factory=list)
    edges: list[tuple[int, str, int]] = field(default_factory=list)

    def add(self, core: WordNode, template: Template) -> None:
        """Adds a core with what comes along."""
        first = len(self.nodes)
        self.nodes.append(core)
        for place, name in enumerate(template.nodes[1:], start=1):
            constant = name.startswith("=")
            self.nodes.append(WordNode(name[1:] if constant else name, constant, core.token, place))
        self.edges.extend((first + s, role, first + t) for s, role, t in template.edges)


def named_in_mathematics(parts: Sequence[str]) -> Template:
    """What a name in a mathematical sentence belongs to: "Euler" to a person, "ZFC" to a thing."""
    kind = "person" if all(part[:1].isupper() and part[1:].islower() for part in parts) else "thing"
    return Template(("*", kind), ((1, ":name", 0),))


def ask_for_causes(draft: Draft) -> None:
    """Gives the cause that a question with "why" asks for its `amr-unknown`, where no word gave one."""
    if draft.sentence.words[-1:] != ["?"] or any(node.concept == "amr-unknown" for node in draft.nodes):
        return
    for number, node in enumerate(draft.nodes):
        if node.concept == "cause-01" and draft.sentence.lemmas[node.token] == "why":
            draft.edges.append((number, ":ARG0", len(draft.nodes)))
            draft.nodes.append(WordNode("amr-unknown", False, node.token, 1))
            return


def head_of(sentence: SyntaxSentence, first: int, last: int) -> int:
    """The word of a span whose own head lies outside it; the last one of several."""
    for token in range(last, first - 1, -1):
        head = sentence.heads[token]
        if head == token or not first <= head <= last:
            return token
    return last


def context(sentence: SyntaxSentence) -> Array:
    """Dense inputs of every word: its own vector and its head's."""
    return np.concatenate([sentence.vectors, sentence.vectors[sentence.heads]], axis=1)


@dataclass
class _Known:
    """The candidates of a word, and the numbers of those features that do not depend on its neighbours."""

    candidates: list[FrameCandidate]
    vectors: list[list[int]]
    details: list[list[int]]


class ConceptModel:
    """Ranks the candidate cores of each word, then chooses the template of each core."""

    def __init__(self, weights: Weights, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._remembered: dict[tuple[object, ...], _Known] = {}
        arrays = weights.arrays
        self._words = weights.bag("core/word")
        self._cores = weights.bag("core/core")
        self._details = weights.bag("core/detail")
        self._dense, self._bias = arrays["core/dense"], arrays["core/dense/bias"]
        self._output = arrays["core/output"]
        self._template_words = weights.bag("template/word")
        self._template = tuple(
            arrays["template/" + name] for name in ("dense", "dense/bias", "output", "output/bias")
        )
        labels = weights.table("templates", list)
        self._templates = [Template.from_text(text) for text in labels]
        self._plain = labels.index(PLAIN)
        general = frozenset(weights.table("general templates", list))
        self._general = np.array([text in general for text in labels])
        self._naming = np.array(
            [any(role == ":name" and t == 0 for _, role, t in x.edges) for x in self._templates]
        )

    def identify(self, sentences: Sequence[SyntaxSentence]) -> list[Draft]:
        """The nodes of each sentence."""
        contexts = [context(sentence) for sentence in sentences]
        described: dict[tuple[int, int], list[str]] = {}
        cores = self._choose_cores(sentences, contexts, described)
        return self._add_templates(sentences, contexts, cores, described)

    def _choose_cores(
        self,
        sentences: Sequence[SyntaxSentence],
        contexts: Sequence[Array],
        described: dict[tuple[int, int], list[str]],
    ) -> list[list[str]]:
        word_rows: list[list[int]] = []
        core_rows: list[list[int]] = []
        detail_rows: list[list[int]] = []
        owners: list[int] = []
        places: list[int] = []
        options: list[list[FrameCandidate]] = []
        place = 0
        for number, sentence in enumerate(sentences):
            for token in range(len(sentence)):
                known = self._candidates(sentence, token)
                options.append(known.candidates)
                if len(known.candidates) > 1:
                    owners.extend([len(word_rows)] * len(known.candidates))
                    places.append(place)
                    features = described[number, token] = word_features(sentence, token)
                    word_rows.append(self._words.ids(features))
                    core_rows.extend(known.vectors)
                    for candidate, fixed in zip(known.candidates, known.details, strict=True):
                        around = neighbour_features(sentence, token, candidate)
                        detail_rows.append(fixed + self._details.fixed_ids(around))
                place += 1
        if not word_rows:
            return self._read_cores(sentences, options, np.zeros(0, dtype=np.float32))
        dense = np.concatenate(contexts)[places]
        hidden = self._words.sums(word_rows) + dense @ self._dense + self._bias
        both = np.maximum(hidden[owners] + self._cores.fixed_sums(core_rows), 0.0)
        scores = (both @ self._output + self._details.fixed_sums(detail_rows))[:, 0]
        return self._read_cores(sentences, options, scores)

    def _candidates(self, sentence: SyntaxSentence, token: int) -> _Known:
        """Candidates of a word with their features' numbers, remembered for the next time it comes alike."""
        word = sentence.words[token]
        following = tuple(sentence.lemmas[c] for c in sentence.children[token] if c > token)
        key = (word, sentence.tags[token], sentence.deps[token], token > 0, sentence.mathematical, following)
        known = self._remembered.get(key)
        if known is None:
            candidates = self.lexicon.candidates(sentence, token)
            features = [core_features(sentence, token, c) for c in candidates] if len(candidates) > 1 else []
            known = _Known(
                candidates,
                [self._cores.fixed_ids(vectors) for vectors, _ in features],
                [self._details.fixed_ids(details) for _, details in features],
            )
            if len(self._remembered) >= MEMORY:
                self._remembered.clear()
            self._remembered[key] = known
        return known

    def _read_cores(
        self, sentences: Sequence[SyntaxSentence], options: list[list[FrameCandidate]], scores: Array
    ) -> list[list[str]]:
        chosen: list[list[str]] = []
        word = start = 0
        for sentence in sentences:
            cores: list[str] = []
            for _ in range(len(sentence)):
                found = options[word]
                word += 1
                if len(found) == 1:
                    cores.append(found[0].core)
                    continue
                order = np.argsort(-scores[start : start + len(found)], kind="stable")
                start += len(found)
                core = found[order[0]].core
                if core == INSIDE and (not cores or cores[-1] not in (NAME, INSIDE)):
                    core = found[order[1]].core
                cores.append(core)
            chosen.append(cores)
        return chosen

    def _add_templates(
        self,
        sentences: Sequence[SyntaxSentence],
        contexts: Sequence[Array],
        chosen: list[list[str]],
        described: dict[tuple[int, int], list[str]],
    ) -> list[Draft]:
        drafts = [Draft(sentence) for sentence in sentences]
        rows: list[list[int]] = []
        inputs: list[Array] = []
        places: list[tuple[Draft, WordNode, bool]] = []
        for number, (draft, cores, dense) in enumerate(zip(drafts, chosen, contexts, strict=True)):
            sentence = draft.sentence
            for token, core in enumerate(cores):
                if core in (NONE, INSIDE):
                    continue
                node = _core_node(sentence, token, core, cores)
                places.append((draft, node, core == NAME))
                rows.append([])
                if not FORMULA.fullmatch(core):
                    token = node.token
                    word = described.get((number, token)) or word_features(sentence, token)
                    rows[-1] = self._template_words.ids(template_features(word, sentence.tags[token], core))
                inputs.append(dense[node.token])
        if not places:
            return drafts
        dense_weights, bias, output, output_bias = self._template
        hidden = np.maximum(
            sum_rows(self._template_words.weights, rows) + np.array(inputs) @ dense_weights + bias, 0.0
        )
        scores = hidden @ output + output_bias
        for (draft, node, named), row, features in zip(places, scores, rows, strict=True):
            if not features:
                draft.add(node, self._templates[self._plain])
            elif named and draft.sentence.mathematical:
                draft.add(node, named_in_mathematics(node.text))
            else:
                fits = self._naming == named
                if draft.sentence.mathematical:
                    fits &= self._general
                draft.add(node, self._templates[int(np.argmax(np.where(fits, row, -np.inf)))])
        for draft in drafts:
            ask_for_causes(draft)
        return drafts


def _core_node(sentence: SyntaxSentence, token: int, core: str, cores: list[str]) -> WordNode:
    word = sentence.words[token]
    if core == NAME:
        last = token
        while last + 1 < len(cores) and cores[last + 1] == INSIDE:
            last += 1
        text = "".join(
            sentence.words[t] + (" " if sentence.spaces[t] and t < last else "")
            for t in range(token, last + 1)
        )
        if _PLURAL.fullmatch(text):
            text = text[:-1]
        return WordNode(
            "name", False, head_of(sentence, token, last), 0, tuple(text.replace('"', "").split()) or ("?",)
        )
    if core == NUMBER:
        return WordNode(number_value(word) or word, True, token)
    if core == STRING:
        return WordNode('"' + word.replace('"', "") + '"', True, token)
    if core.startswith("=") and len(core) > 1:
        return WordNode(core[1:], True, token)
    return WordNode(core, False, token)
