"""Bare names: an encyclopedia's names, synonyms and defined words as queries for its texts, which are indexed without titles.

Only names of entries that no model was trained on are searched (`held_names`: a tenth of the entries, by the hash of the id),
among the texts of all entries. `MATHAMR_MODEL` names the model, by default the text-only one in the box;
with `MATHAMR_VECTORS` precomputed vectors are used. The index is built in a temporary folder.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from mathamr.evaluation import baselines
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.table import aligned
from mathamr.evaluation.topics import Topic
from mathamr.evaluation.topicsearch import retrieve
from mathamr.index.build.builder import BuildOptions, build_index
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.search.searcher import Index
from mathamr.systems.models import boxed
from mathamr_lab.data import data_folder
from mathamr_lab.studies.testsets import KNOWN, mean_and_error, p_value
from mathamr_lab.systems.text.materials import encyclopedia, entry_post, held_names, names_of

STRATEGIES = ("hybrid", "maxsim", "single", "lexical")


def run() -> None:
    path = data_folder() / "planetmath" / "entries.jsonl.gz"
    model = os.environ.get("MATHAMR_MODEL") or next(
        (name for name in boxed() if name.endswith("-text")), boxed()[0]
    )
    rows = list(encyclopedia(path))
    asked = held_names(path)
    posts = [_answer(entry_post(row)) for row in rows]
    topics, grades = [], {}
    for row in rows:
        for place, name in enumerate(names_of(row) if row["id"] in asked else ()):
            topic = f"{row['id']}#{place}"
            formulas = formulas_of(topic, "", name, "latex")
            topics.append(Topic(topic, Post(topic, "question", name, markup="latex", formulas=formulas)))
            grades[topic] = {str(row["id"]): 3}
    print(f"{len(topics)} names of {len(asked)} entries among {len(posts)} texts; {model}")
    runs = {"bm25": baselines.run("bm25", posts, topics, "answers")}
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary) / "entries.jsonl"
        source.write_text("".join(post.to_json() + "\n" for post in posts), encoding="utf-8")
        build_index([source], Path(temporary) / "index", BuildOptions(model=model, engine="flat"))
        with Index.open(Path(temporary) / "index") as index:
            for strategy in STRATEGIES:
                runs[strategy] = retrieve(index, topics, "answers", strategy=strategy).run()
    _report(runs, Qrels(grades))


def _answer(post: Post) -> Post:
    """Returns an entry as an answer."""
    return Post(post.id, "answer", post.body, markup=post.markup, formulas=post.formulas)


def _report(runs: dict[str, Run], qrels: Qrels) -> None:
    scores = {name: evaluate(found, qrels, measures(KNOWN)) for name, found in runs.items()}
    rows = [["", *KNOWN, "p against hybrid"]]
    hybrid = scores["hybrid"].values[KNOWN[0]]
    for name, found in scores.items():
        rows.append(
            [name, *(mean_and_error(found, each) for each in KNOWN), p_value(found.values[KNOWN[0]], hybrid)]
        )
    print(aligned(rows), flush=True)
