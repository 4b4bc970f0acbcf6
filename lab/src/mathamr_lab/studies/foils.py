"""Foils: is a statement found before the same statement with one change of meaning, when it is asked for in other letters?

Statements are those that no model was trained on: held-out pairs of the Stacks project, and the left-out tenth of an encyclopedia.
`MATHAMR_MODELS` names text encoders, separated by spaces: models in the box or folders; the default is the default model. BM25 over words and
LaTeX tokens is beside them: it sees letters. One foil of every kind is made of each statement; a tie counts as half.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import numpy as np

from mathamr.evaluation import baselines
from mathamr.evaluation.significance import mean_interval
from mathamr.evaluation.table import aligned
from mathamr.evaluation.topics import Topic, read_topics
from mathamr.posts.post import Post
from mathamr.systems.models import DEFAULT, TEXT, boxed_folder, part_of
from mathamr.text.backend import load_encoder
from mathamr.text.wording import wording_alone
from mathamr_lab.data import data_folder
from mathamr_lab.studies.letters import SALT
from mathamr_lab.systems.text.foils import foils_of
from mathamr_lab.systems.text.letters import letters_for, renamed
from mathamr_lab.systems.text.materials import encyclopedia, entry_post, held_names

STATEMENTS = 300
"""The most statements of each source."""
LONGEST = 800
"""The most characters of a statement: in a long one a small change is lost to every encoder."""

Trial = tuple[Post, Post, Post, str]
"""A question in other letters, the statement, its foil, and the kind of the foil."""


def trials(data: Path) -> list[Trial]:
    """Returns every foil of the statements, with its question."""
    found = []
    for statement in (*islice(_stacks(data), STATEMENTS), *islice(_entries(data), STATEMENTS)):
        asked = renamed(statement, letters_for(statement, SALT))
        found += [(asked, statement, foil.post, foil.kind) for foil in foils_of(statement)]
    return found


def _stacks(data: Path) -> Iterator[Post]:
    for topic in read_topics(data / "pairs" / "known-items.xml"):
        if topic.id.startswith("stacks") and len(topic.post.body) <= LONGEST and foils_of(topic.post):
            yield topic.post


def _entries(data: Path) -> Iterator[Post]:
    path = data / "planetmath" / "entries.jsonl.gz"
    held = held_names(path)
    for row in encyclopedia(path):
        post = entry_post(row) if str(row["id"]) in held else None
        if post is not None and len(post.body) <= LONGEST and foils_of(post):
            yield post


def run() -> None:
    given = trials(data_folder())
    names = os.environ.get("MATHAMR_MODELS", DEFAULT).split()
    outcomes = {"BM25": _by_words(given)} | {name: _by_encoder(name, given) for name in names}
    print(f"{len(given)} foils of {len({trial[1].id for trial in given})} statements")
    kinds: dict[str, list[int]] = defaultdict(list)
    for place, (*_, kind) in enumerate(given):
        kinds[kind].append(place)
    rows = [
        [
            "share ranked above the foil",
            "all",
            "95 %",
            *(f"{kind} ({len(kinds[kind])})" for kind in sorted(kinds)),
        ]
    ]
    for name, found in outcomes.items():
        values = [found[place] for place in range(len(given))]
        low, high = mean_interval(values) or (0.0, 0.0)
        cells = [f"{np.mean([values[place] for place in kinds[kind]]):.2f}" for kind in sorted(kinds)]
        rows.append([name, f"{np.mean(values):.3f}", f"{low:.3f} to {high:.3f}", *cells])
    print(aligned(rows))


def _by_encoder(name: str, given: list[Trial]) -> Mapping[int, float]:
    folder = boxed_folder(name)
    encoder = load_encoder(part_of(folder, TEXT) if folder is not None else Path(name))
    texts = {post.id: post for trial in given for post in trial[1:3]}
    asked = {trial[1].id: trial[0] for trial in given}
    texts |= {f"{key}#asked": post for key, post in asked.items()}
    texts |= {f"{trial[2].id}-{trial[3]}": trial[2] for trial in given}
    wordings = [wording_alone(post)[0] for post in texts.values()]
    vectors = {
        key: np.asarray(found.vectors[-1], np.float32)
        for key, found in zip(texts, encoder.encode(wordings), strict=True)
    }
    return {
        place: _outcome(
            float(vectors[f"{statement.id}#asked"] @ vectors[statement.id]),
            float(vectors[f"{statement.id}#asked"] @ vectors[f"{foil.id}-{kind}"]),
        )
        for place, (_, statement, foil, kind) in enumerate(given)
    }


def _by_words(given: list[Trial]) -> Mapping[int, float]:
    posts = {
        f"{place}{suffix}": Post(
            f"{place}{suffix}", "answer", post.body, markup=post.markup, formulas=post.formulas
        )
        for place, (_, statement, foil, _) in enumerate(given)
        for suffix, post in (("+", statement), ("-", foil))
    }
    topics = [Topic(str(place), asked) for place, (asked, *_) in enumerate(given)]
    found = baselines.run("bm25", list(posts.values()), topics, "answers")
    outcomes = {}
    for place in range(len(given)):
        scores = {hit.id: hit.score for hit in found.rankings.get(str(place), ())}
        outcomes[place] = _outcome(scores.get(f"{place}+", 0.0), scores.get(f"{place}-", 0.0))
    return outcomes


def _outcome(own: float, other: float) -> float:
    return 0.5 if own == other else float(own > other)
