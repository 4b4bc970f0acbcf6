"""Word alignment: which word of the sentence each node of a gold graph comes from.

Spelling decides most nodes (`see-01` and "saw"); a translation table learned by expectation maximisation over all
graphs (IBM model 1) decides `contrast-01` and "but"; closeness in the dependency tree decides between equals. Nodes
without a word of their own (`thing`, `temporal-quantity`) join a neighbour's word.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import penman

from mathamr.amr.builtin.frames import SENSE, Frames
from mathamr.amr.builtin.vocabulary import NEGATIVE_PREFIXES, NUMBER_WORDS, PRONOUNS
from mathamr_lab.amr.syntax import Analysed

NAME = "name"
HINTS = {
    "-": "not no never n't none nothing nobody neither nor without cannot lack nowhere",
    "possible-01": "can could may might able possible cannot perhaps possibly",
    "and": "and , ; / both : as",
    "or": "or / either",
    "contrast-01": "but however yet although though while",
    "cause-01": "because so why therefore thus since due for hence",
    "amr-unknown": "what who why how where when which whose whom ?",
    "obligate-01": "must have should need",
    "recommend-01": "should ought",
    "have-degree-91": "more most less least too so enough as than",
    "truth-value": "if whether",
    "interrogative": "? if whether",
    "have-concession-91": "although though despite even",
    "include-91": "of include among",
    "imperative": "let",
    "equivalent-01": "if-and-only-if",
    "mean-01": "( mean i.e. ie",
    "slash": "/",
    "percentage-entity": "%",
    "resemble-01": "like as such similar similarly",
    "consequential-01": "serious matter consequence",
    "cite-01": "[",
    "value-interval": "- – to between from",
}
_HINTS = {(concept, word) for concept, words in HINTS.items() for word in words.split()}
_JOINERS = {"and", "or", "contrast-01", "multi-sentence", "slash"}
_PRIORITY = {
    ":name": 9,
    ":unit": 8,
    ":mode": 7,
    ":polarity": 6,
    ":weekday": 6,
    ":month": 6,
    ":year": 6,
    ":dayperiod": 6,
}


@dataclass
class AlignedGraph:
    """A gold graph over numbered nodes, each with the word it comes from (-1: none found).

    Constants are nodes too; a name and its parts are one node whose concept is `name` and whose text is in `names`.
    `mentions` are further words for a node, such as pronouns that refer to it.
    """

    concepts: list[str]
    constant: list[bool]
    edges: list[tuple[int, str, int]]
    top: int
    names: dict[int, list[str]]
    tokens: list[int] = field(default_factory=list)
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    mentions: list[tuple[int, int]] = field(default_factory=list)


def numbered(graph: penman.Graph) -> AlignedGraph:
    """Return the graph without its layout: numbered nodes, constants as nodes, names as single nodes, no wiki links."""
    variables = {source: number for number, (source, _, _) in enumerate(graph.instances())}
    concepts = [str(concept) for _, _, concept in graph.instances()]
    constant = [False] * len(concepts)
    edges = [
        (variables[s], role, variables[t])
        for s, role, t in graph.edges()
        if s in variables and t in variables
    ]
    names: dict[int, dict[str, str]] = defaultdict(dict)
    for source, role, value in graph.attributes():
        node = variables[source]
        if role == ":wiki":
            continue
        if concepts[node] == NAME and role.startswith(":op"):
            names[node][role] = str(value).strip('"')
            continue
        edges.append((node, role, len(concepts)))
        concepts.append(str(value))
        constant.append(True)
    parts = {
        n: [p[r] for r in sorted(p, key=lambda r: int(re.sub("[^0-9]", "", r) or 0))]
        for n, p in names.items()
    }
    for node, concept in enumerate(concepts):
        if concept == NAME and not constant[node]:
            parts.setdefault(node, [])
    return AlignedGraph(concepts, constant, edges, variables[graph.top], parts)


def translation_table(
    pairs: list[tuple[Analysed, AlignedGraph]], rounds: int = 6
) -> dict[tuple[str, str], float]:
    """Learn by IBM model 1, from all pairs, how probable a concept is given a lemma."""
    table: dict[tuple[str, str], float] = defaultdict(lambda: 1.0)
    bags = [
        (
            list(dict.fromkeys([*sentence.lemmas, "<null>"])),
            [c for n, c in enumerate(g.concepts) if n not in g.names],
        )
        for sentence, g in pairs
    ]
    for _ in range(rounds):
        counts: Counter[tuple[str, str]] = Counter()
        totals: Counter[str] = Counter()
        for lemmas, concepts in bags:
            for concept in concepts:
                weights = [table[lemma, concept] for lemma in lemmas]
                whole = sum(weights)
                for lemma, weight in zip(lemmas, weights, strict=True):
                    counts[lemma, concept] += weight / whole  # type: ignore[assignment]
                    totals[lemma] += weight / whole  # type: ignore[assignment]
        table = defaultdict(
            float, {key: value / totals[key[0]] for key, value in counts.items() if value > 1e-3}
        )
    return dict(table)


class Aligner:
    """Aligns graphs with a translation table."""

    def __init__(self, frames: Frames, table: dict[tuple[str, str], float]) -> None:
        self.frames = frames
        self.table = table

    def align(self, sentence: Analysed, graph: AlignedGraph) -> None:
        """Fill the graph's `tokens`, `spans` and `mentions`."""
        graph.tokens = [-1] * len(graph.concepts)
        distances = tree_distances(sentence)
        neighbours: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for source, role, target in graph.edges:
            neighbours[source].append((target, role))
            neighbours[target].append((source, role))
        used: dict[int, set[int]] = defaultdict(set)
        self._align_names(sentence, graph, used)
        self._align_words(sentence, graph, neighbours, used, distances)
        self._adopt(sentence, graph, neighbours)
        self._find_mentions(sentence, graph, neighbours, distances)

    def _align_names(self, sentence: Analysed, graph: AlignedGraph, used: dict[int, set[int]]) -> None:
        taken: set[int] = set()
        for node, parts in sorted(graph.names.items(), key=lambda item: -len("".join(item[1]))):
            wanted = "".join(parts).lower()
            for exact in (True, False):
                start = _find_text(sentence, wanted, taken, exact=exact)
                if start is not None:
                    first, last = start
                    graph.spans[node] = (first, last)
                    graph.tokens[node] = head_of(sentence, range(first, last + 1))
                    taken |= set(range(first, last + 1))
                    used[graph.tokens[node]].add(node)
                    break
        for source, role, target in graph.edges:
            if role == ":name" and target in graph.names:
                graph.tokens[source] = graph.tokens[target]
                used[graph.tokens[target]].add(source)

    def _align_words(
        self,
        sentence: Analysed,
        graph: AlignedGraph,
        neighbours: dict[int, list[tuple[int, str]]],
        used: dict[int, set[int]],
        distances: list[list[int]],
    ) -> None:
        named = {token for first, last in graph.spans.values() for token in range(first, last + 1)}
        lost = {
            source for source, role, target in graph.edges if role == ":name" and graph.tokens[target] < 0
        }
        scores: dict[int, list[tuple[float, int]]] = {}
        for node, concept in enumerate(graph.concepts):
            if graph.tokens[node] >= 0 or node in graph.names or node in lost:
                continue
            options = []
            for token in range(len(sentence)):
                score = self.similarity(sentence, token, concept, constant=graph.constant[node])
                if token in named:
                    score = score * 0.9 if score >= 0.6 and not graph.constant[node] else 0.0
                if score > 0:
                    options.append((score, token))
            if options:
                scores[node] = options
        while scores:
            best = (-9.0, 0.0, -1, -1)
            for node, options in scores.items():
                near = [graph.tokens[n] for n, _ in neighbours[node] if graph.tokens[n] >= 0]
                for score, token in options:
                    closeness = max((1.0 / (1 + distances[token][other]) for other in near), default=0.0)
                    total = score + 0.35 * closeness
                    if used[token]:
                        adjacent = any(n in used[token] for n, _ in neighbours[node])
                        same = any(graph.concepts[n] == graph.concepts[node] for n in used[token])
                        total -= 1.5 if same else (0.25 if adjacent else 0.45)
                    if (total, -token) > (best[0], best[1]):
                        best = (total, -token, node, token)
            total, _, node, token = best
            if total < 0.3:
                break
            graph.tokens[node] = token
            used[token].add(node)
            del scores[node]

    def similarity(self, sentence: Analysed, token: int, concept: str, *, constant: bool) -> float:
        """Return how well a word spells, translates to or derives a concept, from 0 to about 1."""
        word, lemma, tag = sentence.words[token].lower(), sentence.lemmas[token], sentence.tags[token]
        bare = concept.strip('"').lower()
        if constant:
            if bare == word or NUMBER_WORDS.get(word) == bare or bare == word.replace(",", ""):
                return 1.0
            if bare == "-" and concept == "-":
                if (concept, lemma) in _HINTS:
                    return 1.0
                if tag[0] in "JRNV" and word.startswith(NEGATIVE_PREFIXES) and len(word) > 5:
                    return 0.35
                return 0.4 if word.endswith("less") and len(word) > 5 else 0.0
            return 0.8 if (concept, lemma) in _HINTS else 0.0
        stem = SENSE.sub("", bare)
        pronoun = PRONOUNS.get(word)
        if stem in (lemma, word) or pronoun == bare:
            return 1.0
        score = 0.0
        letter = {"N": "n", "V": "v", "J": "j", "R": "r"}.get(tag[0], "v")
        if concept in self.frames.senses(lemma, letter) or concept in self.frames.senses(word, letter):
            return 0.97
        derived = self.frames.derived(lemma) or self.frames.derived(word)
        if derived and concept in derived.split():
            return 0.96
        if stem.split("-")[0] == lemma and len(stem) > len(lemma):
            parts = set(stem.split("-")[1:])
            return 0.95 if parts & set(sentence.lemmas) else 0.7
        if stem.split("-")[-1] in (lemma, word) and len(lemma) > 2:
            score = 0.75
        prefix = common_prefix(stem, word)
        if prefix >= 4 or (prefix == 3 and max(len(stem), len(word)) <= 5):
            ratio = prefix / max(len(stem), len(word))
            if ratio >= 0.5:
                score = max(score, 0.45 + 0.5 * ratio)
        stripped = next(
            (word[len(p) :] for p in NEGATIVE_PREFIXES if word.startswith(p) and len(word) > 5), ""
        )
        if stripped and common_prefix(stem, stripped) >= max(3, 0.6 * len(stripped)):
            score = max(score, 0.85)
        if (concept, lemma) in _HINTS:
            score = max(score, 0.7)
        if concept == "have-degree-91" and tag in ("JJR", "JJS", "RBR", "RBS"):
            score = max(score, 0.75)
        if concept in ("more", "most") and tag[-1] in ("R", "S") and tag[:2] in ("JJ", "RB"):
            score = max(score, 0.8)
        probability = self.table.get((lemma, concept), 0.0)
        if probability > (0.08 if tag[0] in "NVJR" else 0.25) and lemma.isalnum():
            score = max(score, min(0.9, 0.35 + probability))
        return score

    def _adopt(
        self, sentence: Analysed, graph: AlignedGraph, neighbours: dict[int, list[tuple[int, str]]]
    ) -> None:
        """Give nodes without a word the word of a neighbour, and a conjunction without a word the comma."""
        lost = {n for s, role, t in graph.edges if role == ":name" and graph.tokens[t] < 0 for n in (s, t)}
        for _ in range(4):
            waiting = [n for n, token in enumerate(graph.tokens) if token < 0 and n not in lost]
            for node in waiting:
                concept = graph.concepts[node]
                if concept in _JOINERS:
                    members = [
                        graph.tokens[n]
                        for n, role in neighbours[node]
                        if role[:3] in (":op", ":AR", ":sn") and graph.tokens[n] >= 0
                    ]
                    if len(members) > 1:
                        marks = [
                            t
                            for t in range(min(members), max(members) + 1)
                            if sentence.words[t] in ",;/.:-–" or sentence.lemmas[t] == "and"
                        ]
                        graph.tokens[node] = marks[-1] if marks else max(members)
                        continue
                options = [
                    (self._attraction(graph, node, n, role), -n)
                    for n, role in neighbours[node]
                    if graph.tokens[n] >= 0
                ]
                if options:
                    graph.tokens[node] = graph.tokens[-max(options)[1]]

    def _attraction(self, graph: AlignedGraph, node: int, neighbour: int, role: str) -> float:
        if role in _PRIORITY:
            return _PRIORITY[role]
        outgoing = (node, role, neighbour) in graph.edges
        if role.startswith(":ARG"):
            if graph.concepts[node] == "you":
                return 5.5 if any(r == ":mode" for s, r, _ in graph.edges if s == neighbour) else 2.0
            return 5.0 if not outgoing and SENSE.search(graph.concepts[neighbour]) else 3.0
        return {":quant": 4.0, ":op1": 2.5, ":value": 4.5, ":degree": 3.5}.get(role, 1.0) + (
            0.2 if outgoing else 0.0
        )

    def _find_mentions(
        self,
        sentence: Analysed,
        graph: AlignedGraph,
        neighbours: dict[int, list[tuple[int, str]]],
        distances: list[list[int]],
    ) -> None:
        """Find the nodes that pronouns without a node of their own refer to."""
        by_token: dict[int, list[int]] = defaultdict(list)
        for node, token in enumerate(graph.tokens):
            by_token[token].append(node)
        for token, word in enumerate(sentence.words):
            pronoun = PRONOUNS.get(word.lower())
            if pronoun is None or by_token[token]:
                continue
            head = sentence.heads[token]
            while not by_token[head] and sentence.heads[head] != head:
                head = sentence.heads[head]
            options = []
            for anchor in by_token[head]:
                for node, _ in neighbours[anchor]:
                    at = graph.tokens[node]
                    if at in (-1, head) or graph.constant[node] or node in graph.names:
                        continue
                    inside = head in _ancestors(sentence, at)
                    same = (
                        PRONOUNS.get(sentence.words[at].lower()) == pronoun or graph.concepts[node] == pronoun
                    )
                    if same or (not inside and distances[at][head] > distances[token][head]):
                        options.append(
                            (2.0 * same + 0.1 * (len(neighbours[node]) > 1), -abs(at - token), node)
                        )
            if not options:
                options = [
                    (0.0, -abs(graph.tokens[n] - token), n)
                    for n, c in enumerate(graph.concepts)
                    if c == pronoun and graph.tokens[n] >= 0
                ]
            if options:
                graph.mentions.append((token, max(options)[2]))


def _find_text(sentence: Analysed, wanted: str, taken: set[int], *, exact: bool) -> tuple[int, int] | None:
    """Return the words that together spell a name, ignoring spaces; unless `exact`, a plural ending may be left over."""
    if not wanted:
        return None
    for first in range(len(sentence)):
        if first in taken:
            continue
        made = ""
        for last in range(first, min(first + 14, len(sentence))):
            if last in taken:
                break
            made += sentence.words[last].lower()
            if made == wanted:
                return first, last
            if not exact and made.startswith(wanted) and len(made) - len(wanted) <= 2:
                return first, last
            if not exact and len(wanted) > 3 and made.replace("-", "") == wanted.replace("-", ""):
                return first, last
            if not wanted.replace("-", "").startswith(made.replace("-", "")):
                break
    return None


def _ancestors(sentence: Analysed, token: int) -> set[int]:
    found = {token}
    while sentence.heads[token] != token:
        token = sentence.heads[token]
        found.add(token)
    return found


def head_of(sentence: Analysed, span: range) -> int:
    """Return the word of a span whose head is outside it; the last of several."""
    return next(
        (t for t in reversed(span) if sentence.heads[t] not in span or sentence.heads[t] == t), span[-1]
    )


def common_prefix(one: str, other: str) -> int:
    """Return the length of the common prefix of two words."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def tree_distances(sentence: Analysed) -> list[list[int]]:
    """Return the distance of every two words in the dependency tree (of words in different trees: their depths plus 4)."""
    size = len(sentence)
    chains = []
    for token in range(size):
        chain = [token]
        while sentence.heads[chain[-1]] != chain[-1]:
            chain.append(sentence.heads[chain[-1]])
        chains.append({node: step for step, node in enumerate(chain)})
    table = [[0] * size for _ in range(size)]
    for a in range(size):
        for b in range(a):
            shared = next((node for node in chains[b] if node in chains[a]), None)
            steps = (
                chains[a][shared] + chains[b][shared]
                if shared is not None
                else len(chains[a]) + len(chains[b]) + 2
            )
            table[a][b] = table[b][a] = steps
    return table
