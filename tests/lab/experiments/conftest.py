"""A corner of the sample that an experiment can go through in seconds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from lxml import etree

from mathamr import sample
from mathamr.core.settings import QDRANT_URL
from mathamr_lab.experiments import EXPERIMENTS
from mathamr_lab.experiments.experiment import GraphExperiment
from mathamr_lab.recipes.__main__ import main

GRAPHS = {
    name: experiment for name in EXPERIMENTS if isinstance(experiment := EXPERIMENTS[name], GraphExperiment)
}
"""The experiments of the thesis."""
TOPICS = 4
QUESTIONS = 8


@pytest.fixture(scope="package", autouse=True)
def qdrant() -> Iterator[None]:
    """Approximate search without a server: Qdrant's client keeps what it is given in the engine's folder."""
    with pytest.MonkeyPatch.context() as patch:
        if not QDRANT_URL.value:
            patch.setenv("MATHAMR_QDRANT_URL", "local")
        yield


@pytest.fixture(scope="session")
def corner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An ARQMath folder: the answers judged for four topics of each task (two years of Task 2), their questions, and some more."""
    source, folder = sample.folder(), tmp_path_factory.mktemp("corner")
    rows = {row.get("Id"): row for row in etree.parse(str(source / "Posts.xml")).getroot()}
    judged = [line.split() for line in (source / "qrels" / "task1.qrels").read_text().splitlines()]
    wanted = {item for topic, _, item, _ in judged if topic in {f"A.{n}" for n in range(1, TOPICS + 1)}}
    questions = {rows[item].get("ParentId") for item in wanted}
    questions |= set([key for key, row in rows.items() if row.get("PostTypeId") == "1"][:QUESTIONS])
    kept = [row for key, row in rows.items() if key in questions or row.get("ParentId") in questions]
    root = etree.Element("posts")
    root.extend(kept)
    (folder / "Posts.xml").write_bytes(etree.tostring(root, xml_declaration=True, encoding="utf-8"))
    (folder / "formulas.tsv").write_text((source / "formulas.tsv").read_text("utf-8"), "utf-8")
    _cut(source, folder, "task1", "task1", slice(0, TOPICS))
    _cut(source, folder, "task2", "task2-2020", slice(0, TOPICS // 2))
    _cut(source, folder, "task2", "task2-2021", slice(TOPICS // 2, TOPICS))
    return folder


def train_here(what: str, command: Sequence[str], folder: Path, log: str) -> None:
    """Trains in this process: starting another one would take longer than the training."""
    assert main(list(command[3:])) == 0, what


def _cut(source: Path, folder: Path, task: str, name: str, kept: slice) -> None:
    (folder / "topics").mkdir(exist_ok=True)
    (folder / "qrels").mkdir(exist_ok=True)
    topics = etree.parse(str(source / "topics" / f"{task}.xml")).getroot()
    topics[:] = topics[kept]
    numbers = {topic.get("number") for topic in topics}
    text = _counted(etree.tostring(topics, encoding="unicode"))
    (folder / "topics" / f"{name}.xml").write_text(text, "utf-8")
    lines = (source / "qrels" / f"{task}.qrels").read_text("utf-8").splitlines()
    judged = [line for line in lines if line.split()[0] in numbers]
    (folder / "qrels" / f"{name}.qrels").write_text("\n".join(judged) + "\n", "utf-8")


def _counted(topics: str) -> str:
    """Numbers the formulas from q_1, as every file of ARQMath's topics does, so that files share ids."""
    numbers: dict[str, int] = {}
    return re.sub(r"\bq_\d+", lambda found: f"q_{numbers.setdefault(found[0], len(numbers) + 1)}", topics)
