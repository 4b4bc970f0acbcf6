"""Markdown as people keep notes in it, from markdown-it's tokens to pieces with their offsets.

CommonMark and GitHub's, with what note-takers add: Obsidian's call-outs, wiki links, embeds and comments, MyST's roles
and directives, Quarto's and Pandoc's divs, attributes and citations, HTML inside. What a directive holds as text is read
as Markdown again; what it is called is not text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from markdown_it.token import Token

from mathamr.core.listing import names
from mathamr.posts.body.html import BLOCKS, INLINE
from mathamr.posts.formats.html.pieces import pieces as html_pieces
from mathamr.posts.formats.markdown.blocks import NESTING, Parser
from mathamr.posts.formats.markdown.directive import OPTION, QUARTO, Directive
from mathamr.posts.formats.role import words_and_target
from mathamr.posts.markup.delimiters import OPENING, MathScanner, strip_punctuation
from mathamr.posts.markup.piece import Note, Piece, PieceRun
from mathamr.posts.markup.plain import formula

DEEPEST_DIRECTIVE = 8
"""Levels of nested directives that are read as text; deeper ones are read as code."""

_CALLOUT = re.compile(r"\[![\w-]+(?:\|[^\[\]\n]*)?\][+-]?[ \t]*")
_BREAKS = {
    **dict.fromkeys(["heading_open", "heading_close"], "heading"),
    **dict.fromkeys(["blockquote_open", "blockquote_close"], "quote"),
    **dict.fromkeys(
        ["list_item_open", "list_item_close", "dt_open", "dt_close", "dd_open", "dd_close"], "item"
    ),
    **dict.fromkeys(["footnote_reference_open", "footnote_reference_close"], "item"),
    **dict.fromkeys(["th_open", "th_close", "td_open", "td_close"], "cell"),
    **dict.fromkeys(["paragraph_close", "comment", "target", "block_break"], "paragraph"),
    "hr": "rule",
}
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp|pdf)\Z", re.I)
_CODE_ROLES = frozenset(
    ["code", "kbd", "samp", "command", "program", "file", "guilabel", "menuselection", "option", "envvar"]
)
_CITING_ROLES = names("cite citet citep cite:p cite:t cite:ps cite:ts footcite footcite:t footcite:p")
_LINKING_ROLES = frozenset(["ref", "numref", "prf:ref", "doc", "eq", "any", "numdoc", "proof:ref"])
_INDEXED = re.compile(
    r"""\s*!?(?:single|pair|triple|see|seealso|module|keyword|operator|object|exception|statement|builtin)\s*:
    # what an entry of Sphinx's index begins with""",
    re.X,
)
_NUMBER = re.compile(r"%s|\{number\}")
"""The place of the number in the words of a reference of Sphinx."""
_CITED = re.compile(r"(-?)@([\w:.#$%&+?~/-]*\w)")
_REFERRED = {"fig": "Figure", "tbl": "Table", "sec": "Section", "lst": "Listing"}
CITED_MARK = "@"
"""Before the key of a bibliography in the address of a link."""
REFERENCE = "(*)"
"""What stands for the number of an equation or of a statement that only a printed page has."""


@cache
def parser() -> Parser:
    """Return the one parser; it keeps nothing between texts."""
    return Parser()


def normalise_line_ends(text: str) -> str:
    """Return the text with LF line ends and of the same length: CR LF becomes a space and LF."""
    return text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text


def pieces(text: str, note: Note) -> Iterator[Piece]:
    """Yield the pieces of a Markdown text without front matter."""
    run = PieceRun()
    run.add(normalise_line_ends(text), 0, len(text))
    return _Reader(note).pieces(run)


class _Reader:
    """One reading of one text; `references` are the addresses that links name by label."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self._references: dict[str, Any] = {}

    def pieces(self, source: PieceRun, depth: int = 0) -> Iterator[Piece]:
        """Yield the pieces of a text that came from `source`: the whole, or what a directive holds."""
        if not len(source):
            return
        lines = _Lines(source)
        env: dict[str, object] = {"references": self._references}
        tokens = parser().blocks(lines.text, env)
        heading, quoted = "", False
        for token in tokens:
            if token.level >= NESTING - 1 and token.nesting > 0:
                self._note("nested too deeply", lines.offset(token))
            if name := _BREAKS.get(token.type):
                yield Piece("break", *lines.point(token), name)
            if token.nesting and token.tag in BLOCKS:
                yield _element(token, *lines.point(token))
            if token.type == "inline":
                run = lines.inline(token, heading)
                if quoted and (callout := _CALLOUT.match(token.content)):
                    yield from self._callout(run, callout.end(), env)
                else:
                    yield from self._inline(run, 0, len(run), env)
            elif token.type == "fence":
                yield from self._fence(token, lines, depth)
            elif token.type == "code_block":
                yield from self._code(token, lines, token.map or [0, 0])
            elif token.type == "html_block":
                yield from self._html(lines.run(token.content, (token.map or [0])[0]))
            elif token.type == "div":
                yield from self._title(token, lines, env)
            quoted = token.type == "blockquote_open" or (quoted and token.type == "paragraph_open")
            heading = {"heading_open": token.markup, "td_open": "|", "th_open": "|"}.get(token.type, "")

    def _callout(self, run: PieceRun, start: int, env: dict[str, object]) -> Iterator[Piece]:
        """Yield the first paragraph of a call-out: its title is the rest of its first line."""
        text = run.text()
        newline = text.find("\n", start)
        end = len(text) if newline < 0 else newline
        point = run.origin(end - 1, end)
        yield Piece("open", *point, "h2")
        yield from self._inline(run, start, end, env)
        yield from (Piece("break", *point, "heading"), Piece("close", *point, "h2"))
        yield from self._inline(run, end, len(text), env)

    def _title(self, token: Token, lines: _Lines, env: dict[str, object]) -> Iterator[Piece]:
        """Yield the title of a directive or a div."""
        directive: Directive | None = token.meta.get("directive")
        yield Piece("break", *lines.point(token), "heading")
        if directive and directive.title and token.map:
            run = PieceRun()
            start, end = lines.place(token.map[0], directive.at, len(directive.title))
            run.add(directive.title, start, end)
            yield Piece("open", start, start, "h2")
            yield from self._inline(run, 0, len(run), env)
            yield from (Piece("break", end, end, "heading"), Piece("close", end, end, "h2"))

    def _fence(self, token: Token, lines: _Lines, depth: int) -> Iterator[Piece]:
        first, last = token.map or [0, 0]
        content = token.content
        count = content.count("\n") + (not content.endswith("\n") and bool(content))
        if "directive" not in token.meta:
            token.meta["directive"] = lines.directive(token)
            if last - first < count + 2 and not content.endswith("\n" * 2):
                self._note("unclosed code fence", lines.offset(token))
        directive: Directive | None = token.meta["directive"]
        first += token.meta.get("skip", 1)
        if directive is None or directive.content == "code" or depth >= DEEPEST_DIRECTIVE:
            yield from self._code(token, lines, [first, first + count])
            return
        options, content = strip_options(content)
        run = lines.run(content, first + options)
        if directive.content == "math":
            yield from self._displayed(run)
        elif directive.content == "words":
            yield from self._title(token, lines, {"references": self._references})
            yield from self.pieces(run, depth + 1)
        yield Piece("break", *lines.point(token), "paragraph")

    def _displayed(self, run: PieceRun) -> Iterator[Piece]:
        """Yield the formula of a fence, whose LaTeX may or may not have delimiters."""
        text = run.text()
        inner = len(text) - len(text.lstrip())
        opening = OPENING.match(text, inner)
        region = MathScanner(text).at(opening) if opening else None
        if region is not None and region != "unclosed" and region.end == len(text.rstrip()):
            yield from formula(run, region._replace(display=True), self._note)
        else:
            yield from self._latex(run, 0, len(text), text, display=True)

    def _latex(self, run: PieceRun, start: int, end: int, latex: str, *, display: bool) -> Iterator[Piece]:
        bare, mark = strip_punctuation(latex)
        if not bare:
            self._note("empty formula", run.origin(start, end)[0])
            return
        yield Piece("formula", *run.origin(start, end), bare, display)
        if mark is not None:
            yield Piece("text", *run.origin(start, end), latex[mark])

    def _code(self, token: Token, lines: _Lines, span: list[int]) -> Iterator[Piece]:
        point = lines.point(token)
        yield Piece("break", *point, "code")
        if token.content.strip():
            run = lines.run(token.content, span[0])
            yield Piece("code", *run.origin(0, len(run)), token.content)
            end = run.origin(0, len(run))[1]
            point = (end, end)
        yield Piece("break", *point, "code")

    def _html(self, run: PieceRun) -> Iterator[Piece]:
        if len(run):
            for piece in html_pieces(run.text(), self._note):
                last = max(piece.end, piece.start + 1)
                start, end = run.origin(min(piece.start, len(run) - 1), min(last, len(run)))
                yield piece._replace(start=start, end=end)

    def _inline(self, run: PieceRun, first: int, last: int, env: dict[str, object]) -> Iterator[Piece]:
        """Yield the pieces of [first, last) of a run of inline text."""
        if first >= last:
            return
        if first or last < len(run):
            part = PieceRun()
            for piece in run.pieces(first, last):
                part.add(piece.text, piece.start, piece.end)
            run = part
        env.pop("unclosed", None)
        tokens: list[Token] = parser().inline.parse(run.text(), parser(), env, [])
        unclosed = env.pop("unclosed", {})
        if isinstance(unclosed, dict):
            for place, opening in unclosed.items():
                self._note(f"unclosed {opening}", run.origin(place, place + 1)[0])
        places = [token.meta["at"] for token in tokens[1:]] + [len(run)]
        for token, end in zip(tokens, places, strict=True):
            yield from self._token(token, run, token.meta["at"], end)

    def _token(self, token: Token, run: PieceRun, start: int, end: int) -> Iterator[Piece]:
        kind, content = token.type, token.content
        if kind == "text" and content:
            yield Piece("text", *run.origin(start, start + len(content)), content)
        elif kind == "softbreak":
            yield Piece("text", *run.origin(start, start + 1), "\n")
        elif kind == "hardbreak":
            yield Piece("text", *run.origin(start, end), "\u2028")
        elif kind == "text_special":
            yield Piece("text", *run.origin(start, start + len(token.markup)), content)
        elif kind == "math":
            yield from formula(run, token.meta["region"], self._note)
        elif kind == "latex":
            yield from self._latex(run, start, end, content, display=token.meta["display"])
        elif kind == "code_inline":
            yield Piece("code", *run.origin(start, end), content)
        elif kind == "link_open":
            yield Piece("link", *run.origin(max(start - 1, 0), end), str(token.attrs["href"]))
        elif token.nesting and token.tag in INLINE:
            place = min(start, len(run) - 1)
            yield _element(token, *run.origin(place, place))
        elif kind == "image" and content:
            source = (("src", str(token.attrs["src"])),)
            yield Piece("image", *run.origin(start, end), content, attributes=source)
        elif kind in ("element", "html_inline"):
            part = PieceRun()
            for piece in run.pieces(start, start + len(content)):
                part.add(piece.text, piece.start, piece.end)
            yield from self._html(part)
        elif kind == "reference":
            yield Piece("text", *run.origin(start, end), REFERENCE)
        elif kind == "wiki":
            yield from self._wiki(token, run, start, end)
        elif kind == "role":
            yield from self._role(token, run, start, end)
        elif kind == "citation":
            yield from self._citation(content, run, start, end)

    def _wiki(self, token: Token, run: PieceRun, start: int, end: int) -> Iterator[Piece]:
        page, alias, inner = token.meta["page"], token.content, token.meta["inner"]
        if token.meta["embed"] and _PICTURE.search(page):
            if alias and not alias.isdigit():
                yield Piece("image", *run.origin(start, end), alias)
            return
        yield Piece("link", *run.origin(start, end), f"[[{page}]]")
        if not token.meta["embed"]:  # what an embed shows is another note's text
            name, _, heading = page.partition("#^")[0].partition("#")
            if shown := alias or " ".join(part for part in (name.rpartition("/")[2], heading) if part):
                yield Piece("text", *run.origin(inner, end - 2), shown)
        yield Piece("close", *run.origin(start, end), "a")

    def _role(self, token: Token, run: PieceRun, start: int, end: int) -> Iterator[Piece]:
        name, content, inner = token.meta["name"].lower(), token.content, token.meta["inner"]
        place = run.origin(inner, inner + len(content)) if content else run.origin(start, end)
        if name == "math":
            yield from self._latex(run, start, end, content, display=False)
        elif name in _LINKING_ROLES:
            words, target = words_and_target(content) or ("", content.strip())
            words = _NUMBER.sub(REFERENCE, words)
            yield Piece("link", *place, target if name == "doc" else f"{{{target}}}")
            yield from (Piece("text", *place, words or REFERENCE), Piece("close", *place, "a"))
        elif name in _CODE_ROLES or name.startswith(("py:", "c:", "cpp:", "js:")):
            yield Piece("code", *place, content)
        elif name in _CITING_ROLES:
            for key in content.split(","):
                yield Piece("link", *place, f"{CITED_MARK}{key.strip()}")
                yield Piece("close", *place, "a")
        elif name == "index" and _INDEXED.match(content):
            return  # an entry of the index, which a page does not show
        else:
            named = words_and_target(content)
            yield Piece("text", *place, named[0] if named else content)

    def _citation(self, content: str, run: PieceRun, start: int, end: int) -> Iterator[Piece]:
        """Yield the pieces of a citation: cross-references are read as what they name, a cited book is a link without words."""
        place = run.origin(start, end)
        before, written = content.removeprefix("[").partition("@")[0].rstrip("-"), False
        for is_bare, label in _CITED.findall(content):
            prefix = re.split("[-:]", label, maxsplit=1)[0]
            name = _REFERRED.get(prefix) or QUARTO.get(prefix, "").capitalize()
            if name or prefix == "eq":
                named = [before.strip() or name] if not is_bare and (before.strip() or name) else []
                yield Piece("link", *place, f"{{{label}}}")
                yield Piece("text", *place, ", " * written + " ".join([*named, REFERENCE]))
                before, written = "", True
            else:
                yield Piece("link", *place, f"{CITED_MARK}{label}")
            yield Piece("close", *place, "a")


def _element(token: Token, start: int, end: int) -> Piece:
    """Return the beginning or the end of an element as a piece."""
    if token.nesting < 0:
        return Piece("close", start, end, token.tag)
    return Piece(
        "open",
        start,
        end,
        token.tag,
        attributes=tuple((name, str(value)) for name, value in token.attrs.items() if name == "start"),
    )


class _Lines:
    """The lines of a text that is parsed, and where each came from in the post."""

    def __init__(self, source: PieceRun) -> None:
        self._source = source
        self.text = source.text()
        self._lines = self.text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._cell = (-1, 0)

    def offset(self, token: Token) -> int:
        """Return where a token begins in the post."""
        return self.point(token)[0]

    def point(self, token: Token) -> tuple[int, int]:
        """Return where something ends or begins: an empty stretch of the post."""
        line = token.map[0] if token.map else 0
        start = min(self._starts[min(line, len(self._lines))], len(self.text) - 1)
        at = self._source.origin(start, start + 1)[0]
        return at, at

    def place(self, line: int, column: int, length: int) -> tuple[int, int]:
        """Return the offsets in the post of a stretch of a line."""
        start = min(self._starts[line] + column, len(self.text) - 1)
        return self._source.origin(start, min(start + length, len(self.text)))

    def directive(self, token: Token) -> Directive | None:
        """Return what the opening of a fence says."""
        line = (token.map or [0])[0]
        return Directive.of_fence(token.info, max(0, len(self._lines[line]) - len(token.info)))

    def run(self, content: str, first: int) -> PieceRun:
        """Return the content of a block, whose lines are the ends of the lines from `first` on."""
        run = PieceRun()
        for number, text in enumerate(content.split("\n"), first):
            if number >= len(self._lines):
                break
            self._add(run, text, number, len(self._lines[number].rstrip()) - len(text.strip()))
        return run

    def inline(self, token: Token, inside: str) -> PieceRun:
        """Return the text of a paragraph, of a heading with `#`, or of a cell of a table."""
        first = (token.map or [0])[0]
        if inside not in ("|",) and not inside.startswith("#"):
            return self.run(token.content, first)
        line = self._lines[first]
        run = PieceRun()
        if inside == "|":
            column = self._cell[1] if self._cell[0] == first else 0
            found = line.find(token.content, column)
            if found < 0:  # a bar that was escaped
                found = line.find(token.content.replace("|", "\\|"), column)
            found = max(found, column)
            self._cell = (first, found + len(token.content))
            if token.content:
                run.add(token.content, *self.place(first, found, len(token.content)))
        else:
            marks = line.index("#")
            start = marks + len(line[marks:]) - len(line[marks:].lstrip("#").lstrip())
            self._add(run, token.content, first, start)
        return run

    def _add(self, run: PieceRun, text: str, number: int, column: int) -> None:
        """Add a line of a block, character for character where it stands in the source, with its line end."""
        bare = text.strip()
        lead = text[: len(text) - len(text.lstrip())] if bare else ""
        if len(run):
            start = self._starts[number] - 1
            run.add("\n", *self._source.origin(start, start + 1))
        if lead:
            run.add(lead, *self.place(number, max(0, column - len(lead)), min(len(lead), column)))
        if bare:
            run.add(bare, *self.place(number, column, len(bare)))


def strip_options(content: str) -> tuple[int, str]:
    """Return how many lines at the head of a directive's content set its options, and the content without them.

    >>> strip_options(":label: thm-a\\n\\nLet $x$.\\n")
    (1, '\\nLet $x$.\\n')
    """
    lines = content.split("\n")
    count = 0
    if lines[0].strip() == "---":
        count = next((n for n, line in enumerate(lines[1:], 2) if line.strip() == "---"), 0)
    else:
        while count < len(lines) and OPTION.match(lines[count]):
            count += 1
    return count, "\n".join(lines[count:])
