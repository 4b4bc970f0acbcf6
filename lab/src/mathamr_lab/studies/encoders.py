"""Encoders of other people beside ours, through the same commands: quality on every bed, seconds to index and to search.

    MATHAMR_ENCODERS="mathamr-3 st:all-MiniLM-L6-v2"   the models, as `--model` takes them
    MATHAMR_WORK=FOLDER                                where collections, indexes and results are kept; what is there is not made again
    MATHAMR_COLLECTIONS="answers notes"                which of both samples
    MATHAMR_SHARE=6                                    one in so many topics, known items and entries is taken (6)

Two samples: the judged answers of topics of Task 1 (2020 and 2021) together with the answers of known items, and entries of the
encyclopedia. Every model has two columns: the default ranking, and its vectors alone. Seconds are of a processor.
"""

from __future__ import annotations

import gzip
import json
import os
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from statistics import fmean

from mathamr.evaluation import knownitems
from mathamr.evaluation.knownitems import KnownItem, reciprocal_rank
from mathamr.evaluation.measures import measure
from mathamr.evaluation.qrels import Qrels, read_qrels
from mathamr.evaluation.scores import evaluate
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

KNOWN = "known-items"
BEDS = {
    KNOWN: ("MRR@10",),
    "task1-2020": ("nDCG'", "MAP'", "Bpref"),
    "task1-2021": ("nDCG'", "MAP'", "Bpref"),
}
VECTORS = ("single", "maxsim")
"""Names of rankings by vectors alone; a model is shown by the first it has."""


def sample_topics(name: str, share: int) -> tuple[list[str], Qrels]:
    """Return the ids and judgments of one in `share` topics with a relevant answer."""
    qrels = read_qrels(data_folder() / f"arqmath-mini/qrels/{name}.qrels").with_relevant()
    chosen = qrels.topics[:: share * 4 if name == KNOWN else share]
    return list(chosen), Qrels({topic: qrels.grades[topic] for topic in chosen})


def write_collections(folder: Path, share: int) -> None:
    """Write both samples as posts in JSON lines, unless they are there."""
    answers, notes = folder / "answers.jsonl", folder / "notes.jsonl"
    if not answers.is_file():
        judged = {
            item for name in BEDS for own in sample_topics(name, share)[1].grades.values() for item in own
        }
        posts = read_posts(data_folder() / "arqmath-mini/Posts.xml", Report())
        answers.write_text("".join(f"{post.to_json()}\n" for post in posts if post.id in judged), "utf-8")
    if not notes.is_file():
        with gzip.open(data_folder() / "planetmath/entries.jsonl.gz", "rt", encoding="utf-8") as lines:
            notes.write_text("".join(islice(lines, 0, None, share * 10)), "utf-8")


def measure_model(model: str, collection: str, folder: Path, share: int) -> dict[str, list[float]]:
    """Return the figures of a model on a collection, default ranking and vectors alone; they are kept in the folder."""
    name = _short(model).replace(":", "-")
    kept, index_folder = (folder / f"{collection}-{name}.{ending}" for ending in ("json", "index"))
    if kept.is_file():
        found: dict[str, list[float]] = json.loads(kept.read_text("utf-8"))
        return found
    began = time.process_time()
    build_index([folder / f"{collection}.jsonl"], index_folder, BuildOptions(model=model))
    with Index.open(index_folder) as index:
        found = {f"{collection}, s a post": [(time.process_time() - began) / len(index)]}
        index.warm()
        known = index.rankings("answers")
        strategies = (None, next(each for each in VECTORS if each in known))
        on_answers = collection == "answers"
        measured = _on_answers(index, strategies, share) if on_answers else _on_notes(index, strategies)
        for strategy in measured:
            for bed, value in strategy.items():
                found.setdefault(bed, []).append(value)
    kept.write_text(json.dumps(found), "utf-8")
    return found


def _on_answers(index: Index, strategies: Sequence[str | None], share: int) -> list[dict[str, float]]:
    found: list[dict[str, float]] = [{} for _ in strategies]
    for name, measures in BEDS.items():
        chosen, qrels = sample_topics(name, share)
        path = data_folder() / f"arqmath-mini/topics/{name}.xml"
        forms = {name: read_topics(path)}
        if name == KNOWN:
            forms[f"{name}, other letters"] = renamed_topics(path)
        for form, topics in forms.items():
            asked: list[Topic] = [topic for topic in topics if topic.id in set(chosen)]
            for row, strategy in zip(found, strategies, strict=True):
                began = time.process_time()
                run = retrieve(index, asked, "answers", strategy=strategy).run()
                row[f"{form}, s a query"] = (time.process_time() - began) / len(asked)
                scores = evaluate(run, qrels, [measure(each) for each in measures])
                row |= {f"{form}, {each} ({len(asked)})": scores.mean(each) for each in scores.measures}
    return found


def _on_notes(index: Index, strategies: Sequence[str | None]) -> list[dict[str, float]]:
    posts = list(index.archive.catalogue.every_post())
    typed = draw(index, len(posts))
    groups: dict[str, list[KnownItem]] = {
        "names": list(knownitems.titles(posts)),
        "notes, eight words": list(sentences(posts)),
    }
    for name, is_in in (("a formula", False), ("a formula with words", True)):
        groups[name] = [
            KnownItem(each.text, frozenset([each.entry]), each.form)
            for each in typed
            if (each.form in WITH_WORDS) == is_in
        ]
    found: list[dict[str, float]] = [{} for _ in strategies]
    for name, items in groups.items():
        for row, strategy in zip(found, strategies, strict=True):
            began = time.process_time()
            values = [
                reciprocal_rank(
                    item.right, [hit.id for hit in index.rank(item.query, "answers", strategy, 10)[0]]
                )
                for item in items
            ]
            row[f"{name}, s a query"] = (time.process_time() - began) / max(1, len(items))
            row[f"{name}, MRR@10 ({len(items)})"] = fmean(values) if values else 0.0
    return found


def run() -> None:
    share = int(os.environ.get("MATHAMR_SHARE", "6"))
    folder = Path(environment("MATHAMR_WORK"))
    folder.mkdir(parents=True, exist_ok=True)
    write_collections(folder, share)
    models = os.environ.get("MATHAMR_ENCODERS", "mathamr-3 st:all-MiniLM-L6-v2").split()
    for collection in os.environ.get("MATHAMR_COLLECTIONS", "answers notes").split():
        found = [measure_model(model, collection, folder, share) for model in models]
        rows = [["default ranking / vectors alone", *map(_short, models)]]
        rows += [[bed, *(_said(bed, own[bed]) for own in found)] for bed in found[0]]
        print(aligned(rows), flush=True)


def _short(model: str) -> str:
    """Return the name of a model without its folder."""
    return model.rstrip("/").rpartition("/")[2]


def _said(bed: str, values: Sequence[float]) -> str:
    """Return the figures of a bed; vectors of queries are cached, so only the first time counts."""
    return " / ".join(f"{value:.3f}" for value in (values[:1] if "s a query" in bed else values))
