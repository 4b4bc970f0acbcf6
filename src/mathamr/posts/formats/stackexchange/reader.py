"""Dumps of Stack Exchange, `Posts.xml` with `PostLinks.xml`; and the ARQMath collection, whose formulas have ids and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from mathamr.posts.format import Collection
from mathamr.posts.formats.stackexchange.dumprows import DumpRows
from mathamr.posts.formats.stackexchange.tableindex import TableIndex
from mathamr.posts.formats.stackexchange.tables import TableKind, tables_beside
from mathamr.posts.inputs import Input, display_path, size_of
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Link, Post
from mathamr.posts.postkind import PostKind
from mathamr.posts.report import Report

KINDS: dict[str, PostKind] = {"1": "question", "2": "answer"}
OTHER_POST_TYPES = {
    "3": "orphaned tag wiki", "4": "tag wiki excerpt", "5": "tag wiki", "6": "moderator nomination",
    "7": "wiki placeholder", "8": "privilege wiki",
}  # fmt: skip

_TAG = re.compile(r"[^<>|\s]+")


_LINKS: frozenset[TableKind] = frozenset({"links"})
_ALL_TABLES: frozenset[TableKind] = frozenset({"links", "formulas", "mathml"})


def read_arqmath(collection: Collection, report: Report) -> Iterator[Post]:
    """Read a dump in which each formula is `<span class="math-container" id="…">`.

    Tables give the visual class of each formula (`visual_id`) and its MathML. They lie in the folder of the posts or in
    a folder of tables there, or the user names them. Columns are found by their headers, which differ between years.
    """
    return read_stackexchange(collection, report, _ALL_TABLES)


def read_stackexchange(
    collection: Collection, report: Report, companions: frozenset[TableKind] = _LINKS
) -> Iterator[Post]:
    """Read `<row Id PostTypeId ParentId AcceptedAnswerId Score Title Body Tags CreationDate …/>`.

    Bodies are HTML with LaTeX between the delimiters of MathJax. If a folder holds the dumps of several sites,
    each in a folder of its own, the ids are `FOLDER/ID`. Posts other than questions and answers are counted as skipped.
    """
    folders = {file.parent for file in collection.files}
    for folder, files in groupby(collection.files, key=lambda file: file.parent):
        prefix = "" if len(folders) == 1 else f"{folder.relative_to(collection.root).as_posix()}/"
        with TableIndex(report) as side:
            grouped = list(files)
            side.load(_tables(grouped, companions, collection.beside, report))
            for file in grouped:
                yield from _posts(file, prefix.removeprefix("./"), side, report)
            side.finish()


def _tables(
    files: list[Path], companions: frozenset[TableKind], beside: tuple[Path, ...], report: Report
) -> list[tuple[TableKind, Path]]:
    named = {path.resolve() for path in beside}
    chosen = [
        (kind, path)
        for kind, path in tables_beside(files[0], beside, report)
        if kind in companions or any(path.is_relative_to(folder) for folder in named)
    ]
    if report.bytes_total is not None:
        report.bytes_total += sum(size_of(path) for _, path in chosen)
    return chosen


def _posts(file: Path, prefix: str, side: TableIndex, report: Report) -> Iterator[Post]:
    name = display_path(file)
    with Input(file, report) as stream:
        for row in DumpRows(stream, name, report):
            kind = _kind(row, report)
            if kind is not None:
                yield _post(row, kind, prefix, name, side, report)


def _kind(row: dict[str, str], report: Report) -> PostKind | None:
    """Return the kind of a row; `None`, with a report, if it is neither a question nor an answer."""
    code = row.get("PostTypeId", "").strip()
    if not row.get("Id", "").strip():
        report.skip("no id", "a row without Id")
    elif code in KINDS:
        return KINDS[code]
    elif not code:
        kind: PostKind = "answer" if row.get("ParentId") else "question"
        report.repair("no post type", f"the row with Id {row['Id']} has no PostTypeId; read as a {kind}")
        return kind
    else:
        meaning = OTHER_POST_TYPES.get(code, "unknown")
        report.skip(
            f"post type {code[:20]} ({meaning})",
            f"the row with Id {row['Id']} is neither a question nor an answer",
        )
    return None


def _post(
    row: dict[str, str],
    kind: PostKind,
    prefix: str,
    source: str,
    side: TableIndex,
    report: Report,
) -> Post:
    number = row["Id"].strip()
    post_id = prefix + number
    title = row.get("Title", "")
    body = row.get("Body", "")
    parent = row.get("ParentId", "").strip()
    if kind == "answer" and not parent:
        report.repair("answer without parent", f"the answer {post_id} names no question")
    accepted = row.get("AcceptedAnswerId", "").strip()
    links = side.links(number)
    return Post(
        id=post_id,
        kind=kind,
        body=body,
        title=title,
        parent=prefix + parent if parent else None,
        accepted_answer=prefix + accepted if accepted else None,
        tags=tuple(_TAG.findall(row.get("Tags", ""))),
        links=tuple(Link(prefix + link.target, link.type) for link in links) if prefix else links,
        score=_score(row.get("Score", ""), report),
        date=row.get("CreationDate") or None,
        source=source,
        formulas=side.enriched(formulas_of(post_id, title, body, "html", report.note)),
    )


def _score(text: str, report: Report) -> int | None:
    if not text:
        return None
    try:
        return int(text[:20])
    except ValueError:
        report.repair("score not a number", f"the score {text[:20]!r} is not a number; left out")
        return None
