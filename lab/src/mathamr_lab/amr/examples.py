"""`Example`: the correct output of the models for a sentence, taken from its aligned gold graph."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable
from dataclasses import dataclass
from itertools import combinations

from mathamr.amr.builtin.frames import is_frame
from mathamr.amr.builtin.lexicon import INSIDE, NAME, NONE, NUMBER, STRING, name_keys
from mathamr.amr.builtin.mathematics import NOUNS
from mathamr.amr.builtin.nodes import PLAIN, Template, WordNode
from mathamr.amr.builtin.vocabulary import PRONOUNS, number_value
from mathamr_lab.amr.alignment import AlignedGraph, Aligner, tree_distances
from mathamr_lab.amr.syntax import Analysed

SAME = "="
LEAST_BIOLOGY, RARER = 3, 50
_NUMBERED = re.compile(r"^:(op|snt)[0-9]+$")


@dataclass
class Example:
    """Cores per word, templates per core (word, core, template), and the graph over the nodes they make."""

    sentence: Analysed
    cores: list[str]
    templates: list[tuple[int, str, str]]
    nodes: list[WordNode]
    edges: dict[tuple[int, int], str]
    root: int
    corpus: str = ""


@dataclass
class _Group:
    """The gold nodes of one word."""

    anchor: int
    core: str
    members: list[int]
    template: Template


def groups_of(sentence: Analysed, graph: AlignedGraph, aligner: Aligner) -> list[_Group]:
    """Return the gold nodes by word, each group with its core first."""
    by_token: dict[int, list[int]] = defaultdict(list)
    for node, token in enumerate(graph.tokens):
        if token >= 0:
            by_token[token].append(node)
    inner = {t for first, last in graph.spans.values() for t in range(first, last + 1)}
    anchors = {graph.tokens[node] for node in graph.spans}
    groups = []
    for token, members in sorted(by_token.items()):
        if token in inner and token not in anchors:
            continue
        named = [n for n in members if n in graph.names]

        def fitness(node: int, token: int = token) -> tuple[float, bool, bool]:
            concept, constant = graph.concepts[node], graph.constant[node]
            literal = constant and concept == f'"{sentence.words[token]}"'
            similarity = aligner.similarity(sentence, token, concept, constant=constant)
            return 2.0 if literal else similarity, is_frame(concept), not constant

        core = named[0] if named else max(members, key=fitness)
        concept = graph.concepts[core]
        if named:
            label = NAME
        elif graph.constant[core]:
            word = sentence.words[token]
            label = (
                NUMBER
                if concept == number_value(word)
                else STRING
                if concept == f'"{word}"'
                else "=" + concept
            )
        else:
            label = concept
        others = [n for n in members if n != core and n not in graph.names]
        groups.append(_Group(token, label, [core, *others], make_template(graph, core, others)))
    return groups


def make_template(graph: AlignedGraph, core: int, others: list[int]) -> Template:
    """Return the template that a core and further nodes form; sorts `others` in place into its order."""
    others.sort(key=lambda n: (graph.concepts[n], sorted(r for s, r, t in graph.edges if n in (s, t))))
    place = {node: number for number, node in enumerate([core, *others])}
    names = ["*"] + [("=" if graph.constant[n] else "") + graph.concepts[n] for n in others]
    edges = sorted((place[s], role, place[t]) for s, role, t in graph.edges if s in place and t in place)
    return Template(tuple(names), tuple(edges))


def shrink(graph: AlignedGraph, group: _Group, known: set[str]) -> None:
    """Remove nodes from a group until its template is a known one."""
    core, others = group.members[0], group.members[1:]
    for size in range(len(others), -1, -1):
        for kept in combinations(others, size):
            chosen = list(kept)
            template = make_template(graph, core, chosen)
            if template.text in known or size == 0:
                group.members, group.template = [core, *chosen], template
                return


def build(
    pairs: list[tuple[Analysed, AlignedGraph]],
    aligner: Aligner,
    known: set[str] | None = None,
    least: int = 3,
) -> tuple[list[Example], set[str]]:
    """Return the examples of all pairs, and the templates that occur at least `least` times (or those already `known`)."""
    grouped = [groups_of(sentence, graph, aligner) for sentence, graph in pairs]
    if known is None:
        counts = Counter(group.template.text for groups in grouped for group in groups)
        known = {text for text, count in counts.items() if count >= least} | {PLAIN}
    examples = []
    for (sentence, graph), groups in zip(pairs, grouped, strict=True):
        for group in groups:
            shrink(graph, group, known)
        examples.append(_example(sentence, graph, groups))
    return examples, known


def _example(sentence: Analysed, graph: AlignedGraph, groups: Iterable[_Group]) -> Example:
    cores = [NONE] * len(sentence)
    templates: list[tuple[int, str, str]] = []
    nodes: list[WordNode] = []
    number: dict[int, int] = {}
    internal = set()
    for group in groups:
        core = group.members[0]
        start = graph.spans[core][0] if core in graph.spans else group.anchor
        cores[start] = group.core
        if core in graph.spans:
            for token in range(start + 1, graph.spans[core][1] + 1):
                cores[token] = INSIDE
        templates.append((group.anchor, group.core, group.template.text))
        for place, member in enumerate(group.members):
            number[member] = len(nodes)
            text = tuple(graph.names[member]) if member in graph.names else ()
            nodes.append(WordNode(graph.concepts[member], graph.constant[member], group.anchor, place, text))
        internal |= {(a, b) for a in group.members for b in group.members}
    mentions: dict[int, list[int]] = defaultdict(list)
    edges: dict[tuple[int, int], str] = {}
    for token, node in graph.mentions:
        if node in number and cores[token] == NONE:
            pronoun = PRONOUNS[sentence.words[token].lower()]
            cores[token] = pronoun
            templates.append((token, pronoun, PLAIN))
            mentions[node].append(len(nodes))
            edges[len(nodes), number[node]] = SAME
            nodes.append(WordNode(pronoun, False, token))
    for group in groups:
        core = group.members[0]
        first, last = graph.spans.get(core, (0, -1))
        for token, word in enumerate(sentence.words):
            if first != last or word != sentence.words[first] or cores[token] != NONE:
                continue
            # The name again: the graph has it once.
            cores[token] = NAME
            templates.append((token, NAME, group.template.text))
            for place, member in enumerate(group.members):
                again = WordNode(graph.concepts[member], graph.constant[member], token, place)
                if member == core:
                    again.text = tuple(graph.names[member])
                elif not again.constant:
                    mentions[member].append(len(nodes))
                    edges[len(nodes), number[member]] = SAME
                nodes.append(again)
    distances = tree_distances(sentence)

    def nearest(node: int, other: int) -> int:
        return min(
            [number[node], *mentions[node]], key=lambda n: distances[nodes[n].token][graph.tokens[other]]
        )

    for source, role, target in graph.edges:
        if source in number and target in number and (source, target) not in internal:
            label = _NUMBERED.sub(r":\1", role)
            edges.setdefault((nearest(source, target), nearest(target, source)), label)
    return Example(sentence, cores, templates, nodes, edges, number.get(graph.top, -1))


def general_tables(examples: list[Example], topics: list[Example]) -> dict[str, object]:
    """Return the cores of each lemma and (those of topics too) the templates that occur outside the graphs on biology."""
    cores = {lemma: sorted(counts) for lemma, counts in sorted(lexicon_counts(examples).items())}
    templates = sorted({text for example in examples + topics for _, _, text in example.templates} | {PLAIN})
    return {"general": cores, "general templates": templates}


def biology_words(counts: Counter[str], general: Container[str], prose: Counter[str]) -> list[str]:
    """Return the words that tell a text on biology: never seen outside, and there far commoner than in mathematical prose."""
    scale = counts.total() / max(1, prose.total())
    return sorted(
        word
        for word, count in counts.items()
        if count >= LEAST_BIOLOGY and word.isalpha() and len(word) > 2 and word not in general and word not in NOUNS
        and count > RARER * (prose[word] + 1) * scale
    )  # fmt: skip


def names_of(example: Example) -> Iterable[tuple[int, tuple[str, ...], str]]:
    """Yield the word, the text and the kind of every name in an example; "" if its template has no kind."""
    texts = {node.token: node.text for node in example.nodes if node.text}
    for token, core, text in example.templates:
        if core == NAME and token in texts:
            template = Template.from_text(text)
            kinds = [template.nodes[s] for s, role, t in template.edges if role == ":name" and t == 0]
            yield token, texts[token], kinds[0] if kinds else ""


class NameKinds:
    """Counts what names are, by the keys of `name_keys`."""

    def __init__(self, examples: Iterable[Example]) -> None:
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        for example in examples:
            self._add(example, 1)

    def _add(self, example: Example, times: int) -> None:
        for _, text, kind in names_of(example):
            if kind:
                for key in name_keys(text):
                    self.counts[key][kind] += times

    def table(self) -> dict[str, str]:
        """Return the commonest kind by key."""
        return {
            key: max(sorted(counts), key=lambda kind: counts[kind])
            for key, counts in sorted(self.counts.items())
            if counts.total() > 0
        }

    def cores(self, example: Example, *, leave_out: bool) -> dict[int, str]:
        """Return the core of the name at a word, as the lexicon of the other sentences has it."""
        if leave_out:
            self._add(example, -1)
        found = {}
        for token, text, _ in names_of(example):
            known = next(
                (self.counts[k] for k in name_keys(text) if self.counts.get(k, Counter()).total() > 0), None
            )
            found[token] = NAME + (max(sorted(known), key=lambda kind: known[kind]) if known else "")
        if leave_out:
            self._add(example, 1)
        return found


def lexicon_counts(examples: Iterable[Example]) -> dict[str, Counter[str]]:
    """Count how often each lemma had each core."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for example in examples:
        for lemma, core in zip(example.sentence.lemmas, example.cores, strict=True):
            counts[lemma][core] += 1
    return counts
