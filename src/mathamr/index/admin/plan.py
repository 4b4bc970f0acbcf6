"""`BuildPlan`: projects hours, disk and memory of an index of many posts from the costs of one post.

All costs grow with the number of posts and with their length. The work of workers is divided among the processors or
accelerators; one process does all reading and writing. A build takes at most the sum of both, and at least the longer of them:
graphs and vectors are written while others are computed, words and visual classes are not. `docs/scale.md` has the formula and
the measurements that confirm it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.index.admin.constants import BuildConstants, EngineConstants, KnownConstants

By = Literal["one process", "processors", "accelerators"]
SHARDS = 0.75
"""Bytes of shards per byte of graphs and vectors in the index, including terms; .72 for the sample."""


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """A stage: which machines run it, their total seconds, and the wall-clock time."""

    name: str
    by: By
    work_seconds: float
    clock_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedEngine:
    """The costs of an engine for the vectors of a collection; `None` if not measured."""

    engine: str
    load_seconds: float | None
    bytes: float | None
    memory_bytes: float | None
    query_seconds: float | None
    strategy: str
    measured: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildPlan:
    """The projection for one collection and one set of machines."""

    posts: float
    letters_per_post: float
    cores: int
    gpus: int
    model: str
    engine: str
    stages: tuple[PlannedStage, ...]
    disk_bytes: dict[str, float]
    shard_bytes: float
    worker_bytes: float
    vectors: float
    engines: tuple[PlannedEngine, ...]
    measured: str
    drivers: tuple[str, ...] = field(default=())

    @property
    def seconds(self) -> float:
        """Wall-clock seconds if every stage waits for the one before."""
        return sum(stage.clock_seconds for stage in self.stages)

    @property
    def least_seconds(self) -> float:
        """Wall-clock seconds if stages overlap completely."""
        by: dict[str, float] = {}
        for stage in self.stages:
            by[stage.by] = by.get(stage.by, 0.0) + stage.clock_seconds
        return max(by.values())

    def to_json(self) -> dict[str, Any]:
        """The report for `--json`."""
        return asdict(self) | {"seconds": self.seconds, "least_seconds": self.least_seconds}


def plan_build(
    known: KnownConstants,
    *,
    posts: float,
    cores: int,
    gpus: int = 0,
    model: str | None = None,
    engine: str | None = None,
    letters: float | None = None,
) -> BuildPlan:
    """Projects the costs of an index of that many posts on these processors and accelerators."""
    if not 1 <= posts <= 1e12:
        raise MathAMRError(f"a plan is for 1 to 1e12 posts, not {posts:g}")
    build = known.build(model, engine)
    letters = build.letters_per_post if letters is None else letters
    if not 1 <= letters <= 1e9:
        raise MathAMRError(f"a post has 1 to 1e9 letters in the mean, not {letters:g}")
    amount = posts * letters / build.letters_per_post
    """The equivalent number of posts of measured length: a post twice as long counts twice."""
    stages = _stages(build, amount, cores, gpus)
    disk = {part: size * amount for part, size in build.bytes_per_post.items()}
    names = dict.fromkeys([*(each.engine for each in known.builds), *(each.engine for each in known.engines)])
    if engine is not None and engine not in names:
        raise UnknownNameError("measured engine", engine, list(names))
    engines = tuple(
        _engine(name, known.engine(name, posts), known.build(build.model, name), amount)
        for name in ([engine] if engine else names)
    )
    if engine is not None and engine != build.engine and (size := engines[0].bytes) is not None:
        disk["vectors"] = size
    return BuildPlan(
        posts=posts,
        letters_per_post=letters,
        cores=cores,
        gpus=gpus,
        model=build.model,
        engine=engine or build.engine,
        stages=stages,
        disk_bytes=disk,
        shard_bytes=SHARDS
        * amount
        * sum(build.bytes_per_post.get(part, 0.0) for part in ("graphs", "vectors")),
        worker_bytes=build.worker_bytes,
        vectors=build.vectors_per_post * amount,
        engines=engines,
        measured=f"{build.measured_on}: {build.command}, {build.posts:,} posts of {build.letters_per_post:,.0f} letters"
        + (f"; accelerators: {build.encoding.accelerator_measured}" if gpus else ""),
        drivers=_drivers(stages, cores, gpus),
    )


def _stages(build: BuildConstants, amount: float, cores: int, gpus: int) -> tuple[PlannedStage, ...]:
    encoding = build.encoding
    if gpus and encoding.accelerator is None:
        raise MathAMRError(
            f"nobody has measured {build.model} on an accelerator; measure it: mathamr plan --measure --device cuda"
        )
    seconds: list[tuple[str, By, float]] = [
        ("read", "one process", build.read_seconds),
        ("visual classes of formulas", "processors", build.keys_seconds),
        ("terms", "processors", build.terms_seconds),
        ("graphs", "processors", build.graphs_seconds),
    ]
    if gpus and encoding.accelerator is not None:
        seconds.append(("vectors", "accelerators", encoding.accelerator))
        seconds.append(("beside the accelerators", "processors", encoding.beside))
    elif encoding.processor is not None:
        seconds.append(("vectors", "processors", encoding.processor))
    else:
        raise MathAMRError(
            f"nobody has measured {build.model} on a processor; measure it: mathamr plan --measure"
        )
    seconds.append(("write", "one process", build.write_seconds))
    hands: dict[By, int] = {"one process": 1, "processors": cores, "accelerators": max(1, gpus)}
    return tuple(
        PlannedStage(name, by, each * amount, each * amount / hands[by]) for name, by, each in seconds if each
    )


def _engine(name: str, known: EngineConstants | None, build: BuildConstants, amount: float) -> PlannedEngine:
    """An engine's figures scaled to this collection; its bytes come from a build with that engine if there is one."""
    own = amount * build.bytes_per_post.get("vectors", 0.0) if build.engine == name else None
    if known is None:
        return PlannedEngine(
            engine=name,
            load_seconds=None,
            bytes=own,
            memory_bytes=None,
            query_seconds=None,
            strategy="",
            measured=f"{build.measured_on}: {build.command}",
        )
    times = build.vectors_per_post * build.vector_size * amount / (known.vectors * known.size)

    def grown(value: float | None) -> float | None:
        return None if value is None else value * times

    return PlannedEngine(
        engine=name,
        load_seconds=grown(known.load_seconds),
        bytes=grown(known.bytes) if own is None else own,
        memory_bytes=grown(known.memory_bytes),
        query_seconds=grown(known.query_seconds),
        strategy=known.strategy,
        measured=f"{known.measured_on}, {known.posts:,} posts: {known.command}",
    )


def _drivers(stages: tuple[PlannedStage, ...], cores: int, gpus: int) -> tuple[str, ...]:
    """Explains what takes the time, and what would shorten it."""
    total = sum(stage.clock_seconds for stage in stages)
    alone = sum(stage.clock_seconds for stage in stages if stage.by == "one process")
    longest = max(stages, key=lambda stage: stage.clock_seconds)
    lines = [
        f"{longest.name} takes {longest.clock_seconds / total:.0%} of the time",
        f"{alone / total:.0%} is one process reading and writing: no machine more makes it shorter than that",
    ]
    processors = sum(stage.work_seconds for stage in stages if stage.by == "processors")
    lines.append(f"{processors / 3600:,.1f} core-hours of {cores:,} processors")
    if gpus:
        accelerators = sum(stage.work_seconds for stage in stages if stage.by == "accelerators")
        lines.append(f"{accelerators / 3600:,.1f} GPU-hours of {gpus:,} accelerators")
    half = next((stage for stage in stages if stage.by == "processors" and stage.clock_seconds > alone), None)
    if half is not None:
        lines.append(f"twice the processors: {(total - processors / cores / 2) / 3600:,.1f} h in all")
    return tuple(lines)
