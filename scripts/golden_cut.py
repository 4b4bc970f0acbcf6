"""Writes a cut of golden trees that may be shipped: formulas of our own sample, with the trees that the published ones confirm.

    python scripts/golden_cut.py > tests/formulas/sample.tsv

The published trees of the evaluation data are other people's formulas, and stay there. Their confirmation does not: a formula of the sample
is in the cut only if every edge of both its trees, with the labels at its ends, occurs in published trees that our parser gives too, and if
its own published trees, where there are any, are the same. So the cut tests on every machine what the data test where they are. It has
each of these edges, as far as the sample does.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from mathamr.core.settings import DATA
from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import FormulaError, parse
from mathamr.formulas.tree import Opt, Slt
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.sample import folder as sample_folder

COLUMNS = ("latex", "slt", "opt")
LONGEST = 80
"""Longer formulas show nothing that shorter ones do not."""
Edge = tuple[str, str, str, str]


def cut(published: Iterable[Mapping[str, str]], formulas: Iterable[str]) -> list[tuple[str, str, str]]:
    """Return formulas with their trees, by what the published rows confirm, in the order of their code."""
    confirmed: set[Edge] = set()
    differing: set[str] = set()
    for row in published:
        trees = _trees(row["latex"])
        if trees is not None and [*map(to_string, trees)] == [row["slt"], row["opt"]]:
            confirmed.update(_edges(trees))
        else:
            differing.add(row["latex"])
    candidates: dict[tuple[str, str, str], set[Edge]] = {}
    for latex in sorted(set(formulas) - differing):
        trees = _trees(latex) if len(latex) <= LONGEST else None
        if trees is not None and (edges := set(_edges(trees))) <= confirmed:
            candidates[latex, to_string(trees[0]), to_string(trees[1])] = edges
    chosen, left = [], set[Edge]().union(*candidates.values())
    while left:
        best = max(candidates, key=lambda each: (len(candidates[each] & left), -len(each[0]), each))
        left -= candidates.pop(best)
        chosen.append(best)
    return sorted(chosen)


def published_rows(folder: Path) -> list[dict[str, str]]:
    """Return the published rows of the evaluation data, golden ones first."""
    golden = (folder / "golden.jsonl").read_text(encoding="utf-8")
    pool = gzip.decompress((folder / "pool.jsonl.gz").read_bytes()).decode("utf-8")
    return [json.loads(line) for text in (golden, pool) for line in text.splitlines()]


def sample_formulas() -> list[str]:
    """Return the LaTeX of all formulas of the sample that fit into one line of a table."""
    posts = read_posts(sample_folder() / "Posts.xml", Report())
    return [each.latex for post in posts for each in post.formulas if not set("\t\n\r") & set(each.latex)]


def _trees(latex: str) -> tuple[Slt, Opt] | None:
    try:
        found = parse(latex)
    except FormulaError:
        return None
    return (found.slt, found.opt) if not found.repairs else None


def _edges(trees: Sequence[Slt | Opt]) -> Iterator[Edge]:
    """Yield the edges of trees; of names and numbers only their kind counts."""
    for tree in trees:
        labels = [each if not each.startswith(("V!", "N!")) else each[:2] for each in tree.labels]
        yield type(tree).__name__, "", "", labels[0]
        for node in range(1, len(labels)):
            yield type(tree).__name__, labels[tree.parents[node]], tree.edges[node], labels[node]


def main() -> None:
    """Write the cut to the standard output."""
    folder = DATA.path if DATA.path.is_absolute() else Path(__file__).parents[1] / DATA.path
    table = csv.writer(
        sys.stdout, delimiter="\t", quoting=csv.QUOTE_NONE, lineterminator="\n", quotechar=None
    )
    table.writerow(COLUMNS)
    table.writerows(cut(published_rows(folder / "formulas"), sample_formulas()))


if __name__ == "__main__":
    main()
