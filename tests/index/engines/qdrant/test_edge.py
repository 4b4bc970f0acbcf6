"""What is particular to the engine `edge`: graphs, panics, disks that are nearly full."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.index.engines.engine import create_engine, open_engine
from mathamr.index.engines.qdrant import edge
from tests.index.engines.entries import FIELDS, naive_search, some_posts, units


def test_a_disk_that_is_nearly_full_is_reported_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = create_engine(tmp_path / "engine", FIELDS, "edge")
    engine.upsert("posts", some_posts(1, 20))
    engine.flush()
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=100 << 20))
    with pytest.raises(MathAMRError, match="nearly full: 100 MB are free"):
        engine.upsert("posts", some_posts(2, 20, "other "))
    with pytest.raises(MathAMRError, match="nearly full"):
        engine.optimize()
    monkeypatch.undo()
    engine.close()
    engine = open_engine(tmp_path / "engine")
    assert sorted(engine.ids("posts")) == sorted(entry.id for entry in some_posts(1, 20))
    engine.close()


def test_graphs_are_built_by_optimize_for_the_fields_that_the_option_names(tmp_path: Path) -> None:
    posts = some_posts(3, 300)
    for hnsw in ("none", "single", "all"):
        engine = edge.EdgeEngine.create(tmp_path / hnsw, FIELDS, {"hnsw": hnsw})
        engine.upsert("posts", posts)
        assert not list(tmp_path.glob(f"{hnsw}/**/graph.bin"))
        engine.optimize()
        sizes = {
            path.parent.name: path.stat().st_size for path in tmp_path.glob(f"{hnsw}/posts/**/graph.bin")
        }
        assert (sizes["vector_index-document"] > 1000) == (hnsw in ("single", "all"))
        assert (sizes["vector_index-parts"] > 1000) == (hnsw == "all")
        query = units(np.random.default_rng(0), 4)
        found = engine["parts"].search_maxsim(query, 10, exact=False)
        wanted = naive_search(posts, "parts", query, 10)
        assert len({hit.id for hit in found} & {hit.id for hit in wanted}) >= 8
        engine.close()


def test_an_interrupted_creation_is_finished_when_it_is_opened(tmp_path: Path) -> None:
    create_engine(tmp_path / "engine", FIELDS, "edge").close()
    shutil.rmtree(tmp_path / "engine" / "formulas")
    engine = open_engine(tmp_path / "engine")
    assert engine.count("formulas") == 0
    engine.close()


def test_a_damaged_shard_is_reported(tmp_path: Path) -> None:
    create_engine(tmp_path / "engine", FIELDS, "edge").close()
    (tmp_path / "engine" / "posts" / "edge_config.json").write_text("{")
    with pytest.raises(MathAMRError, match="Qdrant Edge cannot open"):
        open_engine(tmp_path / "engine")
    create_engine(tmp_path / "other", FIELDS, "edge").close()


@pytest.mark.parametrize("options", [{"hnsw": "some"}, {"ef": 0}])
def test_impossible_options_are_refused(tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(MathAMRError, match="the edge engine's"):
        create_engine(tmp_path / "engine", FIELDS, "edge", options)


def test_a_closed_engine_tells_what_it_cannot_do(tmp_path: Path) -> None:
    engine = create_engine(tmp_path / "engine", FIELDS, "edge")
    engine.close()
    with pytest.raises(MathAMRError, match="Qdrant Edge cannot count posts"):
        engine.count("posts")
