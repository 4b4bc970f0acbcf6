"""What a user can name is in docs/evaluate.md, and its example prints what the page says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import get_type_hints

import pytest

from mathamr import sample
from mathamr.cli import evaluate, fuse
from mathamr.evaluation.baselines import BASELINES
from mathamr.evaluation.measures import MEASURES, SUITES, measures
from mathamr.evaluation.runevaluation import EvaluationInputs, evaluate_runs
from mathamr.evaluation.table import means_table
from mathamr.search.fusion import FUSIONS, NORMALISATIONS

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "evaluate.md").read_text(encoding="utf-8")


def help_texts(command: Callable[..., None]) -> dict[str, str]:
    """The help of every option of a command, by the flag that a user types."""
    found = {}
    for name, hint in get_type_hints(command, include_extras=True).items():
        for option in getattr(hint, "__metadata__", ()):
            flags = [flag for flag in (option.default, *(option.param_decls or ())) if isinstance(flag, str)]
            found[next(iter(flags), f"--{name.replace('_', '-')}")] = str(option.help)
    return found


@pytest.mark.parametrize(
    ("command", "names"),
    [(evaluate.command, (*MEASURES, *SUITES, *BASELINES)), (fuse.command, (*FUSIONS, *NORMALISATIONS))],
    ids=["evaluate", "fuse"],
)
def test_help_and_docs_name_what_options_take(command: Callable[..., None], names: tuple[str, ...]) -> None:
    options = help_texts(command)
    for name in names:
        assert name in " ".join(options.values())
        assert re.search(rf"`{name}['@`]", DOCS), name


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
