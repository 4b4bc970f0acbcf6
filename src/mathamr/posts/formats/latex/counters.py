"""The counters of LaTeX: which sets which back, and how each is shown. A counter that may have another value is shown as nothing."""

from __future__ import annotations

import re
from itertools import pairwise

MOST_COUNTERS = 1000
DEEPEST = 20
"""Counters within each other that are followed."""

_CHAPTERS = re.compile("book|report|memoir|thesis|scrreprt|mono")
_LOOK = re.compile(
    r"""\\@?(?P<style>arabic|alph|Alph|roman|Roman)\s*+(?:\{\s*+(?P<counter>[A-Za-z@]+)\s*+\}|\\c@(?P<register>[A-Za-z@]+)|(?P<own>\*))
    |\\the(?P<the>[A-Za-z]+)(?![A-Za-z@])\s*+""",
    re.X,
)
_FONTS = re.compile(
    r"\\(?:text(?:up|bf|it|rm|normal|sc|sf)|(?:up|it|sl|sc)shape|(?:md|bf)series|(?:rm|sf|tt)family|normalfont|bf|it|rm|sf"
    r"|mathrm|mathbf|ensuremath|protect|relax|hbox|mbox|unskip|,|/)(?![A-Za-z@])\s*"
)
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"),
    (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_BELOW = ("section", "subsection", "subsubsection", "paragraph", "subparagraph")
_IN_CHAPTERS = ("equation", "figure", "table")


class Counters:
    """The counters of one document, at one place of it.

    >>> counters = Counters()
    >>> counters.declare("thm", "section")
    >>> counters.step("section"), counters.step("thm"), counters.step("thm"), counters.step("section"), counters.step("thm")
    ('1', '1.1', '1.2', '2', '2.1')
    """

    def __init__(self) -> None:
        self.deepest_numbered = 3
        """The level of the deepest sections that have numbers: `secnumdepth`."""
        self.has_chapters = False
        self._values: dict[str, int] = {}
        self._looks: dict[str, str] = {"part": r"\Roman{part}"}
        self._resets: dict[str, dict[str, None]] = {}
        self._same: dict[str, str] = {}
        self._unsure: set[str] = set()
        for outer, inner in pairwise(_BELOW):
            self.declare(inner, outer)
        for level, (style, name) in enumerate(
            zip(("arabic", "alph", "roman", "Alph"), ENUMERATED, strict=True)
        ):
            self._looks[name] = f"\\{style}{{{name}}}"
            if level:
                self.reset_by(name, ENUMERATED[level - 1])

    def use_class(self, name: str) -> None:
        """Set what a class of documents says of sections; an unknown class says nothing."""
        if _CHAPTERS.search(name):
            self.use_chapters()
            self.deepest_numbered = 1 if name == "memoir" else 2 if "ams" not in name else 3

    def use_chapters(self) -> None:
        """Count sections, equations and floats within chapters."""
        if not self.has_chapters:
            self.has_chapters = True
            self.declare("section", "chapter")
            for name in _IN_CHAPTERS:
                self.reset_by(name, "chapter")

    def declare(self, name: str, outer: str = "") -> None:
        """Add a counter that is shown behind the one within which it counts."""
        if len(self._looks) < MOST_COUNTERS:
            self._looks[name] = f"\\the{outer}.\\arabic{{{name}}}" if outer else f"\\arabic{{{name}}}"
            self.reset_by(name, outer)

    def reset_by(self, inner: str, outer: str) -> None:
        """Set a counter back whenever another one steps."""
        if outer and len(self._resets) < MOST_COUNTERS:
            self._resets.setdefault(self._of(outer), {})[inner] = None

    def free(self, inner: str, outer: str) -> None:
        """Set a counter no longer back with another one, and show it alone."""
        self._resets.get(self._of(outer), {}).pop(inner, None)
        self._looks[inner] = f"\\arabic{{{inner}}}"

    def look(self, name: str, look: str) -> None:
        """Show a counter in a new way, which is given as LaTeX."""
        if len(self._looks) < MOST_COUNTERS:
            self._looks[name] = look

    def share(self, name: str, other: str) -> None:
        """Let two counters be one: `\\let\\c@equation\\c@thm`."""
        if name != other and len(self._same) < MOST_COUNTERS and self._of(other) != name:
            self._same[name] = other

    def known(self, name: str) -> bool:
        """Return whether a counter exists."""
        return name in self._looks or name in self._same or name in ("chapter", *_BELOW, *_IN_CHAPTERS)

    def step(self, name: str) -> str:
        """Step a counter, set back what counts within it, and return how it is shown."""
        own = self._of(name)
        self._values[own] = self._values.get(own, 0) + 1
        waiting = [own, *([name] if name != own else [])]
        seen: set[str] = set()
        while waiting and len(seen) < MOST_COUNTERS:
            for inner in self._resets.get(waiting.pop(), ()):
                if inner not in seen and self._of(inner) != own:
                    seen.add(inner)
                    self.put(inner, 0)
                    waiting.append(inner)
        return self.shown(name)

    def put(self, name: str, value: int) -> None:
        """Set a counter."""
        own = self._of(name)
        self._unsure.discard(own)
        if own in self._values or len(self._values) < MOST_COUNTERS:
            self._values[own] = value

    def add(self, name: str, by: int) -> None:
        """Add to a counter."""
        own = self._of(name)
        if own in self._values or len(self._values) < MOST_COUNTERS:
            self._values[own] = self._values.get(own, 0) + by

    def value(self, name: str) -> int:
        """Return the value of a counter."""
        return self._values.get(self._of(name), 0)

    def doubt(self, *names: str) -> None:
        """Show these counters no more until they are set."""
        self._unsure.update(map(self._of, names))

    def doubt_all(self) -> None:
        """Show no counter any more until it is set."""
        self.doubt("part", "chapter", *_BELOW, *_IN_CHAPTERS, *self._looks, *self._values)

    def begin_appendix(self) -> None:
        """Count the highest sections anew, with letters."""
        highest = "chapter" if self.has_chapters else "section"
        self._looks[highest] = f"\\Alph{{{highest}}}"
        self.put(highest, 0)
        self.put("section", 0)

    def shown(self, name: str, look: str = "", depth: int = 0) -> str:
        """Return how a counter is shown; empty where its value, or one that is shown with it, is not sure."""
        own = self._of(name)
        look = look or self._looks.get(name) or self._looks.get(own, "") or f"\\arabic{{{name}}}"
        if own in self._unsure or depth > DEEPEST:
            return ""
        parts: list[str] = []
        done = 0
        if (
            name in _IN_CHAPTERS
            and self.has_chapters
            and look == f"\\arabic{{{name}}}"
            and name not in self._looks
        ):
            look = (r"\thechapter." if self.value("chapter") else "") + look
        for match in _LOOK.finditer(look):
            parts.append(look[done : match.start()])
            done = match.end()
            if match["the"]:
                part = self.shown(match["the"], depth=depth + 1) if self.known(match["the"]) else ""
            else:
                counted = self._of(match["counter"] or match["register"] or name)
                part = (
                    "" if counted in self._unsure else in_style(self._values.get(counted, 0), match["style"])
                )
            if not part:
                return ""
            parts.append(part)
        shown = (
            _FONTS.sub("", "".join([*parts, look[done:]]))
            .replace("{", "")
            .replace("}", "")
            .replace("$", "")
            .strip()
        )
        return shown if "\\" not in shown and "#" not in shown and len(shown) < 40 else ""

    def _of(self, name: str) -> str:
        """Return the name under which a counter's value is kept."""
        for _ in range(DEEPEST):
            if name not in self._same:
                break
            name = self._same[name]
        return name


ENUMERATED = ("enumi", "enumii", "enumiii", "enumiv")
"""The counters of the items of lists within each other."""


def in_style(value: int, style: str) -> str:
    """Return a number in a style of LaTeX; empty where the style, or the document, has none for it.

    >>> in_style(4, "roman"), in_style(2, "Alph"), in_style(7, "arabic"), in_style(30, "alph")
    ('iv', 'B', '7', '')
    """
    if style.lower() == "alph":
        letter = chr(ord("a") + value - 1) if 1 <= value <= 26 else ""
        return letter.upper() if style == "Alph" else letter
    if style.lower() == "roman":
        written, left = "", value
        for size, letters in _ROMAN if value < 4000 else ():
            written += letters * (left // size)
            left %= size
        return written.upper() if style == "Roman" else written
    return str(value) if value >= 0 else ""
