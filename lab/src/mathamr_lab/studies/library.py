"""The library: Mathlib's declarations as they are read, and its maps of theorem names as queries for them.

Needs `mathlib/` of the evaluation data: the sources and the four maps, on which nothing is trained. `MATHAMR_MATHLIB` names a
folder with the unpacked sources. `MATHAMR_OTHERS` is the number of declarations, besides those that the maps name, among
which these are searched (default 0: only the reader is measured; `all` takes hours on two cores, since every declaration
is encoded). `MATHAMR_MODEL` names the model. `MATHAMR_LIBRARY` names an index of Mathlib to search instead.

Queries are the titles of the maps, and held-out declarations, asked for by the first sentence of their documentation, by
their statement in LaTeX, and by their statement in Lean with other letters.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.table import aligned
from mathamr.index.build.builder import BuildOptions, build_index
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.search.query import Query, QueryError
from mathamr.search.searcher import Index
from mathamr.systems.mathamrplus.system import DOCUMENT, PARTS
from mathamr.systems.ranking import Component, Fuse, MaxSim, Nearest, Ranking
from mathamr_lab.data import data_folder
from mathamr_lab.studies.testsets import mean_and_error
from mathamr_lab.systems.text.mathlib import MAPS, library_entry, mapped, queries, ways_to_ask

MEASURES = ["recall@1", "recall@10", "nDCG@10"]
DEPTH, MOST = 100, 500
"""The number of results of a query, and of queries of a style."""
STYLES = ("words", "latex", "lean")
WITHOUT_WORDS = Fuse(
    parts=(Component("single", Nearest(DOCUMENT)), Component("maxsim", MaxSim(PARTS))), normalisation="z"
)
STRATEGIES: dict[str, str | Ranking] = {
    "words": "lexical",
    "one vector": "single",
    "maxsim": "maxsim",
    "both, without words": WITHOUT_WORDS,
    "hybrid": "hybrid",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, the map or the style that it belongs to, and the ids of the declarations that are wanted."""

    bed: str
    text: str
    wanted: tuple[str, ...]


def run() -> None:
    folder = data_folder() / "mathlib"
    if prepared := os.environ.get("MATHAMR_LIBRARY"):
        _measure(Path(prepared), folder)
        return
    with tempfile.TemporaryDirectory() as temporary:
        sources = os.environ.get("MATHAMR_MATHLIB")
        if sources is None:
            with tarfile.open(folder / "Mathlib.tar.xz") as archive:
                archive.extractall(temporary, filter="data")
        wanted = {name for *_, names in queries(folder) for name in names}
        others = os.environ.get("MATHAMR_OTHERS", "0")
        kept = _read(Path(sources or temporary), wanted, others)
        if others != "0":
            _search(kept, folder, Path(temporary))


def _read(sources: Path, wanted: set[str], others: str) -> list[Post]:
    """Reads all declarations, prints how many there are, and returns those to search among."""
    words, documented = Counter[str](), Counter[str]()
    found: set[str] = set()
    kept: list[Post] = []
    count, started, busy = 0, time.perf_counter(), time.process_time()
    for post in read_posts(sources, Report(), "lean"):
        if post.markup != "declaration":
            continue
        words[post.tags[0]] += 1
        documented[post.tags[0]] += "undocumented" not in post.tags
        count += 1
        named = wanted.intersection((post.title, *post.aliases))
        found |= named
        if others == "all" or named or zlib.crc32(post.id.encode()) / 2**32 < float(others) / 260_000:
            kept.append(post)
    print(
        f"{count:,} declarations in {time.perf_counter() - started:.0f} s,"
        f" {time.process_time() - busy:.0f} s of processor time; {documented.total():,} documented"
    )
    print(
        aligned(
            [
                ["", "all", "documented"],
                *([word, f"{n:,}", f"{documented[word]:,}"] for word, n in words.most_common()),
            ]
        )
    )
    lacking = sorted(wanted - found)
    print(
        f"{len(found):,} of {len(wanted):,} names of the maps are found ({len(found) / len(wanted):.1%}); not: {', '.join(lacking)}"
    )
    return kept


def asked_of(posts: Iterable[Post], folder: Path) -> list[Asked]:
    """The titles of the maps, and held-out declarations in several ways, with the ids of what is wanted."""
    places: dict[str, str] = {}
    ways: list[Asked] = []
    left_out = mapped(folder)
    for post in posts:
        if post.markup != "declaration":
            continue
        places.update(dict.fromkeys(post.aliases, post.id) | {post.title: post.id})
        entry = library_entry(post)
        if entry.is_held and not entry.names & left_out:
            ways += (Asked(style, text, (post.id,)) for style, text in ways_to_ask(entry))
    ways.sort(key=lambda each: zlib.crc32(f"{each.bed} {each.text}".encode()))
    chosen = [each for style in STYLES for each in [own for own in ways if own.bed == style][:MOST]]
    titles = (
        Asked(name, title, tuple(dict.fromkeys(places[each] for each in names if each in places)))
        for name, title, names in queries(folder)
    )
    return [*(each for each in titles if each.wanted), *chosen]


def ranked(index: Index, asked: Sequence[Asked], strategies: Mapping[str, str | Ranking]) -> dict[str, Run]:
    """The first results of every query, typed as people type it, by every strategy."""
    runs = {}
    for name, strategy in strategies.items():
        _, ranking = index.ranking("answers", strategy)
        found = {}
        for number, each in enumerate(asked):
            try:
                query = Query.of_text(each.text, macros=index.macros)
            except QueryError:
                continue
            hits, _ = index.rank(query, "answers", ranking, DEPTH)
            found[str(number)] = [(hit.id, hit.score) for hit in hits]
        runs[name] = Run.of(name, found)
    return runs


def table(asked: Sequence[Asked], runs: Mapping[str, Run]) -> str:
    """The measures of every run, for the maps together, for each of them, and for each way to ask."""
    rows = []
    beds = {"maps": MAPS, **{bed: (bed,) for bed in (*MAPS, *STYLES)}}
    for bed, members in beds.items():
        qrels = {str(n): dict.fromkeys(each.wanted, 3) for n, each in enumerate(asked) if each.bed in members}
        for name, run in runs.items() if qrels else ():
            found = evaluate(run, Qrels(qrels), measures(MEASURES))
            rows.append([bed, name, *(mean_and_error(found, each) for each in MEASURES)])
    return aligned([["", "", *MEASURES], *rows])


def _search(posts: list[Post], folder: Path, temporary: Path) -> None:
    model = os.environ.get("MATHAMR_MODEL", "mathamr-3")
    source = temporary / "declarations.jsonl"
    source.write_text("".join(post.to_json() + "\n" for post in posts), encoding="utf-8")
    build_index([source], temporary / "index", BuildOptions(model=model, engine="flat"))
    _measure(temporary / "index", folder)


def _measure(index: Path, folder: Path) -> None:
    with Index.open(index) as opened:
        asked = asked_of(opened.archive.catalogue.every_post(), folder)
        print(f"{len(asked):,} queries; {opened.archive.manifest.model.name}", flush=True)
        print(table(asked, ranked(opened, asked, STRATEGIES)), flush=True)
