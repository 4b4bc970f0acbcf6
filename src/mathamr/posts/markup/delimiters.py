"""Where mathematics begins and ends in text: `$`, `$$`, `\\(`, `\\[` and environments, as MathJax reads them."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from mathamr.core.listing import names
from mathamr.posts.markup.dollars import doubt, openings

DISPLAY_ENVIRONMENTS = names(
    """
    equation align gather multline eqnarray alignat flalign displaymath dmath xalignat xxalignat
    """
)
INNER_ENVIRONMENTS = names(
    """
    math array matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix cases rcases dcases
    split aligned alignedat gathered multlined CD tikzcd prooftree
    """
)
WRAPPERS = frozenset(["equation", "displaymath", "math", "dmath"])

REFERENCE = r"\\(?:eq)?ref\s*\{[^{}\n]{0,200}\}"
"""A reference to an equation, which a page shows as its number in brackets."""

OPENING = re.compile(rf"{REFERENCE}|\\[(\[$\\]|\\begin\s*\{{\s*([A-Za-z]+\*?)\s*\}}|\$\$?")
"""What may begin a formula; also `\\$`, `\\\\` and references, which may not but are to be told apart."""

_INLINE = re.compile(r"\\.|[{}$\0]|\n[ \t\r]*\n", re.S)
_SIMPLE = re.compile(  # nearly every formula; what this does not match, `_close` decides
    r"""(?:[^$\\{}\n\0]++|\\.
    |\{(?:[^{}$\\\n\0]++|\\[^\n]|\{(?:[^{}$\\\n\0]++|\\[^\n])*+\})*+\}  # groups, two deep
    |\n(?![ \t\r]*\n))*+\$  # no empty line""",
    re.X,
)
_DISPLAY = re.compile(r"\\.|[{}\0]|\$\$?", re.S)
_PAREN = re.compile(r"\\.|[{}\0]", re.S)
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{\s*([A-Za-z]+\*?)\s*\}|\\.", re.S)

_ENDINGS = re.compile(r"\s*(?:\\end\s*\{[A-Za-z]+\*?\}\s*)+\Z")
_SPACES = (
    "\\,", "\\;", "\\:", "\\!", "\\>", "\\quad", "\\qquad", "\\thinspace", "\\medspace", "\\thickspace",
)  # fmt: skip
_MAY_BE_SPACE = frozenset("\\~" + "".join(command[-1] for command in _SPACES))
_SIZED = re.compile(r"\\(?:left|right|middle|[bB]igg?[lrm]?)\s*\Z")


class Region(NamedTuple):
    """A formula in a text: [start, end) with its delimiters, [inner, outer) without, and its LaTeX.

    `tail` is the place of the closing punctuation that was moved out of the formula, or `None`.
    """

    start: int
    end: int
    latex: str
    display: bool
    tail: int | None


class MathScanner:
    """Finds the formulas of one text; total time is linear in its length, whatever is left unclosed in it.

    A brace that is never closed would send every search to the end of the text. So a search counts braces once;
    when that fails, braces no longer count in the stretch that it saw.
    """

    def __init__(self, text: str, *, money: bool = True) -> None:
        self.text = text
        self.money = money
        self._blind = 0
        self._never: dict[str, int] = {}
        self._openings: frozenset[int] = frozenset()
        self._judged = 0
        """Where the text ends whose dollars have been judged."""

    def at(self, match: re.Match[str]) -> Region | Literal["unclosed"] | None:
        """Return the formula that begins with a match of `OPENING`; `None` where no formula is meant."""
        opening = match.group()
        start, inner = match.span()
        if opening == "$":
            return self._dollar(start)
        if opening == "$$":
            close = self._close(_DISPLAY, "$$", inner)
            if close is None:
                return "unclosed"
            return self._region(start, inner, close, close + 2, display=True)
        if opening in ("\\(", "\\["):
            closing = "\\)" if opening == "\\(" else "\\]"
            close = self._close(_PAREN, closing, inner)
            return (
                "unclosed"
                if close is None
                else self._region(start, inner, close, close + 2, display=opening == "\\[")
            )
        name = match.group(1)
        if name is not None:
            bare = name.rstrip("*")
            if bare not in DISPLAY_ENVIRONMENTS and bare not in INNER_ENVIRONMENTS:
                return None
            return self._environment(start, inner, name)
        return None

    def _dollar(self, start: int) -> Region | Literal["unclosed"] | None:
        simple = _SIMPLE.match(self.text, start + 1) if start >= self._blind else None
        close = simple.end() - 1 if simple else self._close(_INLINE, "$", start + 1)
        if close is None:
            return "unclosed"
        if self.money and not self._opens_formula(start, close):
            return None
        return self._region(start, start + 1, close, close + 1, display=False)

    def _opens_formula(self, start: int, close: int) -> bool:
        """Return True if the dollars at `start` and `close` enclose a formula and not a part of a sentence."""
        if not doubt(self.text[start + 1 : close], self.text[close + 1 : close + 2]):
            return True
        if start >= self._judged:
            self._openings, self._judged = openings(self.text, start)
        return start in self._openings

    def _close(self, tokens: re.Pattern[str], closing: str, position: int) -> int | None:
        if position >= self._never.get(closing, len(self.text) + 1):
            return None
        counting = position >= self._blind
        depth = 0
        last = position
        first_at_any_depth: int | None = None
        for match in tokens.finditer(self.text, position):
            token = match.group()
            last = match.end()
            if token == closing:
                if depth <= 0:
                    return match.start()
                if first_at_any_depth is None:
                    first_at_any_depth = match.start()
            elif token == "{":
                depth += counting
            elif token == "}":
                depth -= depth > 0
            elif token == "\0" or token[0] == "\n":
                break
        else:
            last = len(self.text)
            if first_at_any_depth is None:
                self._never[closing] = position
        self._blind = max(self._blind, last)
        return first_at_any_depth

    def _environment(self, start: int, inner: int, name: str) -> Region | Literal["unclosed"]:
        closing = f"end{{{name}}}"
        if start >= self._never.get(closing, len(self.text) + 1):
            return "unclosed"
        depth = 1
        for match in _ENVIRONMENT.finditer(self.text, inner):
            if match.group(2) != name:
                continue
            depth += 1 if match.group(1) == "begin" else -1
            if not depth:
                if name.rstrip("*") in WRAPPERS:
                    return self._region(start, inner, match.start(), match.end(), display=name != "math")
                return self._region(start, start, match.end(), match.end(), display=True)
        self._never[closing] = start
        return "unclosed"

    def _region(self, start: int, inner: int, outer: int, end: int, *, display: bool) -> Region:
        latex, tail = strip_punctuation(self.text[inner:outer])
        return Region(start, end, latex, display, None if tail is None else inner + tail)


def strip_punctuation(latex: str) -> tuple[str, int | None]:
    """Return LaTeX without the punctuation of the sentence around it, and where that stood.

    A factorial, an ellipsis and `=?` belong to the formula; spacing commands at the end belong to nothing.

    >>> strip_punctuation(r" x = 1 \\,. ")
    ('x = 1', 9)
    >>> strip_punctuation(r"\\begin{align} n! &= 6; \\end{align}")
    ('\\\\begin{align} n! &= 6\\\\end{align}', 21)
    >>> strip_punctuation("1, 2, ...")
    ('1, 2, ...', None)
    """
    ending = _ENDINGS.search(latex, max(0, len(latex) - 200)) if latex.rstrip().endswith("}") else None
    end = _strip_space(latex, ending.start() if ending else len(latex))
    mark: int | None = None
    if _ends_with_punctuation(latex, end):
        trimmed = _strip_space(latex, end - 1)
        if trimmed:
            end, mark = trimmed, end - 1
    return latex[:end].lstrip() + (ending.group().strip() if ending else ""), mark


def _ends_with_punctuation(latex: str, end: int) -> bool:
    last = latex[end - 1 : end]
    if last not in (".", ",", ";", ":", "?") or _is_escaped(latex, end - 1):
        return False
    if last == ".":
        return latex[end - 2 : end - 1] != "." and not _SIZED.search(latex, max(0, end - 12), end - 1)
    return last != "?" or not latex[:end].rstrip(" ?").endswith("=")


def _strip_space(latex: str, end: int) -> int:
    """Return the end of the LaTeX before `end` once trailing blanks, spacing commands and row breaks are gone."""
    while end:
        last = latex[end - 1]
        if last not in _MAY_BE_SPACE and not last.isspace():
            break
        if last == "\\" and (latex[end - 2 : end - 1] == "\\" or latex[end : end + 1].isspace()):
            end -= 2 if _is_escaped(latex, end - 1) else 1
            continue
        if last.isspace() or (last == "~" and not _is_escaped(latex, end - 1)):
            end -= 1
            continue
        for command in _SPACES:
            if latex.endswith(command, 0, end) and not _is_escaped(latex, end - len(command)):
                end -= len(command)
                break
        else:
            break
    return end


def _is_escaped(latex: str, position: int) -> bool:
    before = position
    while before and latex[before - 1] == "\\":
        before -= 1
    return (position - before) % 2 == 1
