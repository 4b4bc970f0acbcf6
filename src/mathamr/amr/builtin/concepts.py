"""Concept identification: the nodes that words contribute, with the edges inside each word's template."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from mathamr.amr.builtin.frames import SENSE, is_frame
from mathamr.amr.builtin.lexicon import INSIDE, NAME, NONE, NUMBER, STRING, FrameCandidate, Lexicon
from mathamr.amr.builtin.mathematics import is_formula
from mathamr.amr.builtin.network import Network, WordScores
from mathamr.amr.builtin.nodes import PLAIN, Draft, Template, WordNode
from mathamr.amr.builtin.numbers import Vocabularies, candidate_numbers
from mathamr.amr.builtin.vocabulary import NEGATIVE_PREFIXES, number_value
from mathamr.amr.builtin.words import WordSentence
from mathamr.core.arrays import FloatArray, IntArray

MEMORY = 30_000
_Offered = tuple[list[FrameCandidate], IntArray, FloatArray]
"""The candidates of a word, their concepts and reasons, and their counts."""
_NO_NODE = frozenset({NONE, INSIDE})
_PLURAL = re.compile(r"[A-Z0-9][A-Za-z0-9-]*[A-Z0-9]s$")


_ACTOR = Template(("*", "person"), ((0, ":ARG0", 1),))


def ask_for_causes(draft: Draft) -> None:
    """Add the `amr-unknown` cause of a question with "why", if no word added one."""
    if draft.sentence.words[-1:] != ["?"] or any(node.concept == "amr-unknown" for node in draft.nodes):
        return
    for number, node in enumerate(draft.nodes):
        if node.concept == "cause-01" and draft.sentence.lemmas[node.token] == "why":
            draft.edges.append((number, ":ARG0", len(draft.nodes)))
            draft.nodes.append(WordNode("amr-unknown", False, node.token, 1))
            return


def is_negated(lemma: str, concept: str) -> bool:
    """Return True if a word is the negation of its frame by a prefix.

    >>> is_negated("irrational", "rational-02"), is_negated("independence", "depend-01"), is_negated("interest", "interest-01")
    (True, True, False)
    """
    stem = SENSE.sub("", concept) if is_frame(concept) else lemma
    return any(lemma.startswith(prefix + stem) for prefix in NEGATIVE_PREFIXES)


def head_of(heads: Sequence[int], first: int, last: int) -> int:
    """Return the word of a span whose head lies outside of it; the last one if there are several."""
    for token in range(last, first - 1, -1):
        if heads[token] == token or not first <= heads[token] <= last:
            return token
    return last


class ConceptModel:
    """Ranks the candidate cores of each word, then chooses the template of each core."""

    def __init__(
        self, network: Network, vocabularies: Vocabularies, lexicon: Lexicon, general_templates: Sequence[str]
    ) -> None:
        self.network, self.vocabularies, self.lexicon = network, vocabularies, lexicon
        self._templates = [Template.from_text(text) for text in vocabularies.templates]
        self._plain = Template.from_text(PLAIN)
        naming = np.array(
            [any(r == ":name" and t == 0 for _, r, t in each.edges) for each in self._templates]
        )
        general = frozenset(general_templates)
        known = np.array([text in general for text in vocabularies.templates])
        # A constant is the end of an edge, never its source.
        ends = np.array([all(source for source, _, _ in each.edges) for each in self._templates])
        calm = np.array(["=imperative" not in each.nodes for each in self._templates])
        fits = np.array(
            [~naming, naming, ~naming & known, ~naming & ends, ~naming & known & ends, ~naming & known & calm]
        )
        self._unfit = np.where(fits, 0.0, -np.inf).astype(np.float32)
        """One row each for a word, a name, a word outside biology, a constant, a constant outside biology, and no verb outside biology."""
        self._known: dict[tuple[object, ...], _Offered] = {}

    def identify(self, sentences: Sequence[WordSentence], words: WordScores) -> list[Draft]:
        """Return the nodes of sentences whose words have tags and lemmas."""
        chosen: list[list[tuple[WordNode, Template | None]]] = []
        open_cores: list[tuple[int, int, int]] = []
        cores_of = self._cores(sentences, words)
        for sentence, cores, start in zip(sentences, cores_of, words.starts.tolist(), strict=True):
            general = not sentence.biological
            heads = [head - start for head in words.heads[start : start + len(sentence)]]
            own: list[tuple[WordNode, Template | None]] = []
            for token, core in enumerate(cores):
                if core in _NO_NODE:
                    continue
                node = core_node(sentence, heads, token, core, cores)
                if is_formula(core) or (token in sentence.names and core != NAME):
                    own.append((node, self._plain))
                elif core == NAME and general:
                    own.append((node, Template(("*", sentence.names[token][1]), ((1, ":name", 0),))))
                elif (actor := self.lexicon.actor(sentence, token)) and core in (
                    actor,
                    sentence.lemmas[token],
                ):
                    own.append((node, _ACTOR if core == actor else self._plain))
                else:
                    own.append((node, None))
                    mask = 1 if core == NAME else 3 * node.constant + (1 + (not node.constant)) * general
                    if mask == 2 and not is_frame(core):
                        mask = 5
                    meant = self.lexicon.named(node.text) if core == NAME else core
                    open_cores.append((start + node.token, self.vocabularies.concept(meant), mask))
            chosen.append(own)
        best = iter(())
        if open_cores:
            tokens, concepts, masks = np.array(open_cores, np.int64).T
            scores = self.network.templates(words, tokens, concepts) + self._unfit[masks]
            best = iter(scores.argmax(axis=1).tolist())
        drafts = []
        for sentence, own in zip(sentences, chosen, strict=True):
            draft = Draft(sentence)
            for node, template in own:
                draft.add(node, self._templates[next(best)] if template is None else template)
                last = draft.nodes[-1]
                if is_negated(sentence.lemmas[node.token], node.concept) and last.kind != "polarity":
                    draft.edges.append((draft.nodes.index(node), ":polarity", len(draft.nodes)))
                    draft.nodes.append(WordNode("-", True, node.token, last.place + 1))
            ask_for_causes(draft)
            drafts.append(draft)
        return drafts

    def _candidates(self, sentence: WordSentence, token: int) -> _Offered:
        """Return the candidates of a word with their numbers; cached for the next occurrence of the same word."""
        tag = sentence.tags[token]
        phrases = tuple(self.lexicon.phrasal(sentence, token)) if tag[0] in "VN" else ()
        if any(first <= token <= last for first, (last, _) in sentence.names.items()):
            phrases = (("name", str(sentence.names.get(token))),)
        key = (sentence.words[token], tag, token > 0, sentence.mathematical, sentence.biological, phrases)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MEMORY:
                self._known.clear()
            offered = self.lexicon.candidates(sentence, token)
            numbers = [candidate_numbers(each, self.vocabularies) for each in offered]
            known = (
                offered,
                np.array([(concept, reason) for concept, reason, _ in numbers], np.int64),
                np.array([counts for _, _, counts in numbers], np.float32),
            )
            self._known[key] = known
        return known

    def _cores(self, sentences: Sequence[WordSentence], words: WordScores) -> list[list[str]]:
        """Return the best candidate of every word; the words inside a name follow a single decision."""
        offered = [
            [self._candidates(sentence, token) for token in range(len(sentence))] for sentence in sentences
        ]
        found = [[candidates[0].core for candidates, _, _ in own] for own in offered]
        open_words = [
            (number, token, start + token)
            for number, (own, start) in enumerate(zip(offered, words.starts.tolist(), strict=True))
            for token, (candidates, _, _) in enumerate(own)
            if len(candidates) > 1
        ]
        if not open_words:
            return found
        sizes = [len(offered[number][token][0]) for number, token, _ in open_words]
        owner = np.repeat([place for _, _, place in open_words], sizes)
        concept, reason = np.concatenate([offered[number][token][1] for number, token, _ in open_words]).T
        counts = np.concatenate([offered[number][token][2] for number, token, _ in open_words])
        scores = self.network.cores(words, owner, concept, reason, counts)
        starts = np.cumsum(sizes, dtype=np.int64) - np.asarray(sizes, np.int64)
        highest = np.flatnonzero(scores == np.repeat(np.maximum.reduceat(scores, starts), sizes))
        best = highest[np.searchsorted(highest, starts)]
        for (number, token, _), start, place in zip(open_words, starts.tolist(), best.tolist(), strict=True):
            candidates, cores = offered[number][token][0], found[number]
            core = candidates[place - start].core
            if core == INSIDE and (token == 0 or cores[token - 1] not in (NAME, INSIDE)):
                order = np.argsort(-scores[start : start + len(candidates)], kind="stable")
                core = candidates[int(order[1])].core
            cores[token] = core
        return found


def core_node(
    sentence: WordSentence, heads: Sequence[int], token: int, core: str, cores: Sequence[str]
) -> WordNode:
    """Return the node of a core; that of a name covers the words inside it."""
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
        parts = tuple(text.replace('"', "").rstrip("/-,;:( ").split()) or ("?",)
        return WordNode("name", False, head_of(heads, token, last), 0, parts)
    if core == NUMBER:
        return WordNode(number_value(word) or word, True, token)
    if core == STRING:
        return WordNode('"' + word.replace('"', "") + '"', True, token)
    if core.startswith("=") and len(core) > 1:
        return WordNode(core[1:], True, token)
    return WordNode(core, False, token)
