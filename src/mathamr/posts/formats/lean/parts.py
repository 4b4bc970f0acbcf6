"""The fields of structures and classes, and the constructors of inductive types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mathamr.posts.formats.lean.brackets import signature

_LINE = re.compile(r"^([ \t]+)(?=\S)", re.M)
_FIELD = re.compile(
    r"""[ \t]*+(?:(?:private|protected|public|nonrec)[ \t]+|@\[[^\]\n]{0,200}\]\s*)*+  # modifiers and attributes
    (?P<open>[({\[⦃])?[ \t]*+
    (?P<names>[^\W\d][\w'!?]*+(?:[ \t]++[^\W\d][\w'!?]*+)*+)[ \t]*+(?=[:({\[⦃]|\n|$)""",
    re.X,
)
_CONSTRUCTOR = re.compile(r"\|\s*(?:@\[[^\]\n]{0,200}\]\s*)?(?P<name>[^\W\d][\w'!?.]*)")
_KEYWORD = frozenset(["deriving", "where", "extends", "with"])


@dataclass(frozen=True, slots=True)
class MemberPart:
    """A field or a constructor: its name, [start, end) of its source, and where its modifiers or its bar begin."""

    name: str
    header: int
    start: int
    end: int
    colon: int | None


def fields(code: str, start: int, limit: int) -> Iterator[MemberPart]:
    """Yield the fields that stand in [start, limit), after `where`: what stands on the first line's indentation, with a type.

    >>> source = "\\n  carrier : Set G\\n  one_mem' : (1 : G) ∈ carrier\\n  inv x y : G := by simp\\n"
    >>> [(part.name, source[part.start : part.end]) for part in fields(source, 0, len(source))][1:3]
    [("one_mem'", "one_mem' : (1 : G) ∈ carrier"), ('inv', 'inv x y : G')]
    """
    lines = list(_LINE.finditer(code, start, limit))
    if not lines:
        return
    starts = [line.start() for line in lines if line[1] == lines[0][1]]
    for place, line in enumerate(starts):
        end = starts[place + 1] if place + 1 < len(starts) else limit
        found = _FIELD.match(code, line, end)
        if not found or found["names"].split()[0] in _KEYWORD or found["open"] == "[":
            continue
        said = signature(code, found.end("names"), end)
        if found["open"]:
            bracket = code.rfind(")", line, end)
            end = bracket if bracket > 0 else end
            said = signature(code, found.end("names"), end)
        if said.colon is None:
            continue
        for name in found["names"].split():
            yield MemberPart(
                name,
                line,
                found.start("names"),
                found.start("names") + len(code[found.start("names") : said.end].rstrip()),
                said.colon,
            )


def constructors(code: str, start: int, limit: int) -> Iterator[MemberPart]:
    """Yield the constructors of an inductive type: each after a bar at the beginning of a line, or after another such one.

    >>> source = " where\\n  | zero | one\\n  | succ (n : N) : N"
    >>> [part.name for part in constructors(source, 0, len(source))]
    ['zero', 'one', 'succ']
    """
    position = start
    while position < limit:
        line_end = code.find("\n", position, limit)
        line_end = limit if line_end < 0 else line_end
        stripped = len(code[position:line_end]) - len(code[position:line_end].lstrip())
        at = position + stripped
        if code.startswith("|", at) or position == start:
            plain = ":" not in code[at:line_end] and "(" not in code[at:line_end]
            for found in _CONSTRUCTOR.finditer(code, at, line_end):
                said = signature(code, found.end(), line_end)
                yield MemberPart(found["name"], found.start(), found.start("name"), said.end, said.colon)
                if not plain:
                    break
        position = line_end + 1
