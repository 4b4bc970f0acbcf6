"""Measures the built-in AMR parser: `python scripts/evaluate_amr.py [--model FILE] [--details]`.

Prints Smatch (smatchpp, ILP solver, generic standardisation, micro average) on the held-out parts of the gold graphs, with
precision and recall of concepts and relations; Smatch against the MathAMR authors' graphs with formulas collapsed;
and sentences per second. The shipped weights have seen the held-out parts: for a fair figure train with
`python -m mathamr_lab.amr --out FILE` and give FILE as `--model`.
"""

from __future__ import annotations

import argparse
import csv
import logging
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import penman
from penman.models.amr import model as amr_model

from mathamr.amr.builtin import BuiltinParser
from mathamr.amr.document import parse_documents
from mathamr.amr.parser import AmrParser
from mathamr.posts.sentences import sentences as sentence_spans
from mathamr_lab.amr.corpus import amr_folder, split

_EQUATION = re.compile(r'"*eqx([0-9]+)eqx"*')
_FORMULA_CONCEPT = re.compile(r"FORMULA_[0-9]+")
Triples = list[tuple[str, str, str]]


def smatch(predicted: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    """Corpus Smatch in percent: precision, recall and F1."""
    from smatchpp import Smatchpp, solvers
    from smatchpp.formalism.generic.tools import GenericStandardizer

    logging.disable(logging.WARNING)
    measure = Smatchpp(alignmentsolver=solvers.get_solver("ilp"), graph_standardizer=GenericStandardizer())
    scores, _ = measure.score_corpus(list(predicted), list(gold))
    return {name: float(scores["main"][name]["result"]) for name in ("Precision", "Recall", "F1")}


def concepts_and_relations(graph: penman.Graph) -> tuple[Counter[str], Counter[tuple[str, str, str]]]:
    """Returns a graph as bags: its concepts, and its relations between concepts or to constants."""
    names = {variable: str(concept) for variable, _, concept in graph.instances()}
    bag = Counter(
        (names[source], role, names.get(str(target), str(target)))
        for source, role, target in [*graph.edges(), *graph.attributes()]
    )
    return Counter(names.values()), bag


def overlap(predicted: Iterable[Counter], gold: Iterable[Counter]) -> str:
    """Precision, recall and F1 of bags."""
    hits = made = wanted = 0
    for one, other in zip(predicted, gold, strict=True):
        hits += (one & other).total()
        made += one.total()
        wanted += other.total()
    precision, recall = hits / max(1, made), hits / max(1, wanted)
    return f"P {100 * precision:.1f} R {100 * recall:.1f} F {200 * precision * recall / max(1e-9, precision + recall):.1f}"


def report(
    name: str, parser: AmrParser, texts: Sequence[str], gold: Sequence[penman.Graph], details: bool
) -> None:
    """Parses, measures and prints one part."""
    started = time.perf_counter()
    graphs = parser.parse(texts)
    spent = time.perf_counter() - started
    predicted = [penman.decode(graph.to_penman(), model=amr_model) for graph in graphs]
    scores = smatch([plain(graph) for graph in predicted], [plain(graph) for graph in gold])
    print(
        f"{name}: {len(texts)} sentences, Smatch F {scores['F1']:.1f} P {scores['Precision']:.1f} "
        f"R {scores['Recall']:.1f}, {len(texts) / spent:.0f} sentences/s"
    )
    bags, gold_bags = (
        [concepts_and_relations(g) for g in predicted],
        [concepts_and_relations(g) for g in gold],
    )
    print(f"  concepts {overlap([b[0] for b in bags], [b[0] for b in gold_bags])}")
    print(f"  relations {overlap([b[1] for b in bags], [b[1] for b in gold_bags])}", flush=True)
    if details:
        print_details(bags, gold_bags)


def print_details(bags: list, gold_bags: list) -> None:
    """Prints the most frequent omissions and inventions, and each role's quality."""
    for place, kind in enumerate(("concepts", "relations")):
        missed: Counter = Counter()
        invented: Counter = Counter()
        for bag, gold in zip(bags, gold_bags, strict=True):
            missed.update(gold[place] - bag[place])
            invented.update(bag[place] - gold[place])
        print(f"  {kind} missed: {missed.most_common(30)}\n  {kind} invented: {invented.most_common(30)}")
    for role in (
        ":ARG0",
        ":ARG1",
        ":ARG2",
        ":mod",
        ":op1",
        ":time",
        ":polarity",
        ":location",
        ":quant",
        ":domain",
    ):
        one = [Counter({k: v for k, v in bag[1].items() if k[1] == role}) for bag in bags]
        other = [Counter({k: v for k, v in bag[1].items() if k[1] == role}) for bag in gold_bags]
        print(f"    {role:<10} {overlap(one, other)}")


def plain(graph: penman.Graph) -> str:
    """Penman text without comment lines."""
    return penman.encode(penman.Graph(graph.triples, top=graph.top), model=amr_model)


def collapse_authors(text: str) -> str:
    """Returns a MathAMR graph with each formula as one node `formula` and roles in AMR's own case."""
    text = re.sub(r":arg([0-9])", r":ARG\1", without_subtrees(text, ":math ("))
    graph = penman.decode(_EQUATION.sub("MATH", text), model=amr_model)
    formulas = {s for s, role, value in graph.attributes() if value == "MATH" and role == ":value"}
    named = {s for s, role, value in graph.attributes() if value == "MATH" and role.startswith(":op")}
    named &= {s for s, _, concept in graph.instances() if concept == "name"}
    formulas |= {s for s, role, target in graph.edges() if role == ":name" and target in named}
    triples = []
    for source, role, target in graph.triples:
        if source in named or target in named or target == "MATH":
            continue
        triples.append((source, role, "formula" if role == ":instance" and source in formulas else target))
    return connected(triples, graph.top)


def collapse_ours(text: str) -> str:
    """Returns our graph with each formula as one node `formula`."""
    return _FORMULA_CONCEPT.sub("formula", text)


def connected(triples: Triples, top: str) -> str:
    """Returns the Penman text of the part of a graph that its top reaches."""
    reached, size = {top}, 0
    while len(reached) > size:
        size = len(reached)
        for source, role, target in triples:
            if role != ":instance" and (source in reached or target in reached):
                reached |= {source} | (
                    {target} if any(t[0] == target and t[1] == ":instance" for t in triples) else set()
                )
    kept = [triple for triple in triples if triple[0] in reached]
    return penman.encode(penman.Graph(kept, top=top), model=amr_model)


def without_subtrees(text: str, opening: str) -> str:
    """Returns the text without the parenthesised parts that begin with `opening`."""
    kept, place = [], 0
    while (found := text.find(opening, place)) >= 0:
        kept.append(text[place:found])
        place, depth = found + len(opening), 1
        while depth and place < len(text):
            depth += {"(": 1, ")": -1}.get(text[place], 0)
            place += 1
    return "".join([*kept, text[place:]])


def report_authors(parser: AmrParser, folder: Path) -> None:
    """Smatch against the MathAMR authors' graphs of the Task 2 topics of 2020 and 2021."""
    texts = dict(csv.reader((folder / "context_topic.tsv").open(encoding="utf-8"), delimiter="\t"))
    graphs = dict(csv.reader((folder / "mathamr_topics.tsv").open(encoding="utf-8"), delimiter="\t"))
    documents, gold, unreadable = [], [], 0
    for topic, text in texts.items():
        try:
            gold.append(collapse_authors(graphs[topic]))
        except (KeyError, penman.PenmanError):
            unreadable += 1
            continue
        flat = " ".join(_EQUATION.sub(r" FORMULA_\1 ", text).split())
        documents.append([flat[start:end] for start, end in sentence_spans(flat)])
    ours = [collapse_ours(document.amr.to_penman()) for document in parse_documents(parser, documents)]
    scores = smatch(ours, gold)
    print(
        f"MathAMR authors' graphs, formulas collapsed: {len(gold)} topics ({unreadable} graphs unreadable), "
        f"Smatch F {scores['F1']:.1f} P {scores['Precision']:.1f} R {scores['Recall']:.1f}"
    )


def main() -> None:
    """Measures everything the data allows."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--model", help="weights to measure (default: the shipped ones)")
    arguments.add_argument("--details", action="store_true", help="print what is missed and invented most")
    given = arguments.parse_args()
    parser = BuiltinParser(given.model)
    parser.parse(["Warm up."])
    if given.model is None:
        print(
            "note: the shipped weights were trained on the held-out parts too; see --help for a fair figure"
        )
    for name, part in split()[1].items():
        report(name, parser, [gold.text for gold in part], [gold.graph for gold in part], given.details)
    report_authors(parser, amr_folder().parent / "mathamr")


if __name__ == "__main__":
    main()
