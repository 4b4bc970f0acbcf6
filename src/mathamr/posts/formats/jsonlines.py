"""JSON lines: one post a line in the form of `Post.to_json`, or one pair of question and answer a line."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast, get_args

from mathamr.posts.decoding import clean_text
from mathamr.posts.format import Collection
from mathamr.posts.formats.latex.definitions import macros_in
from mathamr.posts.inputs import LARGEST_DOCUMENT, Input, bare_name, bounded_lines, display_path
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Formula, Link, LinkType, Markup, Place, Post
from mathamr.posts.postkind import KINDS, PostKind
from mathamr.posts.report import Report

BODY_NAMES = ("body", "text", "content")
MARKUPS: tuple[str, ...] = get_args(Markup)
LINK_TYPES: tuple[str, ...] = get_args(LinkType)

_HTML = re.compile(
    r"</(?:p|span|div|li|ul|ol|em|strong|a|code|blockquote|h[1-6])>|<(?:p|br|math|hr)\b[^<>]*>", re.IGNORECASE
)
_LATEX = re.compile(
    rf"""\\(?:emph|textit|ref|eqref|cite[pt]?|label|(?:sub)*section|item|footnote|par)\b|~\\ref|``
    |\\begin\{{(?:enumerate|itemize|description|center|quote|{"|".join(KINDS)})\*?\}}  # those of text, not of formulas""",
    re.X,
)
_MARKDOWN = re.compile(r"^(?:#{1,6} |```|~~~|> |[-*+] |\d+\. )|\*\*\S|\]\(\S", re.MULTILINE)
_TAG = re.compile(r"[^<>|,\s]+")


def read_jsonlines(
    collection: Collection, report: Report, largest_line: int = LARGEST_DOCUMENT
) -> Iterator[Post]:
    """Read objects a line: `{"id", "kind", "body", …}` or `{"id", "question", "answer"}`.

    Only a text is needed: what else is missing gets its default, and what has the wrong type is left out and
    reported. A pair becomes the posts `ID/question` and `ID/answer`.
    """
    for file in collection.files:
        with Input(file, report) as stream:
            for row in _objects(io.BufferedReader(stream, 1 << 18), display_path(file), report, largest_line):
                yield from _posts(row, file, report)


def _objects(stream: io.BufferedReader, file: str, report: Report, largest: int) -> Iterator[dict[str, Any]]:
    report.at(file)
    for line in bounded_lines(stream, file, report, largest, "row too large"):
        if line.strip() and (row := _object(line, report)) is not None:
            yield row


def _object(line: str, report: Report) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        report.skip("damaged row", f"not JSON ({why}): {line[:60]!r}")
        return None
    if not isinstance(row, dict):
        report.skip("damaged row", f"not an object: {line[:60]!r}")
        return None
    return row


def _posts(row: dict[str, Any], file: Path, report: Report) -> Iterator[Post]:
    for value in row.values():
        report.took(value if isinstance(value, str) else "", 0)
    identifier = _identifier(row.get("id"), file, report)
    body = next((row[name] for name in BODY_NAMES if isinstance(row.get(name), str)), None)
    if body is None and isinstance(row.get("question"), str) and isinstance(row.get("answer"), str):
        yield from _pair(identifier, row, file, report)
    elif body is None and not _text(row, "title", report):
        report.skip("no text", f"{identifier!r} has neither a body nor a title nor a question and its answer")
    else:
        yield _post(identifier, row, clean_text(body or "", report), file, report)


def _pair(identifier: str, row: dict[str, Any], file: Path, report: Report) -> Iterator[Post]:
    question, answer = f"{identifier}/question", f"{identifier}/answer"
    shared = {
        key: value for key, value in row.items() if key in ("source", "date", "tags", "keywords", "macros")
    }
    markup = row.get("markup") or markup_of(row["question"] + "\n" + row["answer"])
    question_row = shared | {
        "title": row.get("title", ""),
        "markup": markup,
        "kind": "question",
        "accepted_answer": answer,
    }
    answer_row = shared | {"markup": markup, "kind": "answer", "parent": question}
    yield _post(question, question_row, clean_text(row["question"], report), file, report)
    yield _post(answer, answer_row, clean_text(row["answer"], report), file, report)


def _post(identifier: str, row: dict[str, Any], body: str, file: Path, report: Report) -> Post:
    title = _text(row, "title", report)
    parent = _reference(row, "parent", report)
    kind = _choice(row, "kind", KINDS, "answer" if parent else "note", report)
    markup = _choice(row, "markup", MARKUPS, markup_of(body), report)
    post = Post(
        id=identifier,
        kind=cast("PostKind", kind),
        body=body,
        title=title,
        markup=cast("Markup", markup),
        parent=parent,
        accepted_answer=_reference(row, "accepted_answer", report),
        tags=_tags(row, report),
        links=tuple(_links(row, report)),
        score=_score(row, report),
        date=_text(row, "date", report) or None,
        source=_text(row, "source", report) or display_path(file),
        macros=_macros(row, report),
        aliases=_strings(row, "aliases", report),
        keywords=_strings(row, "keywords", report),
        place=_place(row, report),
        formulas=formulas_of(identifier, title, body, markup, report.note),
    )
    return replace(post, formulas=_add_row_data(post.formulas, row, report)) if row.get("formulas") else post


def markup_of(text: str) -> Markup:
    """Return the language a text seems to be written in, where its row does not say.

    >>> markup_of("<p>Let $x>0$.</p>"), markup_of("See \\\\ref{a}."), markup_of("# Limits"), markup_of("Is $2$ odd?")
    ('html', 'latex', 'markdown', 'text')
    """
    if _HTML.search(text):
        return "html"
    if _LATEX.search(text):
        return "latex"
    return "markdown" if _MARKDOWN.search(text) else "text"


def _macros(row: dict[str, Any], report: Report) -> tuple[str, ...]:
    """Return the definitions of a row: a list of them, or the text of a preamble."""
    preamble = row.get("macros")
    if not isinstance(preamble, str):
        return _strings(row, "macros", report)
    found: dict[str, str] = {}
    macros_in(clean_text(preamble, report), found)
    return tuple(found.values())


def _identifier(value: object, file: Path, report: Report) -> str:
    if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
        return clean_text(str(value).strip(), report)
    identifier = f"{bare_name(file)}:{report.row}"
    report.repair("no id", f"the object has no id; it gets the id {identifier!r}")
    return identifier


def _text(row: dict[str, Any], name: str, report: Report) -> str:
    value = row.get(name)
    if isinstance(value, str):
        return clean_text(value, report)
    if value is not None:
        _wrong_type(name, value, "a string", report)
    return ""


def _reference(row: dict[str, Any], name: str, report: Report) -> str | None:
    value = row.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _text(row, name, report) or None


def _choice(row: dict[str, Any], name: str, known: tuple[str, ...], default: str, report: Report) -> str:
    value = row.get(name)
    if value in known:
        return cast("str", value)
    if value is not None:
        _wrong_type(name, value, f"one of {', '.join(known)}", report)
    return default


def _tags(row: dict[str, Any], report: Report) -> tuple[str, ...]:
    value = row.get("tags")
    if isinstance(value, str):
        return tuple(_TAG.findall(clean_text(value, report)))
    return _strings(row, "tags", report)


def _strings(row: dict[str, Any], name: str, report: Report) -> tuple[str, ...]:
    value = row.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        _wrong_type(name, value, "a list of strings", report)
        return ()
    return tuple(clean_text(item, report) for item in value)


def _links(row: dict[str, Any], report: Report) -> Iterator[Link]:
    value = row.get("links") or []
    if not isinstance(value, list):
        _wrong_type("links", value, "a list", report)
        return
    for item in value:
        link = item if isinstance(item, dict) else {"target": item}
        target = _reference(link, "target", report)
        label = _text(link, "label", report)
        if target is None and not label:
            _wrong_type("links", item, "an id or an object with a target", report)
        else:
            type_ = cast("LinkType", _choice(link, "type", LINK_TYPES, "related", report))
            yield Link(
                target or "", type_, _text(link, "words", report), label, _text(link, "number", report)
            )


def _place(row: dict[str, Any], report: Report) -> Place | None:
    value = row.get("place")
    if value is None:
        return None
    if not isinstance(value, dict):
        _wrong_type("place", value, "an object with a path and a line", report)
        return None
    line = value.get("line", 1)
    if not isinstance(line, int) or isinstance(line, bool) or line < 1:
        _wrong_type("line", line, "a number from 1", report)
        line = 1
    path = _text(value, "path", report)
    cell = value.get("cell")
    cell = cell if isinstance(cell, int) and not isinstance(cell, bool) and cell > 0 else 0
    return Place(path, line, _text(value, "label", report), _strings(value, "inside", report), cell)


def _score(row: dict[str, Any], report: Report) -> int | None:
    value = row.get("score")
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15:
        return int(value)
    if value is not None:
        _wrong_type("score", value, "a number", report)
    return None


def _add_row_data(formulas: tuple[Formula, ...], row: dict[str, Any], report: Report) -> tuple[Formula, ...]:
    """Return the formulas of the text with the visual ids and MathML that the row gives for their ids."""
    value = row["formulas"]
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        _wrong_type("formulas", value, "a list of objects", report)
        return formulas
    described = {str(item.get("id")): item for item in value}
    unknown = described.keys() - {formula.id for formula in formulas}
    if unknown:
        report.repair(
            "formula not in the text", f"no formula of the text has the id {min(unknown)[:40]!r}; left out"
        )
    return tuple(_supply(formula, described.get(formula.id), report) for formula in formulas)


def _supply(formula: Formula, item: dict[str, Any] | None, report: Report) -> Formula:
    if item is None:
        return formula
    return replace(
        formula,
        visual_id=_reference(item, "visual_id", report),
        presentation_mathml=_text(item, "presentation_mathml", report) or formula.presentation_mathml,
        content_mathml=_text(item, "content_mathml", report) or formula.content_mathml,
    )


def _wrong_type(name: str, value: object, wanted: str, report: Report) -> None:
    shown_value = repr(value)[:60] if not isinstance(value, list | dict) else type(value).__name__
    shown_wanted = wanted if len(wanted) <= 100 else f"{wanted[:99]}…"
    report.repair("wrong type", f"{name} is not {shown_wanted} but {shown_value}; left out")
