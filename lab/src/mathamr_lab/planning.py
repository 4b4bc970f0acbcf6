"""`mathamr plan`: hours, disk and memory of an index to come, from the measured costs of one post.

All costs grow with the number of posts and with their length. Reading, analysing and encoding are divided among the processors (vectors
among accelerators, if there are any); one process writes. A build takes at least the longest of these and at most their sum.
"""

from __future__ import annotations

import json
import platform
import tempfile
import time
from dataclasses import dataclass, field
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.progress import duration
from mathamr.core.workers import processors
from mathamr.index.indexing.analysis import analyse_all
from mathamr.index.indexing.builder import BuildOptions, BuildSummary, build_index
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

POSTS = 160
"""Posts that `--measure` indexes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostCosts:
    """Seconds of one processor and bytes on disk for a post of the measured kind."""

    model: str
    engine: str
    measured_on: str
    posts: int
    letters_per_post: float
    read: float
    analyse: float
    write: float
    """Seconds of the one process that writes."""
    vectors: float
    accelerator: float | None = None
    """Seconds of an accelerator for the vectors; `None` if nobody has measured it."""
    bytes: dict[str, float] = field(default_factory=dict)
    worker_bytes: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildPlan:
    """The projection: seconds by the clock of each stage, bytes of each part, bytes of memory."""

    posts: float
    seconds: dict[str, float]
    bytes: dict[str, float]
    memory_bytes: float
    costs: PostCosts

    @property
    def most(self) -> float:
        """Seconds if no stage overlaps another."""
        return sum(self.seconds.values())

    @property
    def least(self) -> float:
        """Seconds if all stages overlap."""
        return max(self.seconds.values())


def read_costs(path: Path | None = None) -> PostCosts:
    """Return the costs in a file that `--measure` printed, or those of the package."""
    place = path or Path(str(resources.files("mathamr_lab") / "planning.json"))
    try:
        return PostCosts(**json.loads(place.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise MathAMRError(f"{place} does not hold the costs of a post: {error}") from error


def plan_build(
    costs: PostCosts, posts: float, cores: int, gpus: int = 0, letters: float | None = None
) -> BuildPlan:
    """Return the projection for that many posts of that many letters.

    >>> costs = PostCosts(model="m", engine="flat", measured_on="a desk", posts=100, letters_per_post=1000, read=.001,
    ...                   analyse=.009, write=.002, vectors=.1, bytes={"vectors": 30_000}, worker_bytes=4e8)
    >>> plan = plan_build(costs, 1e6, cores=100)
    >>> {stage: round(seconds) for stage, seconds in plan.seconds.items()}, plan.bytes, plan.memory_bytes
    ({'read and analyse': 100, 'vectors': 1000, 'write': 2000}, {'vectors': 30000000000.0}, 40000000000.0)
    """
    if not 1 <= posts <= 1e12:
        raise MathAMRError(f"a plan is for 1 to 1e12 posts, got {posts:g}")
    if gpus and costs.accelerator is None:
        raise MathAMRError(
            f"nobody has measured {costs.model} on an accelerator: mathamr plan --measure --device cuda"
        )
    amount = posts * (1.0 if letters is None else letters / costs.letters_per_post)
    vectors = (costs.accelerator or 0.0) / gpus if gpus else costs.vectors / cores
    seconds = {
        "read and analyse": amount * (costs.read + costs.analyse) / cores,
        "vectors": amount * vectors,
        "write": amount * costs.write,
    }
    disk = {part: amount * size for part, size in costs.bytes.items()}
    return BuildPlan(
        posts=posts, seconds=seconds, bytes=disk, memory_bytes=cores * costs.worker_bytes, costs=costs
    )


def measure_costs(
    source: Path, model: str | None = None, engine: str | None = None, device: str = "cpu"
) -> PostCosts:
    """Measure the costs of a post on this machine with some posts of an input."""
    started = time.process_time()
    posts = list(islice(read_posts(source, Report()), POSTS))
    reading = (time.process_time() - started) / max(1, len(posts))
    if len(posts) < POSTS // 4:
        raise MathAMRError(f"{source} has {len(posts)} posts; measuring takes at least {POSTS // 4}")
    with tempfile.TemporaryDirectory(prefix="mathamr-measure-") as name:
        options = BuildOptions(model=model, engine=engine, device=device)
        few, _ = _built(Path(name), posts[: len(posts) // 2], options)
        all_, analysing = _built(Path(name), posts, options)
    more = len(posts) - len(posts) // 2

    def slope(stage: str) -> float:
        return max(1e-6, (all_.log.seconds.get(stage, 0.0) - few.log.seconds.get(stage, 0.0)) / more)

    is_processor = all_.manifest.model.text_backend == "onnx"
    return PostCosts(
        model=all_.manifest.model.name,
        engine=all_.manifest.engine.name,
        measured_on=f"{platform.machine()}, {processors()} processors, {platform.system()}",
        posts=len(posts),
        letters_per_post=sum(len(post.title) + len(post.body) for post in posts) / len(posts),
        read=reading,
        analyse=analysing,
        write=max(1e-6, slope("read") - reading - analysing),
        vectors=slope("vectors"),
        accelerator=None if is_processor else slope("vectors"),
        bytes={part: max(0, size - few.sizes[part]) / more for part, size in all_.sizes.items()},
        worker_bytes=all_.memory,
    )


def _built(folder: Path, posts: list[Post], options: BuildOptions) -> tuple[BuildSummary, float]:
    """Build an index of posts; also returns the seconds that analysing one takes."""
    path = folder / f"{len(posts)}.jsonl"
    path.write_text("".join(post.to_json() + "\n" for post in posts), encoding="utf-8")
    summary = build_index([path], folder / f"{len(posts)}.index", options)
    started = time.process_time()
    for _ in analyse_all(read_posts(path, Report())):
        pass
    return summary, (time.process_time() - started) / len(posts)


def lines_of(plan: BuildPlan) -> list[str]:
    """Return the plan for people."""
    size = ", ".join(f"{part} {_bytes(each)}" for part, each in plan.bytes.items() if each)
    return [
        f"{plan.posts:,.0f} posts: {duration(plan.least)} at least, {duration(plan.most)} at most",
        *(f"  {stage}: {duration(seconds)}" for stage, seconds in plan.seconds.items()),
        f"on disk {_bytes(sum(plan.bytes.values()))}: {size}",
        f"memory of the workers {_bytes(plan.memory_bytes)}",
        f"measured with {plan.costs.model} and {plan.costs.engine} on {plan.costs.measured_on}",
    ]


def _bytes(size: float) -> str:
    units: Any = iter(("B", "KB", "MB", "GB", "TB"))
    unit = next(units)
    while size >= 1000 and unit != "TB":
        size, unit = size / 1000, next(units)
    return f"{size:,.1f} {unit}"
