"""What is easily typed wrong is told in words."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from mathamr.cli import app
from mathamr.cli.search import check_argument_order, shell_quoting_hint
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.index.indexing.builder import build_index
from tests.cases import cases


def test_a_misspelt_command_or_name_is_answered_with_the_nearest() -> None:
    run = CliRunner().invoke(app, ["serch"])
    assert run.exit_code == 2
    assert "Did you mean 'search'?" in run.output
    assert str(UnknownNameError("format", "htlm", ["html", "latex"])).endswith("Did you mean 'html'?")
    assert str(UnknownNameError("format", "zzz", ["html", "latex"])).endswith("known: html, latex")


@cases(
    ("query", "is_eaten"),
    [
        ("^2$", True),
        ("solve ^2 + = 0", True),
        ("why is _{n} $ bounded", True),
        ("solve $x^2$", False),
        ("x^2 + y_1", False),
        ("what is a group?", False),
        ("\\(x^2\\)", False),
    ],
)
def test_a_query_that_lost_characters_to_the_shell_is_reported(query: str, is_eaten: bool) -> None:
    assert bool(shell_quoting_hint(query)) is is_eaten


def test_swapped_arguments_are_reported(tmp_path: Path) -> None:
    with pytest.raises(typer.BadParameter, match="the index comes first"):
        check_argument_order(Path("why is this so?"), str(tmp_path))
    check_argument_order(tmp_path, "why is this so?")
    check_argument_order(Path("not-there"), "why is this so?")


def test_an_empty_folder_leaves_no_index_behind(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(MathAMRError, match="no posts in this folder"):
        build_index([tmp_path / "empty"], tmp_path / "index")
    assert not (tmp_path / "index").exists()
