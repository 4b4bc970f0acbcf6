"""`body_html`, `title_html`: a post as safe HTML with MathML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape, unescape
from itertools import zip_longest
from typing import NamedTuple
from urllib.parse import quote

from mathamr.posts.formats.declaration.highlighting import highlight_code
from mathamr.posts.formats.latex.references import REFERENCE_COMMAND, name_reference
from mathamr.posts.formats.markdown.pieces import CITED_MARK, REFERENCE
from mathamr.posts.markup import formula_id, pieces, title_pieces
from mathamr.posts.markup.piece import Piece
from mathamr.posts.post import Formula, Post
from mathamr.posts.rendering.drawing import LONGEST_FORMULA, draw_formula
from mathamr.posts.rendering.sanitiser import CostlyMarkupError, Places, safe_link, sanitise_html

LINE = "\u2028"
"""Stands for a line break within a paragraph."""
LONGEST_PICTURE = 5_000
"""Characters of the source of a drawing that are shown."""
_BLOCKS = {
    "heading": ("<h4>", "</h4>"),
    "item": ('<p class="item">', "</p>"),
    "quote": ("<blockquote>", "</blockquote>"),
    "cell": ('<p class="cell">', "</p>"),
    "code": ("<pre>", "</pre>"),
}
_PAIRED = frozenset(["heading", "quote", "code"])
"""Blocks that a break begins and another one ends."""
_ANCHOR = re.compile(r'<a href="([^"<>]{1,2000})">')
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
    body, known = post.body[:longest], references or {}
    try:
        written = (
            _html_body(body, post, names, known)
            if post.markup == "html"
            else _block_body(body, post, names, known)
        )
    except CostlyMarkupError:
        written = _block_body(body, post, names, known)
    if len(body) < len(post.body):
        written += '\n<p class="faint">… (the rest of this post is not shown)</p>'
    return written


def _block_body(body: str, post: Post, names: Sequence[str], references: Mapping[str, Reference]) -> str:
    """Return any markup as paragraphs."""
    writer = _BlockWriter(post, PostFormulas.of_body(post, names), references)
    for piece in pieces(body, post.markup):
        writer.add(piece)
    return writer.html()


def _html_body(body: str, post: Post, names: Sequence[str], references: Mapping[str, Reference]) -> str:
    """Return HTML with its own structure: formulas are cut out of the source, and come back as MathML."""
    formulas, places = PostFormulas.of_body(post, names), Places()
    parts: list[str] = []
    done = 0
    read = list(pieces(body, "html"))
    for piece, following in zip_longest(read, read[1:]):
        if piece.kind == "formula":
            formula = formulas.next(piece)
            if piece.start < done:
                continue
            written, end = formula_html(formula, post.macros), piece.end
            if piece.display and following is not None and following.kind == "text" and _is_display(written):
                mark = _PUNCTUATION.match(following.text)
                if mark is not None and following.start < piece.end:
                    written = _with_punctuation(written, mark[1])
                elif mark is not None and body.startswith(mark[1], piece.end):
                    written, end = _with_punctuation(written, mark[1]), piece.end + 1
            parts += [body[done : piece.start], places.add(written)]
            done = end
    parts.append(body[done:])
    return sanitise_html(_with_references("".join(parts), references), places)


def _with_references(body: str, references: Mapping[str, Reference]) -> str:
    """Return HTML whose links to labels and addresses of known posts lead to these posts on the page."""

    def lead(match: re.Match[str]) -> str:
        address = unescape(match[1])
        target = references.get(address) or references.get(f"#{address}")
        return f'<a href="{escape(post_link(target.id))}">' if target else match.group()

    return _ANCHOR.sub(lead, body) if references else body


def post_link(id: str) -> str:
    """Return the address of a post on the page, which the page's own links have too."""
    return f"?post={quote(id, safe='')}"


def formula_html(formula: Formula, macros: tuple[str, ...] = ()) -> str:
    """Return a formula of a post for a page, under its id."""
    kind = "formula display" if formula.display else "formula"
    drawn = draw_formula(formula, macros).mathml
    inside = drawn or f'<code class="broken">{escape(formula.latex[:LONGEST_FORMULA]) or "MathML"}</code>'
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


def _picture_html(source: str) -> str:
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


class _BlockWriter:
    """Writes the pieces of a post that is not HTML as paragraphs."""

    def __init__(self, post: Post, formulas: PostFormulas, references: Mapping[str, Reference]) -> None:
        self._post, self._formulas, self._references = post, formulas, references
        self._linked: tuple[int, int, str, str, str] | None = None
        """Where the link ends that is open, where it began, its label, what it is called instead of its words, its kind."""
        self._unknown = ""
        """What the last link names, to be shown if it leads nowhere and has no words."""
        self._blocks: list[str] = []
        self._inside: list[str] = []
        self._block = "paragraph"
        self._open: str | None = None

    def add(self, piece: Piece) -> None:
        """Write one more piece."""
        if self._linked and (piece.start >= self._linked[0] or piece.kind in ("break", "link")):
            self._end_link()
        if piece.kind == "break":
            self._end_block(piece.text)
        elif piece.kind == "formula":
            self._inside.append(formula_html(self._formulas.next(piece), self._post.macros))
        elif piece.kind == "code":
            if self._block != "code":
                self._inside.append(f"<code>{escape(piece.text)}</code>")
            elif self._post.markup == "declaration":
                self._inside.append(highlight_code(piece.text))
            else:
                self._inside.append(escape(piece.text))
        elif piece.kind == "image" and not piece.text and "\\" in self._post.body[piece.start : piece.end]:
            self._end_block(self._block)
            self._blocks.append(_picture_html(self._post.body[piece.start : piece.end]))
        elif piece.kind == "image":
            self._inside.append(f'<span class="picture">[picture: {escape(piece.text)}]</span>')
        elif piece.kind == "link":
            self._unknown = _names(piece.text)[0]
            if not self._begin_link(piece) and (target := safe_link(piece.text)):
                self._inside.append(
                    f'<a href="{escape(target)}" rel="nofollow noopener noreferrer" class="reference">↗</a> '
                )
            elif not self._linked and self._post.body.startswith("![[", piece.start):
                self._inside.append(f'<span class="reference">{escape(self._unknown)}</span>')
        elif piece.text == REFERENCE and not self._linked and self._unknown:
            self._inside.append(escape(self._unknown))
        else:
            text = piece.text
            if self._inside and (mark := _PUNCTUATION.match(text)) and _is_display(self._inside[-1]):
                self._inside[-1], text = _with_punctuation(self._inside[-1], mark[1]), text[mark.end() :]
            self._inside.append(escape(text).replace(LINE, "<br>"))

    def _begin_link(self, piece: Piece) -> bool:
        """Begin a link to the first known post that a reference names; return False if it names none."""
        found = next((name for name in _names(piece.text) if f"#{name}" in self._references), None)
        if found is None:
            return False
        reference = self._references[f"#{found}"]
        address = escape(post_link(reference.id))
        self._inside.append(f'<a href="{address}" class="reference">')
        command = (
            REFERENCE_COMMAND.match(self._post.body, piece.start) if self._post.markup == "latex" else None
        )
        name = reference.called(command[1]) if command is not None and "," not in piece.text else ""
        self._linked = (piece.end, len(self._inside), found, name, reference.kind.lower())
        return True

    def _end_link(self) -> None:
        if self._linked:
            _, begun, label, name, kind = self._linked
            if name:
                self._inside[begun:] = [escape(name)]
            elif self._inside[begun:] == ["reference"] and kind:
                self._inside[begun:] = [kind]
            elif self._inside[begun:] == [REFERENCE]:
                self._inside[begun:] = [escape(self._references[f"#{label}"].title or label)]
            self._inside.append("</a>" if len(self._inside) > begun else f"{escape(label)}</a>")
            self._linked = None

    def html(self) -> str:
        """Return all that was written."""
        self._end_link()
        self._end_block("paragraph")
        return "\n".join(self._blocks)

    def _end_block(self, following: str) -> None:
        inside = "".join(self._inside).strip()
        is_titled = following == "heading" and self._open == "quote"  # a call-out says how it is called
        if inside:
            before, after = _BLOCKS.get("heading" if is_titled else self._block, ("<p>", "</p>"))
            self._blocks.append(before + inside + after)
        self._inside.clear()
        if is_titled:
            return
        if following in _PAIRED:
            self._open = None if self._open == following else following
            self._block = self._open or "paragraph"
        else:
            self._open = self._open if self._open == "quote" else None
            self._block = self._open or following


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
        """Return those of the body, which come after those of the title."""
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
