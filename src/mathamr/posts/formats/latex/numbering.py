"""The numbers that LaTeX gives to sections, theorems, equations, items and figures, found in one pass over a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mathamr.formulas.latex.definitions import DEFINING, Definition, definition_at
from mathamr.posts.formats.latex.calls import LONGEST_OPTION, Call, Calls, is_simple
from mathamr.posts.formats.latex.commands import REFERENCE_WORDS, VERBATIM
from mathamr.posts.formats.latex.counters import ENUMERATED, Counters, in_style
from mathamr.posts.formats.latex.definitions import BraceGroups, TheoremStyle
from mathamr.posts.formats.latex.outline import STATEMENTS

DEEPEST = 100
"""Environments in each other that are followed."""

_SECTIONS = {
    "part": -1, "chapter": 0, "section": 1, "subsection": 2, "subsubsection": 3, "paragraph": 4, "subparagraph": 5,
}  # fmt: skip
_EQUATIONS = frozenset(["equation", "multline", "dmath"])
_LINES = frozenset(["align", "gather", "flalign", "alignat", "xalignat", "eqnarray", "IEEEeqnarray"])
_FLOATS = {
    "figure": "figure", "wrapfigure": "figure", "SCfigure": "figure", "sidewaysfigure": "figure", "marginfigure": "figure",
    "table": "table", "wraptable": "table", "sidewaystable": "table", "longtable": "table", "algorithm": "algorithm",
}  # fmt: skip
_LISTS = frozenset(["enumerate", "compactenum", "inparaenum"])
COUNTED = _EQUATIONS | _LINES | {"subequations"}
"""Environments of which every one has a number."""
_NO_GROUP = frozenset(["center", "minipage"])
_LINE = re.compile(
    r"""\\label\s*+\{(?P<label>[^{}]{1,300}+)\}
    |\\(?P<tag>tag)\*?\s*+(?=\{)
    |\\(?P<none>nonumber|notag)(?![A-Za-z])
    |(?P<newline>\\\\)
    |\\(?P<edge>begin|end)(?![A-Za-z])
    |\\.|(?P<brace>[{}])""",
    re.X | re.S,
)
_LOOK = re.compile(r"\\(arabic|alph|Alph|roman|Roman)\s*(?:\*|\{\s*[A-Za-z@]+\s*\})")
_SHORT_LOOK = re.compile(r"\A\s*+([^=A-Za-z0-9]{0,4})([1aAiI])([^=A-Za-z0-9]{0,4})\s*+\Z")
_ITEM_LABEL = re.compile(r"(?:^|,)\s*label\*?\s*=\s*((?:[^{},\[\]]|\{(?:[^{}]|\{[^{}]*\})*\})*)")
_ITEM_REFERENCE = re.compile(r"(?:^|,)\s*ref\s*=\s*((?:[^{},\[\]]|\{(?:[^{}]|\{[^{}]*\})*\})*)")
_STARTS = re.compile(r"(?:^|,)\s*start\s*=\s*\{?(\d{1,6})")
_SHORT = {"1": "arabic", "a": "alph", "A": "Alph", "i": "roman", "I": "Roman"}
_DEFINES_THEOREMS = re.compile(
    r"\\(?:newtheorem|declaretheorem|newtcbtheorem|spnewtheorem|newmdtheoremenv)(?![A-Za-z])"
)
_TITLE = re.compile(r"\s*+[\[{\\]")
_BEGINS = re.compile(r"\\begin\s*\{([A-Za-z]+\*?)\}")
_NAMED = re.compile(
    r"\\csname\s*(?P<end>end)?(?P<name>[A-Za-z]+\*?)\s*\\endcsname"
    r"|\\(?P<ends>end)?(?P<display>equation|align|gather|multline|eqnarray)(?![A-Za-z*])"
)
_VALUE = re.compile(r"\s*(?:(-?\d{1,9})|\\value\s*\{\s*([A-Za-z@]+)\s*\}|\\c@([A-Za-z@]+))\s*\Z")
_COUNTER_COMMAND = re.compile(r"\\(c@|the)([A-Za-z@]+)\Z")


class Numbered(NamedTuple):
    """What a label leads to: the kind of thing, and its number."""

    kind: str
    number: str


@dataclass
class CounterSettings:
    """What a document brings beside its text: style files in the order in which LaTeX reads them, macros, and where text is missing."""

    styles: list[str] = field(default_factory=list)
    macros: Mapping[str, str] = field(default_factory=dict)
    missing: list[int] = field(default_factory=list)
    """Where in the text something was to be inserted that could not be read."""
    is_part: bool = False
    """Whether the text is a part of a document, so that it is not known what is counted before it."""


class Numbering:
    """One pass over the text of a document: `at` has the numbers of sections and theorems by where they begin,
    `labels` those of all that has a label, `labelled` the label of each statement by where it begins."""

    def __init__(
        self, text: str, theorems: Mapping[str, TheoremStyle], settings: CounterSettings | None = None
    ) -> None:
        self.at: dict[int, str] = {}
        self.labels: dict[str, Numbered] = {}
        self.labelled: dict[int, str] = {}
        settings = settings or CounterSettings()
        self._stated: dict[int, str] = {}
        self._theorems = theorems
        self._counters = Counters()
        self._calls = Calls(_HANDLERS, self._numbered_environments(theorems), settings.macros)
        self._lists: dict[int, str] = {}
        """How items look in lists of each depth, 0 for all, where a preamble says so."""
        self._displays: dict[str, str] = {}
        """Environments of the author that stand for those of equations."""
        self._absent: set[tuple[str, int]] = set()
        self._readable = 4 * len(text) + 20_000
        """Characters in which definitions that never end may still be looked for."""
        self._main = True
        self._class = ""
        self._now = Numbered("", "")
        self._now_at: int | None = None
        self._open: list[_Environment] = []
        self._subequation: list[int] = []
        self._handled: dict[str, Callable[[Call], int | None]] = {
            name: getattr(self, method) for name, method in _HANDLERS.items()
        }
        self._in_preamble = True
        self._missing: list[int] = []
        self._declare_theorems()
        for style in settings.styles:
            self._read(style, 0, len(style))
        document = max(0, text.find("\\begin{document}"))
        self._read(text, 0, document)
        self._in_preamble = False
        if "\\chapter" in text:
            self._counters.use_chapters()
        self._missing = sorted(settings.missing, reverse=True)
        if settings.is_part:
            self._counters.doubt_all()
        self._read(text, document, len(text))

    def correct(self, truth: Mapping[str, Numbered]) -> None:
        """Take the numbers that LaTeX itself wrote; what was counted otherwise beside them is not shown."""
        differing = {
            numbered.kind
            for label, numbered in self.labels.items()
            if label in truth and numbered.number.strip("().") != truth[label].number.strip("().")
        }
        for label, found in truth.items():
            if found.number:
                known = self.labels.get(label) or Numbered(self._kind_named(found.kind), "")
                self.labels[label] = Numbered(known.kind, found.number)
        for at, kind in self._stated.items():
            label = self.labelled.get(at, "")
            if label in truth:
                self.at[at] = truth[label].number
            elif kind in differing:
                self.at[at] = ""

    def _kind_named(self, name: str) -> str:
        """Return what a counter of an `.aux` file counts; empty where nothing tells."""
        style = self._theorems.get(name)
        if style is not None:
            return style.shown
        name = {"AMS": "equation", "subappendix": "appendix", "subsubappendix": "appendix"}.get(
            name, name
        ).lower()
        name = name.removeprefix("sub").removeprefix("sub")
        return REFERENCE_WORDS.get(name, name if name in _SECTIONS or name == "appendix" else "")

    @staticmethod
    def _numbered_environments(theorems: Mapping[str, TheoremStyle]) -> Collection[str]:
        return {*theorems, *_EQUATIONS, *_LINES, *_FLOATS, *_LISTS, "subequations", "appendices"}

    def _declare_theorems(self) -> None:
        """Add the counters of the theorems, those within others as their preambles say."""
        for name, style in self._theorems.items():
            if style.numbered and not style.like and not self._counters.known(name):
                self._counters.declare(name, style.within)

    def _read(self, text: str, start: int, end: int, at: int | None = None, depth: int = 0) -> None:
        """Obey the commands of a stretch of a text; what a macro writes is all at one place, that of its call."""
        for call in self._calls.within(text, start, end):
            call.at = call.start if at is None else at
            while at is None and not self._in_preamble and self._missing and self._missing[-1] <= call.start:
                self._missing.pop()
                if self._main:
                    self._counters.doubt_all()
            handle = self._handled.get(call.name)
            if handle is not None and not (self._in_preamble and call.name not in _SETTINGS):
                call.end = handle(call) or call.end
            elif call.name in self._calls.acting and depth < 10:
                self._call(call, depth)

    def _call(self, call: Call, depth: int) -> None:
        """Obey what a macro of the author writes; where TeX would have to decide what that is, doubt what it counts."""
        written = self._calls.written(call)
        if written is None:
            return
        if not self._calls.is_certain(call.name) and not self._in_preamble:
            self._counters.doubt(*self._counted_in(written))
        else:
            self._read(written, 0, len(written), call.at, depth + 1)

    def _counted_in(self, written: str) -> set[str]:
        found: set[str] = set()
        for call in self._calls.within(written, 0, len(written)):
            if call.name in _SECTIONS and not call.star():
                found.add(call.name)
            elif call.name in ("setcounter", "addtocounter", "stepcounter", "refstepcounter"):
                found.update(filter(None, [call.group()]))
            elif call.name == "begin":
                name = call.group()
                style = self._theorems.get(name)
                if style is not None and style.numbered:
                    found.add(_counter(name, self._theorems))
                elif name in _EQUATIONS | _LINES:
                    found.add("equation")
                elif name in _FLOATS:
                    found.add(_FLOATS[name])
        return found

    # -- settings

    def _document_class(self, call: Call) -> None:
        call.option()
        name = call.group()
        self._class = self._class or name
        self._counters.use_class(name)

    def _new_counter(self, call: Call) -> None:
        name = call.group()
        self._counters.declare(name)
        self._counters.reset_by(name, call.option())

    def _within(self, call: Call) -> None:
        is_starred = call.star()
        call.option()
        inner, outer = call.group(), call.group()
        if call.name == "counterwithout":
            self._counters.free(inner, outer)
            return
        self._counters.reset_by(inner, outer)
        if call.name != "@addtoreset" and not is_starred:
            self._counters.look(inner, f"\\the{outer}.\\arabic{{{inner}}}")

    def _let(self, call: Call) -> None:
        """Obey `\\let` where it makes two counters one, or lets one look like another."""
        call.skip("=", after=call.command())
        new, old = _COUNTER_COMMAND.match(call.words[0]), _COUNTER_COMMAND.match(call.command())
        if new and old and new[1] == old[1] == "c@":
            self._counters.share(new[2], old[2])
        elif new and old and new[1] == "the":
            self._counters.look(new[2], f"\\the{old[2]}")

    def _alias(self, call: Call) -> None:
        new, old = call.group(), call.group()
        self._counters.share(new, old)
        self._counters.look(new, f"\\the{old}")

    def _definitions(self, call: Call) -> list[Definition]:
        """Return what a definition defines, and step over it."""
        end, found = definition_at(call.text, call.start) if self._readable > 0 else (call.end, [])
        if found:
            call.end = end
        else:
            self._readable -= end - call.start
        return found

    def _define(self, call: Call) -> None:
        """Step over a definition; one of `\\thetheorem` says how a counter is shown."""
        for each in self._definitions(call):
            if (found := _COUNTER_COMMAND.match(each.name)) and found[1] == "the":
                self._counters.look(found[2], "".join(each.body))

    def _define_environment(self, call: Call) -> None:
        found = self._definitions(call)
        if len(found) != 2:
            return
        name, parameters = found[0].name[len("\\begin{") : -1], found[0].parameters
        begin, end = (_NAMED.sub(_as_environment, "".join(each.body)) for each in found)
        inner = [found[1] for found in _BEGINS.finditer(begin)]
        if inner and inner[-1].rstrip("*") in _LINES | _EQUATIONS and f"\\end{{{inner[-1]}}}" in end:
            self._displays[name] = inner[-1]
        elif name not in self._theorems and is_simple(parameters):
            self._calls.define_environment(name, parameters, begin, end)

    def _set_list(self, call: Call) -> None:
        """Obey `\\setlist[enumerate,1]{label=…}` of enumitem."""
        call.star()
        named = call.option()
        depths = [int(each) for each in re.findall(r"\d", named)] or [0]
        options = call.group()
        if (call.name == "setenumerate" or "enumerate" in named) and _ITEM_LABEL.search(options):
            self._lists.update(dict.fromkeys(depths, options))

    # -- counters

    def _set(self, call: Call) -> None:
        name, how = call.group(), call.name
        if how in ("stepcounter", "refstepcounter"):
            number = self._counters.step(name)
            if how == "refstepcounter":
                self._set_now(name, number, call.at)
            return
        found = _VALUE.match(call.group())
        if name == "secnumdepth":
            self._counters.deepest_numbered = int(found[1]) if found and found[1] else 3
            return
        if found is None:
            self._counters.doubt(name)
            return
        by = int(found[1]) if found[1] else self._counters.value(found[2] or found[3])
        if how == "addtocounter":
            self._counters.add(name, by)
        else:
            self._counters.put(name, by)

    def _set_depth(self, call: Call) -> None:
        self._counters.deepest_numbered = _SECTIONS.get(call.group(), 3)

    # -- what has numbers

    def _section(self, call: Call) -> None:
        is_starred, level = call.star(), _SECTIONS[call.name]
        if not _TITLE.match(call.text, call.end):
            return  # named, as in \titleformat{\chapter}
        if level == 0:
            self._counters.use_chapters()
        if level < 4:
            self._open.clear()
            self._subequation.clear()
        if is_starred or level > self._counters.deepest_numbered:
            return
        if not self._main and (level == 0 or self._class == "memoir"):
            return
        number = self._counters.step(call.name)
        self._set_now(call.name.removeprefix("sub").removeprefix("sub"), number, None)
        self.at[call.at] = number

    def _set_now(self, kind: str, number: str, at: int | None) -> None:
        self._now, self._now_at = Numbered(kind, number), at

    def _begin(self, call: Call) -> int | None:
        full = call.group()
        name = full.rstrip("*")
        if name in VERBATIM or name == "comment":
            return self._find(call, f"\\end{{{full}}}")
        before = (self._now, self._now_at)
        environment = _Environment(full, before)
        style = self._theorems.get(full)
        if style is not None and style.numbered:
            self._theorem(full, style, call)
        elif style is not None or (name in STATEMENTS and full not in self._calls.environments):
            self._set_now(name, "", call.at)
        elif name in _LINES | _EQUATIONS or full in self._displays:
            return self._equations(call, full, self._displays.get(full, full))
        elif name == "subequations":
            self._set_now("equation", self._counters.step("equation"), None)
            self._subequation.append(0)
        elif name in _LISTS:
            environment.items = self._items(call)
        elif name == "appendices":
            self._counters.begin_appendix()
        elif name == "longtable":
            self._set_now("table", self._counters.step("table"), None)
        if len(self._open) < DEEPEST:
            self._open.append(environment)
        if written := self._calls.environment_begin(call, full):
            if self._calls.is_certain_environment(full):
                self._read(written, 0, len(written), call.at, 5)
            else:
                self._counters.doubt(*self._counted_in(written))
        return None

    def _find(self, call: Call, mark: str) -> int | None:
        """Return where a mark stands next; `None` if it comes no more."""
        if (mark, len(call.text)) in self._absent:
            return None
        place = call.text.find(mark, call.end)
        if place < 0:
            self._absent.add((mark, len(call.text)))
        return place if place >= 0 else None

    def _theorem(self, name: str, style: TheoremStyle, call: Call) -> None:
        counter = _counter(name, self._theorems)
        number = self._counters.step(counter) if self._counters.known(counter) else ""
        self._set_now(style.shown, number, call.at)
        self.at[call.at] = number
        self._stated[call.at] = style.shown

    def _end(self, call: Call) -> None:
        name = call.group()
        place = next((n for n in range(len(self._open) - 1, -1, -1) if self._open[n].name == name), None)
        if place is None:
            return
        environment = self._open[place]
        del self._open[place:]
        if written := self._calls.environment_end(name):
            self._read(written, 0, len(written), call.at, 5)
        if name == "subequations" and self._subequation:
            self._subequation.pop()
        if name not in _NO_GROUP:
            self._now, self._now_at = environment.before

    def _equations(self, call: Call, full: str, display: str) -> int | None:
        """Count the equations of an environment: each line, or the environment, has a number unless it says otherwise."""
        mark = f"\\end{{{full}}}"
        end = self._find(call, mark)
        if end is None:
            self._counters.doubt("equation")
            return None
        name = display.rstrip("*")
        lines = _lines(self._calls.expand(call.text[call.end : end]), single=name in _EQUATIONS)
        for labels, tag in lines:
            if tag is None and display == name:
                tag = self._next_equation()
            for label in labels:
                self._put(label, Numbered("equation", tag or ""))
        return end + len(mark)

    def _next_equation(self) -> str:
        if not self._subequation:
            return self._counters.step("equation")
        self._subequation[-1] += 1
        outer = self._counters.shown("equation")
        return outer + in_style(self._subequation[-1], "alph") if outer else ""

    def _items(self, call: Call) -> _Items:
        depth = sum(each.items is not None for each in self._open)
        counter = ENUMERATED[min(depth, len(ENUMERATED) - 1)]
        option = call.option()
        if "resume" not in option:
            self._counters.put(counter, 0)
        if start := _STARTS.search(option):
            self._counters.put(counter, int(start[1]) - 1)
        look = _item_look(option)
        for known in (self._lists.get(depth + 1, ""), self._lists.get(0, "")):
            look = look if look is not None else _item_look(known)
        return _Items(counter, look, depth)

    def _item(self, call: Call) -> None:
        items = self._open[-1].items if self._open else None
        if items is None:
            return
        if call.text.startswith("[", call.end):
            return
        shown = self._counters.step(items.counter)
        if items.look is not None:
            before, style, after = items.look
            number = in_style(self._counters.value(items.counter), style)
            shown = f"{before}{number}{after}" if number else ""
        elif items.depth == 1 and (outer := self._counters.shown("enumi")):
            shown = f"{outer}{shown}"
        elif items.depth == 2 and (outer := self._counters.shown("enumi")):
            shown = f"{outer}({self._counters.shown('enumii')}){shown}"
        self._set_now("item", shown, None)

    def _caption(self, call: Call) -> None:
        if call.star():
            return
        kind = next(
            (_FLOATS[name] for each in reversed(self._open) if (name := each.name.rstrip("*")) in _FLOATS), ""
        )
        if kind and not any(each.name == "longtable" for each in self._open):
            self._set_now(kind, self._counters.step(kind), None)

    def _appendix(self, _call: Call) -> None:
        self._counters.begin_appendix()

    def _matter(self, call: Call) -> None:
        self._main = call.name == "mainmatter"

    def _skip_false(self, call: Call) -> None:
        """Pass over what stands between `\\iffalse` and `\\fi`."""
        call.end = self._find(call, "\\fi") or call.end

    def _label(self, call: Call) -> None:
        call.option()
        label = call.group()
        if not label:
            return
        if self._now_at is not None:
            self.labelled.setdefault(self._now_at, label)
        if self._now.number:
            self._put(label, self._now)

    def _put(self, label: str, numbered: Numbered) -> None:
        """Note what a label leads to; the first one counts."""
        if numbered.number:
            self.labels.setdefault(label.strip(), numbered)


@dataclass
class _Items:
    """The items of one list: their counter, and how they look if the list says so."""

    counter: str
    look: tuple[str, str, str] | None
    depth: int


@dataclass
class _Environment:
    """An environment that is open: its name, what labels led to before it, its items."""

    name: str
    before: tuple[Numbered, int | None]
    items: _Items | None = None


_HANDLERS = {
    **dict.fromkeys(_SECTIONS, "_section"),
    **dict.fromkeys(["setcounter", "addtocounter", "stepcounter", "refstepcounter"], "_set"),
    **dict.fromkeys(["numberwithin", "counterwithin", "counterwithout", "@addtoreset"], "_within"),
    **{
        name[1:]: "_define_environment" if "environment" in kind else "_define"
        for name, kind in DEFINING.items()
    },
    **dict.fromkeys(["documentclass", "LoadClass"], "_document_class"),
    **dict.fromkeys(["setlist", "setenumerate"], "_set_list"),
    **dict.fromkeys(["frontmatter", "mainmatter", "backmatter"], "_matter"),
    **dict.fromkeys(["setsecnumdepth", "maxsecnumdepth"], "_set_depth"),
    "newcounter": "_new_counter", "newaliascnt": "_alias", "let": "_let", "iffalse": "_skip_false",
    "begin": "_begin", "end": "_end", "item": "_item", "caption": "_caption", "appendix": "_appendix", "label": "_label",
}  # fmt: skip
_SETTINGS = frozenset(
    name
    for name, method in _HANDLERS.items()
    if method in (
        "_set", "_within", "_define", "_define_environment", "_document_class", "_set_list", "_set_depth", "_new_counter",
        "_alias", "_let",
    )
)  # fmt: skip
"""Commands that are obeyed before the document begins, too."""


def theorems_written(texts: Sequence[str], macros: Mapping[str, str]) -> str:
    """Return what the author's macros write where they define theorems: `\\defthm{lem}{Lemma}`."""
    calls = Calls(
        _HANDLERS, (), {name: each for name, each in macros.items() if _DEFINES_THEOREMS.search(each)}
    )
    if not calls.acting:
        return ""
    found = (call for text in texts for call in calls.within(text, 0, len(text)) if call.name in calls.acting)
    return "\n".join(filter(None, map(calls.written, found)))


def _counter(name: str, theorems: Mapping[str, TheoremStyle]) -> str:
    """Return the counter of a theorem-like environment, which may be that of another one."""
    for _ in range(DEEPEST):
        style = theorems.get(name)
        if style is None or not style.like or style.like == name:
            break
        name = style.like
    return name


def _lines(text: str, *, single: bool) -> Sequence[tuple[list[str], str | None]]:
    """Return the labels and the tag of each line of displayed equations; a tag is empty where a line has no number."""
    lines: list[tuple[list[str], str | None]] = []
    labels: list[str] = []
    tag: str | None = None
    depth = inside = 0
    position, groups = 0, BraceGroups(text)
    while match := _LINE.search(text, position):
        position = match.end()
        if match["edge"]:
            inside += 1 if match["edge"] == "begin" else -1
        elif match["brace"]:
            depth += 1 if match["brace"] == "{" else -1
        elif match["label"]:
            labels.append(match["label"].strip())
        elif match["tag"]:
            end = groups.end(position, LONGEST_OPTION) or position
            tag, position = text[position + 1 : end - 1].strip("$ "), end
        elif match["none"] and not inside:
            tag = tag or ""
        elif match["newline"] and not single and depth <= 0 and inside <= 0:
            lines.append((labels, tag))
            labels, tag = [], None
    return [*lines, (labels, tag)]


def _as_environment(match: re.Match[str]) -> str:
    """Return `\\equation` or `\\csname equation\\endcsname` as the beginning of an environment, which it is."""
    edge = "end" if match["end"] or match["ends"] else "begin"
    return f"\\{edge}{{{match['name'] or match['display']}}}"


def _item_look(option: str) -> tuple[str, str, str] | None:
    """Return what comes before the number of an item, the number's style, and what follows it; `None` if nothing is said."""
    if short := _SHORT_LOOK.match(option):
        return short[1], _SHORT[short[2]], short[3].rstrip(".")
    label = _ITEM_REFERENCE.search(option) or _ITEM_LABEL.search(option)
    if label and (look := _LOOK.search(label[1])):
        before, after = (_plain(part) for part in (label[1][: look.start()], label[1][look.end() :]))
        return before, look[1], after.rstrip(".")
    return None


def _plain(look: str) -> str:
    return re.sub(r"\\[A-Za-z]+\*?|[{}]", "", look).strip()
