"""Measure AMR parsers on the held-out gold graphs: `python -m mathamr_lab.amr.evaluate [--model FILE]`.

Prints Smatch (smatchpp, ILP solver, generic standardisation, micro average) on the held-out parts, and precision and recall of
concepts, relations, names, negation and reentrant relations; with
`--folds FOLDER` also against the MathAMR authors' graphs of the topics, by the parsers that `python -m mathamr_lab.amr --folds` trained, each on the topics it has not seen. The shipped weights
know the topics, but not these parts.
"""

from __future__ import annotations

import argparse
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

import penman
from penman.models.amr import model as amr_model

from mathamr.amr.builtin import BuiltinParser
from mathamr.amr.builtin.mathematics import is_formula
from mathamr.amr.document import Text, parse_documents
from mathamr.amr.parser import AmrParser
from mathamr_lab.amr.corpus import split
from mathamr_lab.amr.topics import FOLDS, topic_graphs


def smatch(predicted: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    """Return corpus Smatch in percent: precision, recall and F1."""
    from smatchpp import Smatchpp, solvers
    from smatchpp.formalism.generic.tools import GenericStandardizer

    logging.disable(logging.WARNING)
    measure = Smatchpp(alignmentsolver=solvers.get_solver("ilp"), graph_standardizer=GenericStandardizer())
    scores, _ = measure.score_corpus(list(predicted), list(gold))
    return {name: float(scores["main"][name]["result"]) for name in ("Precision", "Recall", "F1")}


Bag = Counter[tuple[str, ...]]
PARTS = ("concepts", "relations", "names", "negation", "reentrancy")


def bags_of(graph: penman.Graph) -> dict[str, Bag]:
    """Return a graph as bags: concepts, relations between concepts or to constants, and some relations apart."""
    concept = {variable: str(name) for variable, _, name in graph.instances()}
    relations = [*graph.edges(), *graph.attributes()]
    entered = Counter(str(target) for _, _, target in graph.edges())
    named: dict[str, list[tuple[str, str]]] = {}
    for source, role, target in graph.attributes():
        if concept[source] == "name" and role.startswith(":op"):
            named.setdefault(source, []).append((role, str(target)))

    def triple(source: str, role: str, target: object) -> tuple[str, ...]:
        return concept[source], role, concept.get(str(target), str(target))

    return {
        "concepts": Counter((name,) for name in concept.values()),
        "relations": Counter(triple(*each) for each in relations if each[1] != ":wiki"),
        "names": Counter(tuple(text for _, text in sorted(parts)) for parts in named.values()),
        "negation": Counter(triple(*each) for each in relations if each[1] == ":polarity"),
        "reentrancy": Counter(triple(*each) for each in graph.edges() if entered[str(each[2])] > 1),
    }


def overlap(predicted: Iterable[Bag], gold: Iterable[Bag]) -> str:
    """Return precision, recall and F1 of bags."""
    hits = made = wanted = 0
    for one, other in zip(predicted, gold, strict=True):
        hits += (one & other).total()
        made += one.total()
        wanted += other.total()
    precision, recall = hits / max(1, made), hits / max(1, wanted)
    return f"P {100 * precision:.1f} R {100 * recall:.1f} F {200 * precision * recall / max(1e-9, precision + recall):.1f}"


def report(name: str, predicted: Sequence[penman.Graph], gold: Sequence[penman.Graph]) -> None:
    """Measure and print one part."""
    scores = smatch([plain(graph) for graph in predicted], [plain(graph) for graph in gold])
    print(
        f"{name}: {len(gold)} sentences, Smatch F {scores['F1']:.1f} P {scores['Precision']:.1f} R {scores['Recall']:.1f}"
    )
    ours, theirs = [*map(bags_of, predicted)], [*map(bags_of, gold)]
    for part in PARTS:
        print(
            f"  {part:<10} {overlap([bag[part] for bag in ours], [bag[part] for bag in theirs])}", flush=True
        )


def plain(graph: penman.Graph) -> str:
    """Return Penman text without comment lines."""
    return str(penman.encode(penman.Graph(graph.triples, top=graph.top), model=amr_model))


def collapse(graph: penman.Graph) -> penman.Graph:
    """Return a graph with each formula as a node `formula`."""
    triples = [
        (source, role, "formula" if role == ":instance" and is_formula(str(target)) else target)
        for source, role, target in graph.triples
    ]
    return penman.Graph(triples, top=graph.top)


def report_topics(parsers: Sequence[AmrParser]) -> None:
    """Measure against the MathAMR authors' graphs of the topics; each parser reads the fold it did not learn from."""
    topics = topic_graphs()
    documents: dict[str, str] = {}
    for fold, parser in enumerate(parsers):
        own = [topic for topic in topics if topic.fold == fold]
        texts = [Text(each.sentences, each.latex) for each in own]
        for topic, found in zip(own, parse_documents(parser, texts), strict=True):
            documents[topic.topic] = found.amr.to_penman()
    ours = [collapse(penman.decode(documents[topic.topic], model=amr_model)) for topic in topics]
    report(
        f"topics of 2020 and 2021, formulas collapsed, {len(parsers)} folds",
        ours,
        [collapse(topic.graph) for topic in topics],
    )


def parsed(parser: AmrParser, texts: Sequence[str]) -> list[penman.Graph]:
    """Return the parser's graphs; each must be one that Penman reads."""
    return [penman.decode(graph.to_penman(), model=amr_model) for graph in parser.parse(texts)]


def main() -> None:
    """Measure everything the data allows."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--model", help="weights to measure (default: the shipped ones)")
    arguments.add_argument(
        "--folds", type=Path, help="folder of the parsers fold-0.npz …, to measure on the topics"
    )
    given = arguments.parse_args()
    if find_spec("smatchpp") is None:
        arguments.error('smatchpp is not installed; install it with: pip install "mathamr-lab[parser]"')
    parser = BuiltinParser(given.model)
    held = split()[1]
    for name, part in held.items():
        found = parsed(parser, [each.text for each in part])
        report(f"{name}, {given.model or 'built-in'}", found, [each.graph for each in part])
    if given.folds:
        report_topics([BuiltinParser(str(given.folds / f"fold-{fold}.npz")) for fold in range(FOLDS)])


if __name__ == "__main__":
    main()
