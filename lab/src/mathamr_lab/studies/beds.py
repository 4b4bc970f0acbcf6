"""All beds: known items in their own and in other letters, judged answers, names, related entries, links and premises.

`MATHAMR_MODELS` names text encoders, separated by spaces: models in the box or folders; the default is the default model. `MATHAMR_BEDS` names
some of the beds, separated by commas. Every bed is ranked by BM25 over words and LaTeX tokens, by one vector a post and by MaxSim over its parts,
without an index. Foils are a study of their own.

- `arqmath`, `pairs`: held-out questions find their answers; ` renamed`: the same in other letters; `task1`: judged answers, nDCG'.
- `names`: names of encyclopedia entries that nothing was trained on find the entries' texts; `related`: these entries find those that they name as related.
- `links`: questions of arqmath-mini find those that PostLinks joins with them.
- `premises`: statements of the Stacks project find the statements that their proofs cite, in a quarter of the chapters; labels are
  hidden. A chapter counts as one observation for the interval.
"""

from __future__ import annotations

import os
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from mathamr.core.arrays import AnyFloatArray, FloatArray
from mathamr.core.errors import UnknownNameError
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.significance import bootstrap_interval
from mathamr.evaluation.table import aligned
from mathamr.evaluation.topics import Topic
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.systems.models import DEFAULT, TEXT, boxed_folder, part_of
from mathamr.text.wording import wording_alone
from mathamr_lab.data import data_folder
from mathamr_lab.studies.testsets import YEARS, mini_files, read_topic_files
from mathamr_lab.systems.text.materials import encyclopedia, entry_post, held_names, names_of

DEPTH = 300
"""The number of results of a ranking."""
CHAPTERS = 4
"""One in so many chapters of the Stacks project asks for premises."""

Vectors = Sequence[AnyFloatArray]
"""The vectors of the parts of every post, that of the complete post last."""

_REFERENCE = re.compile(r"\\ref\{([^}]*)\}")
_LABEL = re.compile(r"(?:(?P<chapter>.+?)-)?(?P<label>(?:lemma|proposition|theorem)-.*)")


@dataclass(frozen=True)
class Bed:
    """Questions over documents, and which documents are relevant; a question is never its own document.

    `clusters` names the questions that are one observation for an interval, by default every question.
    """

    name: str
    documents: tuple[Post, ...]
    questions: tuple[Post, ...]
    grades: Mapping[str, Mapping[str, int]]
    measure: str = "MRR@10"
    clusters: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of every document by its id."""
        return {post.id: place for place, post in enumerate(self.documents)}

    def values(self, rankings: Mapping[str, Sequence[tuple[str, float]]]) -> dict[str, float]:
        """Returns the measure of every question."""
        found = evaluate(Run.of(self.name, rankings), Qrels(self.grades), measures([self.measure]))
        return dict(found.values[self.measure])

    def interval(self, values: Mapping[str, float]) -> tuple[float, float]:
        """Returns the 95 % interval of the mean by the bootstrap over questions, or over clusters of them."""
        groups: dict[str, list[float]] = defaultdict(list)
        for question, value in values.items():
            groups[self.clusters.get(question, question)].append(value)
        if len(groups) == len(values):
            return bootstrap_interval(list(values.values())) or (0.0, 0.0)
        sums = np.array([(sum(each), len(each)) for each in groups.values()])
        drawn = np.random.default_rng(0).integers(len(sums), size=(2000, len(sums)))
        totals = sums[drawn].sum(1)
        low, high = np.quantile(totals[:, 0] / totals[:, 1], [0.025, 0.975])
        return float(low), float(high)


def beds(data: Path) -> dict[str, Callable[[], Bed]]:
    """Returns the beds by name; each is read when it is called."""
    mini, pairs = data / "arqmath-mini", data / "pairs"
    files = {
        "arqmath": (mini / "Posts.xml", mini_files(data, "known-items")),
        "pairs": (pairs / "pairs.jsonl.gz", [(pairs / "known-items.xml", pairs / "known-items.qrels")]),
        "task1": (mini / "Posts.xml", mini_files(data, *(f"task1-{year}" for year in YEARS))),
    }
    found: dict[str, Callable[[], Bed]] = {}
    for name, (posts, topics) in files.items():
        found[name] = lambda name=name, posts=posts, topics=topics: _answers(name, posts, topics)  # type: ignore[misc]
        if name != "task1":
            found[f"{name} renamed"] = lambda name=name: _renamed(found[name]())  # type: ignore[misc]
    entries = data / "planetmath" / "entries.jsonl.gz"
    found["names"] = lambda: _names(entries)
    found["related"] = lambda: _related(entries)
    found["links"] = lambda: _links(mini)
    found["premises"] = lambda: premises(pairs / "pairs.jsonl.gz")
    return found


def _answers(name: str, path: Path, files: Sequence[tuple[Path, Path]]) -> Bed:
    topics, qrels = read_topic_files(files)
    documents = tuple(post for post in read_posts(path, Report()) if post.role == "answer")
    questions = tuple(replace(topic.post, id=topic.id) for topic in topics)
    return Bed(name, documents, questions, qrels.grades, "nDCG'" if name == "task1" else "MRR@10")


def _renamed(bed: Bed) -> Bed:
    from mathamr_lab.studies.letters import SALT
    from mathamr_lab.systems.text.letters import letters_for, renamed

    questions = tuple(renamed(post, letters_for(post, SALT)) for post in bed.questions)
    return replace(bed, name=f"{bed.name} renamed", questions=questions)


def _names(path: Path) -> Bed:
    rows, held = list(encyclopedia(path)), held_names(path)
    questions, grades = [], {}
    for row in rows:
        for place, name in enumerate(names_of(row) if str(row["id"]) in held else ()):
            topic = f"{row['id']}#{place}"
            formulas = formulas_of(topic, "", name, "latex")
            questions.append(Post(topic, "question", name, markup="latex", formulas=formulas))
            grades[topic] = {str(row["id"]): 3}
    return Bed("names", tuple(map(entry_post, rows)), tuple(questions), grades)


def _related(path: Path) -> Bed:
    rows, held = list(encyclopedia(path)), held_names(path)
    documents = {str(row["id"]): entry_post(row) for row in rows}
    grades = {
        str(row["id"]): {each: 3 for each in row["related"] if each in documents and each != str(row["id"])}
        for row in rows
        if str(row["id"]) in held
    }
    asked = {question: found for question, found in grades.items() if found}
    return Bed("related", tuple(documents.values()), tuple(documents[question] for question in asked), asked)


def _links(folder: Path) -> Bed:
    questions = {
        post.id: post for post in read_posts(folder / "Posts.xml", Report()) if post.role == "question"
    }
    grades: dict[str, dict[str, int]] = {}
    for line in (folder / "PostLinks.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        one, other, _ = line.split("\t")
        if one in questions and other in questions and one != other:
            grades.setdefault(one, {})[other] = 3
            grades.setdefault(other, {})[one] = 3
    return Bed("links", tuple(questions.values()), tuple(questions[each] for each in grades), grades)


def premises(path: Path, one_in: int = CHAPTERS) -> Bed:
    """Statements of the Stacks project and those that their proofs cite; one in so many chapters asks."""
    posts = [post for post in read_posts(path, Report()) if post.id.startswith("stacks-project:")]
    statements = [post for post in posts if post.role == "question"]
    proofs = {post.parent: post.body for post in posts if post.role == "answer"}
    labels = [post.id.partition(":")[2].rpartition("/")[0] for post in statements]
    cited = [_cited(proofs.get(post.id, "")) for post in statements]
    chapters = chapters_of(labels, cited)
    at = {label: place for place, label in enumerate(labels)}
    grades: dict[str, dict[str, int]] = {}
    clusters = {}
    for place, post in enumerate(statements):
        found = {
            statements[at[label]].id: 3
            for chapter, label in cited[place]
            if label in at and at[label] != place and chapters[at[label]] == (chapter or chapters[place])
        }
        if found and zlib.crc32(chapters[place].encode()) % one_in == 0:
            grades[post.id], clusters[post.id] = found, chapters[place]
    documents = {post.id: _without_labels(post) for post in statements}
    asked = tuple(documents[question] for question in grades)
    return Bed("premises", tuple(documents.values()), asked, grades, clusters=clusters)


def _cited(proof: str) -> list[tuple[str, str]]:
    """Returns the chapter, empty if it is the proof's own, and the label of every statement that a proof cites."""
    matches = (_LABEL.fullmatch(reference) for reference in dict.fromkeys(_REFERENCE.findall(proof)))
    return [(match["chapter"] or "", match["label"]) for match in matches if match is not None]


def _without_labels(post: Post) -> Post:
    body = _REFERENCE.sub("", post.body)
    return replace(post, body=body, formulas=formulas_of(post.id, "", body, post.markup))


def chapters_of(labels: Sequence[str], cited: Sequence[Sequence[tuple[str, str]]]) -> list[str]:
    """Returns the chapter of every statement, in their order: the alphabetical division that agrees with most references.

    The labels themselves do not name their chapter, but references from other chapters do.
    """
    named: dict[str, set[str]] = defaultdict(set)
    for references in cited:
        for chapter, label in references:
            if chapter:
                named[label].add(chapter)
    chapters = sorted({chapter for found in named.values() for chapter in found})
    if not chapters:
        return [""] * len(labels)
    number = {chapter: place for place, chapter in enumerate(chapters)}
    best = np.zeros(len(chapters))
    before = np.zeros((len(labels), len(chapters)), np.int32)
    for place, label in enumerate(labels):
        leading = np.maximum.accumulate(best)
        # The first chapter that reaches the maximum so far.
        before[place] = np.maximum.accumulate(np.where(best == leading, np.arange(len(chapters)), 0))
        best = leading
        for chapter in named.get(label, ()):
            best[number[chapter]] += 1 / len(named[label])
    found = [int(best.argmax())]
    for place in range(len(labels) - 1, 0, -1):
        found.append(int(before[place][found[-1]]))
    return [chapters[place] for place in reversed(found)]


def ranked(bed: Bed, questions: Vectors, documents: Vectors, device: str = "cpu") -> dict[str, Rankings]:
    """Returns the rankings of a bed's questions by one vector and by MaxSim, from the vectors of both."""
    wholes = torch.from_numpy(np.stack([rows[-1] for rows in documents])).float().to(device)
    parts = torch.from_numpy(np.concatenate(documents)).float().to(device)
    owners = torch.from_numpy(np.repeat(np.arange(len(documents)), [len(rows) for rows in documents])).to(
        device
    )
    found: dict[str, Rankings] = {"one vector": {}, "MaxSim": {}}
    for post, rows in zip(bed.questions, questions, strict=True):
        asked = torch.from_numpy(np.asarray(rows)).float().to(device)
        similar = asked @ parts.T
        nearest = similar.new_full((len(similar), len(documents)), -1.0)
        nearest.scatter_reduce_(1, owners.expand(len(similar), -1), similar, "amax")
        for name, scores in (("one vector", wholes @ asked[-1]), ("MaxSim", nearest.mean(0))):
            found[name][post.id] = _first(bed, post.id, scores)
    return found


Rankings = dict[str, list[tuple[str, float]]]


def _first(bed: Bed, question: str, scores: torch.Tensor) -> list[tuple[str, float]]:
    top = scores.topk(min(DEPTH + 1, len(scores)))
    rows = zip(top.indices.tolist(), top.values.tolist(), strict=True)
    return [(bed.documents[place].id, score) for place, score in rows if bed.documents[place].id != question][
        :DEPTH
    ]


def by_words(bed: Bed) -> Rankings:
    """Returns the rankings of BM25 over words and LaTeX tokens."""
    from mathamr.evaluation import baselines

    answers = [
        Post(post.id, "answer", post.body, markup=post.markup, formulas=post.formulas)
        for post in bed.documents
    ]
    found = baselines.run("bm25", answers, [Topic(post.id, post) for post in bed.questions], "answers")
    return {
        question: [(hit.id, hit.score) for hit in hits if hit.id != question]
        for question, hits in found.rankings.items()
    }


def run() -> None:
    names = os.environ.get("MATHAMR_MODELS", DEFAULT).split()
    known = beds(data_folder())
    chosen = [name.strip() for name in os.environ.get("MATHAMR_BEDS", ",".join(known)).split(",")]
    rows = [["bed", "questions", "documents", "measure", "by", "mean", "95 %"]]
    for name in chosen:
        if name not in known:
            raise UnknownNameError("bed", name, list(known))
        bed = known[name]()
        rankings = {"BM25": by_words(bed)}
        for model in names:
            rankings |= {f"{model}, {kind}": found for kind, found in _by_encoder(model, bed).items()}
        about = [bed.name, str(len(bed.questions)), str(len(bed.documents)), bed.measure]
        for kind, found in rankings.items():
            values = bed.values(found)
            low, high = bed.interval(values)
            rows.append([*about, kind, f"{np.mean(list(values.values())):.3f}", f"{low:.3f} to {high:.3f}"])
    print(aligned(rows))


def _by_encoder(name: str, bed: Bed) -> dict[str, Rankings]:
    from mathamr.text.backend import load_encoder

    folder = boxed_folder(name)
    encoder = load_encoder(part_of(folder, TEXT) if folder is not None else Path(name))

    def encode(posts: Sequence[Post]) -> Iterator[FloatArray]:
        for start in range(0, len(posts), 256):
            wordings = [wording_alone(post)[0] for post in posts[start : start + 256]]
            yield from (np.asarray(found.vectors, np.float32) for found in encoder.encode(wordings))

    return ranked(bed, list(encode(bed.questions)), list(encode(bed.documents)))
