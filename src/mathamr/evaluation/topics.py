"""`Topic`: a question of a test collection, read from ARQMath's topic files of all years and both tasks."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mathamr.evaluation.columnfile import FormatError, read_file
from mathamr.posts.formats.jsonlines import markup_of
from mathamr.posts.inputs import display_path
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Formula, Post

if TYPE_CHECKING:
    from lxml.etree import _Element

_EXPECTED = '<Topics><Topic number="…"><Title>…</Title><Question>…</Question></Topic>…</Topics>'
_TAG = re.compile(r"[^<>|,\s]+")


@dataclass(frozen=True)
class Topic:
    """A question of a test collection: its post, and in Task 2 the id of the query formula."""

    id: str
    post: Post
    formula_id: str | None = None

    @property
    def formula(self) -> Formula | None:
        """The query formula of a topic of Task 2."""
        return next((each for each in self.post.formulas if each.id == self.formula_id), None)


def read_topics(path: Path | str) -> list[Topic]:
    """Read the topics of a file in ARQMath's XML; the markup of posts without HTML is detected.

    A formula of Task 2 must be in its post. Document types are rejected, so that no entity is expanded.
    """
    path = Path(path)
    elements = list(_topic_elements(path, _root(path, read_file(path))))
    is_html = markup_of("\n".join(_text(element, "Question") or "" for element in elements)) == "html"
    topics: dict[str, Topic] = {}
    for element in elements:
        topic = _topic(path, element, is_html=is_html)
        if topic.id in topics:
            raise FormatError(path, element.sourceline, f"the topic {topic.id!r} appears twice")
        topics[topic.id] = topic
    return list(topics.values())


def _root(path: Path, data: bytes) -> _Element:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        line = error.lineno or 1
        raise FormatError(path, line, f"not well-formed XML ({error.msg}); expected {_EXPECTED}") from None
    except ValueError as error:
        raise FormatError(path, 1, f"not XML ({error}); expected {_EXPECTED}") from None
    if root.getroottree().docinfo.doctype:
        raise FormatError(path, 1, f"a document type is not allowed here; expected {_EXPECTED}")
    return root


def _topic_elements(path: Path, root: _Element) -> Iterator[_Element]:
    if root.tag != "Topics":
        raise FormatError(path, root.sourceline, f"the root is <{root.tag}>; expected {_EXPECTED}")
    count = 0
    for element in root:
        if not isinstance(element.tag, str):
            continue  # a comment or an instruction
        if element.tag != "Topic":
            raise FormatError(path, element.sourceline, f'expected <Topic number="…">, found <{element.tag}>')
        count += 1
        yield element
    if not count:
        raise FormatError(path, root.sourceline, f"no topics; expected {_EXPECTED}")


def _topic(path: Path, element: _Element, *, is_html: bool) -> Topic:
    line = element.sourceline
    number = (element.get("number") or "").strip()
    if not number or len(number.split()) > 1:
        raise FormatError(
            path, line, f'expected <Topic number="…"> with an id without spaces, found {number!r}'
        )
    body = _text(element, "Question")
    if body is None:
        raise FormatError(path, line, f"the topic {number!r} has no <Question>; expected {_EXPECTED}")
    title = _text(element, "Title") or ""
    markup = "html" if is_html else markup_of(body)
    post = Post(
        id=number,
        kind="question",
        body=body,
        title=title,
        markup=markup,
        tags=tuple(_TAG.findall(_text(element, "Tags") or "")),
        source=display_path(path),
        formulas=formulas_of(number, title, body, markup),
    )
    formula_id = (_text(element, "Formula_Id") or "").strip() or None
    if formula_id is None:
        return Topic(number, post)
    if all(formula.id != formula_id for formula in post.formulas):
        raise FormatError(
            path,
            line,
            f"the topic {number!r} asks for the formula {formula_id!r}, which its post does not have",
        )
    return Topic(number, _with_repaired_formula(post, formula_id, _text(element, "Latex") or ""), formula_id)


def _with_repaired_formula(post: Post, formula_id: str, latex: str) -> Post:
    """Return the post with its query formula from `<Latex>`, if an unescaped `<` has cut it off in the post."""
    if not latex:
        return post
    formulas = tuple(
        replace(formula, latex=html.unescape(latex).strip())
        if formula.id == formula_id and formula.latex.startswith("$")
        else formula
        for formula in post.formulas
    )
    return replace(post, formulas=formulas)


def _text(element: _Element, name: str) -> str | None:
    found = element.find(name)
    return None if found is None else "".join(found.itertext())
