"""Topics in other letters: how much of what is found is found because question and answer share letters.

`python -m mathamr_lab.studies.letters TOPICS OUT` writes the topics of a file in other letters, for `mathamr run`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from lxml import etree

from mathamr.evaluation.topics import Topic, read_topics
from mathamr_lab.systems.text.letters import letters_for, renamed

SALT = "bed"
"""Names the renaming of test questions; training draws others."""


def renamed_topics(path: Path) -> list[Topic]:
    """Return the topics of a file, each in other letters."""
    return [
        Topic(topic.id, renamed(topic.post, letters_for(topic.post, SALT)), topic.formula_id)
        for topic in read_topics(path)
    ]


def write_renamed(path: Path, out: Path) -> int:
    """Write the topics of a file in other letters, and return how many changed."""
    tree = etree.parse(path)
    posts = {topic.id: topic.post for topic in read_topics(path)}
    changed = 0
    for topic in renamed_topics(path):
        post = topic.post
        element = next(each for each in tree.getroot() if each.get("number") == topic.id)
        for name, text in (("Title", post.title), ("Question", post.body)):
            found = element.find(name)
            if found is not None:
                found[:] = []
                found.text = text
        query = next((each for each in post.formulas if each.id == topic.formula_id), None)
        latex = element.find("Latex")
        if query is not None and latex is not None:
            latex.text = query.latex
        changed += post.body != posts[topic.id].body or post.title != posts[topic.id].title
    tree.write(out, encoding="utf-8", xml_declaration=True)
    return changed


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m mathamr_lab.studies.letters TOPICS.xml OUT.xml")
    count = write_renamed(Path(sys.argv[1]), Path(sys.argv[2]))
    print(f"{count} topics changed in {sys.argv[2]}", file=sys.stderr)
