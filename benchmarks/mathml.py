"""MathML to trees: how many are exactly the published ones, what the collection's files give, and how fast."""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from lxml import etree

from mathamr.core.errors import MathAMRError
from mathamr.formulas.mathml.layouttree import slt
from mathamr.formulas.mathml.markup import opt_from_mathml, slt_from_mathml
from mathamr.formulas.mathml.markupreader import read
from mathamr.formulas.mathml.operatortree import opt
from mathamr.formulas.notation import opt_from_string, slt_from_string, to_string
from mathamr.formulas.parse import parse
from mathamr.formulas.tree import Tree
from mathamr.formulas.visualkey import visual_key
from mathamr_lab.data import data_folder
from mathamr_lab.experiments.pathtuples import mean_tuple_f1


def run() -> None:
    data = data_folder()
    golden = [json.loads(line) for line in (data / "formulas/golden.jsonl").open(encoding="utf-8")]
    with gzip.open(data / "formulas/pool.jsonl.gz", "rt", encoding="utf-8") as lines:
        pool = [json.loads(line) for line in lines]
    for name, rows in (("golden", golden), ("pool", pool)):
        _exactness(name, rows)
    _other_converter(pool)
    _collection(data / "arqmath-mini/presentation_mathml.tsv")
    _mathml_versus_latex(data / "arqmath-mini/presentation_mathml.tsv")
    _visual_ids(data / "arqmath-mini/formulas.tsv")
    _speed(pool)


def _exactness(name: str, rows: Sequence[dict[str, Any]]) -> None:
    for kind, source, convert, published in (
        ("slt", "pmml", slt_from_mathml, slt_from_string),
        ("opt", "cmml", opt_from_mathml, opt_from_string),
    ):
        found = [_converted(convert, row[source]) for row in rows]
        exact = sum(
            tree is not None and to_string(tree) == row[kind] for tree, row in zip(found, rows, strict=True)
        )
        f1 = mean_tuple_f1(zip(found, (published(row[kind]) for row in rows), strict=True))
        print(
            f"{name}: {kind} from {source}: {exact} of {len(rows)} exact ({exact / len(rows):.2%}), tuple F1 {f1:.4f}"
        )


def _converted(convert: Callable[[str], Tree], mathml: str) -> Tree | None:
    try:
        return convert(mathml)
    except MathAMRError:
        return None


def _other_converter(rows: Sequence[dict[str, Any]]) -> None:
    """Measures how often latex2mathml's flat rows give the published tree, unchanged and in our dialect."""
    from latex2mathml.converter import convert

    plain = adapted = total = refused = 0
    for row in rows[::4]:
        try:
            mathml = convert(row["latex"])
            element = read(mathml)
        except Exception:  # whatever the other converter raises, or writes that is not well-formed
            refused += 1
            continue
        total += 1
        plain += to_string(slt(element)) == row["slt"]
        adapted += to_string(slt_from_mathml(mathml)) == row["slt"]
    print(
        f"latex2mathml's markup: published tree for {plain / total:.1%} as it is, "
        f"{adapted / total:.1%} with rows regrouped and symbols adapted ({total} formulas; {refused} it could not convert)"
    )


def _collection(path: Path) -> None:
    failures: Counter[str] = Counter()
    keys: set[str] = set()
    total = 0
    with path.open(encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            total += 1
            try:
                keys.add(visual_key(slt_from_mathml(line.rstrip("\n").split("\t")[2])))
            except MathAMRError as error:
                failures[str(error).partition("\n")[0][:80]] += 1
    print(
        f"{path.name}: {total} formulas, {sum(failures.values())} without a tree; {len(keys)} visual keys for {total} visual ids"
    )
    for reason, count in failures.most_common(10):
        print(f"   {count:6d}  {reason}")


def _mathml_versus_latex(path: Path) -> None:
    """Compare the layout trees of the collection's MathML, by older LaTeXML, with those of its LaTeX, by our parser."""
    equal = raw = total = 0
    with path.open(encoding="utf-8") as lines:
        for line in islice(lines, 1, None, 8):
            _, latex, mathml = line.rstrip("\n").split("\t")
            try:
                ours = parse(latex).slt
            except MathAMRError:
                continue
            total += 1
            raw += slt(read(mathml)) == ours
            equal += slt_from_mathml(mathml) == ours
    print(
        f"{path.name}: the tree of our LaTeX parser for {equal / total:.1%} of {total} formulas "
        f"({raw / total:.1%} if older LaTeXML's operators are left as they are)"
    )


def _visual_ids(path: Path) -> None:
    """Measures whether formulas with one visual id but different LaTeX share a key."""
    latex_of: dict[str, set[str]] = defaultdict(set)
    with path.open(encoding="utf-8") as lines:
        columns = next(lines).rstrip("\n").split("\t")
        for line in lines:
            fields = dict(zip(columns, line.rstrip("\n").split("\t"), strict=False))
            latex_of[fields["visual_id"]].add(fields["formula"])
    same = total = refused = 0
    for latexes in latex_of.values():
        if len(latexes) < 2:
            continue
        keys = []
        for latex in sorted(latexes):
            try:
                keys.append(visual_key(parse(latex).slt))
            except MathAMRError:
                refused += 1
        total += len(keys) * (len(keys) - 1) // 2
        same += sum(count * (count - 1) // 2 for count in Counter(keys).values())
    print(
        f"{path.name}: {same} of {total} pairs of different LaTeX under one visual id share a visual key "
        f"({refused} formulas without a tree)"
    )


def _speed(rows: Sequence[dict[str, Any]]) -> None:
    pmml, cmml = [row["pmml"] for row in rows], [row["cmml"] for row in rows]
    presentation, content = [read(text) for text in pmml], [read(text) for text in cmml]
    lxml = _microseconds(etree.fromstring, pmml)
    print(f"per formula of the pool: lxml parses the Presentation MathML in {lxml:.0f} µs (the peer)")
    for name, function, inputs in (
        ("reading Presentation MathML", read, pmml),
        ("elements to layout tree", slt, presentation),
        ("elements to operator tree", opt, content),
    ):
        taken = _microseconds(function, inputs)
        print(f"   {name}: {taken:.0f} µs ({taken / lxml:.1f} times lxml's parsing)")


def _microseconds(function: Callable[[Any], object], inputs: Iterable[Any]) -> float:
    inputs = list(inputs)
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        for each in inputs:
            function(each)
        best = min(best, time.process_time() - started)
    return best / len(inputs) * 1e6
