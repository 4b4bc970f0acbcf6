"""Folders of LaTeX: sections become notes, theorems and their proofs become linked posts.

A theorem-like statement is a `question` and its proof an `answer` to it, as in a corpus of questions and answers:
who asks for a statement finds its proof. Definitions, remarks and sections are `note`s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from mathamr.posts.files import STDIN, Head, shown, stem
from mathamr.posts.latexsource import SUFFIXES, Source, Sources
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Link, Post
from mathamr.posts.reader import Collection
from mathamr.posts.report import Report

PROVABLE = {
    **dict.fromkeys(["theorem", "thm", "theo"], "Theorem"),
    **dict.fromkeys(["lemma", "lem"], "Lemma"),
    **dict.fromkeys(["proposition", "prop"], "Proposition"),
    **dict.fromkeys(["corollary", "cor", "coro"], "Corollary"),
    **{
        name: name.capitalize() for name in ("claim", "fact", "conjecture", "exercise", "problem", "question")
    },
}
OTHER = {
    **dict.fromkeys(["definition", "defn", "defi"], "Definition"),
    **dict.fromkeys(["remark", "rem", "rmk"], "Remark"),
    **dict.fromkeys(["example", "exam"], "Example"),
    **{name: name.capitalize() for name in ("notation", "observation", "axiom", "convention", "situation")},
}
PROOFS = frozenset(["proof", "pf", "solution", "answer"])
_LEVELS = {"part": 0, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4}

_MARK = re.compile(
    r"\\(?P<section>part|chapter|section|subsection|subsubsection)\*?\s*(?:\[[^\[\]]*\])?\s*(?=\{)"
    r"|\\(?P<edge>begin|end)\s*\{\s*(?P<name>[A-Za-z@]+\*?)\s*\}"
)
_TITLE = re.compile(r"\\title\s*(?:\[[^\[\]]*\])?\s*(?=\{)")
_NEW_THEOREM = re.compile(
    r"\\(?:sp)?newtheorem\*?\s*\{\s*([A-Za-z@]+\*?)\s*\}\s*(?:\[[^\[\]]*\])?\s*\{([^{}]*)\}"
    r"|\\declaretheorem\s*(?:\[([^\[\]]*)\])?\s*\{\s*([A-Za-z@]+\*?)\s*\}"
)
_DECLARED_NAME = re.compile(r"(?:^|,)\s*(?:name|title)\s*=\s*\{?([^,{}]+)")
_OPTION = re.compile(r"\s*\[((?:[^\[\]{}]|\{[^{}]*\})*)\]")
_LABEL = re.compile(r"\s*\\label\s*\{([^{}]*)\}")
_ANY_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_REFERENCE = re.compile(r"\\[A-Za-z]*ref\*?\s*(?:\[[^\[\]]*\])?\s*\{([^{}]*)\}")
_BRACE = re.compile(r"\\.|[{}]", re.S)
_BODY = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.S)
_LONGEST_TITLE = 1000


@dataclass
class _Part:
    """A post in the making: its text, its place in the document, what belongs to it."""

    kind: str
    name: str
    title: str = ""
    spans: list[tuple[int, int]] = field(default_factory=list)
    label: str = ""
    statement: _Part | None = None
    proofs: list[_Part] = field(default_factory=list)
    id: str = ""
    body: str = ""


class LatexReader:
    """Reads LaTeX documents: ids are `path#label`, or `path#theorem-3` where a part has no label.

    `\\input` is followed inside the folder only. The macros that a post uses are handed on in `macros`.
    """

    description: ClassVar[str] = "LaTeX documents: a file, or a folder of them"

    @classmethod
    def recognises(cls, head: Head) -> bool:
        """Named so, and text."""
        return head.suffix in SUFFIXES and "\0" not in head.text

    def read(self, collection: Collection, report: Report) -> Iterator[Post]:
        """The posts of each document in the order of its text."""
        for source in Sources(collection.root, collection.files).read(report):
            name = "document" if source.file == STDIN else source.file.relative_to(collection.root).as_posix()
            yield from _posts(source, name, report)


def _posts(source: Source, document: str, report: Report) -> Iterator[Post]:
    parts = _Outline(source.text, stem(Path(document)), report).parts()
    labels = _identify(parts, document)
    for part in parts:
        body = part.body
        if not body.strip() and not part.proofs:
            continue
        links = [Link(proof.id, "proof") for proof in part.proofs]
        if part.statement is not None:
            links.append(Link(part.statement.id, "proof"))
        links += [Link(target, "mention") for target in _mentions(body, labels) if target != part.id]
        provable = part.kind == "statement" and (bool(part.proofs) or part.name in PROVABLE)
        yield Post(
            id=part.id,
            kind="answer" if part.statement is not None else "question" if provable else "note",
            body=body,
            title=part.title,
            markup="latex",
            parent=part.statement.id if part.statement is not None else None,
            links=tuple(dict.fromkeys(links)),
            source=shown(source.file),
            macros=source.macros_for(f"{part.title}\n{body}"),
            formulas=formulas_of(part.id, part.title, body, "latex", report.note),
        )


def _identify(parts: list[_Part], document: str) -> dict[str, str]:
    """Give every part its id; returns the part of each label of the document."""
    counts: dict[str, int] = {}
    taken: set[str] = set()
    labels: dict[str, str] = {}
    for place, part in enumerate(parts):
        if part.statement is not None:
            number = part.statement.proofs.index(part)
            part.id = f"{part.statement.id}/proof" + (f"-{number + 1}" if number else "")
        elif place == 0:
            part.id = document
        else:
            counts[part.name] = counts.get(part.name, 0) + 1
            anchor = part.label or f"{part.name}-{counts[part.name]}"
            part.id = f"{document}#{anchor}"
            if part.id in taken:
                part.id = f"{document}#{part.name}-{counts[part.name]}"
        taken.add(part.id)
        for label in [part.label, *_ANY_LABEL.findall(part.body)]:
            labels.setdefault(label, part.id)
    return labels


def _mentions(body: str, labels: dict[str, str]) -> Iterator[str]:
    for match in _REFERENCE.finditer(body):
        for label in match.group(1).split(","):
            if label.strip() and label.strip() in labels:
                yield labels[label.strip()]


class _Outline:
    """Cuts one document into parts in a single pass over its section and environment marks."""

    def __init__(self, text: str, name: str, report: Report) -> None:
        self._report = report
        self._theorems = dict(PROVABLE) | OTHER | _declared(text)
        title = _TITLE.search(text)
        document = _BODY.search(text)
        self._text = document.group(1) if document else text
        self._titles: dict[int, str] = {-1: (_group(text, title.end())[0] if title else "") or name}
        self._parts = [_Part("section", "section", self._title())]
        self._section = self._parts[0]
        self._before: _Part | None = None

    def parts(self) -> list[_Part]:
        """The first is what stands before any section; a proof comes after its statement."""
        begin = position = 0
        while match := _MARK.search(self._text, position):
            position = match.end()
            if match["section"]:
                after = self._begin_section
            elif match["edge"] == "begin" and self._shown_name(match["name"]):
                after = self._statement
            elif match["edge"] == "begin" and match["name"] in PROOFS and self._before is not None:
                after = self._proof
            else:
                continue
            self._section.spans.append((begin, match.start()))
            begin = position = after(match["section"] or match["name"], match.end())
        self._section.spans.append((begin, len(self._text)))
        for part in self._parts:
            texts = (self._text[start:end] for start, end in part.spans)
            part.body = "\n\n".join(text.strip("\n") for text in texts if text.strip())
        return self._parts

    def _shown_name(self, environment: str) -> str:
        """What a page calls the statements of an environment; empty where it holds none."""
        return self._theorems.get(environment) or self._theorems.get(environment.rstrip("*"), "")

    def _title(self) -> str:
        return ": ".join(self._titles[level] for level in sorted(self._titles) if self._titles[level])

    def _begin_section(self, name: str, position: int) -> int:
        title, position = _group(self._text, position)
        level = _LEVELS[name]
        self._titles = {above: held for above, held in self._titles.items() if above < level}
        self._titles[level] = title
        self._section = _Part("section", name, self._title())
        self._parts.append(self._section)
        self._before = None
        if label := _LABEL.match(self._text, position):
            self._section.label = label.group(1)
            position = label.end()
        return position

    def _statement(self, name: str, position: int) -> int:
        end, after = self._environment(name, position)
        title = f"{self._shown_name(name)}: {self._titles[max(self._titles)]}"
        if (option := _OPTION.match(self._text, position, end)) and option.group(1).strip():
            title = f"{self._shown_name(name)} ({option.group(1).strip()})"
            position = option.end()
        part = _Part("statement", name.rstrip("*"), title, [(position, end)])
        labels = _ANY_LABEL.findall(self._text, position, end)
        part.label = next((label for label in labels if not label.startswith("eq")), "")
        self._parts.append(part)
        self._before = part
        return after

    def _proof(self, name: str, position: int) -> int:
        """A proof belongs to the statement it names, or else to the one before it."""
        end, after = self._environment(name, position)
        statement = self._before
        if option := _OPTION.match(self._text, position, end):
            named = _REFERENCE.search(option.group(1))
            wanted = named.group(1).strip() if named else None
            statement = next((p for p in reversed(self._parts) if wanted and p.label == wanted), statement)
            position = option.end()
        if statement is not None:
            proof = _Part("proof", name, spans=[(position, end)], statement=statement)
            statement.proofs.append(proof)
            self._parts.append(proof)
        return after

    def _environment(self, name: str, position: int) -> tuple[int, int]:
        """Where an environment's text ends, and where reading goes on."""
        depth = 1
        for match in _MARK.finditer(self._text, position):
            if match["section"]:
                break
            if match["name"] == name:
                depth += 1 if match["edge"] == "begin" else -1
                if not depth:
                    return match.start(), match.end()
        else:
            match = None
        end = match.start() if match else len(self._text)
        self._report.mend(
            "unclosed environment", f"\\begin{{{name}}} without its end; cut at the next section"
        )
        return end, end


def _declared(text: str) -> dict[str, str]:
    """The theorem-like environments that a document defines, with the names it shows for them."""
    found: dict[str, str] = {}
    for name, shown_name, options, declared in _NEW_THEOREM.findall(text):
        if name:
            found[name] = shown_name.strip() or name.capitalize()
        else:
            title = _DECLARED_NAME.search(options)
            found[declared] = title.group(1).strip() if title else declared.capitalize()
    return found


def _group(text: str, start: int) -> tuple[str, int]:
    """The text of the group in braces at `start`, and where it ends; a group left open ends with its line."""
    depth = 0
    for match in _BRACE.finditer(text, start, start + _LONGEST_TITLE):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if not depth:
            return " ".join(text[start + 1 : match.start()].split()), match.end()
    newline = text.find("\n", start)
    end = len(text) if newline < 0 else newline
    return " ".join(text[start + 1 : end].split()), end
