"""Cuts arqmath-mini out of the ARQMath collection by the list of its posts, and checks what is known of the cut.

    python scripts/cut_arqmath.py Posts.V1.3.xml OUT.xml     write the posts of `arqmath-mini.txt` to OUT.xml
    python scripts/cut_arqmath.py --check arqmath-mini       check a folder of the cut against the list and the rules

What is known: the judged answers (Task 1) and the posts with judged formulas (Task 2) of 2020 and 2021 that the judgments name are all in the
cut, with their threads' questions; every answer has its question, every question an answer. 1,989 further posts fill it up, and by what rule
they were chosen is not recorded: the list is the only description of them. The formulas are LaTeXML's normalised LaTeX, which a dump of the forum
does not have. A question is held out if the CRC-32 of its id, modulo 4, is 0.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

LIST = Path(__file__).with_name("arqmath-mini.txt")


def rows(path: Path) -> Iterator[ElementTree.Element]:
    """Read the rows of a dump one by one."""
    for _, element in ElementTree.iterparse(path):
        if element.tag == "row":
            yield element
            element.clear()


def cut(source: Path, out: Path, wanted: set[str]) -> int:
    """Write the wanted rows, and return how many there were."""
    count = 0
    with out.open("w", encoding="utf-8") as file:
        file.write('<?xml version="1.0" encoding="utf-8"?>\n<posts>\n')
        for row in rows(source):
            if row.get("Id") in wanted:
                row.tail = "\n"
                file.write(ElementTree.tostring(row, encoding="unicode"))
                count += 1
        file.write("</posts>\n")
    return count


def mistakes(folder: Path, wanted: set[str]) -> Iterator[str]:
    """Says where a folder of the cut differs from the list and the rules."""
    parents = {str(row.get("Id")): row.get("ParentId") for row in rows(folder / "Posts.xml")}
    questions = {post for post, parent in parents.items() if parent is None}
    answered = {parent for parent in parents.values() if parent is not None}
    if parents.keys() != wanted:
        yield f"{len(parents.keys() ^ wanted)} posts differ from the list"
    if answered != questions:
        yield f"{len(answered ^ questions)} questions without an answer, or answers without their question"
    held = set((folder / "heldout-questions.txt").read_text(encoding="utf-8").split())
    by_hash = {question for question in questions if zlib.crc32(question.encode()) % 4 == 0}
    if held != by_hash:
        yield f"{len(held ^ by_hash)} held-out questions differ from the rule"
    for path in sorted((folder / "qrels").glob("task1-*.qrels")):
        judged = {line.split()[2] for line in path.read_text(encoding="utf-8").splitlines() if line.strip()}
        if not judged <= parents.keys():
            yield f"{path.name}: {len(judged - parents.keys())} judged answers are not in the cut"


def main() -> int:
    """Cuts or checks; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "source", type=Path, help="Posts.xml of the collection; with --check, a folder of the cut"
    )
    parser.add_argument("out", type=Path, nargs="?", help="the file to write")
    parser.add_argument("--check", action="store_true", help="check a folder instead of cutting")
    given = parser.parse_args()
    wanted = set(LIST.read_text(encoding="utf-8").split())
    if given.check:
        found = list(mistakes(given.source, wanted))
        print("\n".join(found) or f"{given.source}: the {len(wanted):,} posts of the list, by the rules")
        return 1 if found else 0
    if given.out is None:
        parser.error("name the file to write")
    count = cut(given.source, given.out, wanted)
    print(f"{count:,} of {len(wanted):,} posts in {given.out}")
    return 0 if count == len(wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
