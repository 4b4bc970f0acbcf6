"""An option that would have no effect is refused, with a sentence that says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from mathamr.cli import amr, evaluate, formula, graph, run

HERE = Path()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"workers": 2}, "--workers acts on a store"),
        ({"structure": "global"}, "--structure and --auxiliary act on a store or a picture"),
        ({"linear": True, "mode": "slt"}, "leave --mode out"),
        ({"post": ["1"], "limit": 3}, "--post and --limit exclude each other"),
    ],
)
def test_options_of_graph(options: dict[str, Any], said: str) -> None:
    with pytest.raises(typer.BadParameter, match=said):
        graph.command([HERE], **options)


def test_a_reranked_run_is_not_searched() -> None:
    with pytest.raises(typer.BadParameter, match="--approximate has no effect"):
        run.command(HERE, "answers", HERE, HERE, exact=False, rerank=HERE)


@pytest.mark.parametrize("options", [{"latex": ["x"]}, {"svg": HERE}])
def test_json_lines_of_formulas_come_from_standard_input(options: dict[str, Any]) -> None:
    with pytest.raises(typer.BadParameter, match="--jsonl reads standard input"):
        formula.command(as_jsonl=True, **options)


@pytest.mark.parametrize("options", [{"jsonl": True}, {"svg": HERE}])
def test_alignments_are_marked_in_penman_text_alone(options: dict[str, Any]) -> None:
    with pytest.raises(typer.BadParameter, match="--alignments marks words in Penman text"):
        amr.command(alignments=True, **options)


def test_posts_and_topics_are_for_baselines_and_the_page() -> None:
    with pytest.raises(typer.BadParameter, match="--topics and --posts are for baselines"):
        evaluate.command(HERE, ["mine.run"], posts=HERE)
