"""Encoders of other people beside ours, through the same commands: quality on every bed, seconds to index and to search.

    python -m mathamr_lab.studies.encoders             with these settings in the environment:
    MATHAMR_ENCODERS="mathamr-3 st:all-MiniLM-L6-v2"   the models, as `--model` takes them; the first is compared with the others
    MATHAMR_WORK=FOLDER                                where collections, indexes and results are kept; what is there is not made again
    MATHAMR_COLLECTIONS="arqmath encyclopedia"         which of both collections
    MATHAMR_SHARE=1                                    one in so many posts, entries and topics is taken
    MATHAMR_WORKERS=2                                  processes that index and search

Queries are asked in an order that is drawn once, the same for every model, and what is found is kept while a model is asked
(`COLLECTION-MODEL.part.json`): if that is cut, what it has is a sample. Models are compared on the queries that all of them have.

arqmath-mini is asked its known items, as they are and in other letters, and Task 1 of 2020 and 2021; the encyclopedia is asked for the
entries that no model of ours was trained on. Every model has two columns: the default ranking, and its vectors alone. Seconds of an index
are those of the clock, on a GPU if there is one; seconds of a query are those of one processor.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from multiprocessing import get_context
from operator import itemgetter
from pathlib import Path
from statistics import fmean

from mathamr.core.batches import batches
from mathamr.evaluation import knownitems
from mathamr.evaluation.measures import measure
from mathamr.evaluation.qrels import Qrels, read_qrels
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.significance import bootstrap_interval
from mathamr.evaluation.table import aligned
from mathamr.evaluation.topics import Topic, read_topics
from mathamr.evaluation.topicsearch import retrieve
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.search.searcher import Index
from mathamr_lab.data import data_folder, environment
from mathamr_lab.studies.letters import renamed_topics
from mathamr_lab.studies.typedqueries import WITH_WORDS, draw, sentences
from mathamr_lab.systems.text.materials import held_names

KNOWN = "known-items"
JUDGED = ("nDCG'", "MAP'", "Bpref")
VECTORS = ("single", "maxsim")
"""Names of rankings by vectors alone; a model is shown by the first it has."""
AT_A_TIME = 8
"""The number of queries that a process gets at a time."""
KEPT_EVERY = 5
"""Seconds after which what is found is written again."""


@dataclass(frozen=True, slots=True)
class Bed:
    """Queries, by id, with the judgments of each and the measures that suit them."""

    name: str
    queries: Mapping[str, Topic | str]
    qrels: Qrels
    measures: tuple[str, ...] = ("MRR@10",)


@dataclass(frozen=True, slots=True)
class Found:
    """What two rankings of a model have: values by bed and measure and query, and the seconds of a query of each bed."""

    values: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps({"values": self.values, "seconds": self.seconds}), "utf-8")


def write_collection(path: Path, share: int) -> None:
    """Write posts in JSON lines, or a part of the encyclopedia's entries, unless they are there."""
    if path.is_file():
        return
    if path.stem == "arqmath":
        posts = read_posts(data_folder() / "arqmath-mini/Posts.xml", Report())
        chosen = (f"{post.to_json()}\n" for post in posts if int(post.parent or post.id) % share == 0)
        path.write_text("".join(chosen), "utf-8")
        return
    with gzip.open(data_folder() / "planetmath/entries.jsonl.gz", "rt", encoding="utf-8") as lines:
        path.write_text("".join(islice(lines, 0, None, share)), "utf-8")


def topic_beds(index: Index) -> list[Bed]:
    """Return the known items in both forms and the judged topics, as far as their answers are in the index."""
    found, there = [], {post.id for post in index.posts()}
    for name, measures in ((KNOWN, ("MRR@10",)), ("task1-2020", JUDGED), ("task1-2021", JUDGED)):
        path = data_folder() / f"arqmath-mini/topics/{name}.xml"
        judged = read_qrels(data_folder() / f"arqmath-mini/qrels/{name}.qrels").grades
        kept = {
            topic: {item: grade for item, grade in own.items() if item in there}
            for topic, own in judged.items()
        }
        qrels = Qrels(kept).with_relevant()
        forms = {name: read_topics(path)}
        if name == KNOWN:
            forms[f"{name}, other letters"] = renamed_topics(path)
        for form, topics in forms.items():
            asked = {topic.id: topic for topic in topics if topic.id in qrels.grades}
            found.append(Bed(form, asked, Qrels({topic: qrels.grades[topic] for topic in asked}), measures))
    return found


def entry_beds(index: Index) -> list[Bed]:
    """Return names, parts of sentences and formulas of entries that our models were not trained on."""
    held = held_names(data_folder() / "planetmath/entries.jsonl.gz")
    posts = [post for post in index.posts() if post.id in held]
    typed = [each for each in draw(index, len(index)) if each.entry in held]
    groups = {
        "names": [(str(each.query), min(each.right)) for each in knownitems.titles(posts)],
        "eight words": [(str(each.query), min(each.right)) for each in sentences(posts)],
        "a formula": [(each.text, each.entry) for each in typed if each.form not in WITH_WORDS],
        "a formula with words": [(each.text, each.entry) for each in typed if each.form in WITH_WORDS],
    }
    return [
        Bed(name, {right: text for text, right in items}, Qrels({right: {right: 3} for _, right in items}))
        for name, items in groups.items()
    ]


def measure_model(model: str, collection: str, folder: Path, share: int, workers: int) -> Found:
    """Return the figures of a model on a collection; they are kept in the folder, query by query."""
    name = short_name(model).replace(":", "-")
    kept, index_folder = (folder / f"{collection}-{name}.{ending}" for ending in ("json", "index"))
    if kept.is_file():
        return Found(**json.loads(kept.read_text("utf-8")))
    path = folder / f"{collection}.jsonl"
    write_collection(path, share)
    built = build_index([path], index_folder, BuildOptions(model=model, workers=workers))
    print(json.dumps({"built": name, **built.to_json()}), flush=True)
    found = Found(seconds={"index": built.seconds / built.manifest.counts["posts"]})
    part = kept.with_suffix(".part.json")
    measure_index(index_folder, model, collection, workers, found, part)
    part.rename(kept)
    return found


def measure_index(folder: Path, model: str, collection: str, workers: int, found: Found, kept: Path) -> None:
    """Add the figures of an index of a collection, and write them now and then."""
    with Index.open(folder, model=model) as index:
        beds = topic_beds(index) if collection == "arqmath" else entry_beds(index)
    parts = [(at, bed, part) for bed in beds for at, part in enumerate(batches(_drawn(bed), AT_A_TIME))]
    written, seconds = time.monotonic(), dict.fromkeys((bed.name for bed in beds), 0.0)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting = {
            pool.submit(
                _measure, str(folder), model, Bed(bed.name, dict(part), bed.qrels, bed.measures)
            ): bed.name
            for _, bed, part in sorted(parts, key=itemgetter(0))
        }
        for future in as_completed(waiting):
            name, (values, spent) = waiting[future], future.result()
            for measured, columns in values.items():
                known = found.values.setdefault(f"{name}, {measured}", [{} for _ in columns])
                for column, more in zip(known, columns, strict=True):
                    column |= more
            seconds[name] += spent
            found.seconds[name] = seconds[name] / len(column)
            if time.monotonic() - written > KEPT_EVERY:
                written = time.monotonic()
                found.write(kept)
    found.write(kept)


def _drawn(bed: Bed) -> Iterator[tuple[str, Topic | str]]:
    """Yield the queries of a bed in an order that is always the same."""
    for query in random.Random(0).sample(sorted(bed.queries), len(bed.queries)):
        yield query, bed.queries[query]


def _measure(folder: str, model: str, bed: Bed) -> tuple[dict[str, list[dict[str, float]]], float]:
    """Return the values of some queries by measure and ranking, and the seconds of the default ranking."""
    index = _opened(folder, model)
    known = index.rankings("answers")
    columns: dict[str, list[dict[str, float]]] = {}
    seconds = []
    for strategy in (None, next(each for each in VECTORS if each in known)):
        began = time.process_time()
        run = _search(index, bed, strategy)
        seconds.append(time.process_time() - began)
        qrels = Qrels({each: bed.qrels.grades[each] for each in bed.queries})
        scores = evaluate(run, qrels, [measure(each) for each in bed.measures])
        for name, values in scores.values.items():
            columns.setdefault(name, []).append(dict(values))
    return columns, seconds[0]


def _search(index: Index, bed: Bed, strategy: str | None) -> Run:
    topics = [query for query in bed.queries.values() if isinstance(query, Topic)]
    if topics:
        return retrieve(index, topics, "answers", strategy=strategy).run()
    texts = {each: query for each, query in bed.queries.items() if isinstance(query, str)}
    found = {each: index.rank(text, "answers", strategy, knownitems.DEPTH)[0] for each, text in texts.items()}
    return Run.of("", {each: [(hit.id, hit.score) for hit in hits] for each, hits in found.items()})


@cache
def _opened(folder: str, model: str) -> Index:
    """Return an index on processors whose model has answered once: loading does not count."""
    index = Index.open(folder, device="cpu", model=model)
    index.rank("prime numbers")
    return index


def run() -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    folder = Path(environment("MATHAMR_WORK"))
    folder.mkdir(parents=True, exist_ok=True)
    share, workers = (int(os.environ.get(f"MATHAMR_{each}") or 1) for each in ("SHARE", "WORKERS"))
    models = os.environ.get("MATHAMR_ENCODERS", "mathamr-3 st:all-MiniLM-L6-v2").split()
    for collection in os.environ.get("MATHAMR_COLLECTIONS", "arqmath encyclopedia").split():
        found = [measure_model(model, collection, folder, share, workers) for model in models]
        rows = [["default ranking / vectors alone", "queries", *map(short_name, models)]]
        for bed, first in found[0].values.items():
            shared = [query for query in first[0] if all(query in own.values[bed][0] for own in found)]
            shown = (compared(own.values[bed], first, shared) for own in found)
            rows.append([bed, str(len(shared)), *shown])
        for bed in found[0].seconds:
            rows.append([f"{bed}, s", "", *(f"{own.seconds[bed]:.3f}" for own in found)])
        print(aligned(rows), flush=True)


def compared(
    columns: Sequence[Mapping[str, float]], first: Sequence[Mapping[str, float]], queries: Sequence[str]
) -> str:
    """Return means; + or - marks a column above or below that of the first model by more than chance (95 %, by the bootstrap)."""
    said = []
    for values, others in zip(columns, first, strict=True):
        interval = bootstrap_interval([values[query] - others[query] for query in queries])
        low, high = interval or (0.0, 0.0)
        mean = fmean(values[query] for query in queries)
        said.append(f"{mean:.3f}{'+' * (low > 0)}{'-' * (high < 0)}")
    return " / ".join(said)


def short_name(model: str) -> str:
    """Return the name of a model without its folder."""
    return model.rstrip("/").rpartition("/")[2]


if __name__ == "__main__":
    run()
