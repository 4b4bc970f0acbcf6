"""Our MathAMR strings against those that the authors of MathAMR published for ARQMath's formula topics.

Their meaning graphs are used unchanged, with our operator tree of each formula's LaTeX in the formula's place. A topic
agrees if its complete string does. Their trees come from an older LaTeXML without amsmath's macros.
"""

from __future__ import annotations

import csv
import html
import re
from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree

from mathamr.amr.notation import branches
from mathamr.core.errors import MathAMRError, ParseError
from mathamr.formulas.parse import parse
from mathamr.graphs.mathamr import linearise, linearised_tree


@dataclass
class Agreement:
    """The number of topics and formulas that agree."""

    topics: int = 0
    agreeing: int = 0
    unreadable: list[str] = field(default_factory=list)
    formulas: int = 0
    same_formulas: int = 0


def published(data: Path, name: str) -> dict[str, str]:
    """Maps topics to texts, as the authors of MathAMR published them."""
    with (data / "mathamr" / name).open(encoding="utf-8", newline="") as file:
        return dict(csv.reader(file, delimiter="\t"))


def readable(text: str) -> str:
    """Returns their graphs with names for empty concepts, and without the mark of an inserted formula."""
    return re.sub(r":\S+ MATH\b", "", re.sub(r"/\s+(?=[:)])", '/ "" ', text))


def agreement(data: Path) -> Agreement:
    """Compares all topics."""
    found = Agreement()
    graphs, contexts = published(data, "mathamr_topics.tsv"), published(data, "context_topic.tsv")
    latex = {**_latex(data, 2020), **_latex(data, 2021)}
    for topic, text in graphs.items():
        found.topics += 1
        numbers = re.findall(r"eqx(\d+)eqx", contexts[topic])
        ours = {_string(latex.get((topic, number), "")) for number in numbers}
        try:
            theirs = _formula_strings(readable(text))
        except ParseError:
            found.unreadable.append(topic)
            continue
        same = [string for string in theirs if string in ours]
        found.formulas += len(theirs)
        found.same_formulas += len(same)
        found.agreeing += len(same) == len(theirs)
    return found


def _latex(data: Path, year: int) -> dict[tuple[str, str], str]:
    formulas = {}
    for topic in etree.parse(str(data / "arqmath-mini" / "topics" / f"task2-{year}.xml")).iter("Topic"):
        for part in ("Title", "Question"):
            for match in re.finditer(
                r'<span[^>]*id="q_(\d+)"[^>]*>(.*?)</span>', topic.findtext(part) or "", re.S
            ):
                formulas[topic.get("number"), match[1]] = html.unescape(match[2]).strip().strip("$").strip()
    return formulas


def _string(latex: str) -> str | None:
    try:
        return linearised_tree(parse(latex).opt)
    except MathAMRError:
        return None


def _formula_strings(penman: str) -> list[str]:
    """The strings of the formulas of a published graph."""
    _, instances, links = branches(penman)
    concepts = dict(instances)
    children: dict[str, list[tuple[str, str]]] = {}
    for variable, role, target in links:
        children.setdefault(variable, []).append((role, target))

    def write(variable: str) -> str:
        if variable not in concepts:
            return variable
        inner = "".join(f" {role} {write(target)}" for role, target in children.get(variable, ()))
        return f"({variable} / {concepts[variable]}{inner})"

    return [linearise(write(target)) for _, role, target in links if role == ":math" and target in concepts]
