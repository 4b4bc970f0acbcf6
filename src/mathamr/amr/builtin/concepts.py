"""Concept identification: maps words to the nodes they contribute, with the edges inside each word's template."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from mathamr.amr.builtin.columns import WordColumns
from mathamr.amr.builtin.features import (
    AROUND_FORMS,
    CHILD_FORM,
    CHILD_WORD_FORM,
    CORE_DEP_FORM,
    CORE_FORMS,
    CORE_PARTS,
    DETAIL_DEP_FORM,
    DETAIL_FORMS,
    NEIGHBOUR_FORMS,
    OWN_FORMS,
    OWN_PARTS,
    TEMPLATE_FORMS,
    WordNode,
    own_core_parts,
    own_parts,
    written,
)
from mathamr.amr.builtin.featuresums import FeatureSums, FormSet
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
from mathamr.amr.builtin.lookup import StringNumbers, places_of, ranges
from mathamr.amr.builtin.mathematics import is_formula
from mathamr.amr.builtin.network import Bag, Weights
from mathamr.amr.builtin.syntax import SyntaxSentence
from mathamr.amr.builtin.templates import PLAIN, Template
from mathamr.core.arrays import FloatArray, IntArray

MEMORY = 30_000
_NO_NODE = frozenset({NONE, INSIDE})
_PLURAL = re.compile(r"[A-Z0-9][A-Za-z0-9-]*[A-Z0-9]s$")


@dataclass
class Draft:
    """The nodes of a sentence before relations are identified, and the edges of their templates."""

    sentence: SyntaxSentence
    nodes: list[WordNode] = field(default_factory=list)
    edges: list[tuple[int, str, int]] = field(default_factory=list)

    def add(self, core: WordNode, template: Template) -> None:
        """Adds a core with the nodes and edges of its template."""
        first = len(self.nodes)
        self.nodes.append(core)
        if len(template.nodes) == 1 and not template.edges:
            return
        for place, name in enumerate(template.nodes[1:], start=1):
            constant = name.startswith("=")
            self.nodes.append(WordNode(name[1:] if constant else name, constant, core.token, place))
        self.edges.extend((first + s, role, first + t) for s, role, t in template.edges)


def named_in_mathematics(parts: Sequence[str]) -> Template:
    """The concept of a name in a mathematical sentence: a person for "Euler", a thing for "ZFC"."""
    kind = "person" if all(part[:1].isupper() and part[1:].islower() for part in parts) else "thing"
    return Template(("*", kind), ((1, ":name", 0),))


def ask_for_causes(draft: Draft) -> None:
    """Adds the `amr-unknown` cause of a question with "why", if no word added one."""
    if draft.sentence.words[-1:] != ["?"] or any(node.concept == "amr-unknown" for node in draft.nodes):
        return
    for number, node in enumerate(draft.nodes):
        if node.concept == "cause-01" and draft.sentence.lemmas[node.token] == "why":
            draft.edges.append((number, ":ARG0", len(draft.nodes)))
            draft.nodes.append(WordNode("amr-unknown", False, node.token, 1))
            return


def head_of(sentence: SyntaxSentence, first: int, last: int) -> int:
    """The word of a span whose head lies outside of it; the last one if there are several."""
    for token in range(last, first - 1, -1):
        head = sentence.heads[token]
        if head == token or not first <= head <= last:
            return token
    return last


def context(sentence: SyntaxSentence) -> FloatArray:
    """The dense inputs of every word: its own vector and that of its head."""
    return np.concatenate([sentence.vectors, sentence.vectors[sentence.heads]], axis=1)


@dataclass(frozen=True, slots=True)
class _Known:
    """A cached word: its row among own features, and its candidates with the first of their rows."""

    own: int
    candidates: list[FrameCandidate]
    first: int


class _Sums:
    """A cache of sums of features: rows of parts are numbered as they are added and summed when they are needed.

    Each of several sets of forms has its own table over the rows.
    """

    def __init__(self, parts: Sequence[str], *forms: tuple[FeatureSums, Sequence[str]]) -> None:
        self._parts, self._forms = parts, forms
        self._waiting: list[tuple[str, ...]] = []
        self._arrays: list[FloatArray] = [
            np.zeros((1024, features.weights.shape[1]), dtype=np.float32) for features, _ in forms
        ]
        self._summed = 0

    def __len__(self) -> int:
        return self._summed + len(self._waiting)

    def add(self, *rows: tuple[str, ...]) -> int:
        """Adds rows and returns the number of the first one."""
        self._waiting += rows
        return len(self) - len(rows)

    def arrays(self) -> list[FloatArray]:
        """The tables with all rows so far, and spare room for more."""
        if self._waiting:
            size = len(self)
            for number, sums in enumerate(self._sums()):
                array = self._arrays[number]
                if size > len(array):
                    grown = np.zeros((2 * size, array.shape[1]), dtype=np.float32)
                    grown[: self._summed] = array[: self._summed]
                    array = self._arrays[number] = grown
                array[self._summed : size] = sums
            self._summed, self._waiting = size, []
        return self._arrays

    def _sums(self) -> Iterator[FloatArray]:
        rows = [dict(zip(self._parts, row, strict=True)) for row in self._waiting]
        for features, forms in self._forms:
            numbers = [features.numbers(written(forms, row)) for row in rows]
            yield features.sums(list(np.array(numbers, dtype=np.int64).T))


class ConceptModel:
    """Ranks the candidate cores of each word, then chooses the template of each core.

    Both models describe a word by the same features; their vectors stand side by side in one table.
    """

    def __init__(self, weights: Weights, lexicon: Lexicon, strings: StringNumbers) -> None:
        self.lexicon = lexicon
        arrays = weights.arrays
        self._strings = strings
        self._words = FeatureSums(*beside(weights, "core/word", "template/word"), strings)
        self._around = FormSet(self._words, AROUND_FORMS)
        self._child, self._child_word = (
            FormSet(self._words, [form]) for form in (CHILD_FORM, CHILD_WORD_FORM)
        )
        self._cores = FeatureSums(*weights.bag("core/core"), strings)
        self._details = FeatureSums(*weights.bag("core/detail"), strings)
        self._core_and_dep = FormSet(self._cores, [CORE_DEP_FORM])
        self._neighbours = FormSet(self._details, [DETAIL_DEP_FORM, *NEIGHBOUR_FORMS])
        self._dense, self._bias = arrays["core/dense"], arrays["core/dense/bias"]
        self._output = np.ascontiguousarray(arrays["core/output"][:, 0])
        self._width = len(self._output)
        self._of_core = FormSet(self._words, TEMPLATE_FORMS, first=self._width)
        self._template = tuple(
            arrays["template/" + name] for name in ("dense", "dense/bias", "output", "output/bias")
        )
        labels = weights.table("templates", list)
        self._templates = [Template.from_text(text) for text in labels]
        self._plain = labels.index(PLAIN)
        general = frozenset(weights.table("general templates", list))
        naming = np.array(
            [any(role == ":name" and t == 0 for _, role, t in x.edges) for x in self._templates]
        )
        fits = np.array([~naming, naming, ~naming & np.array([text in general for text in labels])])
        self._unfit: FloatArray = np.where(fits, 0.0, -np.inf).astype(np.float32)
        """One row each for a word, a name, and a word of a mathematical sentence."""
        self._forget()

    def _forget(self) -> None:
        self._remembered: dict[tuple[object, ...], _Known] = {}
        self._own_rows: dict[tuple[str, str], int] = {}
        self._own = _Sums(OWN_PARTS, (self._words, OWN_FORMS))
        self._fixed = _Sums(CORE_PARTS, (self._cores, CORE_FORMS), (self._details, DETAIL_FORMS))
        self._named: list[tuple[int, int]] = []
        self._names: IntArray = np.zeros((0, 2), dtype=np.int64)

    def identify(self, sentences: Sequence[SyntaxSentence], words: WordColumns) -> list[Draft]:
        """The nodes of each sentence."""
        if len(self._remembered) >= MEMORY:
            self._forget()
        known = [word for sentence in sentences for word in self._recall(sentence)]
        if not known:
            return [Draft(sentence) for sentence in sentences]
        described = self._describe(words, known)
        cores = self._choose_cores(sentences, words, known, described)
        return self._add_templates(sentences, words, cores, described)

    def _recall(self, sentence: SyntaxSentence) -> list[_Known]:
        """The candidates of words with the sums of their features; cached for the next occurrence of the same word."""
        mathematical, remembered, phrases = sentence.mathematical, self._remembered, self.lexicon.phrasal
        found: list[_Known] = []
        for token, (word, tag, children) in enumerate(
            zip(sentence.words, sentence.tags, sentence.children, strict=True)
        ):
            phrasal = tuple(phrases(sentence, token)) if children and children[-1] > token else ()
            key = (word, tag, token > 0, mathematical, phrasal)
            known = remembered.get(key)
            if known is None:
                known = remembered[key] = self._learn(sentence, token)
            found.append(known)
        return found

    def _learn(self, sentence: SyntaxSentence, token: int) -> _Known:
        """Adds a word to the cache."""
        word, lemma, tag = sentence.words[token], sentence.lemmas[token], sentence.tags[token]
        own = self._own_rows.get((word, tag))
        if own is None:
            own = self._own_rows[word, tag] = self._own.add(own_parts(word, lemma, tag))
        candidates = self.lexicon.candidates(sentence, token)
        known = _Known(own, candidates, len(self._fixed))
        if len(candidates) > 1:
            rows, strings = own_core_parts(word, lemma, tag, candidates), self._strings
            self._fixed.add(*rows)
            self._named += [(strings[core], strings[kind]) for kind, _, core, *_ in rows]
        return known

    def _describe(self, words: WordColumns, known: Sequence[_Known]) -> FloatArray:
        """The sums of the features of every word, for both models side by side."""
        described = self._around.sums(words.around)
        (own,) = self._own.arrays()
        described += own[[each.own for each in known]]
        heads, kinds = words.child_kinds
        self._child.add(described, {"dep": kinds}, heads)
        children = words.function_children
        parts = {"dep": words.dep[children], "lemma": words.lemma[children]}
        self._child_word.add(described, parts, words.head[children])
        return described

    def _choose_cores(
        self,
        sentences: Sequence[SyntaxSentence],
        words: WordColumns,
        known: Sequence[_Known],
        described: FloatArray,
    ) -> list[list[str]]:
        counts = np.array([len(each.candidates) for each in known], dtype=np.int64)
        open_words = places_of(counts > 1)
        counts = counts[open_words]
        firsts = np.array([known[word].first for word in open_words.tolist()], dtype=np.int64)
        candidates = ranges(firsts, counts)
        starts = np.cumsum(counts) - counts
        hidden = described[open_words, : self._width] + words.dense(open_words) @ self._dense + self._bias
        around, owners = words.around, np.repeat(open_words, counts)
        if self._named:
            self._names = np.concatenate([self._names, np.array(self._named, dtype=np.int64)])
            self._named = []
        cores, kinds = np.ascontiguousarray(self._names[candidates].T)
        heads, deps = words.head[owners], words.dep[owners]
        parts = {
            "core": cores,
            "kind": kinds,
            "dep": deps,
            "head_lemma": words.lemma[heads],
            "head_tag": words.tag[heads],
            "following": around["following"][owners],
            "previous": around["previous"][owners],
        }
        vectors, fixed = self._fixed.arrays()
        details = fixed[candidates]
        self._neighbours.add(details, parts)
        scores = details[:, 0]
        both = np.repeat(hidden, counts, axis=0)
        both += vectors[candidates]
        self._core_and_dep.add(both, parts)
        scores += np.maximum(both, 0.0, out=both) @ self._output
        return self._read_cores(sentences, known, scores, starts)

    def _read_cores(
        self,
        sentences: Sequence[SyntaxSentence],
        known: Sequence[_Known],
        scores: FloatArray,
        starts: IntArray,
    ) -> list[list[str]]:
        """The best candidate of every word; the words inside a name follow a single decision."""
        best = first_greatest(scores, starts).tolist()
        chosen: list[list[str]] = []
        word = decided = 0
        for sentence in sentences:
            cores: list[str] = []
            for _ in range(len(sentence)):
                found = known[word].candidates
                word += 1
                if len(found) == 1:
                    cores.append(found[0].core)
                    continue
                start = starts[decided]
                core = found[best[decided] - start].core
                if core == INSIDE and (not cores or cores[-1] not in (NAME, INSIDE)):
                    order = np.argsort(-scores[start : start + len(found)], kind="stable")
                    core = found[order[1]].core
                decided += 1
                cores.append(core)
            chosen.append(cores)
        return chosen

    def _add_templates(
        self,
        sentences: Sequence[SyntaxSentence],
        words: WordColumns,
        chosen: list[list[str]],
        described: FloatArray,
    ) -> list[Draft]:
        drafts = [Draft(sentence) for sentence in sentences]
        cores: list[str] = []
        tokens: list[int] = []
        masks: list[int] = []
        places: list[tuple[Draft, WordNode, Template | None]] = []
        for draft, its_cores, start in zip(drafts, chosen, words.starts.tolist(), strict=True):
            sentence = draft.sentence
            mathematical = sentence.mathematical
            for token, core in enumerate(its_cores):
                if core in _NO_NODE:
                    continue
                node = _core_node(sentence, token, core, its_cores)
                if is_formula(core):
                    places.append((draft, node, self._templates[self._plain]))
                elif core == NAME and mathematical:
                    places.append((draft, node, named_in_mathematics(node.text)))
                else:
                    places.append((draft, node, None))
                    cores.append(core)
                    tokens.append(start + node.token)
                    masks.append(1 if core == NAME else 2 if mathematical else 0)
        best = iter(self._choose_templates(words, described, cores, np.array(tokens, np.int64), masks))
        for draft, node, template in places:
            draft.add(node, self._templates[next(best)] if template is None else template)
        for draft in drafts:
            ask_for_causes(draft)
        return drafts

    def _choose_templates(
        self, words: WordColumns, described: FloatArray, cores: list[str], tokens: IntArray, masks: list[int]
    ) -> list[int]:
        parts = {"core": self._strings.numbers(cores), "tag": words.tag[tokens]}
        dense_weights, bias, output, output_bias = self._template
        hidden = described[tokens, self._width :] + words.dense(tokens) @ dense_weights + bias
        self._of_core.add(hidden, parts)
        scores = np.maximum(hidden, 0.0, out=hidden) @ output + output_bias
        scores += self._unfit[masks]
        best: list[int] = scores.argmax(axis=1).tolist()
        return best


def beside(weights: Weights, first: str, second: str) -> Bag:
    """Joins two bags: the vocabulary of both, and their vectors side by side."""
    one, other = weights.bag(first), weights.bag(second)
    vocabulary = {text: number for number, text in enumerate(one.vocabulary | other.vocabulary)}
    width = one.weights.shape[1]
    joined = np.zeros((len(vocabulary), width + other.weights.shape[1]), dtype=np.float32)
    joined[: len(one.weights), :width] = one.weights
    joined[[vocabulary[text] for text in other.vocabulary], width:] = other.weights
    return Bag(vocabulary, joined)


def first_greatest(scores: FloatArray, starts: IntArray) -> IntArray:
    """The position of the greatest score of each group, the first one if there are several; groups begin at `starts`.

    >>> first_greatest(np.array([1.0, 3.0, 3.0, 2.0], dtype=np.float32), np.array([0, 3])).tolist()
    [1, 3]
    """
    if not len(starts):
        return starts
    sizes = np.diff(np.append(starts, len(scores)))
    greatest = places_of(scores == np.repeat(np.maximum.reduceat(scores, starts), sizes))
    return greatest[np.searchsorted(greatest, starts)]


def _core_node(sentence: SyntaxSentence, token: int, core: str, cores: list[str]) -> WordNode:
    if core[0] not in "<=":
        return WordNode(core, False, token)
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
