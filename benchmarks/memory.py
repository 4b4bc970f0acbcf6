"""The peak memory of every step of the reproduction that reads a whole collection, at several sizes.

`python -m benchmarks.memory --posts 2000 20000 200000` generates ARQMath with so many posts and ten times as many formulas, runs
the commands of lab/notes/reproduce.md on it, with tiny models but all posts, formulas and topics, and prints the
largest resident memory (MB) of each command and of all processes below it, stage by stage. Under `python -m benchmarks` the sizes
are those of `MATHAMR_BENCH_POSTS` (500 1000 2000).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from mathamr.evaluation.table import aligned
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

LIMIT = 8192
"""MB; no step may need more."""
SIZES = tuple(map(int, os.environ.get("MATHAMR_BENCH_POSTS", "500 1000 2000").split()))
_DONE = re.compile(r"\[\d+/\d+\] (.+): done in ")
_LONG = re.compile(r"^(train|index|evaluate) .*")
"""Stages whose names have the settings of a model."""
_COLLECTION = "--beside ARQMath/Formulas"
_TASK1, _TASK2 = (
    f"--topics ARQMath/Topics/Topics_Task{task}_2022.xml --qrels ARQMath/Qrels/qrel_task{task}_2022_official.tsv"
    for task in (1, 2)
)
_EXPERIMENT = f"mathamr experiment {{}} --corpus ARQMath/Collection {_COLLECTION} --seeds 1"
_PARSER = "--parser tests.amr.rule_parser:RuleParser"
_NODES = "--set nodes.formulas=500 --set nodes.epochs=1 --set nodes.validation=10 --set nodes.batch_size=16"
_STRUCTURE = "--set structure.formulas=500 --set structure.epochs=1 --set structure.validation=10"
_MARF = (
    "size=16 length=32 formula_size=16 formula_layers=1 formula_heads=2 formula_inner=16 formula_length=16 fusion_heads=2"
    " formula_batch=8 validation=0.2 context_epochs=1 formula_epochs=1 fusion_epochs=1"
)
_PAIRINGS = f"{_EXPERIMENT.format('formula-graph-pairings')} {_TASK2} {_NODES} --out formulas"
_ABLATION = f"{_EXPERIMENT.format('ssemb-ablation')} {_TASK2} {_STRUCTURE} --out formulas"
_BENCHMARK = f"{_EXPERIMENT.format('marf-benchmark')} {_TASK1} {_TASK2} --set marf.base=bert --out marf " + " ".join(
    f"--set marf.{each}" for each in _MARF.split()
)  # fmt: skip
_TWO_YEARS = f"{_TASK2.replace('2022', '2020')} {_TASK2.replace('2022', '2021')}"
_RERANK = f"{_EXPERIMENT.format('mathamr-rerank')} {_TWO_YEARS} {_PARSER} --set contexts.base=roberta --set contexts.epochs=1 --set contexts.length=16 --out rerank"
STEPS: dict[str, tuple[str, ...]] = {
    "posts": (f"mathamr posts ARQMath/Collection {_COLLECTION}",),
    "judged": (
        f"mathamr_lab.experiments.trials judged ARQMath/Collection {_COLLECTION} {_TASK2} {_PARSER} --out judged.jsonl",
    ),
    "formulas": (f"{_PAIRINGS} --only Inner+Outer_RRF",),
    "structures": (f"{_ABLATION} --only StructEmb",),
    "n-grams": (f"{_PAIRINGS} --only BM25,_LaTeX_n-grams",),
    "tuples": (f"{_PAIRINGS} --only BM25,_operator_tuples",),
    "alignment": (f"{_PAIRINGS} --only alignment_of_trees",),
    "lexical": (f"{_PAIRINGS} --only lexical",),
    "marf": (f"{_BENCHMARK} --only context_encoder",),
    "rerank": (f"{_RERANK} --run ARQMath/Runs/TangentS-task2-2021.tsv",),
    "answers": ("benchmarks.memory --only-step answers",),
    "words": ("benchmarks.memory --only-step words",),
    "classes": ("benchmarks.memory --only-step classes --posts {posts}",),
    "graphs": (f"mathamr graph ARQMath/Collection/Posts.V1.3.xml --out graphs --workers 1 {_PARSER}",),
}
"""The commands by step, run in this order; an underscore in the name of a row stands for a space."""


def answers(_posts: int) -> None:
    """BM25 over all answers, as experiments with graphs run it."""
    from mathamr.evaluation.baselines import run
    from mathamr.evaluation.topics import read_topics

    topics = read_topics(Path("ARQMath/Topics/Topics_Task1_2022.xml"))
    run("bm25", _posts(), topics, "answers")


def words(_posts: int) -> None:
    """Measure the lexical index of all posts, which `mathamr index` writes beside the vectors."""
    from mathamr.index.lexical.lexicalindex import LexicalIndex
    from mathamr.index.lexical.terms import post_terms

    with LexicalIndex.open(Path("words")) as index:
        index.posts.update((post.id, post_terms(post)) for post in _posts())


def classes(posts: int) -> None:
    """Measure trees, scores and fusion of as many visual classes as so many posts have: a third of their formulas.

    They are those of the sample again and again, so that millions need no parsing.
    """
    from mathamr.evaluation.measures import measures
    from mathamr.evaluation.qrels import Qrels
    from mathamr.evaluation.runs import Run
    from mathamr.evaluation.scores import evaluate
    from mathamr_lab.experiments.collection import collection_of
    from mathamr_lab.experiments.formulacollection import FormulaCollection, task2_collection
    from mathamr_lab.experiments.formulaothers import other_scores
    from mathamr_lab.experiments.formulascores import ranked, reciprocal_ranks
    from mathamr_lab.experiments.miniature import write_many

    write_many(Path("small"), 300)
    topics = [Path("small/Topics/Topics_Task2_2022.xml")]
    qrels = [Path("small/Qrels/qrel_task2_2022_official.tsv")]
    given = collection_of([Path("small/Collection")], topics, qrels, beside=[Path("small/Formulas")])
    test = given.tests[0]
    small = task2_collection(given.posts(), test.topics, test.qrels.grades, "small")
    cut, count = len(small.candidates), posts * 10 // 3
    places = np.append(np.arange(count) % cut, np.arange(cut, len(small.shard)))
    replace(
        small,
        shard=small.shard.chosen(places),
        candidates=tuple(
            small.candidates[each % cut] + (f"-{each // cut}" if each >= cut else "") for each in range(count)
        ),
        written=tuple(small.written[each] for each in places.tolist()),
    ).save(Path("many.npz"))
    del small, places
    _say("trees")
    many = FormulaCollection.load(Path("many.npz"))
    _say("trees from their file")
    for name in ("shared parts", "BM25, LaTeX n-grams"):
        np.save(f"{name}.npy", other_scores(name, many), allow_pickle=False)
        _say(f"scores by {name}")
    one, two = (np.load(f"{name}.npy", mmap_mode="r") for name in ("shared parts", "BM25, LaTeX n-grams"))
    fused = (
        reciprocal_ranks([one[row], two[row]], many.ranked_for(topic))
        for row, topic in enumerate(many.topics)
    )
    run = Run.of("fused", ranked(many, fused))
    evaluate(run, Qrels(many.grades).with_relevant(), measures(["nDCG'", "MAP'"]))
    _say("fusion and measures")


def _say(stage: str) -> None:
    print(f"[1/1] {stage}: done in 0 s", file=sys.stderr, flush=True)


def _posts() -> Iterator[Post]:
    path, tables = Path("ARQMath/Collection/Posts.V1.3.xml"), Path("ARQMath/Formulas")
    return read_posts(path, Report(), beside=[tables])


FUNCTIONS: dict[str, Callable[[int], None]] = {"answers": answers, "words": words, "classes": classes}
"""Steps that no command does alone."""


class Peak:
    """The largest memory of a process and of those below it since it was last taken, in MB.

    The system records the peak of every process, so that looking four times a second is enough; peaks of several processes are added.
    """

    def __init__(self, process: int) -> None:
        self._process, self._peak = process, 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(0.25):
            self._look()

    def _look(self) -> None:
        self._peak = max(self._peak, sum(map(_peak, _tree(self._process))))

    def take(self) -> int:
        """Return the peak, and begins anew."""
        self._look()
        found, self._peak = self._peak, 0
        for process in _tree(self._process):
            with suppress(OSError):
                Path(f"/proc/{process}/clear_refs").write_text("5")
        return round(found / 1024)

    def end(self) -> None:
        """Stop measuring."""
        self._ended.set()
        self._thread.join()


def _tree(process: int) -> Iterator[int]:
    yield process
    try:
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _tree(int(child))
    except OSError:
        pass  # it has ended


def _peak(process: int) -> int:
    """Return the largest resident memory of a process in KB; 0 if it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) if found else 0


def measured(command: str, folder: Path) -> Iterator[tuple[str, int, float]]:
    """Run a command in a folder; yield (stage, MB, seconds); a command without stages is one without a name."""
    module, *words = command.split()
    argv = [sys.executable, "-m", module, *words]
    for place in (place for place, word in enumerate(argv) if word == "--only"):
        argv[place + 1] = argv[place + 1].replace("_", " ")
    root = Path(__file__).resolve().parents[1]
    paths = [str(root), *(str(root / each) for each in ("src", "lab/src"))]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        argv, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    peak, started, stages = Peak(process.pid), time.perf_counter(), 0
    said: list[str] = []
    for line in process.stderr or ():
        said.append(line)
        if found := _DONE.match(line):
            stages += 1
            yield found[1], peak.take(), time.perf_counter() - started
            started = time.perf_counter()
    rest = peak.take()
    peak.end()
    if process.wait():
        raise RuntimeError(f"{command} failed with a peak of {rest:,} MB:\n{''.join(said[-20:])}")
    yield "tables" if stages else "", rest, time.perf_counter() - started


def collection(folder: Path, posts: int) -> None:
    """Write the collection and the tiny bases, unless they are there."""
    from mathamr_lab.experiments.miniature import write_many
    from tests.lab.experiments.trials.tinybases import tiny_published

    if not (folder / "roberta").exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_many(folder / "ARQMath", posts)
        tiny_published(folder / "bert", "bert")
        tiny_published(folder / "roberta", "roberta")


def curve(folder: Path, sizes: Sequence[int], steps: Sequence[str]) -> dict[str, dict[int, int]]:
    """Return MB by stage and size; each is kept in a file of the folder, and not measured again."""
    found: dict[str, dict[int, int]] = {}
    for posts in sizes:
        place = folder / str(posts)
        place.mkdir(parents=True, exist_ok=True)
        for step in steps:
            kept = place / f"{step}.memory.json"
            if not kept.exists():
                if step != "classes":
                    collection(place, posts)
                rows: dict[str, tuple[int, float]] = {}
                for command in STEPS[step]:
                    for stage, size, seconds in measured(command.replace("{posts}", str(posts)), place):
                        long = _LONG.match(stage)
                        name = f"{step}: {long[1] if long else stage}" if stage else step
                        rows[name] = max(rows.get(name, (0, 0.0)), (size, round(seconds)))
                        print(f"   {posts:,} posts, {name}: {size:,} MB, {seconds:.0f} s", flush=True)
                kept.write_text(json.dumps(rows) + "\n", encoding="utf-8")
            for name, (size, _) in json.loads(kept.read_text(encoding="utf-8")).items():
                found.setdefault(name, {})[posts] = size
    return found


def report(found: dict[str, dict[int, int]], sizes: Sequence[int]) -> None:
    """Print a table, with the growth between the two largest sizes."""
    rows = [["peak MB", *(f"{posts:,} posts" for posts in sizes), "MB per 1,000 posts", ""]]
    for name, peaks in found.items():
        growth = ""
        known = [posts for posts in sizes if posts in peaks]
        if len(known) > 1:
            first, last = known[-2:]
            growth = f"{1000 * (peaks[last] - peaks[first]) / (last - first):.2f}"
        verdict = "" if max(peaks.values()) < LIMIT else f"over {LIMIT:,}"
        rows.append(
            [name, *(f"{peaks[posts]:,}" if posts in peaks else "" for posts in sizes), growth, verdict]
        )
    print(aligned(rows), flush=True)


def run() -> None:
    """Measures all steps at the sizes of the environment, in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="memory-") as folder:
        report(curve(Path(folder), SIZES, list(STEPS)), SIZES)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures some steps at some sizes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--posts", type=int, nargs="+", default=SIZES)
    parser.add_argument("--steps", nargs="+", choices=list(STEPS), default=list(STEPS))
    parser.add_argument("--folder", type=Path, help="keep collections and results here, and go on with them")
    parser.add_argument("--only-step", choices=list(FUNCTIONS), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.only_step:
        FUNCTIONS[given.only_step](given.posts[0])
        return 0
    with tempfile.TemporaryDirectory(prefix="memory-") as temporary:
        report(curve(given.folder or Path(temporary), given.posts, given.steps), given.posts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
