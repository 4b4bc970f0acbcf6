"""HTML as posts hold it: a tolerant, linear tokeniser that keeps source offsets and expands nothing.

Mathematics is found as MathJax finds it, between delimiters and outside code, and where a page carries it already
marked: `math-container` elements, `<math>`, `<script type="math/tex">`, pages rendered by MathJax, KaTeX or
MediaWiki.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import NamedTuple

from mathamr.core.listing import names
from mathamr.posts.body.html import BLOCKS, INLINE
from mathamr.posts.formats.html.nesting import Nesting
from mathamr.posts.formats.html.typeset import as_latex, is_typeset
from mathamr.posts.markup.delimiters import strip_punctuation
from mathamr.posts.markup.piece import Note, Piece, PieceRun
from mathamr.posts.markup.plain import inline

TOKEN = re.compile(
    r"""(?P<text>[^<&]++)
    |<span\ class="math-container"(?:\ id="(?P<id>[^"<>]*)")?>(?P<math>[^<]*+)</span>
    |(?P<tag></?[a-zA-Z](?:[\w:-]|\.(?=\w))*+(?:
        \s(?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+
        (?:"[^"]{0,2000}+"(?=[\s/>])(?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+){0,8}+  # few: a tag never closed is tried at each `<`
        |/)?>)
    |(?P<comment><!--(?s:.*?)(?:-->|\Z)|<[!?][^<>]*+>)
    |(?P<entity>&(?:\#(?:\d{1,7}|[xX][0-9a-fA-F]{1,6});?|[a-zA-Z][a-zA-Z0-9]{1,31};?))
    |(?P<stray>[<&])""",
    re.X,
)
_CONTAINER = re.compile(r'<span class="math-container"(?: id="([^"<>]*)")?>([^<]*)</span>')
_NAME = re.compile(r"</?([^\s/>]+)")
_ATTRIBUTE = re.compile(r"""([^\s"'=<>/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
_ANY_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<!--[^<>]*-->")
_ANNOTATION = re.compile(r"<(?:\w+:)?annotation\s(?=[^<>]*x-tex)[^<>]*+>([^<]*)<", re.I)
_STYLED = re.compile(r"\{\s*\\(display|text)style(?![A-Za-z])\s*+(.*)\}\s*\Z", re.S)

BREAKS = {
    **dict.fromkeys(
        ["p", "div", "center", "form", "fieldset", "figure", "address", "body", "html"], "paragraph"
    ),
    **dict.fromkeys(
        ["article", "section", "main", "header", "footer", "aside", "nav", "details"], "paragraph"
    ),
    **dict.fromkeys(
        ["h1", "h2", "h3", "h4", "h5", "h6", "title", "caption", "figcaption", "legend"], "heading"
    ),
    **dict.fromkeys(["li", "ul", "ol", "dl", "dt", "dd", "menu", "option", "summary"], "item"),
    **dict.fromkeys(["table", "thead", "tbody", "tfoot", "tr", "td", "th"], "cell"),
    "blockquote": "quote",
    "hr": "rule",
}
_ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "ol": ("start",), "td": ("colspan", "rowspan"), "th": ("colspan", "rowspan"), "abbr": ("title",), "dfn": ("title",),
}  # fmt: skip
"""Attributes that a page shows."""
_SCRIPTS = {"sup": "^", "sub": "_"}
_BASE = re.compile(r"[^\W_](?:</\w{1,6}>)*\Z|\)\Z")
_ORDINAL = re.compile(r"\s*(?:st|nd|rd|th)\b")
_RAW = frozenset(["script", "style", "textarea", "noscript", "xmp"])
_HIDDEN = frozenset(["head", "template", "svg", "iframe", "object", "select", "button", "mjx-math", "canvas"])
_HIDDEN_CLASSES = names("""
    katex-html MathJax MathJax_Display MathJax_Preview MathJax_SVG MathJax_CHTML MJX_Assistive_MathML
    """)
_FALLBACK_CLASSES = frozenset(["mwe-math-fallback-image-inline", "mwe-math-fallback-image-display"])
_IMAGE_MATH_CLASSES = frozenset(["latex", "tex", "math", "formulaInl", "formulaDsp"])
_MATH_CLASSES = frozenset(["math-container", "math", "arithmatex", "SimpleMath"])
_LATEX_ATTRIBUTES = ("data-raw-text", "data-latex", "data-tex")
_DEFAULT_ALT = frozenset(["enter image description here", "image", "alt text", "img"])
_DELIMITED = (("$$", "$$", True), ("\\[", "\\]", True), ("\\(", "\\)", False), ("$", "$", False))


def _strip_delimiters(latex: str, *, display: bool) -> tuple[str, bool]:
    """Return LaTeX without its delimiters, and whether it is displayed."""
    for left, right, displays in _DELIMITED:
        if latex.startswith(left) and latex.endswith(right) and len(latex) >= len(left) + len(right):
            return latex[len(left) : -len(right)], display or displays
    return latex, display


class Tag(NamedTuple):
    """An element's opening or closing tag."""

    name: str
    closes: bool
    empty: bool
    attributes: dict[str, str]

    @classmethod
    def parse(cls, source: str) -> Tag:
        """Read a tag from its source, brackets included."""
        match = _NAME.match(source)
        name = match.group(1).lower() if match else ""
        closes = source[1] == "/"
        attributes: dict[str, str] = {}
        if not closes and match and "=" in source:
            for key, *values in _ATTRIBUTE.findall(source, match.end(), len(source) - 1):
                value = next(filter(None, values), "")
                attributes.setdefault(key.lower(), unescape(value) if "&" in value else value)
        return cls(name, closes, source.endswith("/>"), attributes)

    @property
    def classes(self) -> frozenset[str]:
        """The names in the `class` attribute."""
        return frozenset(self.attributes.get("class", "").split())


def pieces(text: str, note: Note) -> Iterator[Piece]:
    """Yield the pieces of an HTML text; anything is accepted, and nothing is lost but what a browser would not show."""
    return _Reader(text, note).pieces()


class _Reader:
    """One pass over one text: `_run` is the inline text since the last break."""

    def __init__(self, text: str, note: Note) -> None:
        self._text = text
        self._note = note
        self._run = PieceRun()
        self._position = 0
        self._unclosed: set[str] = set()
        self._nesting: dict[str, Nesting] = {}
        self._line_break = -1
        self._display = False

    def pieces(self) -> Iterator[Piece]:
        text, note = self._text, self._note
        tags: dict[str, Tag] = {}
        while self._position < len(text):
            for match in TOKEN.finditer(text, self._position):
                kind = match.lastgroup
                start, end = match.span()
                self._position = end
                if kind == "text":
                    self._run.add(match.group(), start, end)
                elif kind == "math":
                    content = match.group("math")
                    self._hold(
                        self._contained(content, match.end("math"), start, end, match.group("id")), start, end
                    )
                elif kind == "entity":
                    self._run.add(unescape(match.group()), start, end)
                elif kind == "stray":
                    self._run.add(match.group(), start, end)
                elif kind == "tag":
                    source = match.group()
                    tag = tags.get(source)
                    if tag is None:
                        tag = Tag.parse(source)
                        if len(source) < 20:
                            tags[source] = tag
                    if tag.name in BREAKS:
                        yield from self._flush()
                        yield Piece("break", start, end, BREAKS[tag.name])
                        if tag.name in BLOCKS:
                            yield _element(tag, start, end)
                        if tag.attributes:
                            self._marked_element(tag, start, end)
                    elif tag.name == "pre" and not tag.closes:
                        yield from self._flush()
                        yield Piece("break", start, start, "code")
                        yield from self._code(tag, end)
                        yield Piece("break", self._position, self._position, "code")
                    elif tag.name == "br" and self._follows_line_break(start, end):
                        yield from self._flush()
                        yield Piece("break", start, end, "paragraph")
                    else:
                        if not tag.closes:
                            self._inline_tag(tag, start, end)
                        if tag.name in INLINE and (tag.closes or tag.name != "a"):
                            self._run.mark(_element(tag, start, end))
                    if self._position != end:
                        break
                elif text.startswith("<!--", start) and not text.endswith("-->", start, end):
                    note("unclosed comment", start)
        yield from self._flush()

    def _flush(self) -> Iterator[Piece]:
        if self._run:
            run, self._run = self._run, PieceRun()
            yield from inline(run, self._note)

    def _follows_line_break(self, start: int, end: int) -> bool:
        before, self._line_break = self._line_break, end
        return before >= 0 and not self._text[before:start].strip()

    def _inline_tag(self, tag: Tag, start: int, end: int) -> None:
        name = tag.name
        if name == "br":
            self._run.add("\u2028", start, end)
        elif name in _SCRIPTS:
            if _BASE.search(self._text, max(0, start - 20), start) and not _ORDINAL.match(self._text, end):
                self._run.add(_SCRIPTS[name], start, end)
        elif name == "code":
            self._run.hold(list(self._code(tag, end)), start, self._position)
        elif name == "a":
            if target := tag.attributes.get("href"):
                self._run.hold([Piece("link", start, end, target)], start, end)
        elif name == "img":
            self._image(tag, start, end)
        elif name == "math" or name.endswith(":math"):
            self._math(tag, start, end)
        elif name in _RAW:
            self._raw(tag, start, end)
        elif name in _HIDDEN:
            self._hide(tag, end)
        elif tag.attributes:
            self._marked_element(tag, start, end)

    def _marked_element(self, tag: Tag, start: int, end: int) -> None:
        """Read an element whose class says that it is a formula, or a picture of one that is given elsewhere."""
        classes = tag.classes
        if "katex-display" in classes or tag.attributes.get("display") == "true":
            self._display = True
        if latex := next(filter(None, map(tag.attributes.get, _LATEX_ATTRIBUTES)), None):
            close = self._balance(tag.name, end)
            if close is not None:  # what it shows is a picture of the formula
                self._position = close[1]
                formula = self._formula(latex, start, close[1], display=tag.name == "div")
                self._hold(formula, start, close[1])
            return
        if tag.name in ("span", "div") and classes & _MATH_CLASSES:
            self._math_element(tag, classes, start, end)
        elif classes & _HIDDEN_CLASSES and tag.name in ("span", "div", "p"):
            self._hide(tag, end)

    def _code(self, tag: Tag, end: int) -> Iterator[Piece]:
        close = self._closing(tag.name, end)
        if close is None:
            return
        self._position = close.end()
        done = end
        for match in _CONTAINER.finditer(self._text, end, close.start()):
            yield from self._code_piece(done, match.start())
            yield from self._contained(match.group(2), match.end(2), *match.span(), match.group(1))
            done = match.end()
        yield from self._code_piece(done, close.start())

    def _code_piece(self, start: int, end: int) -> Iterator[Piece]:
        code = _strip_tags(self._text[start:end])
        if code.strip():
            yield Piece("code", start, end, code)

    def _image(self, tag: Tag, start: int, end: int) -> None:
        alt = tag.attributes.get("alt", "").strip()
        classes = tag.classes
        if classes & _FALLBACK_CLASSES:
            return
        if not alt or alt.lower() in _DEFAULT_ALT:
            self._run.mark(Piece("image", start, end, attributes=_attributes(tag, "src")))
        elif classes & _IMAGE_MATH_CLASSES:
            latex, display = _strip_delimiters(alt, display=not classes.isdisjoint(("display", "formulaDsp")))
            self._hold(self._formula(latex, start, end, display=display), start, end)
        else:
            image = Piece("image", start, end, alt, attributes=_attributes(tag, "src"))
            self._run.hold([image], start, end)

    def _math(self, tag: Tag, start: int, end: int) -> None:
        close = self._closing(tag.name, end)
        if close is None:
            return
        self._position = close.end()
        mathml = self._text[start : close.end()]
        annotation = _ANNOTATION.search(mathml)
        attributes = tag.attributes
        latex = unescape(annotation.group(1)) if annotation else attributes.get("alttext", "")
        display = attributes.get("display") == "block" or attributes.get("mode") == "display" or self._display
        self._display = False
        styled = _STYLED.match(latex.strip())
        if styled and _is_one_group(latex.strip()):
            latex = styled.group(2)
        formula = self._formula(
            latex, start, close.end(), attributes.get("id"), display=display, mathml=mathml
        )
        self._hold(formula, start, close.end())

    def _raw(self, tag: Tag, start: int, end: int) -> None:
        close = self._closing(tag.name, end)
        if close is None:
            return
        self._position = close.end()
        kind = tag.attributes.get("type", "").lower()
        content = self._text[end : close.start()]
        if tag.name == "script" and kind.startswith("math/tex"):
            self._hold(
                self._formula(content, start, close.end(), display="display" in kind), start, close.end()
            )
        elif tag.name == "script" and kind.startswith("math/mml"):
            self._hold(self._formula("", start, close.end(), mathml=content.strip()), start, close.end())
        elif tag.name == "textarea":
            self._run.add(unescape(content), end, close.start())

    def _math_element(self, tag: Tag, classes: frozenset[str], start: int, end: int) -> None:
        close = self._balance(tag.name, end)
        if close is None:
            return
        content = self._text[end : close[0]]
        marked = not classes.isdisjoint(("math-container", "inline", "display", "SimpleMath"))
        if "<math" in content or not (marked or content.lstrip().startswith(("$", "\\"))):
            return
        self._position = close[1]
        formula = self._contained(
            content, close[0], start, close[1], tag.attributes.get("id"), display="display" in classes
        )
        self._hold(formula, start, close[1])

    def _contained(
        self, content: str, content_end: int, start: int, end: int, id: str | None, *, display: bool = False
    ) -> list[Piece]:
        """Return the formula of an element that holds nothing else, in its delimiters or bare."""
        if is_typeset(content):
            return self._formula(as_latex(content), start, end, id, display=display, content_end=content_end)
        latex = (_strip_tags(content) if "&" in content or "<" in content else content).strip()
        latex, display = _strip_delimiters(latex, display=display)
        return self._formula(latex, start, end, id, display=display, content_end=content_end)

    def _formula(
        self,
        latex: str,
        start: int,
        end: int,
        id: str | None = None,
        *,
        display: bool = False,
        mathml: str | None = None,
        content_end: int | None = None,
    ) -> list[Piece]:
        """Return a formula as a piece, followed by the punctuation that ended it; nothing where it is empty."""
        bare, mark = strip_punctuation(latex)
        if not (bare or mathml or id):
            self._note("empty formula", start)
            return []
        found = [Piece("formula", start, end, bare, display, id, mathml)]
        if mark is not None:
            place = self._text.rfind(latex[mark], start, content_end or end)
            found.append(Piece("text", place, place + 1, latex[mark]))
        return found

    def _hold(self, formula: list[Piece], start: int, end: int) -> None:
        if formula:
            self._run.hold(formula, start, end, f"${formula[0].text}$")

    def _hide(self, tag: Tag, end: int) -> None:
        if not tag.empty and (close := self._balance(tag.name, end)):
            self._position = close[1]

    def _closing(self, name: str, position: int) -> re.Match[str] | None:
        if name in self._unclosed:
            return None
        close = re.compile(rf"</{re.escape(name)}\s*>", re.I).search(self._text, position)
        if close is None:
            self._mark_unclosed(name, position)
        return close

    def _balance(self, name: str, position: int) -> tuple[int, int] | None:
        """Return where the closing tag of an element that may contain others of its name begins and ends."""
        if name in self._unclosed:
            return None
        if name not in self._nesting:
            self._nesting[name] = Nesting(self._text, name, position)
        close = self._nesting[name].closing(position)
        if close is None:
            self._mark_unclosed(name, position)
        return close

    def _mark_unclosed(self, name: str, position: int) -> None:
        self._unclosed.add(name)
        self._note(f"unclosed <{name}>", position)


def _element(tag: Tag, start: int, end: int) -> Piece:
    """Return the beginning or the end of an element as a piece."""
    if tag.closes:
        return Piece("close", start, end, tag.name)
    return Piece("open", start, end, tag.name, attributes=_attributes(tag, *_ATTRIBUTES.get(tag.name, ())))


def _attributes(tag: Tag, *names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, tag.attributes[name]) for name in names if name in tag.attributes)


def _strip_tags(source: str) -> str:
    return unescape(_ANY_TAG.sub("", source))


def _is_one_group(latex: str) -> bool:
    """Return whether the brace that opens the text is the one that closes it."""
    depth = 0
    for match in re.finditer(r"\\.|[{}]", latex, re.S):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if depth == 0 and match.group() == "}":
            return match.end() == len(latex)
    return False
