"""The numbers that LaTeX gives to sections, theorems, equations, items and figures, found in one pass over a document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from mathamr.posts.formats.latex.definitions import TheoremStyle
from mathamr.posts.formats.latex.outline import STATEMENTS

MOST_COUNTERS = 1000
DEEPEST = 100
"""Environments in each other, and counters within each other, that are followed."""

_EQUATIONS = frozenset(["equation", "multline"])
_LINES = frozenset(["align", "gather", "flalign", "alignat", "xalignat", "eqnarray", "IEEEeqnarray"])
_FLOATS = {"figure": "figure", "wrapfigure": "figure", "table": "table", "algorithm": "algorithm"}
_LISTS = frozenset(["enumerate", "compactenum"])
_ITEM_STYLES = ("arabic", "alph", "roman", "Alph")
_WITHIN = re.compile(
    r"""\\(?P<command>numberwithin|counterwithin|counterwithout|@addtoreset)\*?\s*+(?:\[[^\[\]]{0,100}+\])?+
       \s*+\{\s*+(?P<first>[A-Za-z@]{1,60}+)\s*+\}\s*+\{\s*+(?P<second>[A-Za-z@]{1,60}+)\s*+\}
    |\\(?:re)?newcommand\*?\s*+\{?\s*+\\the(?P<counter>[A-Za-z]{1,60}+)\s*+\}?\s*+  # how a counter is shown
       \{(?P<look>[^{}\n]{0,100}+(?:\{[A-Za-z]{1,60}+\}[^{}\n]{0,40}+){0,4}+)\}
    |\\documentclass\s*+(?:\[[^\[\]]{0,1000}+\])?+\s*+\{\s*+(?P<class>[^{}]{1,100}+)\}""",
    re.X,
)
_MARK = re.compile(
    r"""\\(?P<section>part|chapter|section|subsection|subsubsection)(?P<star>\*?)\s*+(?:\[[^\[\]]{0,1000}+\])?+\s*+\{
    |\\(?P<edge>begin|end)\s*+\{\s*+(?P<name>[A-Za-z@][A-Za-z0-9@]*+)(?P<starred>\*?)\s*+\}
       (?P<option>\s*+\[[^\[\]\n]{0,200}+\])?+  # the options of a list say how its items are numbered
    |\\label\s*+(?:\[[^\[\]]{0,100}+\])?+\s*+\{(?P<label>[^{}]{1,300}+)\}
    |\\(?P<word>item|caption|appendix|nonumber|notag)(?![A-Za-z])
    |\\tag\*?\s*+\{(?P<tag>[^{}]{0,100}+(?:\{[^{}]{0,100}+\}[^{}]{0,100}+)?+)\}
    |(?P<newline>\\\\)  # a row of an array of equations
    |\\(?P<set>setcounter|addtocounter|stepcounter|refstepcounter)\s*+\{\s*+(?P<which>[A-Za-z@]{1,60}+)\s*+\}
       (?:\s*+\{\s*+(?P<by>-?\d{1,6}+)\s*+\})?+
    |\\.""",
    re.X,
)
_LOOK = re.compile(r"\\(arabic|alph|Alph|roman|Roman)\s*(?:\*|\{\s*([A-Za-z@]+)\s*\})|\\the([A-Za-z]+)\b")
_SHORT_LOOK = re.compile(
    r"\A\s*+(?:\[\s*+)?([^\[\]=A-Za-z0-9]{0,4})([1aAiI])([^\[\]=A-Za-z0-9]{0,4})\s*+(?:\]\s*+)?\Z"
)
_ITEM_LABEL = re.compile(r"label\s*=\s*\{?((?:[^{},\[\]]|\{[^{}]*\})*)")
_SHORT = {"1": "arabic", "a": "alph", "A": "Alph", "i": "roman", "I": "Roman"}
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"),
    (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


class Numbered(NamedTuple):
    """What a label leads to: the kind of thing, and its number."""

    kind: str
    number: str


@dataclass
class CounterSettings:
    """What a document and its styles say about counters, in the order in which LaTeX reads it."""

    within: dict[str, str] = field(default_factory=dict)
    looks: dict[str, str] = field(default_factory=dict)
    has_chapters: bool = False

    def read(self, text: str) -> None:
        """Add the settings of a text."""
        for match in _WITHIN.finditer(text):
            if match["class"]:
                self.has_chapters = bool(re.search("book|report|memoir|thesis|scrreprt", match["class"]))
                if self.has_chapters:
                    for counter in ("equation", "figure", "table"):
                        self.within.setdefault(counter, "chapter")
            elif match["counter"]:
                if len(self.looks) < MOST_COUNTERS:
                    self.looks[match["counter"]] = match["look"]
            elif match["command"] == "counterwithout":
                if self.within.get(match["first"]) == match["second"]:
                    del self.within[match["first"]]
            elif len(self.within) < MOST_COUNTERS:
                self.within[match["first"]] = match["second"]


class Numbering:
    """One pass over the text of a document: `at` has the numbers of sections and theorems by where they begin,
    `labels` those of all that has a label."""

    def __init__(self, text: str, theorems: Mapping[str, TheoremStyle], settings: CounterSettings) -> None:
        self.at: dict[int, str] = {}
        self.labels: dict[str, Numbered] = {}
        self._theorems, self._looks = theorems, settings.looks
        self._within = _section_parents(has_chapters="\\chapter" in text or settings.has_chapters) | {
            name: style.within for name, style in theorems.items() if style.within and not style.like
        }
        self._within |= settings.within
        self._values: dict[str, int] = {}
        self._inner: dict[str, list[str]] = {}
        for inner, outer in self._within.items():
            self._inner.setdefault(outer, []).append(inner)
        self._appendix = ""
        self._now = Numbered("", "")
        self._open: list[tuple[str, Numbered, _Lines | _Items | None]] = []
        self._subequation: list[int] = []
        self._read(text)

    def _read(self, text: str) -> None:
        document = text.find("\\begin{document}")
        for match in _MARK.finditer(text, max(0, document)):
            if match["section"]:
                self._section(match)
            elif match["edge"] == "begin":
                self._begin(match)
            elif match["edge"]:
                self._end(match["name"] + match["starred"])
            elif match["label"]:
                self._label(match["label"].strip())
            elif match["newline"]:
                if (lines := self._lines()) is not None and not lines.single:
                    lines.end(self)
            elif match["tag"] is not None:
                if (lines := self._lines()) is not None:
                    lines.tag = match["tag"].strip("$ ")
                    lines.name(self, Numbered("equation", lines.tag))
            elif match["set"]:
                self._set(match)
            elif match["word"]:
                self._word(match["word"])

    # -- counters

    def _step(self, counter: str) -> str:
        self._values[counter] = self._values.get(counter, 0) + 1
        waiting = list(self._inner.get(counter, ()))
        seen: set[str] = set()
        while waiting and len(seen) < MOST_COUNTERS:
            inner = waiting.pop()
            if inner not in seen:
                seen.add(inner)
                self._values[inner] = 0
                waiting += self._inner.get(inner, ())
        return self._shown(counter)

    def _shown(self, counter: str, depth: int = 0) -> str:
        value = self._values.get(counter, 0)
        look = self._looks.get(counter)
        if look is not None and depth < 10:
            shown = _LOOK.sub(
                lambda match: (
                    self._shown(match[3], depth + 1)
                    if match[3]
                    else _number(self._values.get(match[2] or counter, 0), match[1])
                ),
                look,
            )
            if "\\" not in shown and len(shown) < 40:
                return shown.replace("{", "").replace("}", "")
        own = _number(value, "Alph") if counter == self._appendix else str(value)
        own = _number(value, "Roman") if counter == "part" else own
        outer = self._within.get(counter)
        if outer is None or outer == "part" or depth >= DEEPEST or outer == counter:
            return own
        if outer == "chapter" and not self._values.get("chapter"):
            return own
        return f"{self._shown(outer, depth + 1)}.{own}"

    def _set(self, match: re.Match[str]) -> None:
        counter, by = match["which"], int(match["by"] or 0)
        if "step" in match["set"]:
            self._step(counter)
        elif len(self._values) < MOST_COUNTERS:
            self._values[counter] = by + (
                self._values.get(counter, 0) if match["set"] == "addtocounter" else 0
            )

    # -- what has numbers

    def _section(self, match: re.Match[str]) -> None:
        if match["star"]:
            return
        name = match["section"]
        self._now = Numbered(name.removeprefix("sub").removeprefix("sub"), self._step(name))
        self.at[match.start()] = self._now.number
        self._open.clear()
        self._subequation.clear()

    def _begin(self, match: re.Match[str]) -> None:
        name, starred = match["name"], match["starred"]
        before = self._now
        state: _Lines | _Items | None = None
        style = self._theorems.get(name + starred)
        if style is not None and style.numbered:
            self._now = Numbered(style.shown, self._step(_counter(name + starred, self._theorems)))
            self.at[match.start()] = self._now.number
        elif style is not None or name in STATEMENTS:
            self._now = Numbered(name, "")
        elif name in _LINES | _EQUATIONS and not starred:
            state = _Lines(single=name in _EQUATIONS)
        elif name == "subequations":
            self._now = Numbered("equation", self._step("equation"))
            self._subequation.append(0)
        elif name in _LISTS:
            depth = sum(isinstance(each[2], _Items) for each in self._open)
            state = _Items(*_item_look(match["option"] or "", depth))
        if len(self._open) < DEEPEST:
            self._open.append((name + starred, before, state))

    def _end(self, name: str) -> None:
        place = next((n for n in range(len(self._open) - 1, -1, -1) if self._open[n][0] == name), None)
        if place is None:
            return
        _, before, state = self._open[place]
        if isinstance(state, _Lines):
            state.end(self)
        del self._open[place:]
        if name == "subequations" and self._subequation:
            self._subequation.pop()
        if name not in ("center", "minipage"):
            self._now = before

    def _word(self, word: str) -> None:
        if word == "item":
            items = next((each[2] for each in reversed(self._open) if isinstance(each[2], _Items)), None)
            if items is not None and self._open and self._open[-1][2] is items:
                items.count += 1
                self._now = Numbered("item", items.shown())
        elif word == "caption":
            kind = next(
                (
                    _FLOATS[name.rstrip("*")]
                    for name, *_ in reversed(self._open)
                    if name.rstrip("*") in _FLOATS
                ),
                "",
            )
            if kind:
                self._now = Numbered(kind, self._step(kind))
        elif word == "appendix":
            self._appendix = "chapter" if self._within.get("section") == "chapter" else "section"
            self._values[self._appendix] = 0
        elif (lines := self._lines()) is not None:
            lines.tag = lines.tag if lines.tag is not None else ""

    def _lines(self) -> _Lines | None:
        """Return the equations that are being read, if no environment inside them is."""
        state = self._open[-1][2] if self._open else None
        return state if isinstance(state, _Lines) else None

    def _label(self, label: str) -> None:
        lines = next((each[2] for each in reversed(self._open) if isinstance(each[2], _Lines)), None)
        if lines is not None:
            lines.labels.append(label)
            if lines.tag:
                self.put(label, Numbered("equation", lines.tag))
        elif self._now.number:
            self.put(label, self._now)

    def put(self, label: str, numbered: Numbered) -> None:
        """Note what a label leads to; the first one counts."""
        self.labels.setdefault(label, numbered)

    def next_equation(self) -> str:
        """Return the number of the next equation."""
        if self._subequation:
            self._subequation[-1] += 1
            return self._shown("equation") + _number(self._subequation[-1], "alph")
        return self._step("equation")


class _Lines:
    """The equations of one environment: each line, or the environment, has a number unless it says otherwise."""

    def __init__(self, *, single: bool) -> None:
        self.single = single
        self.tag: str | None = None
        self.labels: list[str] = []

    def end(self, numbering: Numbering) -> None:
        """End what has one number."""
        if self.tag is None:
            self.name(numbering, Numbered("equation", numbering.next_equation()))
        self.labels, self.tag = [], None

    def name(self, numbering: Numbering, numbered: Numbered) -> None:
        """Give a number to the labels read so far."""
        for label in self.labels:
            numbering.put(label, numbered)


@dataclass
class _Items:
    """The items of one list, and how their numbers look."""

    before: str
    style: str
    after: str
    count: int = 0

    def shown(self) -> str:
        """Return the number of the current item."""
        return f"{self.before}{_number(self.count, self.style)}{self.after}"


def _section_parents(*, has_chapters: bool) -> dict[str, str]:
    parents = {"subsection": "section", "subsubsection": "subsection"}
    return parents | ({"section": "chapter"} if has_chapters else {})


def _counter(name: str, theorems: Mapping[str, TheoremStyle]) -> str:
    """Return the counter of a theorem-like environment, which may be that of another one."""
    for _ in range(DEEPEST):
        style = theorems.get(name)
        if style is None or not style.like or style.like == name:
            break
        name = style.like
    return name


def _item_look(option: str, depth: int) -> tuple[str, str, str]:
    """Return what comes before the number of an item, the number's style, and what follows it."""
    if short := _SHORT_LOOK.match(option):
        return short[1], _SHORT[short[2]], short[3].rstrip(".")
    if (label := _ITEM_LABEL.search(option)) and (look := _LOOK.search(label[1])):
        before, after = (_plain(part) for part in (label[1][: look.start()], label[1][look.end() :]))
        return before, look[1] or "arabic", after.rstrip(".")
    return "", _ITEM_STYLES[min(depth, 3)], ""


def _plain(look: str) -> str:
    return re.sub(r"\\[A-Za-z]+\*?|[{}]", "", look).strip()


def _number(value: int, style: str) -> str:
    """Return a number in a style of LaTeX.

    >>> _number(4, "roman"), _number(2, "Alph"), _number(7, "arabic")
    ('iv', 'B', '7')
    """
    if style.lower() == "alph" and 1 <= value <= 26:
        letter = chr(ord("a") + value - 1)
        return letter.upper() if style == "Alph" else letter
    if style.lower() == "roman" and 1 <= value < 4000:
        written, left = "", value
        for size, letters in _ROMAN:
            written += letters * (left // size)
            left %= size
        return written.upper() if style == "Roman" else written
    return str(value)
