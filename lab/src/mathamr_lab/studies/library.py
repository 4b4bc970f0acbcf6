"""The library: Mathlib's declarations as they are read, and its maps of theorem names as queries for them.

Needs `mathlib/` of the evaluation data: the sources and the four maps, on which nothing is trained. Without `MATHAMR_LIBRARY` only the
reader is measured (`MATHAMR_MATHLIB` names a folder with the unpacked sources); with it, an index of Mathlib, its rankings are.

`python -m mathamr_lab.studies.library` prints the table. Queries are the titles of the maps, and held-out declarations, asked for by the first sentence of their documentation, by their statement
in LaTeX, and by their statement in Lean with other letters.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.significance import bootstrap_interval
from mathamr.evaluation.table import aligned
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.search.query import Query, QueryError
from mathamr.search.searcher import Index
from mathamr.systems.ranking import Belongs, Promote, Ranking
from mathamr_lab.data import data_folder
from mathamr_lab.systems.text.mathlib import MAPS, is_held_name, library_entry, mapped, queries, ways_to_ask

MOST = 200
"""The number of queries of a style."""
STYLES = ("words", "latex", "lean")
GROUPS: dict[str, Sequence[str]] = {"maps": MAPS, **{group: (group,) for group in (*MAPS, *STYLES)}}
WANTED = {"definitions": ("definition",), "theorems": ("theorem", "lemma")}
"""What the maps ask for, by the kind of what is wanted."""
MEASURES = ("recall@1", "recall@10", "nDCG@10")
RANKINGS = {"words": "lexical", "one vector": "single", "MaxSim": "maxsim", "library ranking": "hybrid"}
WITHOUT_MEMBERS = "library ranking without members"
DEPTH = 100


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, the map or the style that it belongs to, and the ids of the declarations that are wanted."""

    group: str
    text: str
    wanted: tuple[str, ...]
    kind: str = ""
    """The kind of what is wanted."""


def run() -> None:
    """Measure the reader, or the rankings of an index."""
    folder = data_folder() / "mathlib"
    if prepared := os.environ.get("MATHAMR_LIBRARY"):
        with Index.open(prepared) as index:
            print(search_table(index, asked_of(index.archive.catalogue.every_post(), folder)), flush=True)
        return
    with tempfile.TemporaryDirectory() as temporary:
        sources = os.environ.get("MATHAMR_MATHLIB")
        if sources is None:
            with tarfile.open(folder / "Mathlib.tar.xz") as archive:
                archive.extractall(temporary, filter="data")
        _print_counts(Path(sources or temporary), {name for *_, names in queries(folder) for name in names})


def _print_counts(sources: Path, wanted: set[str]) -> None:
    """Read all declarations, and print how many there are of each kind and how many names of the maps are found."""
    words, documented = Counter[str](), Counter[str]()
    found: set[str] = set()
    started, busy = time.perf_counter(), time.process_time()
    for post in read_posts(sources, Report(), "lean"):
        if post.markup == "declaration":
            words[post.tags[0]] += 1
            documented[post.tags[0]] += "undocumented" not in post.tags
            found |= wanted.intersection((post.title, *post.aliases))
    print(
        f"{words.total():,} declarations in {time.perf_counter() - started:.0f} s,"
        f" {time.process_time() - busy:.0f} s of processor time; {documented.total():,} documented"
    )
    rows = ([word, f"{n:,}", f"{documented[word]:,}"] for word, n in words.most_common())
    print(aligned([["", "all", "documented"], *rows]))
    print(
        f"{len(found):,} of {len(wanted):,} names of the maps are found ({len(found) / len(wanted):.1%});"
        f" not: {', '.join(sorted(wanted - found))}"
    )


def asked_of(posts: Iterable[Post], folder: Path) -> list[Asked]:
    """Return the titles of the maps, and held-out declarations in several ways, with the ids of what is wanted."""
    places: dict[str, str] = {}
    kinds: dict[str, str] = {}
    ways: list[Asked] = []
    left_out = mapped(folder)
    for post in posts:
        if post.markup != "declaration":
            continue
        places.update(dict.fromkeys(post.aliases, post.id) | {post.title: post.id})
        kinds[post.id] = post.kind
        if not is_held_name(post.title):
            continue
        entry = library_entry(post)
        if entry.is_held and not entry.names & left_out:
            ways += (Asked(style, text, (post.id,)) for style, text in ways_to_ask(entry))
    ways.sort(key=lambda each: zlib.crc32(f"{each.group} {each.text}".encode()))
    chosen = [each for style in STYLES for each in [own for own in ways if own.group == style][:MOST]]
    titles = (
        Asked(name, title, tuple(dict.fromkeys(places[each] for each in names if each in places)))
        for name, title, names in queries(folder)
    )
    return [*(replace(each, kind=kinds[each.wanted[0]]) for each in titles if each.wanted), *chosen]


def search_table(index: Index, asked: Sequence[Asked]) -> str:
    """Return the mean of every measure with its 95 % interval, for each group of queries and ranking."""
    qrels = Qrels({str(number): dict.fromkeys(each.wanted, 3) for number, each in enumerate(asked)})
    rankings = RANKINGS | {WITHOUT_MEMBERS: without_members(index.rankings("answers")["hybrid"])}
    found = {
        name: evaluate(_ranked(index, asked, strategy), qrels, measures(list(MEASURES))).values
        for name, strategy in rankings.items()
    }
    rows = []
    for group, chosen in _members(asked).items():
        for name, values in found.items() if chosen else ():
            cells = (_shown([values[measure][key] for key in chosen]) for measure in MEASURES)
            rows.append([f"{group} ({len(chosen)})", name, *cells])
    return f"{len(asked):,} queries\n{aligned([['', '', *MEASURES], *rows])}"


def without_members(ranking: Ranking) -> Ranking:
    """Return the ranking of a library in which no definition is found through its members."""
    if isinstance(ranking, Promote) and isinstance(ranking.first, Belongs):
        return replace(ranking, first=ranking.first.first)
    return ranking


def _members(asked: Sequence[Asked]) -> dict[str, list[str]]:
    """Return the numbers of the queries of each group, and of those of the maps by what they want."""
    numbered = [(str(number), each) for number, each in enumerate(asked)]
    groups = {
        group: [key for key, each in numbered if each.group in members] for group, members in GROUPS.items()
    }
    wanted = {
        name: [key for key, each in numbered if each.group in MAPS and each.kind in kinds]
        for name, kinds in WANTED.items()
    }
    return groups | wanted


def _ranked(index: Index, asked: Sequence[Asked], strategy: str | Ranking) -> Run:
    rankings: dict[str, list[tuple[str, float]]] = {}
    for number, each in enumerate(asked):
        try:
            query = Query.of_text(each.text, macros=index.macros)
        except QueryError:
            continue
        hits, _ = index.rank(query, "answers", strategy, DEPTH)
        rankings[str(number)] = [(hit.id, hit.score) for hit in hits]
    return Run.of(str(strategy), rankings)


def _shown(values: Sequence[float]) -> str:
    low, high = bootstrap_interval(values) or (values[0], values[0])
    return f"{fmean(values):.3f} ({low:.3f} to {high:.3f})"


if __name__ == "__main__":
    run()
