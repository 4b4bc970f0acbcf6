"""What a user can name is in lab/notes/experiments.md, and published figures stand apart from ours."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

import pytest

from mathamr_lab.cli.experiment import command
from mathamr_lab.experiments import EXPERIMENTS
from mathamr_lab.experiments.experiment import ASSESSED, FULL, SAMPLE, SUBSET, GraphExperiment
from mathamr_lab.experiments.scale import SCALES
from mathamr_lab.papers import PAPERS

NOTES = Path(__file__).resolve().parents[3] / "lab" / "notes"
DOCS = (NOTES / "experiments.md").read_text(encoding="utf-8")


def test_every_experiment_and_scale_is_documented() -> None:
    for name in (*EXPERIMENTS, *SCALES):
        assert f"`{name}`" in DOCS, name
    for name in EXPERIMENTS:
        experiment = EXPERIMENTS[name]
        assert not isinstance(experiment, GraphExperiment) or experiment.section in DOCS, name


def test_every_option_is_documented() -> None:
    hints = get_type_hints(command, include_extras=True)
    for name in inspect.signature(command).parameters:
        (option,) = hints[name].__metadata__
        given = [flag for flag in (option.default, *(option.param_decls or ())) if isinstance(flag, str)]
        if name != "names":
            assert next(iter(given), f"--{name.replace('_', '-')}") in DOCS, name


_MEASURE = re.compile(r"nDCG|MAP'|P'@|Bpref|MRR@|recall@|/s|\(s\)|\(GB\)|\(MB\)")
SETS = (FULL, SUBSET, SAMPLE, ASSESSED)
_FOREIGN = re.compile(r"\b(thesis|paper|published)\b")
_TWO_FIGURES = re.compile(r"[*†]*\d?\.\d+[*†]* \(\d?\.\d+[*†]*\)")


def tables(page: Path) -> Iterator[list[list[str]]]:
    """The tables of a page as rows of cells."""
    for block in re.findall(r"(?:^\|.*\n)+", page.read_text(encoding="utf-8"), re.MULTILINE):
        yield [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]


@pytest.mark.parametrize("page", sorted(NOTES.glob("*.md")), ids=lambda page: page.stem)
def test_a_published_figure_has_a_column_of_its_own_that_says_so(page: Path) -> None:
    for head, *rows in tables(page):
        if not any(map(_MEASURE.search, head)):
            continue
        for name in head:
            assert not _FOREIGN.search(name) or any(each in name for each in SETS), f"{page.name}: {name}"
        if any(map(_FOREIGN.search, head)):
            assert len(set(head)) == len(head), f"{page.name}: {head}"
        for row in rows:
            assert not any(map(_TWO_FIGURES.fullmatch, row)), f"{page.name}: {row}"


def test_papers_are_cited_as_their_own_bibtex_and_every_experiment_names_its_place() -> None:
    for paper in PAPERS.values():
        assert paper.bibtex.startswith("@")
        assert all(author in paper.bibtex for author in paper.authors)
    for name in EXPERIMENTS:
        experiment = EXPERIMENTS[name]
        assert not experiment.paper or experiment.paper in PAPERS, name
        assert bool(experiment.paper) == ("Table" in experiment.place), name
        assert experiment.differs, name


def test_a_report_names_the_paper_that_it_stands_beside() -> None:
    paper, differs = EXPERIMENTS["ssemb-ablation"].beside
    assert paper.startswith("Paper: Ruyin Li and Xiaoyu Chen: SSEmb: A Joint Structural")
    assert differs.startswith("What differs: ")
    assert not EXPERIMENTS["ssemb-training"].beside[0].startswith("Paper")


def test_the_page_on_citing_has_the_toolkit_and_every_paper() -> None:
    page = (NOTES.parents[1] / "docs" / "cite.md").read_text(encoding="utf-8")
    assert "@software{mathamr," in page
    assert len(PAPERS) == 5
    assert all(paper.bibtex in page for paper in PAPERS.values())
