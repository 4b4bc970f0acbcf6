"""The names of papers, authors, sections and tables in the catalogue, and the figures beside ours, against the papers' own text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr_lab.data import data_folder
from mathamr_lab.experiments import EXPERIMENTS
from mathamr_lab.experiments.experiment import Experiment, Published, TrialExperiment
from mathamr_lab.papers import PAPERS

OF_PAPERS = [name for name in EXPERIMENTS if EXPERIMENTS[name].paper]
BEGINNING = 3000


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """The text of every paper, by its key: the file that begins with its title."""
    try:
        folder = data_folder().parent / "seeds"
    except MathAMRError as error:
        pytest.skip(str(error))
    files = [path.read_text(encoding="utf-8") for path in sorted(Path(folder).glob("*.txt"))]
    if not files:
        pytest.skip(f"needs the papers' text: no folder {folder}")
    return {
        key: next(text for text in files if words(paper.title) in words(text[:600]))
        for key, paper in PAPERS.items()
    }


@pytest.mark.parametrize("key", list(PAPERS))
def test_a_paper_has_the_authors_the_place_and_the_identifier_that_it_names_itself(
    key: str, texts: Mapping[str, str]
) -> None:
    paper, text = PAPERS[key], texts[key]
    beginning = words(text[: text.find("ntroduction", BEGINNING)])
    for each in (*paper.authors, paper.venue, paper.year, paper.doi):
        assert words(each) in beginning, each


@pytest.mark.parametrize("name", OF_PAPERS)
def test_every_section_and_table_that_an_experiment_names_is_in_its_paper(
    name: str, texts: Mapping[str, str]
) -> None:
    experiment = EXPERIMENTS[name]
    text = texts[experiment.paper]
    for kind, number in named(experiment):
        if kind == "table":
            assert re.search(rf"Table\s+{re.escape(number)}\s*[:.]", text), f"Table {number}"
        else:
            assert re.search(rf"(?m)^\W*{re.escape(number)}\W+[A-Z]", text), f"section {number}"


def named(experiment: Experiment) -> Iterator[tuple[str, str]]:
    """The numbers of sections and tables in the catalogue and above an experiment's own tables."""
    places = [re.split(r";| \(", experiment.place)[0]]
    if isinstance(experiment, TrialExperiment):
        places += [re.split(r" \(", table.source)[0] for table in experiment.tables if table.source]
    found = [
        ("section" if "section" in part else "table", number)
        for place in places
        for part in re.findall(r"section [\d.]+|Tables? .*", place)
        for number in re.findall(r"\d+(?:\.\d+)*", part)
    ]
    assert found
    yield from found


@pytest.mark.parametrize("name", OF_PAPERS)
def test_every_published_figure_is_in_its_paper(name: str, texts: Mapping[str, str]) -> None:
    experiment = EXPERIMENTS[name]
    figures = {float(each) for each in re.findall(r"\d*\.\d+", texts[experiment.paper])}
    known = {f"{each * scale:.6g}" for each in figures for scale in (1, 0.01)}
    for row, value in published(experiment):
        assert f"{value:.6g}" in known, f"{row}: {value}"


def published(experiment: Experiment) -> Iterator[tuple[str, float]]:
    """The figures of a paper that stand beside ours, with their rows."""
    for variant in experiment.variants:
        if isinstance(variant.published, Published):
            yield from ((variant.name, each) for each in variant.published.best.values())
            yield from ((variant.name, each) for each in variant.published.formulas.values())
            yield from ((variant.name, each) for pair in variant.published.spread.values() for each in pair)
        else:
            yield from ((variant.name, each) for each in variant.published.values())


def test_the_figures_of_papers_are_many() -> None:
    assert sum(1 for name in OF_PAPERS for _ in published(EXPERIMENTS[name])) > 250
