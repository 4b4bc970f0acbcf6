from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mathamr.cli import app
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.index.admin.constants import (
    BuildConstants,
    EncodingConstants,
    EngineConstants,
    KnownConstants,
)
from mathamr.index.admin.plan import SHARDS, plan_build
from mathamr.index.engines.engine import ENGINES

BUILD = BuildConstants(
    model="m",
    engine="flat",
    measured_on="a desk",
    posts=100,
    letters_per_post=1000.0,
    formulas_per_post=10.0,
    read_seconds=0.001,
    keys_seconds=0.002,
    terms_seconds=0.003,
    graphs_seconds=0.05,
    encoding=EncodingConstants(processor=0.04, accelerator=0.004),
    write_seconds=0.002,
    bytes_per_post={"graphs": 3000.0, "vectors": 20_000.0},
    vectors_per_post=20.0,
    vector_size=256.0,
    worker_bytes=1e9,
)
ENGINE = EngineConstants(
    engine="edge", measured_on="a desk", command="c", posts=1000, vectors=10_000, size=256,
    load_seconds=5.0, bytes=1e7, memory_bytes=2e7, query_seconds=0.01,
)  # fmt: skip
KNOWN = KnownConstants((BUILD,), (ENGINE, replace(ENGINE, posts=10_000, vectors=100_000, load_seconds=70.0)))


def test_a_plan_is_the_sum_of_its_stages_as_counted_by_hand() -> None:
    plan = plan_build(KNOWN, posts=1e6, cores=100)
    hours = {stage.name: stage.clock_seconds for stage in plan.stages}
    assert hours == pytest.approx(
        {
            "read": 1000,
            "visual classes of formulas": 20,
            "terms": 30,
            "graphs": 500,
            "vectors": 400,
            "write": 2000,
        }
    )
    assert plan.seconds == pytest.approx(3950)
    assert plan.least_seconds == pytest.approx(3000)
    assert plan.disk_bytes == pytest.approx({"graphs": 3e9, "vectors": 2e10})
    assert plan.shard_bytes == pytest.approx(SHARDS * 2.3e10)
    assert plan.vectors == pytest.approx(2e7)


def test_accelerators_take_the_vectors_and_nothing_else() -> None:
    plain, helped = (plan_build(KNOWN, posts=1e6, cores=100, gpus=gpus) for gpus in (0, 4))
    assert plain.seconds - helped.seconds == pytest.approx(400 - 0.004 * 1e6 / 4)
    beside = replace(BUILD, encoding=replace(BUILD.encoding, beside=0.01))
    more = plan_build(KnownConstants((beside,), ()), posts=1e6, cores=100, gpus=4)
    assert more.seconds - helped.seconds == pytest.approx(100)
    without = KnownConstants((replace(BUILD, encoding=EncodingConstants(processor=1.0)),), ())
    with pytest.raises(MathAMRError, match="nobody has measured m on an accelerator"):
        plan_build(without, posts=1e6, cores=1, gpus=1)


def test_posts_twice_as_long_are_twice_as_many() -> None:
    longer = plan_build(KNOWN, posts=1e6, cores=100, letters=2000)
    more = plan_build(KNOWN, posts=2e6, cores=100)
    assert longer.seconds == pytest.approx(more.seconds)
    assert longer.disk_bytes == pytest.approx(more.disk_bytes)


def test_an_engine_grows_from_the_nearest_size_that_was_measured() -> None:
    plan = plan_build(KNOWN, posts=1e6, cores=100, engine="edge")
    assert [each.engine for each in plan.engines] == ["edge"]
    assert plan.engines[0].load_seconds == pytest.approx(70.0 * 2e7 / 100_000)
    assert plan.disk_bytes["vectors"] == plan.engines[0].bytes == pytest.approx(1e7 * 200)
    small = plan_build(KNOWN, posts=500, cores=1, engine="edge")
    assert small.engines[0].load_seconds == pytest.approx(5.0)


def test_an_engine_that_a_model_was_built_with_has_the_costs_of_that_build() -> None:
    other = replace(BUILD, engine="edge", write_seconds=0.004, bytes_per_post={"vectors": 50_000.0})
    known = KnownConstants((BUILD, other, replace(BUILD, model="n")), KNOWN.engines)
    plan = plan_build(known, posts=1e6, cores=100, engine="edge")
    assert plan.seconds == pytest.approx(3950 + 2000)
    assert plan.engines[0].bytes == plan.disk_bytes["vectors"] == pytest.approx(5e10)
    every = plan_build(known, posts=1e6, cores=100)
    assert {each.engine: each.bytes for each in every.engines} == pytest.approx({"flat": 2e10, "edge": 5e10})
    assert every.disk_bytes["vectors"] == pytest.approx(2e10)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"posts": 0}, "1 to 1e12 posts"),
        ({"posts": float("nan")}, "1 to 1e12 posts"),
        ({"posts": 10, "letters": 0}, "1 to 1e9 letters"),
        ({"posts": 10, "engine": "qdrant"}, "unknown measured engine 'qdrant'; known: flat, edge"),
    ],
)
def test_what_cannot_be_planned_is_said(asked: dict[str, float | str], error: str) -> None:
    with pytest.raises(MathAMRError, match=error):
        plan_build(KNOWN, cores=1, **asked)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError):
        plan_build(KNOWN, posts=10, cores=1, model="x")


def test_the_constants_of_the_package_say_where_they_are_from() -> None:
    known = KnownConstants.read()
    assert known.builds
    for build in known.builds:
        assert build.measured_on
        assert build.command
        assert build.write_seconds > 0
        assert sum(build.bytes_per_post.values()) > 1000
    for engine in known.engines:
        assert engine.engine in ENGINES
        assert engine.command
    plan = plan_build(known, posts=2.4e6, cores=96, gpus=4)
    assert 0.5 < plan.least_seconds / 3600 < plan.seconds / 3600 < 100


def test_the_command_prints_the_plan_for_people_and_machines(tmp_path: Path) -> None:
    asked = ["plan", "--posts", "2.4e6", "--cores", "96", "--gpus", "4"]
    reported = CliRunner().invoke(app, asked)
    assert reported.exit_code == 0, reported.output
    assert "2,400,000 posts" in reported.output
    assert "write" in reported.output
    row = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    assert row["seconds"] == pytest.approx(sum(stage["clock_seconds"] for stage in row["stages"]))
    own = tmp_path / "own.json"
    own.write_text(json.dumps(BUILD.to_json()))
    row = json.loads(CliRunner().invoke(app, [*asked, "--json", "--constants", str(own)]).stdout)
    assert row["model"] == "m"
    own.write_text("[" * 100_000)
    failed = CliRunner().invoke(app, [*asked, "--constants", str(own)])
    assert isinstance(failed.exception, MathAMRError)
    assert CliRunner().invoke(app, ["plan"]).exit_code == 2
