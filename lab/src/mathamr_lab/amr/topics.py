"""The MathAMR authors' published graphs of ARQMath's Task 2 topics (2020, 2021), to learn from and to measure with.

Their parser read a whole context and wrote one graph of it; a formula is a node without a number. Here formulas find their places again by their
symbols, and a graph is cut by the words of its nodes into graphs of sentences, which is what the built-in parser makes.
"""

from __future__ import annotations

import csv
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import penman
from penman.models.amr import model as amr_model

from mathamr.amr.builtin.frames import is_frame
from mathamr.amr.builtin.mathematics import is_formula
from mathamr.amr.builtin.vocabulary import PRONOUNS
from mathamr.core.settings import DATA
from mathamr.posts.passage import BEFORE_NEW_SENTENCE
from mathamr.posts.sentences import DISPLAY, INLINE, sentences
from mathamr_lab.amr.alignment import AlignedGraph, Aligner
from mathamr_lab.amr.syntax import Analysed

FOLDS = 5
_EQUATION = re.compile(r'"*eqx([0-9]+)eqx"*')
_FORMULA = re.compile(f"[{INLINE}{DISPLAY}]")
_MATH = re.compile(r"MATH(?:[0-9]+)?")
_SYMBOL = re.compile(r"\\[A-Za-z]+|[A-Za-z]|[0-9]+")
_LEAF = re.compile(r"\([VNC][0-9]+ / ([^\s()]+)")
_DOLLARS = re.compile(r'id="(q_[0-9]+)">(\$+)(.*?)\$+<', re.DOTALL)


@dataclass(frozen=True)
class TopicGraph:
    """The sentences of a topic's context with placeholders, the LaTeX of these, and the authors' graph over them."""

    topic: str
    sentences: tuple[str, ...]
    latex: dict[str, str]
    graph: penman.Graph

    @property
    def fold(self) -> int:
        """The part of the cross-validation in which the topic is left out."""
        return zlib.crc32(self.topic.encode()) % FOLDS


def topic_graphs() -> list[TopicGraph]:
    """Return every topic; formulas of a graph without a place in the text have the concept `formula`."""
    from mathamr.evaluation.topics import read_topics

    folder = DATA.path / "mathamr"
    texts = dict(csv.reader((folder / "context_topic.tsv").open(encoding="utf-8"), delimiter="\t"))
    graphs = dict(csv.reader((folder / "mathamr_topics.tsv").open(encoding="utf-8"), delimiter="\t"))
    formulas = {
        topic.id: {
            number: (dollars, text)
            for number, dollars, text in _DOLLARS.findall(f"{topic.post.title} {topic.post.body}")
        }
        for year in (2020, 2021)
        for topic in read_topics(DATA.path / "arqmath-mini" / "topics" / f"task2-{year}.xml")
    }
    found = []
    for topic, text in texts.items():
        known = formulas.get(topic, {})
        numbers = _EQUATION.findall(text)
        own = {f"FORMULA_{number}": known.get(f"q_{number}", ("", ""))[1] for number in numbers}
        marks = [DISPLAY if known.get(f"q_{number}", ("", ""))[0] == "$$" else INLINE for number in numbers]
        cut = cut_sentences(text, marks, iter(own))
        found.append(TopicGraph(topic, cut, own, read_graph(graphs[topic], own)))
    return found


def cut_sentences(text: str, marks: Sequence[str], names: Iterator[str]) -> tuple[str, ...]:
    """Return the sentences of a context with placeholders, cut where those of a post are: formulas in a display end sentences too."""
    given = iter(marks)
    flat = _EQUATION.sub(lambda _: f" {next(given)} ", text).strip()
    flat = BEFORE_NEW_SENTENCE.sub(DISPLAY, re.sub(r"[^\S\0\1]+", " ", flat))
    spans = sentences(flat)
    return tuple(
        " ".join(_FORMULA.sub(lambda _: f" {next(names)} ", flat[start:end]).split()) for start, end in spans
    )


def read_graph(text: str, latex: dict[str, str]) -> penman.Graph:
    """Return a MathAMR graph with each formula as one node, named after its placeholder, and roles in AMR's own case."""
    text, trees = _take_trees(re.sub(r":arg([0-9])", r":ARG\1", _EQUATION.sub("MATH", text)))
    graph = penman.decode(text, model=amr_model)
    named = {s for s, _, concept in graph.instances() if concept == "name"}
    formulas: dict[str, str] = {}
    for source, role, value in graph.attributes():
        if _MATH.fullmatch(str(value)) and (role == ":value" or source in named):
            formulas[source] = str(value)
    inner = named & set(formulas)
    for source, role, target in graph.edges():
        if role == ":name" and target in inner:
            formulas[source] = formulas[target]
    outer = {
        variable: formulas[variable]
        for variable, _, _ in graph.instances()
        if variable in formulas and variable not in inner
    }
    places = match_formulas([trees.get(value, "") for value in outer.values()], latex)
    concept = dict(zip(outer, places, strict=True))
    triples = [
        (source, role, concept[source] if role == ":instance" and source in concept else target)
        for source, role, target in graph.triples
        if not (source in inner or target in inner or _MATH.fullmatch(str(target)) or role == ":math")
    ]
    return _reached(triples, graph.top)


def _take_trees(text: str) -> tuple[str, dict[str, str]]:
    """Return the text with its formulas numbered and without their operator trees, and the trees by number."""
    kept: list[str] = []
    trees: dict[str, str] = {}
    place = 0
    while (found := text.find(":math (", place)) >= 0:
        end, depth = found + len(":math ("), 1
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        before = text[place:found].rstrip()
        if before.endswith("MATH"):
            before += str(len(trees))
            trees[f"MATH{len(trees)}"] = text[found:end]
        kept.append(before + " ")
        place = end
    return "".join([*kept, text[place:]]), trees


def match_formulas(trees: Sequence[str], latex: dict[str, str]) -> list[str]:
    """Return the placeholder of each operator tree: the best pairing by common symbols, then by order."""
    from scipy.optimize import linear_sum_assignment

    names, bags = list(latex), [_latex_symbols(text) for text in latex.values()]
    if not names or not trees:
        return ["formula"] * len(trees)
    costs = np.zeros((len(trees), len(names)))
    for row, tree in enumerate(trees):
        own = Counter(map(_symbol, _LEAF.findall(tree)))
        for column, bag in enumerate(bags):
            common = (own & bag).total() / max(1, (own | bag).total())
            costs[row, column] = -common + 0.2 * abs(row / len(trees) - column / len(names))
    rows, columns = linear_sum_assignment(costs)
    found = {int(row): names[column] for row, column in zip(rows, columns, strict=True)}
    return [found.get(row, "formula") for row in range(len(trees))]


def _symbol(label: str) -> str:
    label = unicodedata.normalize("NFKC", label)
    return label if label.isascii() else unicodedata.name(label[0], label).split()[-1].lower()


def _latex_symbols(latex: str) -> Counter[str]:
    return Counter(each.lstrip("\\") for each in _SYMBOL.findall(latex))


def _reached(triples: list[tuple[str, str, str]], top: str) -> penman.Graph:
    """Return the part of a graph that its top reaches."""
    variables = {source for source, role, _ in triples if role == ":instance"}
    reached, size = {top}, 0
    while len(reached) > size:
        size = len(reached)
        for source, role, target in triples:
            if role != ":instance" and (source in reached or target in reached):
                reached |= {source, target} & variables
    return penman.Graph([triple for triple in triples if triple[0] in reached], top=top)


def join_sentences(sentences: Sequence[Analysed]) -> Analysed:
    """Return the sentences of a context as one, each with a dependency tree of its own."""
    whole = Analysed(" ".join(each.text for each in sentences), [], [], [])
    for each in sentences:
        first = len(whole)
        whole.words += each.words
        whole.places += each.places
        whole.spaces += each.spaces
        whole.tags += each.tags
        whole.lemmas += each.lemmas
        whole.deps += each.deps
        whole.heads += [first + head for head in each.heads]
    return whole


def adopt_by_formulas(aligner: Aligner, sentence: Analysed, graph: AlignedGraph) -> None:
    """Give a frame without a word of its own the word of the first formula among its arguments: `equal-01` for a formula that is stated."""
    for node, (concept, token) in enumerate(zip(graph.concepts, graph.tokens, strict=True)):
        if not is_frame(concept) or (
            token >= 0 and aligner.similarity(sentence, token, concept, constant=False)
        ):
            continue
        arguments = sorted(
            (role, target)
            for source, role, target in graph.edges
            if source == node and role[:4] == ":ARG" and is_formula(graph.concepts[target])
        )
        if arguments and graph.tokens[arguments[0][1]] >= 0:
            graph.tokens[node] = graph.tokens[arguments[0][1]]


def cut_graph(graph: AlignedGraph, sentences: Sequence[Analysed]) -> list[AlignedGraph]:
    """Return the graph of each sentence: the nodes aligned with its words and the relations among them.

    A pronoun of one sentence that is a node of another becomes a node of its own.
    """
    sizes = [len(each) for each in sentences]
    owner = np.repeat(np.arange(len(sizes)), sizes)
    words = [word for each in sentences for word in each.words]
    here = [int(owner[token]) if token >= 0 else -1 for token in graph.tokens]
    concepts, constant, tokens = list(graph.concepts), list(graph.constant), list(graph.tokens)
    copies: dict[tuple[int, int], int] = {}
    mentions = []
    for token, node in graph.mentions:
        sentence = int(owner[token])
        if here[node] == sentence:
            mentions.append((token, node))
        elif (node, sentence) in copies:
            mentions.append((token, copies[node, sentence]))
        else:
            copies[node, sentence] = len(concepts)
            concepts.append(PRONOUNS[words[token].lower()])
            constant.append(False)
            tokens.append(token)
            here.append(sentence)
    edges = []
    for source, role, target in graph.edges:
        for sentence in {here[source], here[target]} - {-1}:
            one = source if here[source] == sentence else copies.get((source, sentence))
            other = target if here[target] == sentence else copies.get((target, sentence))
            if one is not None and other is not None:
                edges.append((one, role, other))
    depth = _depths(graph)
    found = []
    for sentence, first in enumerate(np.cumsum(sizes) - sizes):
        own = [
            node
            for node, place in enumerate(here)
            if place == sentence and concepts[node] != "multi-sentence"
        ]
        number = {node: place for place, node in enumerate(own)}
        begin = int(first)
        found.append(
            AlignedGraph(
                [concepts[node] for node in own],
                [constant[node] for node in own],
                [(number[s], role, number[t]) for s, role, t in edges if s in number and t in number],
                number[min(own, key=lambda node: depth.get(node, 99))] if own else -1,
                {number[node]: parts for node, parts in graph.names.items() if node in number},
                [tokens[node] - begin for node in own],
                {number[n]: (a - begin, b - begin) for n, (a, b) in graph.spans.items() if n in number},
                [(token - begin, number[node]) for token, node in mentions if node in number],
            )
        )
    return found


def _depths(graph: AlignedGraph) -> dict[int, int]:
    depth, queue = {graph.top: 0}, [graph.top]
    near: dict[int, list[int]] = {}
    for source, _, target in graph.edges:
        near.setdefault(source, []).append(target)
        near.setdefault(target, []).append(source)
    for node in queue:
        for other in near.get(node, []):
            if other not in depth:
                depth[other] = depth[node] + 1
                queue.append(other)
    return depth
