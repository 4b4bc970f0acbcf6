"""Encoders of other people beside ours, through the same commands: quality on every bed, seconds to index and to search.

    MATHAMR_ENCODERS="mathamr-3 st:all-MiniLM-L6-v2"   the models, as `--model` takes them; the first is compared with the others
    MATHAMR_WORK=FOLDER                                where collections, indexes and results are kept; what is there is not made again
    MATHAMR_COLLECTIONS="arqmath encyclopedia"         which of both collections
    MATHAMR_SHARE=1                                    one in so many posts, entries and topics is taken
    MATHAMR_WORKERS=2                                  processes that index and search

arqmath-mini is asked its known items, as they are and in other letters, and Task 1 of 2020 and 2021; the encyclopedia is asked for the
entries that no model of ours was trained on. Every model has two columns: the default ranking, and its vectors alone. Seconds of an index
are those of the clock, on a GPU if there is one; seconds of a query are those of one processor.
"""

from __future__ import annotations

import gzip
import json
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from multiprocessing import get_context
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
AT_A_TIME = 24
"""The number of queries that a process gets at a time."""


@dataclass(frozen=True, slots=True)
class Bed:
    """Queries, by id, with the judgments of each and the measures that suit them."""

    name: str
    queries: Mapping[str, Topic | str]
    qrels: Qrels
    measures: tuple[str, ...] = ("MRR@10",)


@dataclass(frozen=True, slots=True)
class Found:
    """What two rankings of a model have: values by bed and measure, query by query, and the seconds of all queries of a bed."""

    values: dict[str, list[list[float]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


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
    found = measure_index(index_folder, collection, workers)
    found.seconds["index"] = built.seconds / built.manifest.counts["posts"]
    kept.write_text(json.dumps({"values": found.values, "seconds": found.seconds}), "utf-8")
    return found


def measure_index(folder: Path, collection: str, workers: int) -> Found:
    """Return the figures of an index of a collection."""
    with Index.open(folder) as index:
        beds = topic_beds(index) if collection == "arqmath" else entry_beds(index)
    found = Found()
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting = []
        for bed in beds:
            for part in batches(bed.queries.items(), AT_A_TIME):
                some = Bed(bed.name, dict(part), bed.qrels, bed.measures)
                waiting.append((bed, pool.submit(_measure, str(folder), some)))
        for bed, future in waiting:
            values, seconds = future.result()
            found.seconds[bed.name] = found.seconds.get(bed.name, 0.0) + seconds / len(bed.queries)
            for name, columns in values.items():
                known = found.values.setdefault(f"{bed.name}, {name}", [[] for _ in columns])
                for column, more in zip(known, columns, strict=True):
                    column += more
    return found


def _measure(folder: str, bed: Bed) -> tuple[dict[str, list[list[float]]], float]:
    """Return the values of some queries by measure and ranking, and the seconds of the default ranking."""
    index = _opened(folder)
    known = index.rankings("answers")
    columns: dict[str, list[list[float]]] = {}
    seconds = []
    for strategy in (None, next(each for each in VECTORS if each in known)):
        began = time.process_time()
        run = _search(index, bed, strategy)
        seconds.append(time.process_time() - began)
        qrels = Qrels({each: bed.qrels.grades[each] for each in bed.queries})
        scores = evaluate(run, qrels, [measure(each) for each in bed.measures])
        for name, values in scores.values.items():
            columns.setdefault(name, []).append(list(values.values()))
    return columns, seconds[0]


def _search(index: Index, bed: Bed, strategy: str | None) -> Run:
    topics = [query for query in bed.queries.values() if isinstance(query, Topic)]
    if topics:
        return retrieve(index, topics, "answers", strategy=strategy).run()
    texts = {each: query for each, query in bed.queries.items() if isinstance(query, str)}
    found = {each: index.rank(text, "answers", strategy, knownitems.DEPTH)[0] for each, text in texts.items()}
    return Run.of("", {each: [(hit.id, hit.score) for hit in hits] for each, hits in found.items()})


@cache
def _opened(folder: str) -> Index:
    """Return an index on processors whose model has answered once: loading does not count."""
    index = Index.open(folder, device="cpu")
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
            shown = (compared(own.values[bed], first) for own in found)
            rows.append([bed, str(len(first[0])), *shown])
        for bed in found[0].seconds:
            rows.append([f"{bed}, s", "", *(f"{own.seconds[bed]:.3f}" for own in found)])
        print(aligned(rows), flush=True)


def compared(columns: Sequence[Sequence[float]], first: Sequence[Sequence[float]]) -> str:
    """Return means; + or - marks a column above or below that of the first model by more than chance (95 %, by the bootstrap)."""
    said = []
    for values, others in zip(columns, first, strict=True):
        interval = bootstrap_interval([one - other for one, other in zip(values, others, strict=True)])
        low, high = interval or (0.0, 0.0)
        said.append(f"{fmean(values):.3f}{'+' * (low > 0)}{'-' * (high < 0)}")
    return " / ".join(said)


def short_name(model: str) -> str:
    """Return the name of a model without its folder."""
    return model.rstrip("/").rpartition("/")[2]
