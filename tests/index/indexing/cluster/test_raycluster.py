"""A real Ray cluster of three nodes on this machine: a head without processors, and two nodes that come and go."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.workers import Lost
from mathamr.index.indexing import buildpool, encoding, intake, reading
from mathamr.index.indexing.builder import build_index
from mathamr.index.indexing.buildpool import ClusterOptions
from mathamr.index.indexing.cluster.clusterpool import ClusterPool, WorkSpec
from tests.index.small import options, write_posts
from tests.models import sample_posts

pytest.importorskip("ray", reason="Ray is not installed: pip install 'mathamr[ray]'")
ROOT = Path(__file__).parents[4]
PATIENCE = 300.0
SETTINGS = {
    "RAY_AUTH_MODE": "disabled",
    # A busy machine is no failure: Ray by itself gives workers a minute to begin.
    "RAY_worker_register_timeout_seconds": f"{PATIENCE:g}",
    # Nor is one whose memory others fill: Ray would end workers there.
    "RAY_memory_monitor_refresh_ms": "0",
}
WORK = WorkSpec(factory="tests.works:Doubling", arguments=("hello",), identity="hello")


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """The cluster; its workers find the tests."""
    before = {name: os.environ.get(name) for name in ("PYTHONPATH", *SETTINGS)}
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT), before["PYTHONPATH"] or ""])
    os.environ.update(SETTINGS)
    from ray._private import services
    from ray.cluster_utils import Cluster

    objects = {"object_store_memory": 80 << 20, "include_dashboard": False}
    cluster = Cluster()
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("ray._private.services.get_node", _patient(services.get_node))
            cluster.add_node(wait=False, num_cpus=0, **objects)
            for _ in range(2):
                cluster.add_node(wait=False, num_cpus=1, object_store_memory=80 << 20)
            cluster.wait_for_nodes(PATIENCE)
            yield cluster
    finally:
        cluster.shutdown()
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _patient(get_node: Callable[..., Any]) -> Callable[..., Any]:
    """Waits for a node that begins; Ray by itself gives it half a minute, which a busy machine may not have."""

    def patient(*arguments: Any, **options: Any) -> Any:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return get_node(*arguments, **options)
            except RuntimeError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    return patient


def test_an_index_built_on_several_nodes_is_that_of_one_machine(
    nodes: Any, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buildpool, "FEW", 4)
    monkeypatch.setattr(encoding, "FEW", 4)
    monkeypatch.setattr(encoding, "CHUNK", 5)
    monkeypatch.setattr(reading, "FEW_BYTES", 0)
    monkeypatch.setattr(intake, "RACY", 0)  # else the catalogue says how young the file was
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    path = write_posts(tmp_path / "posts.jsonl", sample_posts(24))
    chosen = options(model_folder, workers=2)
    build_index([path], tmp_path / "own", chosen)
    cluster = ClusterOptions(address=nodes.address)
    spread = build_index([path], tmp_path / "spread", replace(chosen, cluster=cluster))
    assert spread.cluster is not None
    assert spread.cluster.made == 5  # portions of 24 posts
    assert json.loads(json.dumps(spread.to_json()))["cluster"]["made"] == spread.cluster.made
    assert _hashes(tmp_path / "own") == _hashes(tmp_path / "spread")


def test_a_request_over_which_a_process_is_lost_costs_no_other(nodes: Any) -> None:
    with ClusterPool(ClusterOptions(address=nodes.address, workers=2)) as cluster:
        # Work within work: a request that was lost is asked again by itself, while others are under way.
        outer = cluster.answers(WORK, [0.01, "die", 0.02])
        assert next(outer) == (0.01, 0.02)
        request, lost = next(outer)
        assert request == "die"
        assert isinstance(lost, Lost)
        assert list(cluster.answers(WORK, ["x"])) == [("x", "xx")]
        assert list(outer) == [(0.02, 0.04)]


def test_what_ray_says_of_its_nodes_stays_out_of_the_results(
    nodes: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    from ray._private.worker import print_to_stdstream

    said = {"lines": ["a node is dead"], "pid": "raylet", "is_err": False}
    with ClusterPool(ClusterOptions(address=nodes.address, workers=1)):
        print_to_stdstream(said, ignore_prefix=False)
    print("the result")
    output, errors = capsys.readouterr()
    assert output == "the result\n"
    assert "a node is dead" in errors


def test_a_node_killed_in_the_middle_costs_no_request(nodes: Any, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    requests: list[Any] = [1, 2, *({"until": str(gate), "number": number} for number in range(10))]
    victim = nodes.add_node(wait=False, num_cpus=1, object_store_memory=80 << 20)
    nodes.wait_for_nodes(PATIENCE)
    with ClusterPool(ClusterOptions(address=nodes.address, workers=3)) as cluster:
        answers = cluster.answers(WORK, requests)
        found = [next(answers) for _ in range(2)]
        # Three requests that are held back take all three processors, the victim's as well.
        while cluster._ray.available_resources().get("CPU", 0):
            time.sleep(0.05)
        nodes.remove_node(victim, allow_graceful=False)
        gate.touch()
        found += answers
        assert found == list(zip(requests, [2, 4, *range(0, 20, 2)], strict=True))
        assert cluster.counts.made == len(requests)


def test_a_cluster_of_another_version_and_one_without_accelerators_are_refused(nodes: Any) -> None:
    with ClusterPool(ClusterOptions(address=nodes.address, workers=1)) as cluster:
        with pytest.raises(MathAMRError, match="this machine 99; install the same version"):
            cluster.identity(replace(WORK, version="99"))
        cluster._uses_gpus = True
        with pytest.raises(MathAMRError, match="has no accelerator"):
            cluster.identity(WORK)


def _hashes(folder: Path) -> dict[str, str]:
    """Every file but the locks, which name a process, and the flat engine's list, which counts its flushes.

    Of databases the rows count: their pages depend on how many seconds the work took.
    """
    return {
        re.sub(r"-\d{8}\.", ".", each.relative_to(folder).as_posix()): sha256(_content(each)).hexdigest()
        for each in sorted(folder.rglob("*"))
        if each.is_file() and each.name not in ("lock", "flat.json")
    }


def _content(file: Path) -> bytes:
    if file.suffix != ".db":
        return file.read_bytes()
    with closing(sqlite3.connect(file)) as database:
        return "\n".join(database.iterdump()).encode("utf-8", "surrogatepass")
