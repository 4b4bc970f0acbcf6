"""`python -m mathamr_lab.experiments.miniature FOLDER`: ARQMath and NTCIR-12 in miniature, in the layout in which they are distributed.

The bundled sample, under the file names, columns and quirks of the real collections, so that every command of the
reproduction page can be tried in minutes.
"""

from __future__ import annotations

import argparse
import csv
import html
import sys
from collections.abc import Sequence
from pathlib import Path

from lxml import etree

from mathamr import sample

COLUMNS = (
    "id",
    "post_id",
    "thread_id",
    "type",
    "comment_id",
    "old_visual_id",
    "visual_id",
    "issue",
    "formula",
)
"""The columns of ARQMath's tables of formulas, version 3."""
TABLES = 2
"""The number of files of a representation; ARQMath has 101."""
YEARS = {2020: 0, 2021: 200, 2022: 300}
"""The years, and the number before the first topic of each."""
_MATH = (
    '<math alttext="{0}"><semantics><mi>?</mi><annotation encoding="application/x-tex">{0}</annotation>'
    "</semantics></math>"
)


def write_arqmath(folder: Path) -> None:
    """Write `Collection`, `Formulas`, `Topics`, `Qrels` and `Runs`."""
    source = sample.folder()
    for name in ("Collection", "Formulas/latex_representation_v3", "Topics", "Qrels", "Runs"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "Collection" / "Posts.V1.3.xml").write_bytes((source / "Posts.xml").read_bytes())
    with (source / "formulas.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    for number in range(TABLES):
        path = folder / "Formulas" / "latex_representation_v3" / f"{number + 1}.tsv"
        _table(path, rows[number::TABLES], comments=number == 0)
    for task, prefix in ((1, "A"), (2, "B")):
        _topics(source, folder, task, prefix)
    for year in (2021, 2022):
        _run(folder, rows, year)


def _table(path: Path, rows: Sequence[dict[str, str]], *, comments: bool) -> None:
    """Write a table; formulas are escaped as in HTML, and the first table has a row of a comment and one with an issue."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("\t".join(COLUMNS) + "\n")
        for row in rows:
            values = row | {"comment_id": "", "old_visual_id": row["visual_id"], "issue": ""}
            values["formula"] = html.escape(row["formula"], quote=False)
            file.write("\t".join(values[name] for name in COLUMNS) + "\n")
        if comments:
            first = rows[0]
            post = [first["post_id"], first["thread_id"]]
            file.write("\t".join(["99000001", *post, "comment", "77", "1", "1", "", "c"]) + "\n")
            file.write("\t".join(["99000002", *post, "answer", "", "", "", "d", ""]) + "\n")


def _topics(source: Path, folder: Path, task: int, prefix: str) -> None:
    """Deal the sample's topics out to the years, with their judgments as tables without a header."""
    root = etree.parse(str(source / "topics" / f"task{task}.xml")).getroot()
    lines = [
        line.split() for line in (source / "qrels" / f"task{task}.qrels").read_text("utf-8").splitlines()
    ]
    for place, (year, first) in enumerate(YEARS.items()):
        topics, judged = etree.Element("Topics"), []
        for number, topic in enumerate(list(root)[place :: len(YEARS)], 1):
            old, new = str(topic.get("number")), f"{prefix}.{first + number}"
            copy = etree.fromstring(etree.tostring(topic))
            copy.set("number", new)
            topics.append(copy)
            judged += [f"{new}\t0\t{item}\t{grade}\n" for name, _, item, grade in lines if name == old]
        path = folder / "Topics" / f"Topics_Task{task}_{year}.xml"
        path.write_bytes(etree.tostring(topics, xml_declaration=True, encoding="utf-8"))
        (folder / "Qrels" / f"qrel_task{task}_{year}_official.tsv").write_text("".join(judged), "utf-8")


def _run(folder: Path, rows: Sequence[dict[str, str]], year: int) -> None:
    """Write a run as participants submit it for Task 2: topic, formula id, post id, rank, score, run."""
    qrels = folder / "Qrels" / f"qrel_task2_{year}_official.tsv"
    judged = [line.split() for line in qrels.read_text().splitlines()]
    of_visual: dict[str, dict[str, str]] = {}
    for row in rows:
        of_visual.setdefault(row["visual_id"], row)
    found: dict[str, list[dict[str, str]]] = {}
    for topic, _, visual, _ in judged:
        if visual in of_visual:
            found.setdefault(topic, []).append(of_visual[visual])
    lines = [
        f"{topic}\t{row['id']}\t{row['post_id']}\t{rank}\t{1 / rank:.4f}\tTangentS\n"
        for topic, hits in found.items()
        for rank, row in enumerate(sorted(hits, key=lambda row: row["id"]), 1)
    ]
    (folder / "Runs" / f"TangentS-task2-{year}.tsv").write_text("".join(lines), "utf-8")


def write_ntcir12(folder: Path) -> None:
    """Write articles with MathML, queries, one of them with a wildcard, and judgments from 0 to 4."""
    with (sample.folder() / "formulas.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    articles: dict[str, list[str]] = {}
    for row in rows[:200]:
        articles.setdefault(f"Article_{row['thread_id']}", []).append(row["formula"])
    place = folder / "MathTagArticles" / "wpmath0000001" / "Articles"
    place.mkdir(parents=True, exist_ok=True)
    for name, formulas in articles.items():
        body = " and ".join(_MATH.format(html.escape(latex)) for latex in formulas)
        (place / f"{name}.html").write_text(f"<html><body><p>{body}</p></body></html>", "utf-8")
    topics, judged = [], []
    for number, (name, formulas) in enumerate(list(articles.items())[:4], 1):
        longest = max(range(len(formulas)), key=lambda each: len(formulas[each]))
        latex = formulas[longest] if number < 4 else r"\qvar{x}+1"
        topics.append(
            f"<topic><num>NTCIR12-MathWiki-{number}</num><query><formula id='f.0'>{_MATH.format(html.escape(latex))}"
            "</formula></query></topic>"
        )
        for other in range(len(formulas)):
            grade = 4 if other == longest else other % 3
            judged.append(f"NTCIR12-MathWiki-{number} xxx {name}:{other} {grade}\n")
    text = f'<topics xmlns="http://ntcir-math.nii.ac.jp/">{"".join(topics)}</topics>'
    (folder / "NTCIR12-MathWikiFrm-queries.xml").write_text(text, "utf-8")
    (folder / "NTCIR12_MathWiki-qrels_judge.dat").write_text("".join(judged), "utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Write both miniatures."""
    parser = argparse.ArgumentParser(prog="python -m mathamr_lab.experiments.miniature", description=__doc__)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args(arguments)
    write_arqmath(given.folder / "ARQMath")
    write_ntcir12(given.folder / "NTCIR12")
    return 0


if __name__ == "__main__":
    sys.exit(main())
