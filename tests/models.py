"""What every test of indexing and search needs and nobody wants to make twice: a tiny model, the sample's graphs.

The fixtures are made once a test run, also when several processes run it, and are read-only: copy before changing.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from mathamr.amr.parser import vouch_for_parser
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.sample import folder as sample_folder

PARSER = "tests.amr.rule_parser:RuleParser"
"""A parser that costs nothing, for tests that do not ask for meaning."""
VOCABULARY_POSTS = 40


def sample_posts(count: int | None = None) -> list[Post]:
    """The first posts of the bundled sample, or all of them."""
    return list(islice(read_posts(sample_folder() / "Posts.xml", Report()), count))


def tiny_model(folder: Path, graphs: Path, *, seed: int = 0) -> Path:
    """A model folder of the small shape with random weights, for the vocabularies of a graph store; needs no torch."""
    from mathamr.core.modelfolder import WEIGHTS, write_model_folder
    from mathamr.core.tensorfile import array_bytes
    from mathamr.graphs.configuration import GraphConfiguration
    from mathamr.graphs.store import GraphStore
    from mathamr.systems.mathamrplus.configuration import model_configuration
    from mathamr.systems.mathamrplus.graphfolder import ENCODER, RELATIONS, VOCABULARY
    from mathamr.systems.mathamrplus.numpynetwork import weight_shapes

    with GraphStore(graphs) as store:
        vocabulary, relations = store.vocabularies()
    shape, draw = model_configuration("small"), np.random.default_rng(seed)
    weights = {
        name: np.ones(size, np.float32)
        if "norm.weight" in name
        else draw.normal(0, 0.3, size).astype(np.float32)
        for name, size in weight_shapes(shape, len(vocabulary), len(relations)).items()
    }
    files = {
        WEIGHTS: array_bytes(weights),
        VOCABULARY: vocabulary.to_text().encode(),
        RELATIONS: relations.to_text().encode(),
    }
    config = {"encoder": ENCODER, "model": shape.to_json(), "graphs": GraphConfiguration().name}
    write_model_folder(folder, config, files, {"about": {"trained": "not at all", "seed": seed}})
    return folder


def graph_store(folder: Path, posts: list[Post]) -> Path:
    """A graph store of these posts with vocabularies of their own."""
    from mathamr.graphs.corpus import build_graphs, build_tensors, build_vocabularies
    from mathamr.graphs.store import GraphStore

    with GraphStore(folder, create=True) as store:
        build_graphs(posts, store)
        build_vocabularies(store)
        build_tensors(store)
    return folder


def once_a_run(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that is made by the first process of a test run that asks for it; the others wait for it."""
    base = factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent
    folder, done = base / name, base / f"{name}.done"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            make(folder)
            done.touch()
    return folder


@pytest.fixture(scope="session")
def small_graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph store of the first forty posts of the sample."""
    return once_a_run(
        tmp_path_factory, "small-graphs", lambda folder: graph_store(folder, sample_posts(VOCABULARY_POSTS))
    )


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory, small_graphs: Path) -> Path:
    """A model with random weights: `load_post_encoder(model_folder, "cpu")`."""
    return once_a_run(tmp_path_factory, "tiny-model", lambda folder: tiny_model(folder, small_graphs))


@pytest.fixture(scope="session")
def other_model_folder(tmp_path_factory: pytest.TempPathFactory, small_graphs: Path) -> Path:
    """Another model of the same shape: its vectors do not fit an index of the first one."""
    return once_a_run(
        tmp_path_factory, "other-model", lambda folder: tiny_model(folder, small_graphs, seed=1)
    )


def build_sample_index(
    out: Path, model: Path, posts: list[Post] | None = None, engine: str = "flat", parser: str = PARSER
) -> Path:
    """An index of the sample (all of it, unless posts are given) made with a model; other processes open that of `builtin` alone."""
    from mathamr.index.indexing.builder import BuildOptions, build_index

    vouch_for_parser(parser)
    source = sample_folder() / "Posts.xml"
    if posts is not None:
        source = out.with_name(f"{out.name}.jsonl")
        source.write_text("".join(post.to_json() + "\n" for post in posts), encoding="utf-8")
    build_index([source], out, BuildOptions(model=model, engine=engine, parser=parser, device="cpu"))
    return out


@pytest.fixture(scope="session")
def small_index(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Path:
    """An index of the first forty posts of the sample, all of them questions, with the tiny model."""
    return once_a_run(
        tmp_path_factory,
        "small-index",
        lambda folder: build_sample_index(
            folder, model_folder, sample_posts(VOCABULARY_POSTS), parser="builtin"
        ),
    )


@pytest.fixture(scope="session")
def sample_index(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Path:
    """An index of the whole sample, 336 posts, with the tiny model and graphs of a parser that costs nothing."""
    vouch_for_parser(PARSER)
    return once_a_run(
        tmp_path_factory,
        "sample-index",
        lambda folder: build_sample_index(folder, model_folder),
    )
