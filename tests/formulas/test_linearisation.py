from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

from mathamr.formulas.linearisation import linearised, words
from mathamr.formulas.notation import opt_from_string
from mathamr.formulas.tree import OPT_EDGES, Opt


def test_unordered_operands_come_last_to_first_as_in_mathamr() -> None:
    powers = ",".join(f"{place}[O!SUP,0[V!{letter}],1[V!n]]" for place, letter in enumerate("xyz"))
    assert linearised(opt_from_string(f"[U!plus,{powers}]")) == "plus SUP z n SUP y n SUP x n"


def test_ordered_operands_stay_in_order_and_types_are_left_out() -> None:
    assert words(opt_from_string("[+!O!sum,0[O!SUB,0[O!sum],1[V!i]],1[W!],2[N!1]]")) == [
        "sum",
        "SUB",
        "sum",
        "i",
        "1",
    ]


def test_parentheses_are_written_for_penman() -> None:
    assert linearised(opt_from_string("[O!interval(O-C),0[N!0],1[N!1]]")) == "interval$O-C$$ 0 1"


def nested(text: str, at: int) -> tuple[list[Any], int]:
    """The operator tree that a Penman node `(U1 / plus :op0 (…))` of a published graph writes."""
    head = re.compile(r"\((\S+) / ([^\s()]+)\s*").match(text, at)
    assert head is not None
    node: list[Any] = [f"{head[1][0]}!{head[2]}"]
    at = head.end()
    while text[at] != ")":
        edge = re.compile(r":op(\w)\w*\s*").match(text, at)
        assert edge is not None
        child, at = nested(text, edge.end())
        node.append([OPT_EDGES[len(node) - 1], child])
        at += len(text[at:]) - len(text[at:].lstrip())
    return node, at + 1


def test_operator_trees_read_as_in_the_published_lines(data: Path) -> None:
    """Our words of each formula appear, in one run, in the line its authors made of the graph."""
    csv.field_size_limit(10_000_000)
    with (data / "mathamr/linearized_mathamr_topics.tsv").open(encoding="utf-8") as file:
        lines = dict(csv.reader(file, delimiter="\t"))
    with (data / "mathamr/mathamr_topics.tsv").open(encoding="utf-8") as file:
        graphs = dict(csv.reader(file, delimiter="\t"))
    agreed = total = 0
    for topic, graph in graphs.items():
        for start in re.finditer(r":math \(", graph):
            try:
                node, _ = nested(graph, start.end() - 1)
            except (AssertionError, IndexError):
                continue
            if len(node) > 1:
                total += 1
                agreed += f" {linearised(Opt.from_nested(node))} " in f" {lines.get(topic, '')} "
    assert total > 400
    assert agreed / total > 0.97
