"""Formulas as MathML and posts as HTML, for answers of the API: whatever is shown of a post goes through here."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape, unescape
from itertools import zip_longest
from pathlib import PurePath
from typing import Any, NamedTuple
from urllib.parse import quote

from mathamr.core.cancellation import check_cancelled
from mathamr.core.errors import MathAMRError, ParseError
from mathamr.formulas.latex.diagrams import with_arrays
from mathamr.formulas.latex.display.formula import display_mathml, displayed
from mathamr.formulas.latex.macros import Macros
from mathamr.formulas.marking import TAKEN, drawn_with_marks, placed_tree
from mathamr.formulas.mathml.writing import sanitised, typeset_to_mathml
from mathamr.posts.formats.latex.references import REFERENCE_COMMAND, name_reference
from mathamr.posts.formats.markdown.pieces import CITED_MARK, REFERENCE
from mathamr.posts.markup import formula_id, pieces, title_pieces
from mathamr.posts.markup.piece import Piece
from mathamr.posts.post import Formula, Place, Post
from mathamr.search.fragment import Fragment
from mathamr.serve.highlighting import highlighted
from mathamr.serve.sanitiser import NestedTooDeeplyError, Places, safe_link, sanitise_html

REMEMBERED = 4_000
LONGEST_REMEMBERED = 200
LONG_REMEMBERED, LONGEST_LONG = 400, 1_600
"""How many drawings of formulas are cached, by length of their LaTeX: the short ones recur, the long ones take memory."""
LONGEST_FORMULA = 50_000
"""Characters of LaTeX beyond which a formula is not drawn and its text is cut: nobody reads it, and it takes seconds."""
FormulasById = dict[str, tuple[Formula, tuple[str, ...]]]
"""Formulas of posts with the macros they are read with."""

_BLOCKS = {
    "heading": ("<h4>", "</h4>"),
    "item": ('<p class="item">', "</p>"),
    "quote": ("<blockquote>", "</blockquote>"),
    "cell": ('<p class="cell">', "</p>"),
    "code": ("<pre>", "</pre>"),
}
_PAIRED = frozenset(["heading", "quote", "code"])
"""Blocks that a break begins and another one ends."""
_WILDCARD = re.compile(r"\?([A-Za-z0-9])")
_LINE = "\u2028"
_ANCHOR = re.compile(r'<a href="([^"<>]{1,2000})">')


@dataclass(frozen=True, slots=True)
class Drawn:
    """A formula as MathML, or why it has none."""

    mathml: str | None
    error: dict[str, Any] | None = None


def draw(latex: str, macros: tuple[str, ...] = (), display: bool = False, mathml: str | None = None) -> Drawn:
    """A formula as MathML: from its LaTeX, else from the MathML that came with it.

    The page forbids inline styles, so the renderer writes classes for its style sheet.
    """
    if max(len(latex), len(mathml or "")) > LONGEST_FORMULA:
        return Drawn(None, {"message": f"it is longer than {LONGEST_FORMULA:,} characters", "offset": 0})
    if macros or mathml is not None or len(latex) > LONGEST_LONG:
        return _draw(latex, macros, display, mathml)
    return (_remembered if len(latex) <= LONGEST_REMEMBERED else _long_remembered)(latex, display)


def draw_formula(formula: Formula, macros: tuple[str, ...] = ()) -> Drawn:
    """A formula of a post as MathML."""
    mathml = None if formula.latex.strip() else formula.presentation_mathml
    return draw(formula.latex, macros, formula.display, mathml)


def draw_marked(
    formula: Formula, macros: tuple[str, ...], nodes: Collection[int], taken: Collection[int] = ()
) -> Drawn:
    """A formula of a post as MathML, with nodes of its layout tree marked: matched ones, and those that wildcards took.

    Only LaTeX can be marked.
    """
    if not (nodes or taken) or not formula.latex.strip() or len(formula.latex) > LONGEST_FORMULA:
        return draw_formula(formula, macros)
    if with_arrays(formula.latex) != formula.latex:  # its drawing has other parts than its tree
        return draw_formula(formula, macros)
    check_cancelled()
    known = Macros.of(macros)
    placed = placed_tree(formula.latex, known)
    if placed is None:
        return draw_formula(formula, macros)
    try:
        element = displayed(formula.latex, known, formula.display)
        marked = drawn_with_marks(
            drawn_with_marks(element, placed.places(nodes)), placed.places(taken), TAKEN
        )
        return Drawn(
            typeset_to_mathml(marked, display=formula.display, latex=formula.latex, styling="classes")
        )
    except MathAMRError:  # what cannot be drawn has a reason in `error`
        return draw_formula(formula, macros)


def _draw(latex: str, macros: tuple[str, ...], display: bool, mathml: str | None) -> Drawn:
    check_cancelled()
    try:
        if mathml and not latex.strip():
            return Drawn(sanitised(mathml, styling="classes"))
        return Drawn(display_mathml(with_arrays(latex), macros, display=display, styling="classes"))
    except ParseError as error:
        return Drawn(None, {"message": error.message, "offset": error.offset})
    except MathAMRError as error:
        return Drawn(None, {"message": str(error), "offset": 0})


@lru_cache(maxsize=REMEMBERED)
def _remembered(latex: str, display: bool) -> Drawn:
    return _draw(latex, (), display, None)


@lru_cache(maxsize=LONG_REMEMBERED)
def _long_remembered(latex: str, display: bool) -> Drawn:
    return _draw(latex, (), display, None)


def source_shown(source: str) -> str:
    """Where a post came from, without the folders of this machine.

    >>> source_shown("/home/ada/notes/limits.md"), source_shown("https://example.org/a"), source_shown("forum")
    ('limits.md', 'https://example.org/a', 'forum')
    """
    return PurePath(source).name if PurePath(source).is_absolute() else source


def place_shown(place: Place | None) -> dict[str, Any] | None:
    """Where a post stands in its input, by the path in the input alone."""
    if place is None:
        return None
    return {
        "path": place.path,
        "line": place.line,
        "label": place.label,
        "inside": list(place.inside),
        "cell": place.cell or None,
    }


def text_piece(text: str, matched: bool = False, kind: str = "text") -> dict[str, Any]:
    """A run of text, or a gap where something is left out, as answers hold it."""
    return {"kind": kind, "text": text, "matched": matched}


def formula_piece(
    latex: str,
    drawn: Drawn,
    id: str | None = None,
    display: bool = False,
    matched: bool = False,
) -> dict[str, Any]:
    """A formula as answers hold it."""
    return {
        "kind": "formula",
        "text": latex[:LONGEST_FORMULA],
        "id": id,
        "latex": latex[:LONGEST_FORMULA],
        "mathml": drawn.mathml,
        "display": display,
        "matched": matched,
        "error": drawn.error,
    }


def shown_pieces(read: Iterable[Piece], macros: tuple[str, ...] = ()) -> Iterator[dict[str, Any]]:
    """Pieces of a query as answers hold them, each with its place in the source; links and pictures as text."""
    for piece in read:
        if piece.kind == "formula":
            # A wildcard is one symbol: in `\pmod ?p` all of it is the argument.
            drawn = draw(_WILDCARD.sub(r"{?\1}", piece.text), macros, piece.display, piece.mathml)
            if drawn.error:  # its place is counted in the formula as it was typed
                drawn = draw(piece.text, macros, piece.display, piece.mathml)
            shown = formula_piece(piece.text, drawn, None, piece.display)
        elif piece.kind == "break":
            shown = text_piece("\n")
        elif piece.kind == "link":
            continue
        else:
            shown = text_piece(piece.text.replace(_LINE, "\n"))
        yield shown | {"start": piece.start, "end": piece.end}


def formulas_with_macros(post: Post) -> FormulasById:
    """The formulas of a post by their ids."""
    return {formula.id: (formula, post.macros) for formula in post.formulas}


def fragment_pieces(
    fragments: Iterable[Fragment], formulas: Mapping[str, tuple[Formula, tuple[str, ...]]]
) -> list[dict[str, Any]]:
    """Fragments that a search chose as answers hold them; `formulas` are those of their posts."""
    shown = []
    for fragment in fragments:
        if fragment.kind != "formula":
            shown.append(text_piece(fragment.text, fragment.matched, fragment.kind))
            continue
        known = formulas.get(fragment.formula or "")
        drawn = draw_formula(*known) if known else draw(fragment.text, (), fragment.display)
        shown.append(
            formula_piece(fragment.text, drawn, fragment.formula, fragment.display, fragment.matched)
        )
    return shown


def title_shown(post: Post, names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The title of a post as pieces; `names` are the ids of the post's formulas in the index, in their order."""
    shown: list[dict[str, Any]] = []
    formulas = _Formulas(post, names)
    for piece in title_pieces(post.title, post.markup):
        if piece.kind == "formula":
            formula = formulas.next(piece)
            drawn = draw_formula(formula, post.macros)
            shown.append(formula_piece(formula.latex, drawn, formula.id, formula.display))
        elif piece.kind in ("text", "code", "image"):
            shown.append(text_piece(piece.text.replace(_LINE, " ")))
    return shown


def title_html(post: Post, names: Sequence[str] = ()) -> str:
    """The title of a post in one line."""
    return "".join(
        _formula_html(piece["id"], piece["latex"], Drawn(piece["mathml"]), False)
        if piece["kind"] == "formula"
        else escape(piece["text"])
        for piece in title_shown(post, names)
    )


def body_html(
    post: Post, longest: int, names: Sequence[str] = (), references: Mapping[str, Reference] | None = None
) -> str:
    """The body of a post, or as much of it as may be shown, as safe HTML.

    `references` are the posts that its references lead to, by how the text names them: `#label`, or an address.
    """
    body, known = post.body[:longest], references or {}
    try:
        written = (
            _html_body(body, post, names, known)
            if post.markup == "html"
            else _block_body(body, post, names, known)
        )
    except NestedTooDeeplyError:
        written = _block_body(body, post, names, known)
    if len(body) < len(post.body):
        written += '\n<p class="faint">… (the rest of this post is not shown)</p>'
    return written


def _block_body(body: str, post: Post, names: Sequence[str], references: Mapping[str, Reference]) -> str:
    """Any markup as paragraphs."""
    writer = _BlockWriter(post, _Formulas.of_body(post, names), references)
    for piece in pieces(body, post.markup):
        writer.add(piece)
    return writer.html()


def _html_body(body: str, post: Post, names: Sequence[str], references: Mapping[str, Reference]) -> str:
    """HTML with its own structure: formulas are cut out of the source, and come back as MathML."""
    formulas, places = _Formulas.of_body(post, names), Places()
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
    """HTML whose links to labels and addresses of known posts lead to these posts on the page."""

    def lead(match: re.Match[str]) -> str:
        address = unescape(match[1])
        target = references.get(address) or references.get(f"#{address}")
        return f'<a href="{escape(post_link(target.id))}">' if target else match.group()

    return _ANCHOR.sub(lead, body) if references else body


def post_link(id: str) -> str:
    """The address of a post on the page, which the page's own links have too."""
    return f"?post={quote(id, safe='')}"


def formula_html(formula: Formula, macros: tuple[str, ...] = ()) -> str:
    """A formula of a post for a page, under its id."""
    return _formula_html(formula.id, formula.latex, draw_formula(formula, macros), formula.display)


def _formula_html(id: str, latex: str, drawn: Drawn, display: bool) -> str:
    kind = "formula display" if display else "formula"
    inside = drawn.mathml or f'<code class="broken">{escape(latex) or "MathML"}</code>'
    return f'<span class="{kind}" data-formula="{escape(id)}">{inside}</span>'


def _is_display(html: str) -> bool:
    return html.startswith('<span class="formula display"') and "</math></span>" in html


def _with_punctuation(html: str, mark: str) -> str:
    """A displayed formula with the punctuation that follows it on its line: in its last cell, or behind it."""
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
    """A drawing in LaTeX as a box with its source folded."""
    named = re.match(r"\\[({\[]?(?:begin)?\s*\{?\s*([A-Za-z]+)", source)
    kind = {"asy": "Asymptote", "pspicture": "PSTricks"}.get(named[1] if named else "", "TikZ")
    shown = source[:LONGEST_PICTURE] + ("…" if len(source) > LONGEST_PICTURE else "")
    return (
        f'<details class="diagram"><summary>Drawing ({kind} source)</summary>'
        f"<pre><code>{escape(shown)}</code></pre></details>"
    )


class _Formulas:
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
    def of_body(cls, post: Post, names: Sequence[str]) -> _Formulas:
        """Those of the body, which come after those of the title."""
        formulas = cls(post, names)
        for piece in title_pieces(post.title, post.markup):
            if piece.kind == "formula":
                formulas.next(piece)
        return formulas

    def next(self, piece: Piece) -> Formula:
        name = formula_id(piece, self._post.id, self._place, self._seen)
        self._place += 1
        return self._by_id.get(name) or Formula(name, piece.text, piece.display, None, piece.mathml)


def _names(address: str) -> list[str]:
    """What a link may name: labels of LaTeX, a page of a wiki, a label, a key of a bibliography, a path.

    >>> _names("#thm:a, thm:b"), _names("[[Limits]]"), _names("{thm-a}"), _names("@zorn"), _names("b.md")
    (['#thm:a, thm:b', 'thm:a', 'thm:b'], ['Limits'], ['thm-a'], ['zorn'], ['b.md'])
    """
    if address.startswith("#"):
        return [address, *(label.strip() for label in address[1:].split(","))]
    if address.startswith("[["):
        return [address[2:-2]]
    return [address[1:-1] if address.startswith("{") else address.removeprefix(CITED_MARK)]


class Reference(NamedTuple):
    """A post that a text refers to: its id, its kind, its own name and number, if it has them, and its title."""

    id: str
    kind: str = ""
    name: str = ""
    title: str = ""
    number: str = ""
    words: str = ""

    def called(self, command: str) -> str:
        """What a reference command of LaTeX shows for the post; empty if that is not known."""
        return name_reference(command, self.words, self.number, self.name, self.kind)


_PUNCTUATION = re.compile(r"\s*([.,;:])(?![.\w])")
LONGEST_PICTURE = 5_000
"""Characters of the source of a drawing that are shown."""


class _BlockWriter:
    """Writes the pieces of a post that is not HTML as paragraphs."""

    def __init__(self, post: Post, formulas: _Formulas, references: Mapping[str, Reference]) -> None:
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
        """Writes one more piece."""
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
                self._inside.append(highlighted(piece.text))
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
            self._inside.append(escape(text).replace(_LINE, "<br>"))

    def _begin_link(self, piece: Piece) -> bool:
        """A reference: a link to the first post it names that is known, around the words that stand for it."""
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
        """All that was written."""
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
