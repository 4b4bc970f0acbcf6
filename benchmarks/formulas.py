"""LaTeX to trees: how many are exactly the published ones, what breaks, and how fast against latex2mathml."""

from __future__ import annotations

import csv
import gzip
import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks._revision import compared
from mathamr.formulas.notation import opt_from_string, slt_from_string, to_string
from mathamr.formulas.parse import FormulaError, FormulaParser, ParsedFormula, parse
from mathamr.formulas.tree import Tree
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr_lab.data import data_folder

POSTS = 300
"""The number of posts whose formulas go through the stages of an index."""


def run() -> None:
    data = data_folder()
    golden = [json.loads(line) for line in (data / "formulas/golden.jsonl").open(encoding="utf-8")]
    with gzip.open(data / "formulas/pool.jsonl.gz", "rt", encoding="utf-8") as lines:
        pool = [json.loads(line) for line in lines]
    _exactness("golden", golden)
    _exactness("pool", pool)
    _by_source(pool)
    _nasty(data / "formulas/nasty.jsonl")
    _collection(data / "arqmath-mini/formulas.tsv")
    _speed([row["latex"] for row in pool])
    _versus_revision([row["latex"] for row in pool])
    posts = islice(read_posts(data / "arqmath-mini", Report()), POSTS)
    _stages_versus_revision(list(posts))


def _parsed(latex: str) -> ParsedFormula | None:
    try:
        return parse(latex)
    except FormulaError:
        return None


def _is_measured(row: dict[str, Any]) -> bool:
    """Return True if LaTeXML could parse the formula itself; only then its operator tree counts."""
    return not row["opt_mode"].startswith("fragments")


def _exactness(name: str, rows: Sequence[dict[str, Any]]) -> None:
    formulas = [_parsed(row["latex"]) for row in rows]
    pairs: dict[str, list[tuple[Tree | None, Tree]]] = {"slt": [], "opt": []}
    for formula, row in zip(formulas, rows, strict=True):
        pairs["slt"].append((formula and formula.slt, slt_from_string(row["slt"])))
        if _is_measured(row):
            pairs["opt"].append((formula and formula.opt, opt_from_string(row["opt"])))
    for kind, trees in pairs.items():
        exact = sum(found is not None and to_string(found) == to_string(wanted) for found, wanted in trees)
        print(f"{name}: {kind} from LaTeX: {exact} of {len(trees)} exact ({exact / len(trees):.2%})")
    failed = sum(formula is None for formula in formulas)
    repaired = sum(bool(formula and formula.repairs) for formula in formulas)
    print(f"{name}: {failed} without a tree, {repaired} repaired")


def _by_source(rows: Sequence[dict[str, Any]]) -> None:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        source = row["source"].split()[0].split("/")[0]
        formula = _parsed(row["latex"])
        counts[source]["formulas"] += 1
        counts[source]["slt"] += formula is not None and to_string(formula.slt) == row["slt"]
        if _is_measured(row):
            counts[source]["measured"] += 1
            counts[source]["opt"] += formula is not None and to_string(formula.opt) == row["opt"]
    for source, count in sorted(counts.items()):
        print(
            f"pool, {source}: {count['formulas']} formulas, slt {count['slt'] / count['formulas']:.2%}, "
            f"opt {count['opt'] / count['measured']:.2%}"
        )


def _nasty(path: Path) -> None:
    outcomes: Counter[str] = Counter()
    slowest, what = 0.0, ""
    for line in path.open(encoding="utf-8"):
        latex = json.loads(line)["latex"]
        started = time.process_time()
        formula = _parsed(latex)
        took = time.process_time() - started
        if took > slowest:
            slowest, what = took, latex
        outcomes["error" if formula is None else "repaired" if formula.repairs else "tree"] += 1
    total = outcomes.total()
    print(
        f"nasty: {outcomes['tree']} with a tree, {outcomes['repaired']} repaired, {outcomes['error']} with an error "
        f"({outcomes['error'] / total:.1%} of {total}); slowest {slowest * 1000:.0f} ms: {what[:60]!r}"
    )


def _collection(path: Path) -> None:
    parser = FormulaParser()
    outcomes: Counter[str] = Counter()
    started = time.process_time()
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            try:
                formula = parser.parse(row["formula"])
            except FormulaError:
                outcomes["error"] += 1
                continue
            outcomes["repaired" if formula.repairs else "tree"] += 1
            outcomes["fragments"] += "O!fragments" in formula.opt.labels
    took = time.process_time() - started
    total = outcomes["tree"] + outcomes["repaired"] + outcomes["error"]
    print(
        f"arqmath-mini: {total} formulas in {took:.0f} s: {outcomes['tree']} with a tree, {outcomes['repaired']} "
        f"repaired, {outcomes['error']} with an error; {outcomes['fragments']} operator trees in fragments"
    )


def _speed(formulas: Sequence[str]) -> None:
    """Compare both trees with presentation alone, on one core, alternately so that other work affects both."""
    from latex2mathml.converter import convert

    ours, theirs = [], []
    for _ in range(3):
        started = time.process_time()
        for formula in formulas:
            _parsed(formula)
        ours.append(time.process_time() - started)
        started = time.process_time()
        for formula in formulas:
            _converted(convert, formula)
        theirs.append(time.process_time() - started)
    print(
        f"speed: {len(formulas) / min(ours):.0f} formulas/s with both trees, latex2mathml (presentation only) "
        f"{len(formulas) / min(theirs):.0f}/s: {min(theirs) / min(ours):.2f} times as fast"
    )


_PARSING = """
from mathamr.formulas.parse import FormulaError, parse
def parsed(latex):
    try:
        parse(latex)
    except FormulaError:
        pass
for latex in given[:200]:
    parsed(latex)
started = time.process_time()
for latex in given:
    parsed(latex)
print(time.process_time() - started)
"""


def _versus_revision(formulas: Sequence[str]) -> None:
    now, then = compared(_PARSING, list(formulas))
    if then is not None:
        print(f"speed: {then / now:.2f} times as fast as before")


_STAGES = """
from dataclasses import replace
from mathamr.posts.post import Post
posts = [replace(Post.from_json(line), title="", body="") for line in given]  # formulas alone: no words
def represented(posts, keys):
    seen = set()
    return [[place for place, key in enumerate(own) if not (key in seen or seen.add(key))] for own in keys]
try:
    from mathamr.formulas.trees import REMEMBERED, remember_trees, trees_of
    from mathamr.index.indexing.firstlook import FirstLook, KeptLooks
    forget = REMEMBERED.clear
    def take_in(posts):
        looks = [FirstLook.from_json(json.loads(json.dumps(FirstLook.of(post, True).to_json()))) for post in posts]
        return [look.keys for look in looks], looks
    def find_terms(post, places, look):
        return look.bags.whole(), [look.bags.formulas[place] for place in places]
    def find_trees(post, look):
        remember_trees(look.trees or "[]", post.macros)
        return [trees_of(formula, post.macros) for formula in post.formulas]
except ImportError:
    from mathamr.graphs.maker import _trees_of_latex, trees_of
    from mathamr.index.bags import formula_bag, post_bag
    from mathamr.index.entries import visual_keys
    forget = _trees_of_latex.cache_clear
    def take_in(posts):
        return [json.loads(json.dumps(visual_keys(post))) for post in posts], [None] * len(posts)
    def find_terms(post, places, look):
        return post_bag(post), [formula_bag(post.formulas[place], post.macros) for place in places]
    def find_trees(post, look):
        return [trees_of(formula, post.macros) for formula in post.formulas]
def spent(posts):
    forget()
    times = [time.process_time()]
    keys, looks = take_in(posts)
    times.append(time.process_time())
    forget()
    for each in zip(posts, represented(posts, keys), looks):
        find_terms(*each)
    times.append(time.process_time())
    forget()
    for each in zip(posts, looks):
        find_trees(*each)
    return [*times, time.process_time()]
spent(posts[:5])
times = spent(posts)
print(times[{end}] - times[{start}])
"""


def _stages_versus_revision(posts: Sequence[Post]) -> None:
    """Measures everything that an index computes from formulas: visual keys, the terms of posts and visual classes, the trees of graphs.

    Each stage goes over the complete collection before the next one begins, and in other processes, so only explicit
    results are passed on: the trees of the parse for visual keys serve terms and graphs. They are written and read again
    here, as between processes.
    """
    given = [post.to_json() for post in posts]
    formulas = [formula.latex for post in posts for formula in post.formulas]
    print(f"index: {len(posts)} posts with {len(formulas)} formulas, {len(set(formulas))} of them different")
    for stage, start, end in (("visual", 0, 1), ("terms", 1, 2), ("trees", 2, 3), ("all stages", 0, 3)):
        now, then = compared(_STAGES.format(start=start, end=end), given, rounds=2)
        share = "" if then is None else f", {then / now:.2f} times as fast as before"
        print(f"index, {stage}: {1000 * now / len(posts):.2f} ms a post for its formulas{share}")


def _converted(convert: Callable[[str], str], formula: str) -> str | None:
    try:
        return convert(formula)
    except Exception:  # whatever the other converter raises
        return None
