"""Known items in their own letters and in others: how much of what is found is found because question and answer share letters.

`python -m mathamr_lab.studies.letters TOPICS OUT` writes topics in other letters, for `mathamr run`. As a study it compares runs:
`MATHAMR_RUNS` is a folder with runs named COLLECTION.FORM.NAME.run, where COLLECTION is `arqmath` or `pairs`, FORM is `asked` or
`renamed`, and NAME is any. The table has MRR@10 of both forms and their difference, with 95 % intervals by the bootstrap over questions.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import fmean

from lxml import etree

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import read_qrels
from mathamr.evaluation.runs import read_run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.significance import bootstrap_interval
from mathamr.evaluation.table import aligned
from mathamr.evaluation.topics import Topic, read_topics
from mathamr_lab.data import data_folder
from mathamr_lab.studies.testsets import KNOWN, environment
from mathamr_lab.systems.text.letters import letters_for, renamed

SALT = "bed"
"""Names the renaming of the test beds; training draws others."""
QRELS = {"arqmath": "arqmath-mini/qrels/known-items.qrels", "pairs": "pairs/known-items.qrels"}
FORMS = ("asked", "renamed")


def renamed_topics(path: Path) -> list[Topic]:
    """Returns the topics of a file, each in other letters."""
    return [
        Topic(topic.id, renamed(topic.post, letters_for(topic.post, SALT)), topic.formula_id)
        for topic in read_topics(path)
    ]


def write_renamed(path: Path, out: Path) -> int:
    """Writes the topics of a file in other letters, and returns how many changed."""
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


def run() -> None:
    folder = Path(environment("MATHAMR_RUNS"))
    rows = [["", *FORMS, "difference", "95 %"]]
    for asked in sorted(folder.glob(f"*.{FORMS[0]}.*.run")):
        collection, _, name = asked.name.removesuffix(".run").split(".", 2)
        other = folder / f"{collection}.{FORMS[1]}.{name}.run"
        if collection in QRELS and other.exists():
            rows.append([f"{collection}, {name}", *_compared(collection, asked, other)])
    if len(rows) == 1:
        raise MathAMRError(
            f"{folder} lacks a pair of runs named COLLECTION.asked.NAME.run and COLLECTION.renamed.NAME.run"
        )
    print(aligned(rows))


def _compared(collection: str, *runs: Path) -> list[str]:
    qrels = read_qrels(data_folder() / QRELS[collection])
    values = [evaluate(read_run(path), qrels, measures(KNOWN[:1])).values[KNOWN[0]] for path in runs]
    differences = [values[1][topic] - values[0][topic] for topic in values[0]]
    low, high = bootstrap_interval(differences) or (0.0, 0.0)
    cells = []
    for found in values:
        one, other = bootstrap_interval(list(found.values())) or (0.0, 0.0)
        cells.append(f"{fmean(found.values()):.3f} ({one:.3f} to {other:.3f})")
    return [*cells, f"{fmean(differences):+.3f}", f"{low:+.3f} to {high:+.3f}"]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m mathamr_lab.studies.letters TOPICS.xml OUT.xml")
    count = write_renamed(Path(sys.argv[1]), Path(sys.argv[2]))
    print(f"{count} topics changed in {sys.argv[2]}", file=sys.stderr)
