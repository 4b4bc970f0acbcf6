"""Concept identification: from words to the nodes they contribute, with the edges inside each word's template."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mathamr.amr.builtin.features import Node, core_features, template_features, word_features
from mathamr.amr.builtin.lexicon import INSIDE, NAME, NONE, NUMBER, STRING, Lexicon, number_value
from mathamr.amr.builtin.network import Array, Weights, sum_rows
from mathamr.amr.builtin.syntax import FORMULA, Sentence
from mathamr.amr.builtin.templates import PLAIN, Template

_PLURAL = re.compile(r"[A-Z0-9][A-Za-z0-9-]*[A-Z0-9]s$")


@dataclass
class Draft:
    """The nodes of a sentence before they are related, and the edges that templates bring."""

    sentence: Sentence
    nodes: list[Node] = field(default_factory=list)
    edges: list[tuple[int, str, int]] = field(default_factory=list)

    def add(self, core: Node, template: Template) -> None:
        """Adds a core with what comes along."""
        first = len(self.nodes)
        self.nodes.append(core)
        for place, name in enumerate(template.nodes[1:], start=1):
            constant = name.startswith("=")
            self.nodes.append(Node(name[1:] if constant else name, constant, core.token, place))
        self.edges.extend((first + s, role, first + t) for s, role, t in template.edges)


def head_of(sentence: Sentence, first: int, last: int) -> int:
    """The word of a span whose own head lies outside it; the last one of several."""
    for token in range(last, first - 1, -1):
        head = sentence.heads[token]
        if head == token or not first <= head <= last:
            return token
    return last


def context(sentence: Sentence) -> Array:
    """Dense inputs of every word: its own vector and its head's."""
    return np.concatenate([sentence.vectors, sentence.vectors[sentence.heads]], axis=1)


class ConceptModel:
    """Ranks the candidate cores of each word, then chooses the template of each core."""

    def __init__(self, weights: Weights, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        arrays = weights.arrays
        self._words = weights.bag("core/word")
        self._cores = weights.bag("core/core")
        self._core_weights = np.concatenate([arrays["core/core"], arrays["core/linear"]], axis=1)
        self._dense, self._bias = arrays["core/dense"], arrays["core/dense/bias"]
        self._output = arrays["core/output"]
        self._template_words = weights.bag("template/word")
        self._template = tuple(
            arrays["template/" + name] for name in ("dense", "dense/bias", "output", "output/bias")
        )
        labels = weights.tables["templates"]
        assert isinstance(labels, list)
        self._templates = [Template.from_text(text) for text in labels]
        self._plain = labels.index(PLAIN)
        self._naming = np.array(
            [any(role == ":name" and t == 0 for _, role, t in x.edges) for x in self._templates]
        )

    def identify(self, sentences: Sequence[Sentence]) -> list[Draft]:
        """The nodes of each sentence."""
        contexts = [context(sentence) for sentence in sentences]
        cores = self._choose_cores(sentences, contexts)
        return self._add_templates(sentences, contexts, cores)

    def _choose_cores(self, sentences: Sequence[Sentence], contexts: Sequence[Array]) -> list[list[str]]:
        word_rows: list[list[int]] = []
        core_rows: list[list[int]] = []
        owners: list[int] = []
        options: list[list[str]] = []
        lexicon = self.lexicon
        for sentence in sentences:
            for token, lemma in enumerate(sentence.lemmas):
                total = lexicon.totals.get(lemma, 0)
                found = lexicon.candidates(sentence, token)
                options.append([core for core, _, _ in found])
                if len(found) == 1:
                    word_rows.append([])
                    core_rows.append([])
                    owners.append(len(word_rows) - 1)
                    continue
                word_rows.append(self._words.ids(word_features(sentence, token)))
                for core, reason, count in found:
                    features = core_features(
                        sentence, token, core, reason, count, total, lexicon.cores.get(core, 0)
                    )
                    core_rows.append(self._cores.ids(features))
                    owners.append(len(word_rows) - 1)
        if not word_rows:
            return [[] for _ in sentences]
        hidden = self._words.sums(word_rows) + np.concatenate(contexts) @ self._dense + self._bias
        made = sum_rows(self._core_weights, core_rows)
        both = np.maximum(hidden[owners] + made[:, :-1], 0.0)
        scores = (both @ self._output)[:, 0] + made[:, -1]
        return self._read_cores(sentences, options, scores)

    def _read_cores(
        self, sentences: Sequence[Sentence], options: list[list[str]], scores: Array
    ) -> list[list[str]]:
        chosen: list[list[str]] = []
        word = start = 0
        for sentence in sentences:
            cores: list[str] = []
            for _ in range(len(sentence)):
                found = options[word]
                ranks = scores[start : start + len(found)]
                order = np.argsort(-ranks, kind="stable")
                core = found[order[0]]
                if core == INSIDE and (not cores or cores[-1] not in (NAME, INSIDE)):
                    core = found[order[1]]
                cores.append(core)
                start += len(found)
                word += 1
            chosen.append(cores)
        return chosen

    def _add_templates(
        self, sentences: Sequence[Sentence], contexts: Sequence[Array], chosen: list[list[str]]
    ) -> list[Draft]:
        drafts = [Draft(sentence) for sentence in sentences]
        rows: list[list[int]] = []
        inputs: list[Array] = []
        places: list[tuple[Draft, Node, bool]] = []
        for draft, cores, dense in zip(drafts, chosen, contexts, strict=True):
            sentence = draft.sentence
            for token, core in enumerate(cores):
                if core in (NONE, INSIDE):
                    continue
                node = _core_node(sentence, token, core, cores)
                places.append((draft, node, core == NAME))
                formula = FORMULA.fullmatch(core) is not None
                rows.append(
                    [] if formula else self._template_words.ids(template_features(sentence, node.token, core))
                )
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
                best = self._plain
            else:
                best = int(np.argmax(np.where(self._naming == named, row, -np.inf)))
            draft.add(node, self._templates[best])
        return drafts


def _core_node(sentence: Sentence, token: int, core: str, cores: list[str]) -> Node:
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
        return Node(
            "name", False, head_of(sentence, token, last), 0, tuple(text.replace('"', "").split()) or ("?",)
        )
    if core == NUMBER:
        return Node(number_value(word) or word, True, token)
    if core == STRING:
        return Node('"' + word.replace('"', "") + '"', True, token)
    if core.startswith("=") and len(core) > 1:
        return Node(core[1:], True, token)
    return Node(core, False, token)
