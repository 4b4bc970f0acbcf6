"""`body_html`, `title_html`: a post as safe HTML with MathML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import NamedTuple
from urllib.parse import quote

from mathamr.posts.body.html import LINE, Body
from mathamr.posts.formats.declaration.highlighting import highlight_code
from mathamr.posts.formats.latex.references import name_reference
from mathamr.posts.formats.markdown.pieces import CITED_MARK, REFERENCE
from mathamr.posts.markup import formula_id, pieces, title_pieces
from mathamr.posts.markup.piece import Piece, linked
from mathamr.posts.post import Formula, Post
from mathamr.posts.rendering.drawing import LONGEST_FORMULA, draw_formula
from mathamr.posts.rendering.sanitiser import Places, page_link, sanitise_html

LONGEST_PICTURE = 5_000
"""Characters of the source of a drawing that are shown."""
_PUNCTUATION = re.compile(r"\s*([.,;:])(?![.\w])")


class Reference(NamedTuple):
    """A post that a text refers to: its id, its kind, its own name and number, if it has them, and its title."""

    id: str
    kind: str = ""
    name: str = ""
    title: str = ""
    number: str = ""
    words: str = ""

    def called(self, command: str) -> str:
        """Return what a reference command of LaTeX shows for the post; empty if that is not known."""
        return name_reference(command, self.words, self.number, self.name, self.kind)


def title_html(post: Post, names: Sequence[str] = ()) -> str:
    """Return the title of a post in one line."""
    formulas = PostFormulas(post, names)
    return "".join(
        formula_html(replace(formulas.next(piece), display=False), post.macros)
        if piece.kind == "formula"
        else escape(piece.text.replace(LINE, " "))
        for piece in title_pieces(post.title, post.markup)
        if piece.kind in ("formula", "text", "code", "image")
    )


def body_html(
    post: Post, longest: int, names: Sequence[str] = (), references: Mapping[str, Reference] | None = None
) -> str:
    """Return the body of a post, or as much of it as may be shown, as safe HTML.

    `references` are the posts that its references lead to, by how the text names them: `#label`, or an address.
    """
    body = post.body[:longest]
    writer = _PageWriter(post, PostFormulas.of_body(post, names))
    for piece in with_references(list(pieces(body, post.markup)), references or {}):
        writer.add(piece)
    written = writer.html()
    if len(body) < len(post.body):
        written += '\n<p class="faint">… (the rest of this post is not shown)</p>'
    return written


def with_references(read: Sequence[Piece], references: Mapping[str, Reference]) -> Iterator[Piece]:
    """Yield pieces in which references to known posts lead to them, in the words that a reader sees.

    Of a reference to no known post, and of an address that a page may not link to, the words stay.
    """
    position = 0
    while position < len(read):
        piece = read[position]
        position += 1
        if piece.kind != "link":
            yield piece
            continue
        words = linked(read, position - 1)
        position += len(words)
        names = _names(piece.text)
        name = next((each for each in names if f"#{each}" in references or each in references), names[0])
        target = references.get(f"#{name}") or references.get(name)
        address = post_link(target.id) if target else page_link(piece.text)
        if address:
            yield piece._replace(text=address)
        yield from _said(piece, words, name.removeprefix("#"), target)
        if address:
            yield Piece("close", piece.end, piece.end, "a")


def _said(link: Piece, words: list[Piece], name: str, target: Reference | None) -> list[Piece]:
    """Return the words of a reference as a reader sees them: what its command prints, or its own words."""
    said = "".join(piece.text for piece in words if piece.kind in ("text", "code", "formula", "image"))
    shown = ""
    if target is not None and "," not in link.text:
        shown = target.called(dict(link.attributes).get("class", ""))
    if target is not None and not shown:
        shown = {"reference": target.kind.lower(), REFERENCE: target.title or name, "": name}.get(said, "")
    elif target is None and (said == REFERENCE or (not said and link.text.startswith("[["))):
        shown = name
    return [Piece("text", link.start, link.end, shown)] if shown else words


def post_link(id: str) -> str:
    """Return the address of a post on the page, which the page's own links have too."""
    return f"?post={quote(id, safe='')}"


def formula_html(formula: Formula, macros: tuple[str, ...] = ()) -> str:
    """Return a formula of a post for a page, under its id."""
    kind = "formula display" if formula.display else "formula"
    drawn = draw_formula(formula, macros).mathml
    has_mathml = formula.presentation_mathml or formula.content_mathml
    written = formula.latex[:LONGEST_FORMULA] or ("MathML" if has_mathml else "")
    inside = drawn or (f'<code class="broken">{escape(written)}</code>' if written.strip() else "")
    return f'<span class="{kind}" data-formula="{escape(formula.id)}">{inside}</span>'


def _is_display(html: str) -> bool:
    return html.startswith('<span class="formula display"') and "</math></span>" in html


def _with_punctuation(html: str, mark: str) -> str:
    """Return a displayed formula with the punctuation that follows it on its line: in its last cell, or behind it."""
    content, annotation, rest = html.partition("<annotation")
    if not annotation or "<semantics>" not in content:
        return html.replace("</math></span>", f"<mtext>{escape(mark)}</mtext></math></span>")
    before, opening, inside = content.partition("<semantics>")
    table = inside.rfind("</mtd></mtr></mtable>")
    if table >= 0 and inside.endswith("</mtd></mtr></mtable>"):
        inside = f"{inside[:table]}<mtext>{escape(mark)}</mtext>{inside[table:]}"
    else:
        inside = f"<mrow>{inside}<mtext>{escape(mark)}</mtext></mrow>"
    return before + opening + inside + annotation + rest


def _drawing_html(source: str) -> str:
    """Return a drawing in LaTeX as a box with its source folded."""
    named = re.match(r"\\[({\[]?(?:begin)?\s*+(?:\{\s*+)?([A-Za-z]+)", source)
    kind = {"asy": "Asymptote", "pspicture": "PSTricks"}.get(named[1] if named else "", "TikZ")
    shown = source[:LONGEST_PICTURE] + ("…" if len(source) > LONGEST_PICTURE else "")
    return (
        f'<details class="diagram"><summary>Drawing ({kind} source)</summary>'
        f"<pre><code>{escape(shown)}</code></pre></details>"
    )


def _names(address: str) -> list[str]:
    """Return what a link may name: labels of LaTeX, a page of a wiki, a label, a key of a bibliography, a path.

    >>> _names("#thm:a, thm:b"), _names("[[Limits]]"), _names("{thm-a}"), _names("@zorn"), _names("b.md")
    (['#thm:a, thm:b', 'thm:a', 'thm:b'], ['Limits'], ['thm-a'], ['zorn'], ['b.md'])
    """
    if address.startswith("#"):
        return [address, *(label.strip() for label in address[1:].split(","))]
    if address.startswith("[["):
        return [address[2:-2]]
    return [address[1:-1] if address.startswith("{") else address.removeprefix(CITED_MARK)]


class _PageWriter:
    """Writes the pieces of a post as safe HTML; what comes from our own renderer is put back when the rest is sanitised."""

    def __init__(self, post: Post, formulas: PostFormulas) -> None:
        self._post, self._formulas = post, formulas
        self._body, self._places = Body(), Places()
        self._in_code = False
        self._display = ""
        """The drawing of a displayed formula if it was written last."""

    def add(self, piece: Piece) -> None:
        """Write one more piece."""
        kind, text = piece.kind, piece.text
        if kind == "text":
            self._text(text)
        elif kind == "formula":
            self._formula(piece)
        elif kind == "break":
            self._break(text)
        elif kind == "code" and not self._in_code:
            self._body.add(f"<code>{escape(text)}</code>")
        elif kind == "code":
            is_declaration = self._post.markup == "declaration"
            self._body.add(self._places.add(highlight_code(text)) if is_declaration else escape(text))
        elif kind == "image":
            source = dict(piece.attributes).get("src", "")
            self._body.add(f'<img src="{escape(source)}" alt="{escape(text)}">')
        elif kind == "drawing":
            self._body.paragraph()
            self._body.add(self._places.add(_drawing_html(text)))
            self._body.paragraph()
        elif kind == "link":
            self._body.open("a", {"href": text})
        elif kind == "open":
            self._body.open(text, dict(piece.attributes))
        else:
            self._body.close(text)
        if kind != "formula":
            self._display = ""

    def html(self) -> str:
        """Return all that was written."""
        return sanitise_html(self._body.html(), self._places)

    def _break(self, what: str) -> None:
        if what == "code":
            self._in_code = not self._in_code
            if self._in_code:
                self._body.open("pre")
            else:
                self._body.close("pre")
        elif what == "rule":
            self._body.rule()
        elif what == "line":
            self._body.text(LINE)
        else:
            self._body.paragraph()

    def _formula(self, piece: Piece) -> None:
        written = formula_html(self._formulas.next(piece), self._post.macros)
        self._display = written if _is_display(written) else ""
        self._body.add(self._places.add(written))

    def _text(self, text: str) -> None:
        if self._display and (mark := _PUNCTUATION.match(text)):
            self._body.replace_last(self._places.add(_with_punctuation(self._display, mark[1])))
            text = text[mark.end() :]
        self._body.text(text)


class PostFormulas:
    """Finds the formula of a post that a piece of its text is, in the order of the text, under its id in the index."""

    def __init__(self, post: Post, names: Sequence[str] = ()) -> None:
        self._post = post
        own = [formula.id for formula in post.formulas]
        self._by_id: Mapping[str, Formula] = {
            formula.id: replace(formula, id=name)
            for formula, name in zip(post.formulas, names or own, strict=False)
        }
        self._seen: set[str] = set()
        self._place = 0

    @classmethod
    def of_body(cls, post: Post, names: Sequence[str]) -> PostFormulas:
        """Return the formulas of the body, with those of the title already passed."""
        formulas = cls(post, names)
        for piece in title_pieces(post.title, post.markup):
            if piece.kind == "formula":
                formulas.next(piece)
        return formulas

    def next(self, piece: Piece) -> Formula:
        """Return the formula of the next piece that is one."""
        name = formula_id(piece, self._post.id, self._place, self._seen)
        self._place += 1
        return self._by_id.get(name) or Formula(name, piece.text, piece.display, None, piece.mathml)
