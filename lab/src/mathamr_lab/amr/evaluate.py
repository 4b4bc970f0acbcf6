"""Measures AMR parsers on the held-out gold graphs: `python -m mathamr_lab.amr.evaluate [--model FILE] [--graphs FILE …]`.

Prints Smatch (smatchpp, ILP solver, generic standardisation, micro average) on the held-out parts, and precision and recall of
concepts, relations, names, negation and reentrant relations; with `--authors` also Smatch against the MathAMR authors' graphs with
formulas collapsed. The shipped weights were trained with `--held-out` and have not seen these parts. `--write FILE` keeps the graphs, and `--graphs FILE` measures kept ones beside.
"""

from __future__ import annotations

import argparse
import csv
import logging
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
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


Bag = Counter[tuple[str, ...]]
PARTS = ("concepts", "relations", "names", "negation", "reentrancy")


def bags_of(graph: penman.Graph) -> dict[str, Bag]:
    """Returns a graph as bags: concepts, relations between concepts or to constants, and some relations apart."""
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
    """Precision, recall and F1 of bags."""
    hits = made = wanted = 0
    for one, other in zip(predicted, gold, strict=True):
        hits += (one & other).total()
        made += one.total()
        wanted += other.total()
    precision, recall = hits / max(1, made), hits / max(1, wanted)
    return f"P {100 * precision:.1f} R {100 * recall:.1f} F {200 * precision * recall / max(1e-9, precision + recall):.1f}"


def report(name: str, predicted: Sequence[penman.Graph], gold: Sequence[penman.Graph]) -> None:
    """Measures and prints one part."""
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
    """Penman text without comment lines."""
    return str(penman.encode(penman.Graph(graph.triples, top=graph.top), model=amr_model))


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
    return str(penman.encode(penman.Graph(kept, top=top), model=amr_model))


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


def parsed(parser: AmrParser, texts: Sequence[str]) -> list[penman.Graph]:
    """The parser's graphs; each must be one that Penman reads."""
    return [penman.decode(graph.to_penman(), model=amr_model) for graph in parser.parse(texts)]


def main() -> None:
    """Measures everything the data allows."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--model", help="weights to measure (default: the shipped ones)")
    arguments.add_argument(
        "--graphs", type=Path, nargs="*", default=[], help="graphs of another parser, to measure beside"
    )
    arguments.add_argument("--write", type=Path, help="where to keep the graphs of the held-out parts")
    arguments.add_argument(
        "--authors", action="store_true", help="compare with the MathAMR authors' graphs too"
    )
    given = arguments.parse_args()
    if find_spec("smatchpp") is None:
        arguments.error('smatchpp is not installed; install it with: pip install "mathamr-lab[parser]"')
    parser = BuiltinParser(given.model)
    held = split()[1]
    gold = [each for part in held.values() for each in part]
    graphs = {str(given.model or "built-in"): parsed(parser, [each.text for each in gold])}
    for path in given.graphs:
        graphs[path.name] = penman.load(path, model=amr_model, encoding="utf-8")
    if given.write:
        penman.dump(graphs[str(given.model or "built-in")], given.write, model=amr_model, encoding="utf-8")
    start = 0
    for name, part in held.items():
        for parser_name, found in graphs.items():
            own = found[start : start + len(part)]
            report(f"{name}, {parser_name}", own, [each.graph for each in part])
        start += len(part)
    if given.authors:
        report_authors(parser, amr_folder().parent / "mathamr")


if __name__ == "__main__":
    main()
