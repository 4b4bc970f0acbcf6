"""Compiles the sample corpus from `sample/areas/*.md` into ARQMath's formats.

    python scripts/build_sample.py            check the sources, write src/mathamr/sample/, print the sizes
    python scripts/build_sample.py --check    the same without writing: exit 1 if the files are not up to date

`sample/README.md` describes the source format. Every mistake found is printed as `file:line: what is wrong`.
"""

from __future__ import annotations

import argparse
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from sample_markdown import Markdown, Rendered, visual_key
from sample_source import GRADES, LINK_TYPES, Section, check_sections, read_sections

ROOT = Path(__file__).resolve().parent.parent
AREAS = ROOT / "sample" / "areas"
PACKAGE = ROOT / "src" / "mathamr" / "sample"


class SampleError(Exception):
    """Mistakes in the sources, one per line."""


def compile_sample(areas: Path) -> dict[str, str]:
    """Return the compiled files, by their path under the package; raise all mistakes at once as a `SampleError`."""
    problems: list[str] = []
    sections: list[Section] = []
    for path in sorted(areas.glob("*.md")):
        say = lambda line, text, path=path: problems.append(f"{path.name}:{line}: {text}")  # noqa: E731
        sections += read_sections(path.read_text(encoding="utf-8"), path.stem, say)

    def problem(section: Section, line: int, text: str) -> None:
        problems.append(f"{section.area}.md:{line or section.line}: {text}")

    check_sections(sections, problem)
    sections.sort(key=lambda section: (section.id[0], section.number))
    posts = [section for section in sections if section.kind != "topic"]
    posts.sort(key=lambda section: section.number)
    kinds = {post.id: post.kind for post in posts}

    def post_url(post_id: str) -> str | None:
        return {"question": f"/questions/{post_id}", "answer": f"/a/{post_id}", "": None}[
            kinds.get(post_id, "")
        ]

    def render(section: Section, formula_id: Callable[[], str]) -> tuple[Rendered, Rendered]:
        say = lambda line, text: problem(section, line, text)  # noqa: E731
        title = Markdown(formula_id, post_url, say).title(section.fields.get("title", ""), section.line)
        return title, Markdown(formula_id, post_url, say).body(section.body, section.body_line)

    rendered = {post.id: render(post, numbered(f"{post.id}{{:03d}}")) for post in posts}
    visual_ids = number_visually(
        [latex for pair in rendered.values() for part in pair for latex in part.formulas]
    )
    files = {
        "Posts.xml": posts_xml(posts, rendered),
        "formulas.tsv": formulas_tsv(posts, rendered, visual_ids),
        "PostLinks.tsv": links_tsv(posts),
    }
    topic_formula_id = numbered("q_{}")
    for task, letter in ((1, "A"), (2, "B")):
        topics = [section for section in sections if section.kind == "topic" and section.id[0] == letter]
        elements, judgments = [], []
        for topic in topics:
            ids: list[str] = []
            title, body = render(topic, lambda ids=ids: ids.append(topic_formula_id()) or ids[-1])  # type: ignore[misc]
            marked = {}
            if task == 2:
                marked = marked_formula(
                    topic, dict(zip(ids, title.formulas + body.formulas, strict=True)), problem
                )
            elements.append(topic_element(topic, marked, title, body))
            for at, what, grade in topic.judgments:
                judged = what if task == 1 else visual_ids.get(visual_key(what))
                if judged is None:
                    problem(topic, at, f"no post of the corpus has the formula {what!r}")
                judgments.append(f"{topic.id} 0 {judged} {grade}\n")
        files[f"topics/task{task}.xml"] = (
            f'<?xml version="1.0" encoding="utf-8"?>\n<Topics>\n{"".join(elements)}</Topics>\n'
        )
        files[f"qrels/task{task}.qrels"] = "".join(judgments)
    if problems:
        raise SampleError("\n".join(problems))
    return files


def numbered(pattern: str) -> Callable[[], str]:
    """Yield ids that count from 1."""
    counter = iter(range(1, sys.maxsize))
    return lambda: pattern.format(next(counter))


def number_visually(formulas: list[str]) -> dict[str, int]:
    """Return one number for each visually distinct formula: a checksum, so that edits elsewhere do not change it."""
    numbers: dict[str, int] = {}
    taken: set[int] = set()
    for key in sorted({visual_key(latex) for latex in formulas}):
        number = zlib.crc32(key.encode()) >> 5
        while number in taken:
            number += 1
        taken.add(number)
        numbers[key] = number
    return numbers


def marked_formula(
    topic: Section, formulas: dict[str, str], problem: Callable[[Section, int, str], None]
) -> dict[str, str]:
    """Return the elements that name the query formula of a task 2 topic, which must occur exactly once."""
    wanted = visual_key(topic.fields.get("formula", ""))
    found = [formula_id for formula_id, latex in formulas.items() if visual_key(latex) == wanted]
    if len(found) != 1:
        problem(
            topic, topic.line, f"the formula of topic {topic.id} occurs {len(found)} times in it, not once"
        )
        return {}
    return {"Formula_Id": found[0], "Latex": formulas[found[0]]}


def posts_xml(posts: list[Section], rendered: dict[str, tuple[Rendered, Rendered]]) -> str:
    """Return the rows of Stack Exchange in ARQMath's format."""
    rows = []
    for post in posts:
        title, body = rendered[post.id]
        question = post.kind == "question"
        attributes = {
            "Id": post.id,
            "PostTypeId": "1" if question else "2",
            "ParentId": post.fields.get("to"),
            "AcceptedAnswerId": post.fields.get("accepted"),
            "CreationDate": f"{post.fields.get('date')}T00:00:00.000",
            "Score": post.fields.get("score"),
            "Title": title.html if question else None,
            "Body": body.html,
            "Tags": "".join(f"<{tag}>" for tag in post.ids("tags")) if question else None,
        }
        rows.append("  <row " + " ".join(f"{k}={quoteattr(v)}" for k, v in attributes.items() if v) + " />\n")
    return f'<?xml version="1.0" encoding="utf-8"?>\n<posts>\n{"".join(rows)}</posts>\n'


def formulas_tsv(
    posts: list[Section], rendered: dict[str, tuple[Rendered, Rendered]], visual_ids: dict[str, int]
) -> str:
    """Every formula of every post, in the order of its id."""
    lines = ["id\tpost_id\tthread_id\ttype\tvisual_id\tformula\n"]
    for post in posts:
        thread = post.fields.get("to", post.id)
        formula_id = numbered(f"{post.id}{{:03d}}")
        title, body = rendered[post.id]
        for part, place in ((title, "title"), (body, post.kind)):
            for latex in part.formulas:
                visual = visual_ids[visual_key(latex)]
                lines.append(f"{formula_id()}\t{post.id}\t{thread}\t{place}\t{visual}\t{latex}\n")
    return "".join(lines)


def links_tsv(posts: list[Section]) -> str:
    """Related (1) and duplicate (3) questions."""
    lines = ["post_id\trelated_post_id\tlink_type\n"]
    for post in posts:
        for name, link_type in LINK_TYPES.items():
            lines += [f"{post.id}\t{target}\t{link_type}\n" for target in post.ids(name)]
    return "".join(lines)


def topic_element(topic: Section, marked: dict[str, str], title: Rendered, body: Rendered) -> str:
    """Return a topic in the shape of ARQMath's topic files."""
    tags = ",".join(topic.ids("tags"))
    children = {**marked, "Title": title.html, "Question": body.html, "Tags": tags}
    inner = "".join(f"    <{name}>{escape(text)}</{name}>\n" for name, text in children.items())
    return f'  <Topic number="{topic.id}">\n{inner}  </Topic>\n'


def sizes(files: dict[str, str]) -> str:
    """Return what the sample contains, for the documentation."""
    posts = [row.attrib for row in ElementTree.fromstring(files["Posts.xml"].encode())]
    kinds = Counter(post["PostTypeId"] for post in posts)
    accepted = sum("AcceptedAnswerId" in post for post in posts)
    prose = [re.sub(r"<span.*?</span>|<.*?>", " ", post["Body"], flags=re.DOTALL) for post in posts]
    tags = {tag for post in posts for tag in post.get("Tags", "")[1:-1].split("><") if tag}
    formulas = [line.split("\t") for line in files["formulas.tsv"].splitlines()[1:]]
    links = Counter(line.split("\t")[2] for line in files["PostLinks.tsv"].splitlines()[1:])
    lines = [
        f"questions  {kinds['1']}, {accepted} with an accepted answer",
        f"answers    {kinds['2']}",
        f"words      {sum(len(text.split()) for text in prose)} outside formulas",
        f"tags       {len(tags)}",
        f"formulas   {len(formulas)}, {len({row[4] for row in formulas})} visually distinct",
        f"links      {links['1']} related, {links['3']} duplicate",
    ]
    for task in (1, 2):
        grades = Counter(line.split()[3] for line in files[f"qrels/task{task}.qrels"].splitlines())
        topics = files[f"topics/task{task}.xml"].count("<Topic ")
        by_grade = ", ".join(f"{grades[str(grade)]} of grade {grade}" for grade in reversed(GRADES))
        lines.append(f"task {task}     {topics} topics, {grades.total()} judgments: {by_grade}")
    return "\n".join(lines)


def main() -> int:
    """Build or check the compiled sample."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 where files are not up to date"
    )
    arguments = parser.parse_args()
    try:
        files = compile_sample(AREAS)
    except SampleError as error:
        print(error, file=sys.stderr)
        return 1
    stale = [
        name
        for name, text in files.items()
        if not (PACKAGE / name).is_file() or (PACKAGE / name).read_text(encoding="utf-8") != text
    ]
    if arguments.check and stale:
        print(f"not up to date: {', '.join(stale)}; run python scripts/build_sample.py", file=sys.stderr)
        return 1
    for name in stale:
        (PACKAGE / name).parent.mkdir(parents=True, exist_ok=True)
        (PACKAGE / name).write_text(files[name], encoding="utf-8", newline="\n")
    print(sizes(files))
    return 0


if __name__ == "__main__":
    sys.exit(main())
