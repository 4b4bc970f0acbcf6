"""What a user can name is in docs/evaluate.md, and its example prints what the page says."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import get_type_hints

import pytest

from mathamr import sample
from mathamr.cli.evaluate import command
from mathamr.evaluation.baselines import BASELINES
from mathamr.evaluation.measures import MEASURES, SUITES, measures
from mathamr.evaluation.runevaluation import EvaluationInputs, evaluate_runs
from mathamr.evaluation.table import means_table

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "evaluate.md").read_text(encoding="utf-8")


def test_every_measure_set_and_baseline_is_documented() -> None:
    for name in (*MEASURES, *SUITES, *BASELINES):
        assert re.search(rf"`{name}['@`]", DOCS), name


def test_every_option_is_documented() -> None:
    hints = get_type_hints(command, include_extras=True)
    for name in inspect.signature(command).parameters:
        (option,) = hints[name].__metadata__
        given = [flag for flag in (option.default, *(option.param_decls or ())) if isinstance(flag, str)]
        if name != "more":
            assert next(iter(given), f"--{name.replace('_', '-')}") in DOCS, name


@pytest.mark.slow
def test_the_example_prints_what_the_page_says() -> None:
    folder = sample.folder()
    sources = EvaluationInputs(
        folder / "qrels" / "task2.qrels",
        ("latex-ngrams",),
        topics=folder / "topics" / "task2.xml",
        posts=folder / "Posts.xml",
    )
    assessment = evaluate_runs(sources, measures(["arqmath"]), has_floors=True)
    for line in means_table(assessment.comparison, assessment.floors).splitlines():
        assert f"    {line}" in DOCS
