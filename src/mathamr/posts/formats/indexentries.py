r"""Entries that authors wrote so that a place is found: LaTeX's `\index`, Sphinx's and MyST's `index`, hashtags.

An entry is kept as one line, its levels with commas between: `\index{group!abelian}` is `group, abelian`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from mathamr.posts.markup import title_pieces
from mathamr.posts.post import Markup

MOST_ENTRIES = 500
"""The largest number of entries of one post."""
LONGEST_ENTRY = 300
"""The largest number of characters of an entry as it is written; a longer one is no entry."""
MOST_NESTED = 3
"""How many macros in each other may stand around an entry."""

_LATEX_INDEX = re.compile(r"\\(?:sindex|index(?:def|sub|see)?)\s*(?:\[[^\[\]]{0,100}\]\s*)?\{")
_DEFINITION = re.compile(
    r"""\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand|[gex]?def)\*?\s*\{?\s*\\([A-Za-z@]+)\s*\}?\s*
    (?:\[(\d)\]\s*(?:\[([^\[\]]{0,300})\])?|((?:\#\d)*\#(\d)))?\s*(?=\{)""",
    re.X,
)
"""A definition: the name of the macro, the number of its arguments, and the default of the first."""
_COMMAND = re.compile(r"\\([A-Za-z@]+)")
_OPTION = re.compile(r"\s*\[([^\[\]]{0,300})\]")
_BRACE = re.compile(r"\s*\{")
_PARAMETER = re.compile(r"#(\d)")
_KEYWORDS = re.compile(r"\\keywords\s*\{")
_COMMENT = re.compile(r"(?<!\\)%[^\n]*\n[ \t]*")
_DIRECTIVE = re.compile(
    r"^(?P<fence>`{3,}|~{3,}|:{3,})\{index\}[ \t]*(?P<first>[^\n]*)\n(?P<more>(?:(?!(?P=fence))[^\n]*\n){0,100})",
    re.M,
)
_ROLE = re.compile(r"\{index\}`([^`\n]{1,300})`")
_TITLED = re.compile(r"\A\s*([^<>]*?)\s*<([^<>]+)>\s*\Z")
_KIND = re.compile(r"\A\s*!?\s*(?:(single|pair|triple|see|seealso)\s*:)?\s*")
_CODE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(?s:.*?)(?:^[ \t]*\1|\Z)|``?[^`\n]{1,500}``?", re.M)
_MATH = re.compile(r"\$\$[^$]{0,2000}\$\$|\$[^$\n]{1,500}\$")
_HASHTAG = re.compile(r"(?<![^\s,;])#([^\W\d_][\w-]*(?:/[\w-]+)*)(?![\w/#(\[{&])")


def index_entries(body: str, markup: Markup, macros: Iterable[str] = ()) -> Iterator[str]:
    r"""Yield the entries of an index in a text, in its markup; `macros` are LaTeX definitions that may write entries.

    >>> list(index_entries(r"A \emph{ring}\index{ring!commutative|textbf} is a \index{set@\emph{set}}set.", "latex"))
    ['ring, commutative', 'set']
    >>> list(index_entries("A {index}`ring <pair: ring; commutative>` is a {index}`set`.", "markdown"))
    ['ring, commutative', 'set']
    >>> list(index_entries(r"A \define{ring}.", "latex", [r"\newcommand{\define}[1]{\emph{#1}\index{#1}}"]))
    ['ring']
    """
    if markup == "latex":
        written = chain(_latex_arguments(body), _IndexMacros(macros).arguments(body))
        yield from filter(None, map(_latex_entry, written))
        for match in _KEYWORDS.finditer(body):
            yield from filter(None, map(entry_of, re.split("[,;]", _argument(body, match.end()))))
    elif markup == "markdown" and "{index}" in body:
        for match in _ROLE.finditer(body):
            titled = _TITLED.match(match[1])
            yield from sphinx_entries([titled[2] if titled else match[1]])
        for match in _DIRECTIVE.finditer(body):
            lines = [line for line in match["more"].splitlines() if not line.lstrip().startswith(":name:")]
            yield from sphinx_entries([match["first"], *lines])


def sphinx_entries(lines: Iterable[str]) -> Iterator[str]:
    """Yield the entries of lines as Sphinx's directive `index` has them.

    >>> list(sphinx_entries(["single: group; abelian", "pair: loop; statement", "torsion, rank", "see: Z; integers"]))
    ['group, abelian', 'loop, statement', 'torsion', 'rank', 'Z']
    """
    for line in lines:
        kind = _KIND.match(line)
        assert kind is not None, "the pattern matches the empty text"
        rest = line[kind.end() :]
        if kind[1] is None:
            yield from filter(None, (entry_of(each.strip().lstrip("!")) for each in rest.split(",")))
        else:
            levels = rest.split(";")[: 1 if kind[1].startswith("see") else None]
            yield from filter(None, [entry_of(*levels)])


def hashtags(body: str) -> list[str]:
    """Return the tags in the text of a note, without code and formulas: `#algebra/groups`, but not `# Heading` or `#12`.

    >>> hashtags("On #limits and #algebra/groups, see `#define` and [a](#b), issue #12.")
    ['limits', 'algebra/groups']
    """
    if "#" not in body:
        return []
    text = _MATH.sub(" ", _CODE.sub(" ", body))
    return list(dict.fromkeys(match[1].rstrip("-_") for match in _HASHTAG.finditer(text)))[:MOST_ENTRIES]


def entry_of(*levels: str) -> str:
    """Return an entry of its levels; empty if nothing is left of them.

    >>> entry_of("group ", "", "abelian")
    'group, abelian'
    """
    return ", ".join(filter(None, (" ".join(level.split()) for level in levels)))[:LONGEST_ENTRY]


def distinct(entries: Iterable[str]) -> tuple[str, ...]:
    """Return the first entries, each once."""
    return tuple(dict.fromkeys(filter(None, entries)))[:MOST_ENTRIES]


def _latex_arguments(text: str) -> Iterator[str]:
    """Yield the arguments of `\\index` in a text."""
    for match in _LATEX_INDEX.finditer(text):
        yield _argument(text, match.end())


class _IndexMacros:
    """The macros of an author that write entries, as `\\define{ring}` may mean `\\emph{ring}\\index{ring}`."""

    def __init__(self, definitions: Iterable[str]) -> None:
        self._macros = {
            match[1]: (int(match[2] or match[5] or 0), match[3], definition[match.end() :])
            for definition in definitions
            if (match := _DEFINITION.match(definition)) is not None
        }
        writing: set[str] = {name for name, (*_, body) in self._macros.items() if _LATEX_INDEX.search(body)}
        while more := {
            name
            for name, (*_, body) in self._macros.items()
            if name not in writing and not writing.isdisjoint(_COMMAND.findall(body))
        }:
            writing |= more
        self._writing = frozenset(writing)
        self._left = MOST_ENTRIES

    def arguments(self, text: str, level: int = 0) -> Iterator[str]:
        """Yield the arguments of `\\index` in what the macros of a text stand for."""
        if not self._writing or level == MOST_NESTED:
            return
        for match in _COMMAND.finditer(text):
            if match[1] not in self._writing or not self._left:
                continue
            self._left -= 1
            count, default, body = self._macros[match[1]]
            given, place = list[str](), match.end()
            if default is not None:
                option = _OPTION.match(text, place)
                given.append(option[1] if option else default)
                place = option.end() if option else place
            while len(given) < count and (brace := _BRACE.match(text, place)):
                given.append(_argument(text, brace.end()))
                place = brace.end() + len(given[-1]) + 1
            parts = _PARAMETER.split(body)
            parts[1::2] = ("".join(given[int(number) - 1 :][:1]) for number in parts[1::2])
            meant = "".join(parts)
            yield from _latex_arguments(meant)
            yield from self.arguments(meant, level + 1)


def _argument(text: str, start: int) -> str:
    """Return the argument of a command that begins behind its brace; empty if its end is too far away."""
    depth, place = 1, start
    while place < min(len(text), start + LONGEST_ENTRY):
        letter = text[place]
        if letter == "\\":
            place += 1
        depth += (letter == "{") - (letter == "}")
        if not depth:
            return text[start:place]
        place += 1
    return ""


def _latex_entry(argument: str) -> str:
    r"""Return an entry of makeindex: `!` between levels, `sorted@shown`, `|style`, and `"` before a sign that is meant."""
    parts = [""]
    letters = iter(_COMMENT.sub("", argument))
    for letter in letters:
        if letter == '"':
            parts[-1] += next(letters, "")
        elif letter == "\\":
            parts[-1] += letter + next(letters, "")
        elif letter == "!":
            parts.append("")
        elif letter == "@":
            parts[-1] = ""  # what comes before is only for sorting
        elif letter == "|":
            break
        else:
            parts[-1] += letter
    return entry_of(*map(_words, parts))


def _words(part: str) -> str:
    """Return what a reader sees of a part of an entry."""
    return "".join(
        piece.text for piece in title_pieces(part, "latex") if piece.kind in ("text", "formula", "code")
    )
