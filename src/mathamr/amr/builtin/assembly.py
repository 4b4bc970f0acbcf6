"""Assembly: the most probable connected graph over the nodes of a draft, as an `Amr`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from mathamr.amr.builtin.nodes import Draft, WordNode
from mathamr.amr.builtin.relations import RelationScores
from mathamr.amr.graph import Amr, Names, string, upright
from mathamr.amr.notation import written_order

REPEATABLE = frozenset(
    {":mod", ":op", ":snt", ":time", ":location", ":manner", ":part", ":topic", ":poss", ":example"}
)


@dataclass(frozen=True)
class Thresholds:
    """The probabilities from which an edge between connected nodes is added and two nodes are merged."""

    extra: float = 0.45
    same: float = 0.55


class Sets:
    """Disjoint sets of numbers (union and find)."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def find(self, number: int) -> int:
        """Return the number that represents the set which `number` belongs to."""
        parent = self._parent
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    def join(self, kept: int, other: int) -> bool:
        """Join two sets under the first one's number; False if they were already one set."""
        kept, other = self.find(kept), self.find(other)
        self._parent[other] = kept
        return kept != other


def merge_mentions(draft: Draft, scores: RelationScores, least: float) -> Sets:
    """Merge nodes that are the same: repeated names, and pronouns with their antecedents, the most certain first."""
    merged = Sets(len(draft.nodes))
    named: dict[tuple[str, ...], int] = {}
    entity = {target: source for source, role, target in draft.edges if role == ":name"}
    for number, node in enumerate(draft.nodes):
        if node.kind == "name" and number in entity:
            own = entity[number]
            first = named.setdefault((draft.nodes[own].concept, *node.text), number)
            if first != number:
                merged.join(first, number)
                merged.join(entity[first], own)
    for probability, mention, meant in scores.mentions:
        if probability < least:
            break
        is_free = merged.find(mention) == mention and draft.nodes[mention].kind == "pronoun"
        if is_free and not draft.nodes[merged.find(meant)].constant:
            merged.join(meant, mention)
    return merged


def relate(
    draft: Draft, scores: RelationScores, labels: list[str], thresholds: Thresholds
) -> tuple[list[tuple[int, str, int]], list[int]]:
    """Return the edges of the graph (those of templates, then the most probable ones that fit), and for each node the node it is merged into."""
    nodes = draft.nodes
    merged = merge_mentions(draft, scores, thresholds.same)
    parts = Sets(len(nodes))
    edges: list[tuple[int, str, int]] = []
    linked: set[tuple[int, int]] = set()
    taken: set[tuple[int, str]] = set()
    reached: set[int] = set()
    representative = [merged.find(number) for number in range(len(nodes))]
    apart = len(set(representative))
    extra, find = thresholds.extra, parts.find

    def take(source: int, role: str, target: int) -> None:
        nonlocal apart
        edges.append((source, role, target))
        linked.add((source, target))
        linked.add((target, source))
        taken.add((source, role))
        reached.add(target)
        apart -= parts.join(source, target)

    for source, role, target in draft.edges:
        if (representative[source], representative[target]) not in linked:
            take(representative[source], role, representative[target])
    for probability, source, target, column in scores.edges:
        if probability < extra and apart == 1:
            break
        source, target = representative[source], representative[target]
        if source == target or (source, target) in linked:
            continue
        role = labels[column]
        if (source, role) in taken and role not in REPEATABLE:
            continue
        if target in reached and nodes[target].constant:
            continue
        if probability >= extra or find(source) != find(target):
            take(source, role, target)
    if apart > 1:
        _connect(draft, representative, parts, take)
    return edges, representative


def _connect(draft: Draft, standing: list[int], parts: Sets, take: Callable[[int, str, int], None]) -> None:
    """Connect the remaining parts to the first one, each to the nearest node of it."""
    nodes = draft.nodes
    kept = [number for number, stands in enumerate(standing) if stands == number]
    usable = [n for n in kept if not nodes[n].constant and nodes[n].kind != "name"]
    if not usable:
        return
    first = usable[0]
    for number in sorted(kept, key=lambda n: (nodes[n].constant, n)):
        if parts.find(number) != parts.find(first):
            near = [n for n in usable if parts.find(n) == parts.find(first)]
            anchor = min(near, key=lambda n: (abs(nodes[n].token - nodes[number].token), n))
            take(anchor, default_role(nodes[anchor], nodes[number]), number)


def default_role(source: WordNode, target: WordNode) -> str:
    """Return the role of an edge that only keeps the graph connected."""
    if target.constant:
        return (
            ":polarity" if target.concept == "-" else ":quant" if target.concept[:1].isdigit() else ":value"
        )
    return ":op" if source.kind == "conjunction" else ":mod"


def number_operands(edges: list[tuple[int, str, int]], nodes: list[WordNode]) -> list[tuple[int, str, int]]:
    """Give `:op` and `:snt` edges their numbers, in the order of the words."""
    counts: dict[tuple[int, str], list[int]] = defaultdict(list)
    for source, role, target in edges:
        if role in (":op", ":snt"):
            counts[source, role].append(target)
    if not counts:
        return edges
    fixed = {(source, role) for source, role, _ in edges}
    numbers: dict[tuple[int, str, int], str] = {}
    for (source, role), targets in counts.items():
        number = 0
        for target in sorted(targets, key=lambda t: (nodes[t].token, t)):
            number += 1
            while (source, f"{role}{number}") in fixed:
                number += 1
            numbers[source, role, target] = f"{role}{number}"
    return [(s, numbers.get((s, role, t), role), t) for s, role, t in edges]


def to_amr(draft: Draft, scores: RelationScores, labels: list[str], thresholds: Thresholds) -> Amr:
    """Return the graph of a draft; a draft without nodes becomes one `amr-empty` node."""
    tokens = draft.sentence.tokens
    if all(node.constant for node in draft.nodes):
        return _without_concepts(draft, tokens)
    edges, standing = relate(draft, scores, labels, thresholds)
    nodes = draft.nodes
    kept = [number for number, stands in enumerate(standing) if stands == number]
    roots = [n for n in kept if not nodes[n].constant and nodes[n].concept != "name"] or kept
    root_scores = scores.roots.tolist()
    top = max(roots, key=lambda n: (root_scores[n], -n))
    names = Names()
    variables = {n: names.fresh(nodes[n].concept) for n in kept if not nodes[n].constant}
    if len(kept) == len(nodes):
        words: list[tuple[int, ...]] = [(node.token,) for node in nodes]
    else:
        sets: list[set[int]] = [set() for _ in nodes]
        for node, stands in zip(nodes, standing, strict=True):
            sets[stands].add(node.token)
        words = [tuple(sorted(each)) for each in sets]
    links: list[tuple[str, str, str]] = []
    constants: list[tuple[str, str, str]] = []
    for source, role, target in number_operands(edges, nodes):
        if target in variables:
            links.append((variables[source], role, variables[target]))
        else:
            constants.append((variables[source], role, nodes[target].concept))
    for number, variable in variables.items():
        if text := nodes[number].text:
            constants += [(variable, f":op{place}", string(part)) for place, part in enumerate(text, start=1)]
    upright_links = list(dict.fromkeys(map(upright, links)))
    written = written_order(variables[top], variables.values(), upright_links)
    numbers = {variable: number for number, variable in variables.items()}
    return Amr(
        variables[top],
        tuple([(variable, nodes[numbers[variable]].concept) for variable in written]),
        tuple(links),
        tuple(constants),
        tokens,
        tuple([(variable, words[n]) for n, variable in variables.items()]),
    )


def _without_concepts(draft: Draft, tokens: tuple[str, ...]) -> Amr:
    """Return a graph for a text without concepts; its numbers are attached to the single node."""
    values = tuple(("x", f":op{place}", node.concept) for place, node in enumerate(draft.nodes, start=1))
    return Amr("x", (("x", "amr-empty" if not values else "and"),), (), values, tokens)
