from __future__ import annotations

from pathlib import Path

import pytest

from mathamr import __version__
from mathamr.core.workers import Allowance
from mathamr.index.indexing.cluster.shardstore import ShardName, ShardStore
from mathamr.index.indexing.cluster.shardworker import ShardWorker
from mathamr.index.indexing.cluster.workspec import WorkSpec

pytest.importorskip("fsspec", reason="shards are kept with fsspec: pip install 'mathamr[ray]'")
DOUBLING = WorkSpec.of("tests.works:Doubling", ("hello",), Allowance(timeout=300.0), {"made with": "x"})


def test_a_worker_keeps_what_it_makes_and_survives_what_kills_its_process(tmp_path: Path) -> None:
    worker, store = ShardWorker(str(tmp_path)), ShardStore(str(tmp_path))
    assert worker.hello()["version"] == __version__
    assert worker.said(DOUBLING) == ("hello", "hello")
    assert worker.make(DOUBLING, "aa11", 21)[0] == "made"
    assert store.read(ShardName(DOUBLING.name, "aa11")) == 42
    kind, said = worker.make(DOUBLING, "bb22", "die")
    assert kind == "lost"
    assert "exit code 7" in said[1]
    assert worker.make(DOUBLING, "cc33", "ab")[0] == "made"
    assert store.keys(DOUBLING.name) == {"aa11", "cc33"}


def test_a_worker_with_another_model_does_nothing(tmp_path: Path) -> None:
    worker = ShardWorker(str(tmp_path))
    kind, said = worker.make(DOUBLING.saying("another"), "aa11", 21)
    assert kind == "error"
    assert "others say 'another'" in said
    failing = WorkSpec.of("tests.works:Doubling", ("fail",), None, {})
    assert worker.said(failing)[0] == "error"
    assert ShardStore(str(tmp_path)).keys(DOUBLING.name) == set()


def test_a_shard_is_named_after_everything_its_answer_depends_on() -> None:
    ready = DOUBLING.saying("hello")
    other = WorkSpec.of("tests.works:Doubling", ("hello",), None, {"made with": "y"}).saying("hello")
    assert len({ready.key(1), ready.key(2), other.key(1), ready.saying("b").key(1)}) == 4
    moved = WorkSpec.of("tests.works:Doubling", ("/elsewhere",), None, {"made with": "x"}).saying("hello")
    assert moved.key(1) == ready.key(1)
