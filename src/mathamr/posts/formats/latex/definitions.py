"""The macros and theorem environments that a LaTeX document defines, found in linear time."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from mathamr.formulas.latex.definitions import definitions_in
from mathamr.posts.postkind import kind_named

LONGEST_TITLE = 4000

_THEOREM = re.compile(
    r"""\\(?:(?:sp)?newtheorem|newmdtheoremenv|newshadetheorem)(?P<star>\*?)\s*+(?:\[[^\[\]]{0,1000}+\])?+\s*+
       \{\s*+(?P<name>[A-Za-z@][A-Za-z0-9@]*+\*?)\s*+\}\s*+
       (?:\[(?P<like>[^\[\]]{0,300}+)\])?+\s*+(?=\{)  # whose counter it shares
    |\\(?:re)?newtcbtheorem\s*+(?:\[(?P<options>[^\[\]]{0,1000}+)\])?+\s*+  # a box of tcolorbox
       \{\s*+(?P<box>[A-Za-z@][A-Za-z0-9@]*+\*?)\s*+\}\s*+(?=\{)
    |\\declaretheorem\s*+(?:\[(?P<before>[^\[\]]{0,1000}+)\])?+\s*+  # thmtools: options before or after the name
       \{\s*+(?P<declared>[A-Za-z@][A-Za-z0-9@]*+\*?)\s*+\}\s*+(?:\[(?P<after>[^\[\]]{0,1000}+)\])?+""",
    re.X,
)
_DECLARED_NAME = re.compile(r"(?:^|,)\s*+(?:name|title)\s*+=\s*+\{?+([^,{}]++)")
_ALIAS = re.compile(r"\{\s*(\\item|\\(?:begin|end)\s*\{[A-Za-z]{1,30}\*?\})\s*\}\Z")
_USED = re.compile(r"(?<![{\\])(?<!\\def)(?<!\\let)\\([A-Za-z@]+)(?![A-Za-z@])")
_WITHIN = re.compile(r"\s*+\[([^\[\]]{0,300}+)\]")
_LIKE = re.compile(r"(?:sibling|sharenumber|numberlike|use counter from|use counter)\s*=\s*\{?([A-Za-z@*]+)")
_DECLARED_WITHIN = re.compile(r"(?:numberwithin|within|parent|number within)\s*=\s*\{?([A-Za-z@]+)")
_UNNUMBERED = re.compile(r"numbered\s*=\s*(?:no|unless unique)\b|no counter")
_BRACE = re.compile(r"\\.|[{}]", re.S)
_COMMAND = re.compile(r"\\((?:begin|end)\s*+\{[^{}]{1,60}+\}|[A-Za-z@]++|.)", re.S)
_MACHINERY = re.compile(
    r"\\(?:setbox|advance|csname|unh?copy|unhbox|newbox|futurelet|loop|@for|@whilenum|immediate|write)(?![A-Za-z@])"
)
"""What TeX's own machine is needed for: a command that is defined with it keeps what LaTeX or a package of ours knows of it."""
_MARKS = re.compile(r"\\[A-Za-z@]+\*?\s?|[{}\\]")


@dataclass(frozen=True, slots=True)
class TheoremStyle:
    """What a document calls an environment and how it counts it; of a `tcolorbox` theorem also what its labels begin with."""

    shown: str
    prefix: str | None = None
    numbered: bool = False
    like: str = ""
    """The environment whose counter it shares."""
    within: str = ""
    """The counter whose steps reset its own: `section`."""


def macros_in(text: str, macros: dict[str, str]) -> None:
    """Add the macros that a text defines: name to the whole definition, the last one of a name counting.

    >>> found: dict[str, str] = {}
    >>> macros_in(r"\\newcommand{\\R}{\\mathbb{R}} \\def\\half#1{\\frac{#1}{2}}", found)
    >>> list(found.items())
    [('R', '\\\\newcommand{\\\\R}{\\\\mathbb{R}}'), ('half', '\\\\def\\\\half#1{\\\\frac{#1}{2}}')]
    """
    for found in definitions_in(text):
        name = found.name[1:]
        if _MACHINERY.search(found.text) or (
            name in macros and found.text.startswith(("\\provide", "\\Provide"))
        ):
            continue
        meant = macros.get(found.body[0][1:]) if found.frozen else None
        macros.pop(name, None)  # what is defined again counts from here on
        macros[name] = found.text if meant is None else meant.replace(found.body[0], found.name, 1)


def expand_aliases(text: str, macros: Mapping[str, str]) -> str:
    """Return the text in which macros that only stand for `\\item`, or for the beginning or end of an environment, are replaced.

    >>> expand_aliases(r"\\be x \\ee \\ii", {"be": r"\\def\\be{\\begin{equation}}", "ii": r"\\def\\ii{\\item}"})
    '\\\\begin{equation} x \\\\ee \\\\item'
    """
    aliases = {
        name: found[1].strip()
        for name, definition in macros.items()
        if len(definition) < 100 and name.isalpha() and (found := _ALIAS.search(definition))
    }
    aliases.pop("item", None)
    if not aliases:
        return text
    return _USED.sub(lambda match: aliases.get(match[1], match.group()), text)


def theorems_in(text: str, theorems: dict[str, TheoremStyle]) -> None:
    """Add the theorem-like environments that a text defines, with the names a page shows for them.

    >>> found: dict[str, TheoremStyle] = {}
    >>> theorems_in(r"\\newtheorem{satz}[thm]{\\bf Satz} \\declaretheorem[name=Rule]{rule}", found)
    >>> [(name, style.shown) for name, style in found.items()]
    [('satz', 'Satz'), ('rule', 'Rule')]
    """
    groups = BraceGroups(text)
    for match in _THEOREM.finditer(text):
        name = match["name"] or match["box"] or match["declared"]
        prefix, like, within, numbered = None, match["like"] or "", "", not match["star"]
        if match["declared"]:
            said = f"{match['before'] or ''},{match['after'] or ''}"
            options = _DECLARED_NAME.search(said)
            title = options.group(1) if options else ""
            like, within, numbered = _declared_counter(said)
        else:
            end = groups.end(match.end(), LONGEST_TITLE)
            title = text[match.end() + 1 : end - 1] if end else ""
            if match["box"] and end:
                prefix = _third_group(groups, end)
                like, within, numbered = _declared_counter(match["options"] or "")
            elif end and (outer := _WITHIN.match(text, end)):
                within = outer[1].strip()
        shown = _plain(title) or _unabbreviated(name.rstrip("*")).capitalize()
        theorems[name] = TheoremStyle(shown, prefix, numbered, like.strip(), within)


def _unabbreviated(name: str) -> str:
    """Return what a page may call an environment: its name, or the word of which it is the beginning.

    >>> [_unabbreviated(name) for name in ("thm", "prob", "satz", "puzzle")]
    ['theorem', 'problem', 'satz', 'puzzle']
    """
    kind = kind_named(name)
    return kind if kind and kind.startswith(name[:2].lower()) else name


def _declared_counter(options: str) -> tuple[str, str, bool]:
    """Return what the options of a declaration say: the environment whose counter it shares, the counter around it, whether it has one.

    >>> _declared_counter("name=Lemma, sibling=thm"), _declared_counter("number within=section"), _declared_counter("numbered=no")
    (('thm', '', True), ('', 'section', True), ('', '', False))
    """
    like, within = _LIKE.search(options), _DECLARED_WITHIN.search(options)
    return like[1] if like else "", within[1] if within else "", _UNNUMBERED.search(options) is None


def _third_group(groups: BraceGroups, position: int) -> str:
    """Return what the labels of `\\newtcbtheorem{name}{Title}{options}{prefix}` begin with, given where the title ends."""
    options = groups.end(position, LONGEST_TITLE)
    end = groups.end(options, LONGEST_TITLE) if options else None
    return groups.text[options:end].strip()[1:-1].strip() if options and end else ""


def _plain(title: str) -> str:
    return " ".join(_MARKS.sub(" ", title).split())


class BraceGroups:
    """The groups in braces of one text, all found in one pass at the first use."""

    def __init__(self, text: str) -> None:
        self.text = text

    def end(self, start: int, longest: int) -> int | None:
        """Return where the group that begins at `start`, blanks aside, ends; `None` where none begins or it is longer."""
        while self.text[start : start + 1].isspace():
            start += 1
        opens, ends = self._pairs
        place = bisect_left(opens, start)
        if place == len(opens) or opens[place] != start or not 0 < ends[place] <= start + longest:
            return None
        return ends[place]

    @cached_property
    def _pairs(self) -> tuple[array[int], array[int]]:
        """Where each group begins and ends; 0: never."""
        opens, ends, stack = array("q"), array("q"), array("q")
        for match in _BRACE.finditer(self.text):
            if match.group() == "{":
                stack.append(len(opens))
                opens.append(match.start())
                ends.append(0)
            elif match.group() == "}" and stack:
                ends[stack.pop()] = match.end()
        return opens, ends


def definitions_for(text: str, macros: Mapping[str, str]) -> tuple[str, ...]:
    """Return the definitions that a text needs, those that they need themselves included, in order.

    >>> definitions_for(r"x \\in \\RR", {"RR": r"\\def\\RR{\\bb R}", "bb": r"\\let\\bb\\mathbb", "ZZ": ""})
    ('\\\\def\\\\RR{\\\\bb R}', '\\\\let\\\\bb\\\\mathbb')
    """
    wanted: set[str] = set()
    open_names = commands_in(text)
    while open_names:
        new = {name for name in open_names if name in macros} - wanted
        wanted |= new
        open_names = set().union(*(commands_in(macros[name]) for name in new)) if new else set()
    return tuple(dict.fromkeys(definition for name, definition in macros.items() if name in wanted))


def commands_in(text: str) -> set[str]:
    """Return the names of the commands and environments that a text uses: `frac`, `begin{cases}`."""
    return {"".join(name.split()) or name for name in _COMMAND.findall(text)}
