"""The sources of the sample corpus: reads and checks `sample/areas/*.md` section by section."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from sample_markdown import Problem, visual_key

FIELDS = {
    "question": {"title", "tags", "score", "date", "accepted", "related", "duplicate"},
    "answer": {"to", "score", "date"},
    "topic A": {"title", "tags"},
    "topic B": {"title", "tags", "formula"},
}
OPTIONAL = {"accepted", "related", "duplicate"}
LINK_TYPES = {"related": 1, "duplicate": 3}
GRADES = range(4)
RELEVANT = 2

HEADING = re.compile(r"## (question|answer) ([1-9]\d*)|## (topic) ([AB]\.[1-9]\d*)")
FIELD = re.compile(r"([a-z]+):\s*(.*)")
TAG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
JUDGED_POST = re.compile(r"(\d+) +(\d)(?: +#.*)?")
JUDGED_FORMULA = re.compile(r"(\d) +`([^`]+)`(?: +#.*)?")


@dataclass
class Section:
    """One question, answer or topic of a source file."""

    kind: str
    id: str
    area: str
    line: int
    fields: dict[str, str] = field(default_factory=dict)
    body: str = ""
    body_line: int = 0
    judgments: list[tuple[int, str, int]] = field(default_factory=list)  # line, post id or LaTeX, grade

    @property
    def number(self) -> int:
        """The sort key of sections."""
        return int(self.id.removeprefix("A.").removeprefix("B."))

    def ids(self, name: str) -> list[str]:
        """Return the ids that a field lists."""
        return [part.strip() for part in self.fields.get(name, "").split(",") if part.strip()]


def read_sections(text: str, area: str, problem: Problem) -> list[Section]:
    """Read the sections of one area's file; text before the first heading is a remark."""
    sections: list[Section] = []
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("## ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        match = HEADING.fullmatch(lines[start].rstrip())
        if match is None:
            problem(
                start + 1, f"expected '## question N', '## answer N' or '## topic A.N', not {lines[start]!r}"
            )
            continue
        section = Section(match[1] or match[3], match[2] or match[4], area, start + 1)
        read_section(section, lines[start + 1 : end], problem)
        sections.append(section)
    return sections


def read_section(section: Section, lines: list[str], problem: Problem) -> None:
    """Read fields up to the first blank line, then the body, then a topic's judgments."""
    known = FIELDS[section.kind if section.kind != "topic" else f"topic {section.id[0]}"]
    at = 0
    while at < len(lines) and lines[at].strip():
        match = FIELD.fullmatch(lines[at].rstrip())
        if match is None or match[1] not in known:
            problem(
                section.line + at + 1, f"expected a field ({', '.join(sorted(known))}), not {lines[at]!r}"
            )
        elif match[1] in section.fields:
            problem(section.line + at + 1, f"the field '{match[1]}' occurs twice")
        else:
            section.fields[match[1]] = match[2].strip()
        at += 1
    for name in sorted(known - OPTIONAL):
        if not section.fields.get(name):
            problem(section.line, f"{section.kind} {section.id} has no '{name}'")
    end = lines.index("### judgments") if "### judgments" in lines else len(lines)
    section.body, section.body_line = "\n".join(lines[at:end]), section.line + at + 1
    if not section.body.strip():
        problem(section.line, f"{section.kind} {section.id} has no body")
    if end < len(lines) and section.kind != "topic":
        problem(section.line + end + 1, f"only topics have judgments, not {section.kind} {section.id}")
    for offset, line in enumerate(lines[end + 1 :], start=section.line + end + 2):
        if line.strip():
            read_judgment(section, line.strip(), offset, problem)


def read_judgment(section: Section, line: str, at: int, problem: Problem) -> None:
    """Read `1001 3` for a topic of task 1, a grade and LaTeX between backquotes for one of task 2; then a # remark."""
    if section.id.startswith("A."):
        match, form = JUDGED_POST.fullmatch(line), "'ANSWER GRADE'"
        what, grade = (match[1], match[2]) if match else ("", "")
    else:
        match, form = JUDGED_FORMULA.fullmatch(line), "'GRADE `LATEX`'"
        what, grade = (match[2], match[1]) if match else ("", "")
    if match is None:
        problem(at, f"expected a judgment {form}, not {line!r}")
    elif int(grade) not in GRADES:
        problem(at, f"a grade is 0, 1, 2 or 3, not {grade}")
    else:
        section.judgments.append((at, what, int(grade)))


@dataclass(frozen=True)
class Say:
    """Reports a problem of one section, at its heading unless a line is named."""

    section: Section
    problem: Callable[[Section, int, str], None]

    def __call__(self, text: str, line: int = 0) -> None:
        """`line` 0 is the line of the heading."""
        self.problem(self.section, line, text)


def check_sections(sections: list[Section], problem: Callable[[Section, int, str], None]) -> None:
    """Check that ids, dates, tags, links and judgments refer to what exists."""
    seen: dict[str, Section] = {}
    for section in sections:
        if (first := seen.setdefault(section.id, section)) is not section:
            problem(section, section.line, f"the id {section.id} is taken by {first.area}.md:{first.line}")
    for section in sections:
        say = Say(section, problem)
        tags = section.ids("tags")
        for tag in [tag for tag in tags if not TAG.fullmatch(tag)]:
            say(f"a tag is lower-case words with hyphens, not {tag!r}")
        if len(tags) != len(set(tags)):
            say("a tag occurs twice")
        if section.kind == "topic":
            check_judgments(section, seen, say)
            continue
        if not re.fullmatch(r"-?\d+", section.fields.get("score", "0")):
            say(f"the score is a whole number, not {section.fields['score']!r}")
        if not re.fullmatch(
            r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", section.fields.get("date", "2000-01-01")
        ):
            say(f"the date is YYYY-MM-DD, not {section.fields['date']!r}")
        check_links(section, seen, say)


def check_links(section: Section, seen: dict[str, Section], say: Say) -> None:
    """Check that an answer has its question, an accepted answer belongs to its question, links lead to other questions."""
    parent = seen.get(section.fields.get("to", ""))
    if section.kind == "answer":
        if parent is None or parent.kind != "question":
            say(f"answer {section.id} is to {section.fields.get('to')!r}, which is no question of the corpus")
        elif section.fields.get("date", "") < parent.fields.get("date", ""):
            say(f"answer {section.id} is older than its question {parent.id}")
    if accepted := section.fields.get("accepted"):
        answer = seen.get(accepted)
        if answer is None or answer.kind != "answer" or answer.fields.get("to") != section.id:
            say(f"the accepted answer {accepted} is no answer to question {section.id}")
    for name in LINK_TYPES:
        for target in section.ids(name):
            if target == section.id or target not in seen or seen[target].kind != "question":
                say(f"{name}: {target} is no other question of the corpus")


def check_judgments(topic: Section, seen: dict[str, Section], say: Say) -> None:
    """Check that a topic can be measured: something is relevant, something is not, nothing is judged twice."""
    keys = [what if topic.id.startswith("A.") else visual_key(what) for _, what, _ in topic.judgments]
    for (at, what, _), key in zip(topic.judgments, keys, strict=True):
        if keys.count(key) > 1:
            say(f"{what} is judged twice", at)
        if topic.id.startswith("A.") and (what not in seen or seen[what].kind != "answer"):
            say(f"{what} is no answer of the corpus", at)
    grades = [grade for _, _, grade in topic.judgments]
    if not any(grade >= RELEVANT for grade in grades) or not any(grade < RELEVANT for grade in grades):
        say(f"topic {topic.id} needs a judgment of grade 2 or 3 and one of grade 0 or 1")
