"""What the borders of reading cost: the budget of processor time, and the account of words, as a share of a whole build.

    python -m mathamr_lab.studies.borders [--without-encoder] FOLDER…

Each collection is read by turns with and without them, and indexed once with one worker, all in one run, so that a busy machine is the
same for all. Seconds of a processor, the least of some rounds. With `--without-encoder` the build is the part that no encoder has: posts
are read, analysed and stored, by turns with and without both.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any
from unittest.mock import patch

from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.indexing import analysis
from mathamr.index.indexing.buildpool import BuildPool
from mathamr.index.indexing.intake import IntakeCounts, input_record, take_in
from mathamr.posts import reader
from mathamr.posts.accounting import WordAccount
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

ROUNDS = 3
HEADINGS = (
    "collection",
    "posts",
    "without s",
    "account s",
    "budget s",
    "build s",
    "of reading",
    "of the build",
)
STORED = ("collection", "without s", "with budget s", "with both s", "budget", "both")


def _at_once(work: Callable[[], Any], _: float) -> Any:
    return work()


@contextmanager
def without(*, budget: bool, account: bool) -> Iterator[None]:
    """Read without the budget, or without the account of words, inside the block."""
    with ExitStack() as left_out:
        if budget:
            left_out.enter_context(patch.object(reader, "keep_budget", lambda posts, *_: posts))
            left_out.enter_context(patch.object(reader, "within_budget", _at_once))
            left_out.enter_context(patch.object(analysis, "within_budget", _at_once))
        if account:
            left_out.enter_context(patch.object(WordAccount, "took", lambda *_: None))
        yield


def seconds_of_reading(folder: Path, **left_out: bool) -> tuple[float, int]:
    """Return the processor time of reading and analysing a collection, and the number of its posts."""
    with without(**left_out):
        begun = time.process_time()
        count = sum(1 for _ in analysis.analyse_all(read_posts(folder, Report())))
        return time.process_time() - begun, count


def seconds_of_building(folder: Path) -> float:
    """Return the processor time of a build in a process of its own."""
    with tempfile.TemporaryDirectory() as room:
        before = sum(getrusage(RUSAGE_CHILDREN)[:2])
        command = [
            sys.executable,
            "-m",
            "mathamr",
            "index",
            str(folder),
            "--out",
            f"{room}/index",
            "--workers",
            "1",
        ]
        subprocess.run(command, check=True, capture_output=True)
        return sum(getrusage(RUSAGE_CHILDREN)[:2]) - before


def seconds_of_storing(folder: Path, **left_out: bool) -> float:
    """Return the processor time of a build without vectors and words: reading, analysing and storing posts."""
    with (
        tempfile.TemporaryDirectory() as room,
        Catalogue(Path(room) / "catalogue.db", create=True) as made,
        without(**left_out),
    ):
        begun = time.process_time()
        take_in(made, folder, input_record(folder), IntakeCounts(), Report(), BuildPool())
        return time.process_time() - begun


def row_without_encoder(folder: Path) -> tuple[str, ...]:
    """Return what both cost in a build without an encoder, as texts."""
    ways = (
        {"budget": True, "account": True},
        {"budget": False, "account": True},
        {"budget": False, "account": False},
    )
    seconds_of_storing(folder, budget=False, account=False)
    rounds = [[seconds_of_storing(folder, **way) for way in ways] for _ in range(ROUNDS)]
    plain, budget, both = (min(each[way] for each in rounds) for way in range(3))
    shares = (f"{(budget - plain) / plain:+.1%}", f"{(both - plain) / plain:+.1%}")
    return folder.name, f"{plain:.2f}", f"{budget:.2f}", f"{both:.2f}", *shares


def row(folder: Path) -> tuple[str, ...]:
    """Return the costs of one collection as texts."""
    ways = (
        {"budget": True, "account": True},
        {"budget": True, "account": False},
        {"budget": False, "account": False},
    )
    seconds_of_reading(folder, budget=False, account=False)  # what is imported and remembered is not measured
    rounds = [[seconds_of_reading(folder, **way) for way in ways] for _ in range(ROUNDS)]
    plain, account, both = (min(each[way][0] for each in rounds) for way in range(3))
    build, more = seconds_of_building(folder), both - plain
    parts = (f"{plain:.2f}", f"{account - plain:+.2f}", f"{both - account:+.2f}", f"{build:.1f}")
    return folder.name, f"{rounds[0][0][1]:,}", *parts, f"{more / both:+.1%}", f"{more / build:+.1%}"


def main() -> None:
    """Print a row for each collection."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="+", type=Path)
    parser.add_argument("--without-encoder", action="store_true", help="build without vectors and words")
    given = parser.parse_args()
    headings, measure = (STORED, row_without_encoder) if given.without_encoder else (HEADINGS, row)
    print("\t".join(headings))
    for folder in given.folder:
        print("\t".join(measure(folder)), flush=True)


if __name__ == "__main__":
    main()
