"""The blocks of a Markdown text: markdown-it's CommonMark and tables, with the blocks of note-takers and of MyST.

Displayed mathematics comes first: a line of a formula that looks like a heading's underline, a list or a rule is none.
That is why paragraphs are read by a rule of ours and not by markdown-it's plug-in for `$$` blocks, which knows only
formulas that begin a block and misses `\\[` and environments.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, html_block
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote.index import footnote_def

from mathamr.posts.formats.markdown.directive import OPTION, Directive
from mathamr.posts.formats.markdown.inline import LinkHelpers, PlacedInline
from mathamr.posts.markup.delimiters import DISPLAY_ENVIRONMENTS

NESTING = 40
"""Levels of nested blocks that are read; deeper blocks are left out and reported."""

_DISPLAY = re.compile(
    r"""`[^`]*`|\\\\|\\\$  # code and escapes are passed over
    |(\$\$|\\[\[\]]|\\begin\s*\{([A-Za-z]+)\*?\}|\\end\s*\{([A-Za-z]+)\*?\})""",
    re.X,
)
_BARRIER = re.compile(r" {0,3}(?:#{1,6}[ \t]|`{3}|~{3})")  # what no formula goes across
_UNDERLINE = re.compile(r"(=+|-+)[ \t]*\Z")
_ENDS_DISPLAY = re.compile(
    r"(?:\$\$|\\\]|\\end\s*+\{[A-Za-z]++\*?\})[ \t]*+(?:[({][^(){}]{1,100}[)}][ \t]*+)?\Z"
)
_MATHS = re.compile(r"[$\\]")
_OPEN_INLINE = re.compile(
    r"""\A(?:`[^`]*`|\\.|\$\$|(?<![\\$])\$(?![\s$])(?:\\.|[^$\\])*?(?<!\s)\$(?!\d)|[^$])*+  # text, code and formulas
    \$(?![\s$])(?:\\.|[^$\\])*\Z""",
    re.X,
)
_CLOSES_INLINE = re.compile(r"(?:\\.|[^$\\`])*+(?<!\s)\$(?![\d$])")
_LINE_MARKS = frozenset("-+*>=<0123456789")
"""What a list, a quote or HTML in a line below a paragraph begins with, and in formulas a sign, a relation or a number."""
LONGEST_INLINE = 20
"""Lines in which the end of a formula between single dollars is looked for."""
_DIV = re.compile(r":{3,}(.*)\Z")
_TARGET = re.compile(r"\(([^()\n]{1,200})\)=[ \t]*\Z")
_BLOCK_BREAK = re.compile(r"\+{3}(?:[ \t].*)?\Z")
_ELEMENT = re.compile(r"<(math|svg)(?![\w-])", re.I)
_RAW_HTML = re.compile(r"<(?:[!?]|(?:script|pre|style|textarea)(?=[\s>]|$))", re.I)
"""What begins HTML that no empty line ends."""
_TABLE_GUARDED = re.compile(r"`[^`\n]*`|(?<!\\)(?:\\\\)*+\$(?!\s)(?:[^$\n\\]|\\.)*+(?<!\s)\$(?!\d)")
_TABLE_MARKS = frozenset("|-:")
_BAR = "\ufdd0"  # not a character: stands for a bar that ends no cell

_EVERYWHERE: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}


class Parser(MarkdownIt):
    """markdown-it as we use it: block and inline rules of ours, and addresses left as they were written."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"maxNesting": NESTING})
        self.inline = PlacedInline()
        self.helpers = LinkHelpers  # type: ignore[assignment]
        self.enable(["table", "strikethrough"])
        ruler = self.block.ruler
        ruler.before("fence", "comment", _comment, _EVERYWHERE)
        ruler.before("blockquote", "div", _div, _EVERYWHERE)
        ruler.before("hr", "target", _target, _EVERYWHERE)
        ruler.before("hr", "block_break", _block_break, _EVERYWHERE)
        ruler.before("reference", "footnote_def", footnote_def, {"alt": ["paragraph", "reference"]})
        ruler.before("html_block", "element", _element, _EVERYWHERE)
        ruler.at("html_block", _html_block, {"alt": ["paragraph", "reference", "blockquote"]})
        ruler.at("lheading", _heading)
        deflist_plugin(self)
        ruler.at("paragraph", _paragraph)

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - the library's name
        """Return an address as it was written: it may be a path of a folder."""
        return url

    def validateLink(self, _url: str) -> bool:  # noqa: N802 - the library's name
        """Accept any address, since nothing is shown as a link here."""
        return True

    def blocks(self, text: str, env: dict[str, object]) -> list[Token]:
        """Return the block tokens of a text with LF line ends; the text inside them is not read yet."""
        guarded = text if "|" not in text or _BAR in text else _TABLE_GUARDED.sub(_guard, text)
        tokens = self.block.parse(guarded, self, env, []) or []
        if guarded != text:
            for token in tokens:
                token.content = token.content.replace(_BAR, "|")
                token.info = token.info.replace(_BAR, "|")
        return tokens


def _guard(match: re.Match[str]) -> str:
    return match.group().replace("|", _BAR)


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _token(state: StateBlock, name: str, lines: tuple[int, int], content: str = "") -> Token:
    token = state.push(name, "", 0)
    token.map = [*lines]
    token.content = content
    state.line = lines[1]
    return token


def _paragraph(state: StateBlock, start: int, _end: int, _silent: bool) -> bool:
    _prose(state, start, _prose_from(state, start, state.lineMax).end, "paragraph", "p")
    return True


def _heading(state: StateBlock, start: int, end: int, _silent: bool) -> bool:
    """Read a heading underlined with `=` or `-`."""
    if state.is_code_block(start):
        return False
    prose = _prose_from(state, start, end)
    if not prose.level:
        return False
    _prose(state, start, prose.end, "heading", f"h{prose.level}")
    state.line = prose.end + 1
    return True


def _prose_from(state: StateBlock, start: int, limit: int) -> _Prose:
    """Return the running text from a line; the rules for headings and for paragraphs share one search."""
    place = (id(state), start, limit, state.blkIndent, state.level)
    kept: tuple[tuple[int, ...], _Prose] | None = state.env.get("prose")
    if kept is None or kept[0] != place:
        kept = state.env["prose"] = (place, _Prose(state, start, limit))
    return kept[1]


def _prose(state: StateBlock, start: int, end: int, name: str, tag: str) -> None:
    for token in (
        state.push(f"{name}_open", tag, 1),
        state.push("inline", "", 0),
        state.push(f"{name}_close", tag, -1),
    ):
        if token.nesting >= 0:
            token.map = [start, end + (name == "heading" and token.nesting > 0)]
        if token.type == "inline":
            token.content = state.getLines(start, end, state.blkIndent, False).strip()
            token.children = []
    state.line = end


class _Prose:
    """The lines of running text from `start` to before `end`; `level` is the level of heading that an underline at `end` gives
    them, or 0.
    """

    def __init__(self, state: StateBlock, start: int, limit: int) -> None:
        self._state = state
        self._unclosed: dict[str, int] = state.env.setdefault("unclosed displays", {})
        self.level = 0
        rules = state.md.block.ruler.getRules("paragraph")
        parent, state.parentType = state.parentType, "paragraph"
        line = self._through_display(start, limit)
        while line < limit and not state.isEmpty(line):
            if state.sCount[line] - state.blkIndent <= 3 and state.sCount[line] >= 0:
                self.level = self._underline(line)
                if self.level:
                    break
                if not self._is_plain(line, limit) and any(rule(state, line, limit, True) for rule in rules):
                    break
            line = self._through_display(line, limit)
        state.parentType = parent
        self.end = line

    def _is_plain(self, line: int, limit: int) -> bool:
        """Return True for a line that can begin no block: it begins with a letter, and the line below is not that of a table."""
        below = _line(self._state, line + 1)[:1] if line + 1 < limit else ""
        return _line(self._state, line)[:1].isalpha() and below not in _TABLE_MARKS

    def _underline(self, line: int) -> int:
        """Return the level of heading that a line of `=` or `-` gives the text above it; 0 if the line is part of a formula."""
        state = self._state
        found = _UNDERLINE.match(_line(state, line))
        if found is None or state.sCount[line] < state.blkIndent:
            return 0
        above = _line(state, line - 1)
        if _ENDS_DISPLAY.search(above) or (len(found.group(1)) == 1 and _MATHS.search(above)):
            return 0
        return 1 if found.group(1)[0] == "=" else 2

    def _through_display(self, line: int, limit: int) -> int:
        """Return the line after this one, or after the formula that is open at its end."""
        rest = _line(self._state, line)
        while True:
            if opened := open_display(rest):
                close = self._close(opened, line + 1, limit)
            elif "$" in rest and _OPEN_INLINE.match(rest):
                opened, close = "$", self._inline_close(line + 1, limit)
            else:
                break
            if close is None:
                break
            line = close
            rest = _line(self._state, line).partition(opened)[2]
        return line + 1

    def _inline_close(self, line: int, limit: int) -> int | None:
        """Return the line that closes a formula between single dollars, where one begins with the mark of a list or a quote."""
        is_marked = False
        for below in range(line, min(limit, line + LONGEST_INLINE)):
            text = _line(self._state, below)
            is_marked |= text[:1] in _LINE_MARKS
            if "$" in text:
                return below if is_marked and _CLOSES_INLINE.match(text) else None
            if not text.strip() or _BARRIER.match(text):
                return None
        return None

    def _close(self, opened: str, line: int, limit: int) -> int | None:
        """Return the line that closes a display, before the next heading or fence."""
        if line < self._unclosed.get(opened, 0):
            return None
        while line < limit:
            text = _line(self._state, line)
            if opened in text:
                return line
            if _BARRIER.match(text) or (opened == "\\]" and not text.strip()):
                break  # an empty line ends no formula between brackets: the opening one was a mark of the text
            line += 1
        self._unclosed[opened] = line
        return None


def open_display(text: str) -> str:
    """Return what will close the displayed formula that is open at the end of a line; empty where none is.

    >>> open_display("so $$x$$ and $$"), open_display(r"\\begin{align}"), open_display("$x$")
    ('$$', '\\\\end{align}', '')
    """
    opened = ""
    if "$$" not in text and "\\" not in text:
        return opened
    for match in _DISPLAY.finditer(text):
        token, begins, ends = match.groups()
        if token == "$$":
            opened = "" if opened == "$$" else opened or "$$"
        elif token == "\\[" or (begins in DISPLAY_ENVIRONMENTS):
            opened = opened or ("\\]" if token == "\\[" else "\\end{" + token.split("{")[1])
        elif token and (token == opened or (ends and opened == "\\end{" + token.split("{")[1])):
            opened = ""
    return opened


def _comment(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read `%%` to `%%` of Obsidian over several lines, and a line that begins with `%` of MyST."""
    if state.is_code_block(start):
        return False
    text = _line(state, start)
    if not text.startswith("%"):
        return False
    if not text.startswith("%%"):
        if silent:
            return False  # within a paragraph it may be a percentage
        _token(state, "comment", (start, start + 1))
        return True
    if "%%" in text[2:] or start < state.env.get("unclosed comments", 0):
        return False
    close = next((line for line in range(start + 1, end) if "%%" in _line(state, line)), None)
    if close is None:
        state.env["unclosed comments"] = end
        return False
    if not silent:
        _token(state, "comment", (start, close + 1))
    return True


def _div(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a line of colons: the opening or the end of a div. What is between is read as if the lines were not there."""
    if state.is_code_block(start) or not (found := _DIV.match(_line(state, start))):
        return False
    if silent:
        return True
    info = found.group(1).rstrip(": \t") if not found.group(1).rstrip().endswith("}") else found.group(1)
    column = state.bMarks[start] + state.tShift[start] + found.start(1) - _line_start(state, start)
    directive = Directive.of_div(info, column) if info.strip() else None
    line = start + 1
    options: dict[str, str] = {}
    while directive and line < end and (option := OPTION.match(_line(state, line))):
        options[option.group(1)] = option.group(2)
        line += 1
    if directive is None or directive.content == "words":
        token = _token(state, "div", (start, line))
    else:
        close = next((each for each in range(line, end) if _line(state, each).startswith(":::")), end)
        token = _token(state, "fence", (start, min(close + 1, end)), state.getLines(line, close, 0, True))
    token.meta = {"directive": directive, "options": options, "skip": line - start}
    return True


def _line_start(state: StateBlock, line: int) -> int:
    return state.src.rfind("\n", 0, state.bMarks[line]) + 1 if line else 0


def _html_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read HTML; where an empty line ends it, so does a line of colons: what stands in a div ends with it."""
    found = html_block(state, start, end, silent)
    if silent or not found or _RAW_HTML.match(_line(state, start)):
        return found
    token = state.tokens[-1]
    close = next(
        (line for line in range(start + 1, state.line) if _DIV.match(_line(state, line))), state.line
    )
    token.map, token.content = [start, close], state.getLines(start, close, state.blkIndent, True)
    state.line = close
    return True


def _target(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Read `(label)=` of MyST, which names what follows."""
    if state.is_code_block(start) or not (found := _TARGET.match(_line(state, start))):
        return False
    if not silent:
        _token(state, "target", (start, start + 1), found.group(1))
    return True


def _block_break(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Read `+++` between the cells of a MyST notebook."""
    if state.is_code_block(start) or not _BLOCK_BREAK.match(_line(state, start)):
        return False
    if not silent:
        _token(state, "block_break", (start, start + 1))
    return True


def _element(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read `<math>` and `<svg>`, which may hold empty lines."""
    if state.is_code_block(start) or not (found := _ELEMENT.match(_line(state, start))):
        return False
    closing = f"</{found.group(1).lower()}"
    if start < state.env.get(closing, 0):
        return False
    close = next((line for line in range(start, end) if closing in _line(state, line).lower()), None)
    if close is None:
        state.env[closing] = end
        return False
    if not silent:
        content = state.getLines(start, close + 1, state.blkIndent, True)
        _token(state, "html_block", (start, close + 1), content)
    return True
