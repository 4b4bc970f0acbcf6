"""`Body`: the only writer of a post's text as HTML. What it writes is well formed, whatever order its calls come in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from html import escape

from mathamr.core.listing import names

HEADINGS = names("h1 h2 h3 h4 h5 h6")
BLOCKS = HEADINGS | names("ul ol li dl dt dd blockquote pre table caption thead tbody tfoot tr th td")
"""Elements of their own line."""
INLINE = names("em strong b i u s sub sup small kbd samp var q cite abbr dfn ins del mark a")
"""Elements of running text."""
DEEPEST = 60
"""Elements within elements; what is nested more deeply is written without its elements."""
LINE = "\u2028"
"""Stands for a line break within a paragraph."""

_PARENTS: Mapping[str, tuple[str, ...]] = {
    "li": ("ul", "ol"),
    **dict.fromkeys(["dt", "dd"], ("dl",)),
    **dict.fromkeys(["td", "th"], ("tr",)),
    "tr": ("table", "thead", "tbody", "tfoot"),
    **dict.fromkeys(["caption", "thead", "tbody", "tfoot"], ("table",)),
}
"""Where an element stands; the first of these is opened if none is open."""
_ONLY_ELEMENTS = names("ul ol dl table thead tbody tfoot tr")
"""Elements that hold no text themselves."""
_KEPT_EMPTY = names("td th li dt dd")
_SIGNS = {"sup": "^", "sub": "_"}
"""What is read in front of an exponent or an index, and not shown where it is raised or lowered."""


class Body:
    """Writes text, elements and HTML in the order of the source; what is missing around them is added, what is open is closed.

    >>> body = Body()
    >>> body.text("Let "); body.open("em"); body.text("x<y"); body.paragraph(); body.open("li"); body.text("a")
    >>> body.html()
    '<p>Let <em>x&lt;y</em></p>\\n<ul><li>a</li></ul>'
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._open: list[tuple[str, int]] = []
        """The elements that are open, each with the number of its part."""
        self._count: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._has_gap = False
        """True if a paragraph has ended within an element that holds text itself."""

    def text(self, words: str) -> None:
        """Write running text; blanks between blocks and at the beginning of one are left out."""
        if not self._is_running():
            words = words.lstrip()
        if words:
            self.add(escape(words, quote=False).replace(LINE, "<br>"))

    def add(self, html: str) -> None:
        """Write finished HTML into the running text."""
        while self._block() in _ONLY_ELEMENTS:
            self._close_last()
        if self._block() in ("", "blockquote") or self._has_gap:
            self._begin("p")
            self._has_gap = False
        self._parts.append(html)

    def last(self) -> str:
        """Return what was written last."""
        return self._parts[-1] if self._parts else ""

    def replace_last(self, html: str) -> None:
        """Write something else in place of what was written last."""
        self._parts[-1] = html

    def paragraph(self) -> None:
        """End a paragraph, and what is open in it."""
        self._end_running_text()
        if self._open and self._block() in ("li", "td", "th", "dd"):
            self._has_gap = self._open[-1][1] < len(self._parts) - 1

    def rule(self) -> None:
        """Write a line across."""
        self._end_running_text()
        while self._block() in _ONLY_ELEMENTS:
            self._close_last()
        self._parts.append("<hr>")

    def open(self, name: str, attributes: Mapping[str, str] | None = None) -> None:
        """Begin an element; one in which text stands ends the paragraph before it."""
        if len(self._open) >= DEEPEST:
            self._left_out[name] += 1
            return
        if name in BLOCKS:
            self._end_running_text()
            self._make_room(name)
        elif name in INLINE:
            if self.last() == _SIGNS.get(name):
                self._parts.pop()
            self.add("")
            self._parts.pop()
        else:
            return
        self._begin(name, attributes)

    def close(self, name: str) -> None:
        """End an element, and what is open in it; nothing happens if it is not open."""
        if self._left_out[name]:
            self._left_out[name] -= 1
        elif name in INLINE:
            if name in self._running():
                while self._close_last() != name:
                    pass
        elif self._count[name]:
            while self._close_last() != name:
                pass
            self._has_gap = False

    def html(self) -> str:
        """Return all that was written; what is open is closed."""
        while self._open:
            self._close_last()
        return "".join(self._parts).strip()

    def _begin(self, name: str, attributes: Mapping[str, str] | None = None) -> None:
        written = "".join(f' {key}="{escape(value)}"' for key, value in (attributes or {}).items())
        self._open.append((name, len(self._parts)))
        self._count[name] += 1
        self._parts.append(f"<{name}{written}>")

    def _close_last(self) -> str:
        name, begun = self._open.pop()
        self._count[name] -= 1
        is_empty = begun == len(self._parts) - 1 and name not in _KEPT_EMPTY
        if is_empty or (name == "tr" and set(self._parts[begun + 1 :]) <= {"<td>", "</td>"}):
            del self._parts[begun:]
        else:
            self._parts.append(f"</{name}>" + "\n" * (not self._open))
        return name

    def _block(self) -> str:
        """Return the element in which text would stand: a paragraph, a block, or nothing."""
        return next((name for name, _ in reversed(self._open) if name not in INLINE), "")

    def _running(self) -> list[str]:
        """Return the elements of running text that are open."""
        found: list[str] = []
        for name, _ in reversed(self._open):
            if name not in INLINE:
                break
            found.append(name)
        return found

    def _is_running(self) -> bool:
        """Return True if blanks mean something here."""
        block = self._block()
        is_fresh = bool(self._open) and self._open[-1] == (block, len(self._parts) - 1) and block != "pre"
        return not (is_fresh or self._has_gap or block in ("", "blockquote") or block in _ONLY_ELEMENTS)

    def _end_running_text(self) -> None:
        while self._open and (self._open[-1][0] in INLINE or self._open[-1][0] == "p"):
            self._close_last()

    def _make_room(self, name: str) -> None:
        """Close and open what must be around a block."""
        self._has_gap = False
        parents = _PARENTS.get(name, ())
        if parents:
            if any(self._count[each] for each in parents):
                while self._open[-1][0] not in parents:
                    self._close_last()
            else:
                self._make_room(parents[0])
                self._begin(parents[0])
        else:
            while self._block() in HEADINGS or (
                self._block() in _ONLY_ELEMENTS
                and not (name in ("ul", "ol") and self._block() in ("ul", "ol"))
            ):
                self._close_last()
