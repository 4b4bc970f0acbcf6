"""NTCIR-12 MathIR, Wikipedia formula browsing: formulas, queries without wildcards, and judgments from 0 to 4.

A folder in one of two layouts:

    MathTagArticles/…/*.html, *queries*.xml, *.dat    as the organisers distribute it
    corpus.txt, topics.txt, judge.dat                 formulas alone, a line each: an id, then LaTeX

The id of a formula is its article and its number in it (`Algebra:12`); judgments name formulas by these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels, read_qrels
from mathamr.evaluation.topics import Topic
from mathamr.posts.post import Formula
from mathamr_lab.experiments.formulabed import FormulaBed, formula_topics

NTCIR_NAME = "NTCIR-12"
MEASURES = ("Bpref(rel=1)", "Bpref(rel=3)")
"""Partial and full relevance: of two assessors' grades from 0 to 2, added."""
RELEVANT = 1
"""The lowest grade of a relevant formula."""
_ARTICLES, _CORPUS = "MathTagArticles", "corpus.txt"
_TEX = "application/x-tex"
_WILDCARD = re.compile(r"\\qvar|\\q?wildcard")


def is_ntcir12(path: Path) -> bool:
    """Return True if a folder has the formulas of NTCIR-12 in one of the layouts."""
    return (path / _ARTICLES).is_dir() or (path / _CORPUS).is_file()


def ntcir12_bed(folder: Path) -> FormulaBed:
    """Return the formulas, the queries without wildcards, and their judgments: those of other topics would count as not found."""

    def qrels() -> Qrels:
        concrete = {topic.id for topic in concrete_topics(folder)}
        grades = read_qrels(_one(folder, "judgments", "*.dat", "*.qrels", "*qrels*.txt")).grades
        found = Qrels({topic: own for topic, own in grades.items() if topic in concrete})
        return found.with_relevant(RELEVANT)

    def judged_topics() -> list[Topic]:
        judged = qrels().grades
        return [topic for topic in concrete_topics(folder) if topic.id in judged]

    return FormulaBed(
        name=NTCIR_NAME,
        topics=judged_topics,
        qrels=qrels,
        formulas=lambda: (Formula(name, latex, visual_id=name) for name, latex in formulas(folder)),
        digest=str(folder),
        measures=MEASURES,
    )


def concrete_topics(folder: Path) -> list[Topic]:
    """Return the topics without wildcards."""
    return formula_topics(
        Formula(name, latex) for name, latex in topics(folder) if not _WILDCARD.search(latex)
    )


def formulas(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (id, LaTeX) of all formulas, one article at a time."""
    if (folder / _CORPUS).is_file():
        yield from _lines(folder / _CORPUS)
        return
    for path in sorted((folder / _ARTICLES).rglob("*.html")):
        article = unquote(path.stem)
        for number, latex in enumerate(_annotations(path)):
            if latex:
                yield f"{article}:{number}", latex


def topics(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (topic, LaTeX of its formula)."""
    if (folder / "topics.txt").is_file():
        yield from _lines(folder / "topics.txt")
        return
    from lxml import etree

    path = _one(folder, "topics", "*queries*.xml", "*topics*.xml")
    try:
        root = etree.parse(str(path), etree.XMLParser(resolve_entities=False, no_network=True)).getroot()
    except (OSError, etree.XMLSyntaxError) as error:
        raise MathAMRError(f"cannot read the topics in {path}: {error}") from error
    for topic in root.iter("{*}topic"):
        name = topic.findtext("{*}num", "").strip()
        latex = [each.text or "" for each in topic.iter("{*}annotation") if each.get("encoding") == _TEX]
        if not name or not latex:
            raise MathAMRError(f"{path}: a topic lacks its <num> or the LaTeX of its formula")
        yield name, latex[0].strip()


def _annotations(path: Path) -> Iterator[str]:
    """Yield the LaTeX of every formula of an article, "" for one without."""
    from lxml import etree

    try:
        root = etree.parse(str(path), etree.HTMLParser(encoding="utf-8")).getroot()
    except (OSError, etree.XMLSyntaxError) as error:
        raise MathAMRError(f"cannot read the article {path}: {error}") from error
    for math in () if root is None else root.iter("math", "{*}math"):
        found = [each.text or "" for each in math.iter() if str(each.get("encoding")).lower() == _TEX]
        yield (found[0] if found else math.get("alttext") or "").strip()


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            name, _, latex = line.strip().replace("\t", " ", 1).partition(" ")
            if not line.strip():
                continue
            if not latex:
                raise MathAMRError(
                    f"{path}, line {number}: expected an id and LaTeX, got {line.strip()[:80]!r}"
                )
            yield name, latex


def _one(folder: Path, what: str, *patterns: str) -> Path:
    found = [path for pattern in patterns for path in sorted(folder.glob(pattern))]
    if not found:
        raise MathAMRError(
            f"{folder} has no {what} of NTCIR-12: expected a file like {' or '.join(patterns)}"
        )
    return found[0]
