"""The library: Mathlib's declarations as they are read, and its maps of theorem names as queries for them.

Needs `mathlib/` of the evaluation data: the sources and the four maps, on which nothing is trained. Without further settings
only the reader is measured. Searching needs an index:

- `MATHAMR_LIBRARY` names an index of Mathlib. The parts of its ranking are measured on it, the ranking itself, and weights
  that are chosen with one map left out.
- With `MATHAMR_OTHERS` as well, its vectors are not used: they may be incomplete. The models that `MATHAMR_MODELS` names
  (`mathamr-3,mathamr-2-text`) encode the wanted declarations and so many others, among which is searched. Words are those of
  the index; weights are chosen for the first model. `MATHAMR_RUNS` names a folder that keeps the vectors.
- Without an index, `MATHAMR_OTHERS` is the number of declarations, besides those that the maps name, of which
  `MATHAMR_MODEL` makes one first (`all` takes hours on two cores).

`MATHAMR_MATHLIB` names a folder with the unpacked sources. Queries are the titles of the maps, and held-out declarations, asked for
by the first sentence of their documentation, by their statement in LaTeX, and by their statement in Lean with other letters.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from mathamr.evaluation.table import aligned
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.search.library import WEIGHTS
from mathamr.search.searcher import Index
from mathamr.systems.models import load_system
from mathamr.systems.ranking import Ranking
from mathamr_lab.data import data_folder
from mathamr_lab.studies.libraryranking import (
    LEAVES,
    Asked,
    RecordedRanker,
    Sample,
    among,
    choice,
    fused,
    ranked,
    rankers,
    recorded,
    sampled,
    table,
    values_of,
)
from mathamr_lab.studies.testsets import environment
from mathamr_lab.systems.text.mathlib import MAPS, is_held_name, library_entry, mapped, queries, ways_to_ask

MOST = 200
"""The number of queries of a style."""
STYLES = ("words", "latex", "lean")
BEDS: dict[str, Sequence[str]] = {"maps": MAPS, **{bed: (bed,) for bed in (*MAPS, *STYLES)}}


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
        if not is_held_name(post.title):
            continue
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


def _search(posts: list[Post], folder: Path, temporary: Path) -> None:
    model = os.environ.get("MATHAMR_MODEL", "mathamr-3")
    source = temporary / "declarations.jsonl"
    source.write_text("".join(post.to_json() + "\n" for post in posts), encoding="utf-8")
    build_index([source], temporary / "index", BuildOptions(model=model, engine="flat"))
    _measure(temporary / "index", folder)


def _measure(index: Path, folder: Path) -> None:
    others = os.environ.get("MATHAMR_OTHERS") if "MATHAMR_LIBRARY" in os.environ else None
    with Index.open(index) as opened:
        asked = asked_of(opened.archive.catalogue.every_post(), folder)
        print(f"{len(asked):,} queries", flush=True)
        words = recorded(opened, asked, ["lexical"])
        if others is None:
            prepared = rankers(opened, asked, words | recorded(opened, asked, ["single", "maxsim"]))
            _report(opened, asked, prepared, opened.archive.manifest.model.name)
            print(choice(asked, prepared, WEIGHTS), flush=True)
            return
        print(table(asked, {"words, all declarations": values_of(asked, words["lexical"])}, BEDS), flush=True)
        posts = sampled(opened, asked, int(others))
        for place, model in enumerate(
            os.environ.get("MATHAMR_MODELS", "mathamr-3,mathamr-2-text").split(",")
        ):
            system = load_system(model, "cpu")
            sample = Sample.encoded(system, posts, Path(environment("MATHAMR_RUNS")) / model)
            prepared = rankers(opened, asked, among(opened, asked, words["lexical"], sample, system))
            _report(opened, asked, prepared, f"{model} among {len(posts):,} declarations")
            if not place:
                print(choice(asked, prepared, WEIGHTS), flush=True)


def _report(index: Index, asked: Sequence[Asked], prepared: Mapping[str, RecordedRanker], title: str) -> None:
    """Prints what the parts and rankings find."""
    rankings: dict[str, Ranking] = {
        "words": LEAVES["lexical"],
        "one vector": LEAVES["single"],
        "MaxSim": LEAVES["maxsim"],
        "both": fused((0.0, 1.0, 1.0)),
        "both and words": fused(WEIGHTS),
        "library ranking": index.ranking("answers", "hybrid")[1],
    }
    values = {name: values_of(asked, ranked(prepared, name, each)) for name, each in rankings.items()}
    print(f"\n{title}\n{table(asked, values, BEDS)}", flush=True)
