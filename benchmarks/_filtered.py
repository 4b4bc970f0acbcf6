"""What a filter costs: rankings with a filter that all, one in 10, one in 100 or one in 1,600 entries pass, or by folder,
beside those without one.

`MATHAMR_BENCH_ENTRIES` (8000) says over how many entries, such as "8000 300000", which takes some minutes and 4 GB. They are generated: the
terms, formulas and vectors of posts of the sample, mixed and disturbed, so that words keep their frequencies and entries differ.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import numpy as np

from mathamr import Filter, Index
from mathamr.core.arrays import FloatArray
from mathamr.core.batches import batches
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.catalogue.postrow import row_of
from mathamr.index.catalogue.storedpassages import stored_passage
from mathamr.index.engines.engine import Engine, open_engine
from mathamr.index.engines.entry import Entry
from mathamr.index.indexing.analysis import analyse
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.index.lexical.bags import PostBags
from mathamr.index.lexical.lexicalindex import LexicalIndex
from mathamr.index.payloads import payload_of
from mathamr.index.storage import LEXICAL, VECTORS
from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.sample import folder as sample_folder
from mathamr.systems.ranking import Lexical, Ranking, Task
from mathamr.systems.vectors import Vectors

ENTRIES = tuple(map(int, os.environ.get("MATHAMR_BENCH_ENTRIES", "8000").split()))
SHARES = (1, 10, 100, 1600)
SOURCES, ROUNDS, DEPTH, BATCH = 100, 3, 100, 20_000
MOST_PARTS, MOST_FORMULAS, FILES = 4, 2, 8_000
MOST_PREVIEWED = 20_000
"""Of more entries no previews are stored, which would take longer than all else; names, for which they are read, then take longer."""
QUERIES: Mapping[str, tuple[Task, Ranking | None, tuple[str, ...]]] = {
    "words alone": (
        "answers", Lexical(), ("convergence of a series of functions", "prime numbers in an interval", "why is the integral finite")
    ),
    "words": (
        "answers", None, ("convergence of a series of functions", "roots of a polynomial over the integers", "sum of two squares")
    ),
    "name": ("answers", None, ("uniform convergence", "prime numbers", "Riemann sum")),
    "mixed": (
        "answers", None, ("limit of $\\frac{1}{n}$ for large n", "positive solutions of $x^2+y^2=z^2$", "why does $\\sum \\frac1n$ diverge")
    ),
    "formula": ("formulas", None, ("$x^2+y^2=z^2$", "$\\sum_{n=1}^\\infty \\frac{1}{n^2}$", "$\\int_0^1 f(x)\\,dx$")),
}  # fmt: skip


def compare_filters() -> None:
    """Print for every kind of query the processor time without a filter and the ratios with one."""
    for size in ENTRIES:
        with tempfile.TemporaryDirectory(prefix="mathamr-filters-") as name:
            started = time.perf_counter()
            _generate(Path(name, "index"), size)
            print(
                f"  filters over {size:,} entries, generated in {time.perf_counter() - started:.0f} s",
                flush=True,
            )
            with Index.open(Path(name, "index"), device="cpu") as index:
                index.warm()
                _compare(index)


def _compare(index: Index) -> None:
    filters: dict[str, Callable[[], Filter | None]] = {"none": lambda: None}
    for share in SHARES:
        filters[f"one in {share:,}"] = partial(Filter, tags=(f"one in {share}",))
    filters["a folder of one in 10"] = partial(index.within, ["area-3"])
    for name, where in filters.items():  # what passes is found once
        began = time.process_time()
        for task in ("answers", "formulas"):
            index.rank("$x$ and more", task, where=where(), depth=DEPTH)
        print(
            f"    first search for both, filter {name}: {1e3 * (time.process_time() - began):.0f} ms",
            flush=True,
        )
    for kind, (task, ranking, texts) in QUERIES.items():
        least = np.full((len(texts), len(filters)), np.inf)
        for number, text in enumerate(texts):
            index.rank(
                text, task, ranking, DEPTH
            )  # its vectors are kept from now on, so that ratios are those of the ranking alone
            for _ in range(ROUNDS):
                for column, where in enumerate(filters.values()):
                    began = time.process_time()
                    index.rank(text, task, ranking, DEPTH, where=where())
                    least[number, column] = min(least[number, column], time.process_time() - began)
        means = least.mean(axis=0)
        ratios = ", ".join(
            f"{name} {ratio:.2f}" for name, ratio in zip(filters, means / means[0], strict=True)
        )
        print(
            f"    {kind:<11} {1e3 * means[0]:6.1f} ms of a processor without a filter; times that: {ratios}",
            flush=True,
        )


def _generate(folder: Path, size: int) -> None:
    """Make an index of some posts of the sample, and add entries that mix their parts."""
    posts = [
        each
        for each, _ in zip(read_posts(sample_folder() / "Posts.xml", Report()), range(SOURCES), strict=False)
    ]
    source = folder.with_name("posts.jsonl")
    source.write_text("".join(post.to_json() + "\n" for post in posts), encoding="utf-8")
    build_index([source], folder, BuildOptions(device="cpu"))
    analysed = {post.id: analyse(post) for post in posts}
    catalogue, lexical, engine = (
        Catalogue(folder / CATALOGUE),
        LexicalIndex(folder / LEXICAL),
        open_engine(folder / VECTORS),
    )
    try:
        document, parts, formula = _known(engine, posts)
        posts = [post for post in posts if post.id in document]
        for numbers in batches(range(size), BATCH):
            noise = np.random.default_rng(numbers[0])
            rows, bags, classes, entries, of_formulas = [], [], [], [], []
            for number in numbers:
                draw = Random(number)
                one, other = draw.choice(posts), draw.choice(posts)
                made = _entry(number, one)
                own = list(
                    zip(
                        made.formulas,
                        analysed[one.id].row.visuals,
                        analysed[one.id].bags.formulas,
                        strict=False,
                    )
                )
                keys = [visual if draw.random() < 0.5 else f"{visual}-{number}" for _, visual, _ in own]
                preview = stored_passage(made, passage(made)) if size <= MOST_PREVIEWED else None
                rows.append(row_of(made, keys, preview))
                text = PostBags(analysed[one.id].bags.text, analysed[other.id].bags.formulas[:MOST_FORMULAS])
                bags.append((made.id, text.joined()))
                classes += [
                    (key, bag) for key, (_, visual, bag) in zip(keys, own, strict=True) if key != visual
                ]
                about = payload_of(made)
                vectors = {
                    "document": _disturbed(document[one.id], noise),
                    "parts": _disturbed(parts[other.id], noise),
                }
                entries.append(Entry(made.id, vectors, about))
                for place, key in enumerate(keys):
                    named = replace(about, post=made.id, visual=key)
                    if (found := formula.get(one.formulas[place].id)) is not None:
                        of_formulas.append(
                            Entry(made.formulas[place].id, {"formula": _disturbed(found, noise)}, named)
                        )
            with catalogue.transaction():
                catalogue.put_rows(rows, "generated")
                for stage in ("graph", "vectors", "lexical"):
                    catalogue.skip(stage)
                for stage in ("vectors", "lexical"):
                    catalogue.skip_visuals(stage)
            lexical.posts.update_bags(bags, new={each for each, _ in bags})
            lexical.formulas.update_bags(classes, new={each for each, _ in classes})
            engine.upsert("posts", entries)
            engine.upsert("formulas", of_formulas)
            engine.flush()
        lexical.optimize()
        engine.optimize()
    finally:
        catalogue.close()
        lexical.close()
        engine.close()


def _known(engine: Engine, posts: list[Post]) -> Iterator[Mapping[str, Vectors]]:
    yield from (engine[name].fetch([post.id for post in posts]) for name in ("document", "parts"))
    yield engine["formula"].fetch([each.id for post in posts for each in post.formulas])


def _entry(number: int, post: Post) -> Post:
    """Return a post under a new id, with a tag for each share of entries that it belongs to."""
    name = f"entry-{number}"
    formulas = tuple(
        replace(each, id=f"{name}:{place}") for place, each in enumerate(post.formulas[:MOST_FORMULAS])
    )
    tags = tuple(f"one in {share}" for share in SHARES if number % share == 0)
    source = f"/vault/area-{number % 10}/file-{number % FILES}.md"
    made = replace(post, id=name, formulas=formulas, tags=tags, source=source, kind="note")
    return replace(made, parent=None, accepted_answer=None, links=())


def _disturbed(found: Vectors, noise: np.random.Generator) -> Vectors:
    vectors: FloatArray = found.vectors[:MOST_PARTS]
    moved = vectors + 0.05 * noise.standard_normal(vectors.shape, np.float32)
    moved /= np.linalg.norm(moved, axis=1, keepdims=True)
    return Vectors(moved, found.levels[:MOST_PARTS], found.references[:MOST_PARTS])
