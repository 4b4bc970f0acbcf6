"""Cuts a LaTeX document into sections, theorem-like statements and their proofs in a single pass."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from mathamr.posts.formats.latex.commands import VERBATIM
from mathamr.posts.formats.latex.definitions import BraceGroups, TheoremStyle
from mathamr.posts.formats.outline import Headings, OutlinePart
from mathamr.posts.postkind import KINDS, PostKind, kind_named, kinds_named
from mathamr.posts.report import Report

STATEMENTS = {
    name: (name if name in (*KINDS, "situation") else kind).capitalize()
    for name, kind in kinds_named(
        "theorem thm theo lemma lem proposition prop corollary cor coro definition defn defi remark rem rmk example exam claim"
        " fact conjecture exercise problem question notation observation axiom convention situation"
    ).items()
}
"""Environments of statements that need no definition, and what a page calls them."""
PROOFS: dict[str, PostKind] = {"proof": "proof", "pf": "proof", "solution": "solution", "answer": "solution"}

_LEVELS = {"part": 0, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4}
_MARK = re.compile(
    r"""\\(?P<section>part|chapter|section|subsection|subsubsection)\*?\s*+
       (?:\[[^\[\]]{0,1000}+\])?+\s*+(?=\{)  # a short title, then the title
    |\\(?P<edge>begin|end)\s*+\{\s*+(?P<name>[A-Za-z@][A-Za-z0-9@]*+\*?)\s*+\}""",
    re.X,
)
_TITLE = re.compile(r"\\title\s*+(?:\[[^\[\]]{0,1000}+\])?+\s*+(?=\{)")
_OPTION = re.compile(r"\s*+\[((?:[^\[\]{}]|\{[^{}]*+\})*+)\]")
_GROUP = re.compile(r"\s*+\{([^{}]{0,500}+)\}")
_LABEL = re.compile(r"\s*+\\label\s*+\{([^{}]*+)\}")
_ANY_LABEL = re.compile(r"\\label\s*+\{([^{}]*+)\}|\\bibitem\s*+(?:\[[^\[\]]{0,500}+\])?+\s*+\{([^{}]*+)\}")
_REFERENCE = re.compile(r"\\[A-Za-z]*ref\*?\s*+(?:\[[^\[\]]{0,200}+\])?+\s*+\{([^{}]*+)\}")
_PROVES = re.compile(r"\\proves\s*+\{([^{}]*+)\}")
_BODY = re.compile(r"\\begin\s*+\{document\}(.*?)(?:\\end\s*+\{document\}|\Z)", re.S)
_BEGINS = re.compile(r"\\begin\s*+\{document\}")
_ENDS = re.compile(r"\\(?:end\s*+\{document\}|enddocument|endinput|stop|bye)(?![A-Za-z])")
_LONGEST_TITLE = 1000


@dataclass(eq=False)
class LatexPart(OutlinePart):
    """A part of a document of LaTeX; `start` is where its own mark stands in the text, `name` the command or environment."""

    name: str = ""
    start: int = 0
    title: str = ""
    spans: list[tuple[int, int]] = field(default_factory=list)
    number: int = 0
    counted: str = ""
    """Its number as the document shows it: `2.1`."""
    shown: str = ""
    """What the document calls a statement of its kind: `Theorem`."""

    @property
    def numbered_title(self) -> str:
        """The title with the number: `Theorem 2.1 (Euler)`."""
        if not (self.counted and self.shown):
            return self.title
        return f"{self.shown} {self.counted}{self.title.removeprefix(self.shown)}"

    @property
    def own_name(self) -> str:
        """What its author calls it: the title of a section, the note of a theorem."""
        if self.kind == "section":
            return self.headings[-1] if self.headings else ""
        return self.title[len(self.shown) + 2 : -1] if self.title.startswith(f"{self.shown} (") else ""

    @property
    def has_text(self) -> bool:
        """True if it has words of its own or a proof."""
        return bool(self.body.strip() or self.proofs)


def is_cut(text: str) -> bool:
    """Return True for a document that begins and has no end, as a file that was not copied whole."""
    found = _BEGINS.search(text)
    return found is not None and _ENDS.search(text, found.end()) is None


class Outline:
    """Cuts one document into parts; the first is what comes before any section, a proof follows its statement."""

    def __init__(
        self,
        text: str,
        name: str,
        theorems: dict[str, TheoremStyle],
        report: Report,
        numbers: Mapping[int, str] | None = None,
    ) -> None:
        self._text = text
        self._report = report
        self._numbers = numbers or {}
        self._theorems = {known: TheoremStyle(shown) for known, shown in STATEMENTS.items()} | theorems
        self._groups = BraceGroups(text)
        title = _TITLE.search(text)
        document = _BODY.search(text)
        self._begin, self._end = document.span(1) if document else (0, len(text))
        self._headings = Headings()
        self._enter(-1, (self._title_at(title.end())[0] if title else "") or name)
        self._section = self._part("note", "document", self._begin, ": ".join(self._above))
        self._parts = [self._section]
        self._before: LatexPart | None = None
        self._by_label: dict[str, LatexPart] = {}
        self._unclosed: set[str] = set()

    def parts(self) -> list[LatexPart]:
        """Return the parts in the order in which they begin."""
        begin = position = self._begin
        while match := _MARK.search(self._text, position, self._end):
            position = match.end()
            if match["section"]:
                after = self._begin_section
            elif match["edge"] == "begin" and self._style(match["name"]):
                after = self._statement
            elif match["edge"] == "begin" and match["name"] in PROOFS and self._before is not None:
                after = self._proof
            else:
                if match["edge"] == "begin" and match["name"].rstrip("*") in VERBATIM:
                    position = self._behind(match["name"], position)
                continue
            self._section.spans.append((begin, match.start()))
            begin = position = after(match)
        self._section.spans.append((begin, self._end))
        for part in self._parts:
            texts = (self._text[start:end] for start, end in part.spans)
            part.body = "\n\n".join(text.strip("\n") for text in texts if text.strip())
            part.inside = [first or second for first, second in _ANY_LABEL.findall(part.body)]
            if part.kind == "statement" and part.proofs:
                part.kind = "theorem"
        return self._parts

    def _behind(self, environment: str, position: int) -> int:
        """Return the end of a verbatim environment, whose text has no marks; the same position if it has no end."""
        if environment in self._unclosed:
            return position
        end = self._text.find(f"\\end{{{environment}}}", position, self._end)
        if end < 0:
            self._unclosed.add(environment)
        return end if end >= 0 else position

    def _style(self, environment: str) -> TheoremStyle | None:
        return self._theorems.get(environment) or self._theorems.get(environment.rstrip("*"))

    def _part(self, kind: PostKind, name: str, start: int, title: str, *spans: tuple[int, int]) -> LatexPart:
        return LatexPart(kind, self._above, name=name, start=start, title=title, spans=list(spans))

    def _enter(self, level: int, title: str) -> None:
        """Go on below a heading."""
        self._heading, self._above = title, tuple(filter(None, self._headings.enter(level, title)))

    def _begin_section(self, match: re.Match[str]) -> int:
        name = match["section"]
        title, position = self._title_at(match.end())
        self._enter(_LEVELS[name], title)
        self._section = self._part("section", name, match.start(), ": ".join(self._above))
        self._section.counted = self._numbers.get(match.start(), "")
        self._parts.append(self._section)
        self._before = None
        if label := _LABEL.match(self._text, position):
            self._section.label = label.group(1).strip()
            position = label.end()
        return position

    def _statement(self, match: re.Match[str]) -> int:
        name, position = match["name"], match.end()
        style = self._style(name) or TheoremStyle(name)
        end, after = self._environment(match)
        label, note = "", ""
        if style.prefix is not None and (boxed := _GROUP.match(self._text, position, end)):
            note, position = boxed.group(1), boxed.end()
            if named := _GROUP.match(self._text, position, end):
                label = f"{style.prefix}:{named.group(1).strip()}" if named.group(1).strip() else ""
                position = named.end()
        elif option := _OPTION.match(self._text, position, end):
            note, position = option.group(1), option.end() if option.group(1).strip() else position
        title = f"{style.shown} ({note.strip()})" if note.strip() else f"{style.shown}: {self._heading}"
        kind = kind_named(style.shown) or kind_named(name) or "statement"
        part = self._part(kind, name.rstrip("*"), match.start(), title, (position, end))
        part.counted = self._numbers.get(match.start(), "")
        part.shown = style.shown
        labels = (found.group(1) for found in _ANY_LABEL.finditer(self._text, position, end))
        part.label = label or next(
            (name.strip() for name in labels if name and not name.strip().startswith("eq")), ""
        )
        self._parts.append(part)
        self._by_label.setdefault(part.label, part)
        self._before = part
        return after

    def _proof(self, match: re.Match[str]) -> int:
        """Add a proof to the statement that it names, or else to the one before it; return where reading goes on."""
        end, after = self._environment(match)
        position, statement = match.end(), self._before
        if option := _OPTION.match(self._text, position, end):
            named = _REFERENCE.search(option.group(1))
            if named and named.group(1).strip():
                statement = self._by_label.get(named.group(1).strip(), statement)
            position = option.end()
        if proves := _PROVES.search(self._text, position, min(end, position + 1000)):
            statement = self._by_label.get(proves.group(1).strip(), statement)
        if statement is not None:
            proof = self._part(PROOFS[match["name"]], match["name"], match.start(), "", (position, end))
            proof.statement = statement
            statement.proofs.append(proof)
            proof.number = len(statement.proofs)
            self._parts.append(proof)
        return after

    def _environment(self, opening: re.Match[str]) -> tuple[int, int]:
        """Return where an environment's text ends, and where reading goes on."""
        name, depth = opening["name"], 1
        end = self._end
        for match in _MARK.finditer(self._text, opening.end(), self._end):
            if match["section"]:
                end = match.start()
                break
            if match["name"] == name:
                depth += 1 if match["edge"] == "begin" else -1
                if not depth:
                    return match.start(), match.end()
        self._report.repair(
            "unclosed environment", f"\\begin{{{name}}} is never closed; it is cut at the next section"
        )
        return end, end

    def _title_at(self, start: int) -> tuple[str, int]:
        """Return the text of the group in braces at `start`, and where it ends; a group left open ends with its line."""
        end = self._groups.end(start, _LONGEST_TITLE)
        if end is not None:
            return " ".join(self._text[start + 1 : end - 1].split()), end
        newline = self._text.find("\n", start, start + _LONGEST_TITLE)
        end = min(len(self._text), start + _LONGEST_TITLE) if newline < 0 else newline
        return " ".join(self._text[start + 1 : end].split()), end
