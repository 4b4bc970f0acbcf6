"""`FormulaPlace`: a formula of a topic or of the collection with its contexts as text, for experiments with MathAMR.

Only sentences with a formula of interest are parsed, so that a collection with judgments is ready in a minute.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

from mathamr.amr.document import Text, parse_documents
from mathamr.amr.parser import AmrParser
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.topics import Topic
from mathamr.formulas.trees import trees_of
from mathamr.graphs.unify import unify
from mathamr.posts.passage import Passage, passage
from mathamr.posts.post import Post
from mathamr.systems.mathamr.context import CONTEXTS, contexts

AT_A_TIME = 500
PLACES_A_VISUAL = 5
"""The maximum number of places that are read of one judged visual class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaPlace:
    """One occurrence of a formula: its id, its visual id, the topic whose query it is, and its contexts by name."""

    id: str
    visual: str
    topic: str = ""
    contexts: Mapping[str, str]


def topic_places(topics: Iterable[Topic], parser: AmrParser) -> Iterator[FormulaPlace]:
    """Read the query formulas of topics."""
    wanted = [(topic.post, {topic.formula_id or ""}) for topic in topics]
    names = [topic.id for topic in topics]
    for topic, found in zip(names, _read(wanted, parser), strict=True):
        for place in found:
            yield replace(place, topic=topic)


def collection_places(
    posts: Iterable[Post], qrels: Qrels, parser: AmrParser, further: Iterable[str] = ()
) -> Iterator[FormulaPlace]:
    """Read some places of each judged visual class, and one of each `further` one; posts are read one at a time."""
    left = dict.fromkeys(further, 1)
    left |= {visual: PLACES_A_VISUAL for grades in qrels.grades.values() for visual in grades}

    def wanted() -> Iterator[tuple[Post, set[str]]]:
        for post in posts:
            own: set[str] = set()
            for formula in post.formulas:
                if left.get(formula.visual_id or "", 0):
                    left[formula.visual_id or ""] -= 1
                    own.add(formula.id)
            if own:
                yield post, own

    stream = wanted()
    while some := list(islice(stream, AT_A_TIME)):
        for found in _read(some, parser):
            yield from found


def _read(wanted: Sequence[tuple[Post, set[str]]], parser: AmrParser) -> Iterator[list[FormulaPlace]]:
    """Read the places of wanted formulas, post by post; only their sentences are parsed, each as a post of its own."""
    read = [passage(post) for post, _ in wanted]
    chosen = [
        [number for number, sentence in enumerate(each.sentences) if _holds(each, number, own)]
        for each, (_, own) in zip(read, wanted, strict=True)
    ]
    latex = [{formula.id: formula.latex for formula in post.formulas} for post, _ in wanted]
    sentences = [
        Text([sentence.text], {place.name: own.get(place.formula, "") for place in sentence.placeholders})
        for each, own, numbers in zip(read, latex, chosen, strict=True)
        for sentence in (each.sentences[number] for number in numbers)
    ]
    graphs = parse_documents(parser, sentences)
    for (post, own), each, numbers in zip(wanted, read, chosen, strict=True):
        formulas = {formula.id: formula for formula in post.formulas}
        places: list[FormulaPlace] = []
        for number in numbers:
            sentence = each.sentences[number]
            names = {place.name: place.formula for place in sentence.placeholders}
            trees = {
                name: trees_of(formulas[formula], post.macros)[0]
                for name, formula in names.items()
                if formula in formulas
            }
            graph = unify(post.id, next(graphs), [sentence.text], names, trees)
            lines = {kind: dict(contexts(graph, post, kind)) for kind in CONTEXTS}
            places += [
                FormulaPlace(
                    id=formula,
                    visual=formulas[formula].visual_id or "",
                    contexts={kind: lines[kind][formula] for kind in CONTEXTS},
                )
                for formula in names.values()
                if formula in own and formula in formulas
            ]
        yield places


def _holds(read: Passage, number: int, wanted: set[str]) -> bool:
    return any(place.formula in wanted for place in read.sentences[number].placeholders)


def write_places(places: Iterable[FormulaPlace], path: Path) -> int:
    """Write places as compressed JSON lines and return how many."""
    count = 0
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for place in places:
            file.write(json.dumps(asdict(place), ensure_ascii=False) + "\n")
            count += 1
    return count


def read_places(path: Path) -> list[FormulaPlace]:
    """Read the places that `write_places` wrote."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return [FormulaPlace(**json.loads(line)) for line in file]
    except (OSError, EOFError, ValueError, TypeError, RecursionError) as error:
        raise MathAMRError(f"cannot read the places of formulas in {path}: {error}") from error
