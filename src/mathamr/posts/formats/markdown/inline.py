"""The inline text of a Markdown block: markdown-it's rules with ours, every token knowing where it came from.

The tokens of markdown-it have no offsets. They cover their text in order, so the place at which each is pushed is also
the end of the one before it; `PlacedInline` keeps that place. Mathematics is found by the scanner that every markup
shares, before anything else can touch it.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.helpers import parseLinkDestination, parseLinkTitle
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline, text
from markdown_it.token import Token

from mathamr.posts.formats.markdown.directive import CROSS_REFERENCES
from mathamr.posts.markup.delimiters import OPENING, REFERENCE, MathScanner, Region

_TICKED_MATH = re.compile(r"\$(`+)([^`]{1,5000}+)\1\$")
_REFERENCE = re.compile(REFERENCE)
_DOUBLED = {"\\\\(": ("\\\\)", False), "\\\\[": ("\\\\]", True)}
_ESCAPES = ("\\[", "\\(")
"""What opens a formula if it is closed, and is otherwise CommonMark's way to write a bracket."""
_ESCAPED = re.compile(
    r"""\\\[(?:
        \s*                                               # a task that is not one
      | \s*\d{1,9}(?:\s*[,;-]\s*\d{1,9}){0,20}\s*           # a citation, an interval of numbers
      | [^\W\d_]{4,30}(?:[ '-][^\W\d_]{1,30}){0,20}[.!?]?  # words
      | [^\\]{0,300}(?:\\[^\]\[][^\\]{0,300}){0,50}\\\[.*   # another bracket before the closing one
    )\\\]""",
    re.X | re.S,
)
"""Brackets of text between `\\[` and `\\]`."""
_ROLE = re.compile(r"\{([A-Za-z][\w+:.-]{0,60})\}(`+)")
_WIKI = re.compile(r"(!?)\[\[([^\[\]|\n]{1,500})(?:\|([^\[\]\n]{0,500}))?\]\]")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,200}\]")
_CITATION = re.compile(r"\[[^\[\]\n@]{0,100}-?@[^\[\]\n]{1,500}\](?!\()")
_CROSS_REFERENCE = re.compile(rf"@((?:{'|'.join(sorted(CROSS_REFERENCES))})[-:][\w:.-]*\w)")
_ATTRIBUTE = r"(?:[#.][\w:.-]++|[\w-]++=(?:\"[^\"\n]{0,200}+\"|[^\s\"{}]++)|-)"
_ATTRIBUTES = re.compile(rf"\{{:?[ \t]*{_ATTRIBUTE}(?:[ \t]+{_ATTRIBUTE}){{0,20}}[ \t]*\}}")
_SPAN = re.compile(r"\[[^\[\]\n]{1,300}\](?=\{)")
_SHORTCODE = re.compile(r"\{\{[<%][^{}\n]{0,500}[>%]\}\}|\{\{[ \t]*[A-Za-z_][\w.]{0,100}[ \t]*\}\}")
_BLOCK_ID = re.compile(r"\^[A-Za-z0-9-]{1,100}[ \t]*(?=\n|\Z)")
_EQUATION_LABEL = re.compile(r"[ \t]*\(([A-Za-z][\w:.-]+)\)[ \t]*(?=\n|\Z)")
_LABEL = re.compile(r"\[([^\[\]]{1,300})\]")
_TASK = re.compile(r"\[[ xX]\][ \t]+")
_ELEMENT = re.compile(r"<(math|script|style|pre|code|svg|span|textarea)(?=[\s>/])(?:\s[^<>]*)?>", re.I)

_FORMULA_SPAN = re.compile(
    r"\bclass\s*+=\s*+[\"']?[^\"'<>]{0,500}(?:math|katex|arithmatex|mjx)|\bdata-(?:raw-text|latex|tex)\b",
    re.I,
)

_Rule = Callable[[StateInline, bool], bool]
_TEXT: Sequence[_Rule] = (text,)


class PlacedState(StateInline):
    """The state of markdown-it, in which every token is told its place: `meta["at"]`, an offset in the text."""

    def __init__(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> None:
        self._pending_at = 0
        super().__init__(src, md, env, tokens)
        self._scanner = MathScanner(src)
        self._regions: dict[int, Region | Literal["unclosed"] | None] = {}
        self.labels: dict[tuple[int, bool], int] = {}
        """Where the labels of links and images end, by where they begin; -1: nowhere."""
        self.closers: dict[int, int] = {}
        """Where marks end whose beginnings were read: [start, end), not to be shown."""

    def region(self, match: re.Match[str]) -> Region | Literal["unclosed"] | None:
        """Return the formula that begins here; looked for once, however often a rule asks."""
        start = match.start()
        if start not in self._regions:
            self._regions[start] = self._scanner.at(match)
        return self._regions[start]

    def find(self, closing: str, start: int) -> int:
        """Return where `closing` next occurs, or -1; a missing `closing` is searched for only once."""
        return self.src.find(closing, start) if self.html_terminator_last(closing) >= start else -1

    def append_pending(self, text: str) -> None:
        """Add text that no rule wanted."""
        if not self.pending:
            self._pending_at = self.pos
        super().append_pending(text)

    def pushPending(self) -> Token:  # noqa: N802 - the library's name
        """Append the pending text as a token with its place, and return the token."""
        token = super().pushPending()
        token.meta["at"] = self._pending_at
        return token

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        """Append a token with its place and return it; the marks of a run of emphasis are separate tokens."""
        before = None if self.pending or not self.tokens else self.tokens[-1]
        token = super().push(ttype, tag, nesting)
        repeated = (
            before is not None and before.type == ttype == "text" and before.meta.get("run") == self.pos
        )
        token.meta["at"] = before.meta["at"] + 1 if repeated and before is not None else self.pos
        token.meta["run"] = self.pos
        return token


class PlacedInline(ParserInline):
    """markdown-it's parser of inline text with our rules in front of its own.

    The library tries all of its rules at every sign; here only those are tried that can begin with it.
    """

    def __init__(self) -> None:
        super().__init__()
        for name, (_, rule) in _RULES.items():
            self.ruler.before("newline", name, rule)
        self.ruler2.disable("fragments_join")
        rules = list(zip(self.ruler.get_active_rules(), self.ruler.getRules(""), strict=True))
        self._by_sign = {
            sign: [rule for name, rule in rules if sign in _BEGINS.get(name, sign)]
            for sign in "\n" + string.punctuation
            if self.terminator_re.match(sign)
        }

    def _rules_at(self, state: StateInline) -> Sequence[_Rule]:
        """Return the rules that can begin here; none where brackets are nested too deeply."""
        if state.level >= state.md.options["maxNesting"]:
            return ()
        return self._by_sign.get(state.src[state.pos], _TEXT)

    def skipToken(self, state: StateInline) -> None:  # noqa: N802 - the library's name
        """Move behind one token without making it; where brackets are nested too deeply, to the end."""
        start = state.pos
        if start not in state.cache:
            rules = self._rules_at(state)
            state.level += 1
            if not any(rule(state, True) for rule in rules):
                state.pos = start + 1
            state.level -= 1
            if state.level >= state.md.options["maxNesting"]:
                state.pos = state.posMax
            state.cache[start] = state.pos
        state.pos = state.cache[start]

    def tokenize(self, state: StateInline) -> None:
        """Make the tokens of what is being read."""
        end = state.posMax
        while state.pos < end:
            for rule in self._rules_at(state):
                if rule(state, False):
                    break
            else:
                state.append_pending(state.src[state.pos])
                state.pos += 1
        if state.pending:
            state.pushPending()

    def parse(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> list[Token]:
        """Return the tokens of a text."""
        state = PlacedState(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class LinkHelpers:
    """markdown-it's helpers for links, with a search for the end of a label that is linear in the text.

    The library's own search starts anew at every bracket inside a bracket: 200,000 of them take it half a minute.
    """

    parseLinkDestination = staticmethod(parseLinkDestination)  # noqa: N815 - the library's name
    parseLinkTitle = staticmethod(parseLinkTitle)  # noqa: N815 - the library's name

    @staticmethod
    def parseLinkLabel(state: PlacedState, start: int, disableNested: bool = False) -> int:  # noqa: N802, N803
        """Return where the label that begins at `start` ends; -1 where it does not, or holds a link and must not."""
        key = (start, disableNested)
        if key not in state.labels:
            state.labels[key] = _label_end(state, start, disableNested)
        end = state.labels[key]
        return end if end < state.posMax else -1


def _label_end(state: PlacedState, start: int, disable_nested: bool) -> int:
    """Return the end of a label, found as markdown-it finds it, but known ends of inner labels are not looked for again."""
    before, state.pos, level = state.pos, start + 1, 1
    try:
        while state.pos < state.posMax:
            marker, position = state.src[state.pos], state.pos
            level -= marker == "]"
            if not level:
                return position
            state.md.inline.skipToken(state)
            if marker == "[" and state.pos == position + 1:  # text, not the beginning of a link
                inner = state.labels.get((position, disable_nested))
                if inner == -1:
                    return -1
                level += inner is None
                state.pos = state.pos if inner is None else inner + 1
            elif marker == "[" and disable_nested:
                return -1
        return -1
    finally:
        state.pos = before


def _matched(
    state: StateInline, silent: bool, kind: str, end: int, content: str = "", **facts: object
) -> bool:
    """Push a token that ends at `end`; return False if that is beyond the text being read."""
    if end > state.posMax:
        return False
    if not silent:
        token = state.push(kind, "", 0)
        token.content = content
        token.meta |= facts
    state.pos = end
    return True


def _math(state: StateInline, silent: bool) -> bool:
    """Read formulas between dollars, brackets and in environments; those of GitHub in ticks, and with doubled backslashes."""
    src, pos = state.src, state.pos
    if src[pos] not in "$\\" or not isinstance(state, PlacedState):
        return False
    if found := _TICKED_MATH.match(src, pos):
        return _matched(state, silent, "latex", found.end(), found.group(2), display=False)
    opening = src[pos : pos + 3]
    if opening in _DOUBLED:
        closing, display = _DOUBLED[opening]
        end = state.find(closing, pos + 3)
        if end >= 0:
            return _matched(state, silent, "latex", end + 3, src[pos + 3 : end], display=display)
        return False
    if found := _REFERENCE.match(src, pos):
        return _matched(state, silent, "reference", found.end(), found.group())
    match = OPENING.match(src, pos)
    region = state.region(match) if match else None
    if match is None or region is None or region == "unclosed":
        if match and region == "unclosed" and not silent and match.group() not in _ESCAPES:
            state.env.setdefault("unclosed", {})[pos] = match.group()
        return False
    end = region.end
    if match.group() == "\\[" and _ESCAPED.fullmatch(src, pos, end):
        return False
    if region.display and (label := _EQUATION_LABEL.match(src, end)):
        end = label.end()
    return _matched(state, silent, "math", end, region=region)


def _role(state: StateInline, silent: bool) -> bool:
    """Read a role of MyST: a name in braces and its text in ticks."""
    if state.src[state.pos] != "{" or not isinstance(state, PlacedState):
        return False
    if found := _ROLE.match(state.src, state.pos):
        close = state.find(found.group(2), found.end())
        if close < 0:
            return False
        content = state.src[found.end() : close]
        return _matched(
            state,
            silent,
            "role",
            close + len(found.group(2)),
            content,
            name=found.group(1),
            inner=found.end(),
        )
    hidden = _ATTRIBUTES.match(state.src, state.pos) or _SHORTCODE.match(state.src, state.pos)
    return hidden is not None and _matched(state, silent, "hidden", hidden.end())


def _bracket(state: StateInline, silent: bool) -> bool:
    """Read links of wikis, references to footnotes, citations, the marks of tasks, and spans with attributes."""
    src, pos = state.src, state.pos
    if src[pos] not in "[!]" or not isinstance(state, PlacedState):
        return False
    if src[pos] == "]":
        return pos in state.closers and _matched(state, silent, "hidden", state.closers[pos])
    if found := _WIKI.match(src, pos):
        page, alias = found.group(2).strip(), (found.group(3) or "").strip()
        inner = found.start(3) if alias else found.start(2)
        return _matched(
            state, silent, "wiki", found.end(), alias, page=page, embed=bool(found.group(1)), inner=inner
        )
    if pos == 0 and (found := _TASK.match(src)):
        return _matched(state, silent, "hidden", found.end())
    if found := _FOOTNOTE.match(src, pos):
        return _matched(state, silent, "hidden", found.end())
    if (found := _CITATION.match(src, pos)) and not _is_defined(state, found):
        return _matched(state, silent, "citation", found.end(), found.group())
    if (found := _SPAN.match(src, pos)) and (attributes := _ATTRIBUTES.match(src, found.end())):
        state.closers[found.end() - 1] = attributes.end()
        return _matched(state, silent, "hidden", pos + 1)
    return False


def _is_defined(state: StateInline, found: re.Match[str]) -> bool:
    """Return whether brackets with `@` name a link that the text defines: `[@scope/package]: address`."""
    label = _LABEL.match(state.src, found.end())
    names = (found.group()[1:-1], label[1] if label else "")
    defined = state.env.get("references", {})
    return any(normalizeReference(name) in defined for name in names if name)


def _at_sign(state: StateInline, silent: bool) -> bool:
    """Read a cross-reference of Quarto."""
    src, pos = state.src, state.pos
    if src[pos] != "@" or (pos and (src[pos - 1].isalnum() or src[pos - 1] in "\\_")):
        return False
    found = _CROSS_REFERENCE.match(src, pos)
    return found is not None and _matched(state, silent, "citation", found.end(), found.group())


def _caret(state: StateInline, silent: bool) -> bool:
    """Read the id of a block at its end, and the mark of a footnote in the line."""
    src, pos = state.src, state.pos
    if src[pos] != "^":
        return False
    if src.startswith("^[", pos):
        return _matched(state, silent, "hidden", pos + 1)
    if pos and not src[pos - 1].isspace():
        return False
    found = _BLOCK_ID.match(src, pos)
    return found is not None and _matched(state, silent, "hidden", found.end())


def _percent(state: StateInline, silent: bool) -> bool:
    """Read a comment of Obsidian."""
    if not state.src.startswith("%%", state.pos) or not isinstance(state, PlacedState):
        return False
    close = state.find("%%", state.pos + 2)
    return close >= 0 and _matched(state, silent, "hidden", close + 2)


def _highlight(state: StateInline, silent: bool) -> bool:
    """Read `==highlighted==`: the marks go, the text stays."""
    src, pos = state.src, state.pos
    if not src.startswith("==", pos) or not isinstance(state, PlacedState):
        return False
    if pos in state.closers:
        return _matched(state, silent, "hidden", state.closers[pos])
    following = src[pos + 2 : pos + 3]
    if not following or following.isspace() or following == "=":
        return False
    close = state.find("==", pos + 2)
    if close < 0 or src[close - 1].isspace():
        return False
    state.closers[close] = close + 2
    return _matched(state, silent, "hidden", pos + 2)


def _element(state: StateInline, silent: bool) -> bool:
    """Read an element whose text is not Markdown, or says together with its tags what it is."""
    if state.src[state.pos] != "<" or not isinstance(state, PlacedState):
        return False
    found = _ELEMENT.match(state.src, state.pos)
    if found is None or (found.group(1).lower() == "span" and not _FORMULA_SPAN.search(found.group())):
        return False  # the text in other spans is Markdown
    closing = f"</{found.group(1)}>"
    close = state.find(closing, found.end())
    if close < 0:
        return False
    end = close + len(closing)
    return _matched(state, silent, "element", end, state.src[state.pos : end])


_RULES: dict[str, tuple[str, _Rule]] = {
    "math": ("$\\", _math), "role": ("{", _role), "bracket": ("[!]", _bracket), "at_sign": ("@", _at_sign),
    "caret": ("^", _caret), "percent": ("%", _percent), "highlight": ("=", _highlight),
    "element": ("<", _element),
}  # fmt: skip
"""Our rules, each with the signs with which it can begin."""
_BEGINS = {name: signs for name, (signs, _) in _RULES.items()} | {
    "text": "",
    "linkify": "",
    "newline": "\n",
    "escape": "\\",
    "backticks": "`",
    "strikethrough": "~",
    "emphasis": "*_",
    "link": "[",
    "image": "!",
    "autolink": "<",
    "html_inline": "<",
    "entity": "&",
}
"""The characters that end a run of text because a rule can begin there, by rule; a rule that is not listed can begin anywhere."""
