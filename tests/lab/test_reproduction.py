"""The matrix of figures: rows run, figures are found in the output, a changed value fails, and the docs claim what the matrix holds."""

import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr_lab.cli.reproduce import command
from mathamr_lab.reproduction import MATRIX, Figure, chosen_rows, read_matrix, reproduce

REPOSITORY = Path(__file__).parents[2]
CLAIMED = re.compile(r"(?<![\w.])(?:0?\.\d{3})\b")


def run(*arguments: str) -> tuple[int, str]:
    import typer

    app = typer.Typer()
    app.command()(command)
    found = CliRunner().invoke(app, list(arguments))
    return found.exit_code, found.output


@pytest.mark.slow
def test_the_figures_of_the_sample_hold(tmp_path: Path) -> None:
    code, output = run("--fast")
    assert code == 0, output
    assert output.count("holds") == sum(len(row.figures) for row in read_matrix().values() if row.fast)


@pytest.mark.slow
def test_a_changed_value_fails_and_so_does_a_figure_that_is_not_printed(tmp_path: Path) -> None:
    text = MATRIX.read_text(encoding="utf-8")
    start = text.index("[sample-baseline]")
    row = text[start : text.index("\n]\n", text.index("figures = [", start)) + 3]
    changed = row.replace("value = 0.87,", "value = 0.88,").replace(
        "'^random order of 2,374 items +([", "'^no such system +(["
    )
    matrix = tmp_path / "figures.toml"
    matrix.write_text(changed, encoding="utf-8")
    code, output = run("--fast", "--matrix", str(matrix))
    assert code == 1
    assert output.count("DOES NOT HOLD") == 2
    assert output.count("not in the output") == 1


def test_commands_that_fail_and_unknown_rows_are_errors(tmp_path: Path) -> None:
    matrix = read_matrix()
    with pytest.raises(UnknownNameError, match="nothing"):
        chosen_rows(matrix, ["nothing"], fast=False)
    row = type(next(iter(matrix.values())))("row", (), ("python -c 'raise SystemExit(3)'",), (), 0.1)
    with pytest.raises(MathAMRError, match="ended with code 3"):
        reproduce(row, tmp_path)
    with pytest.raises(MathAMRError, match="exactly one group"):
        Figure("x", r"\d", 1.0, 0.1)
    (tmp_path / "figures.toml").write_text("[row]\nminutes = 1\n", encoding="utf-8")
    with pytest.raises(MathAMRError, match="not a matrix"):
        read_matrix(tmp_path / "figures.toml")


def test_settings_before_a_command_are_its_environment(tmp_path: Path) -> None:
    script = "import os; print('found', os.environ['MATHAMR_THING'])"
    row = type(next(iter(read_matrix().values())))(
        "row", (), (f'MATHAMR_THING=7 python -c "{script}"',), (Figure("x", r"found (\d)", 7, 0),), 0.1
    )
    (outcome,) = reproduce(row, tmp_path)
    assert outcome.holds
    assert sys.executable


def test_without_a_row_the_matrix_is_listed() -> None:
    code, output = run()
    assert code == 0
    assert all(name in output for name in read_matrix())


def shown(value: float) -> set[str]:
    return {f"{value:.3f}", f"{value:.3f}".removeprefix("0")}


def test_every_figure_of_the_matrix_is_on_one_of_its_pages() -> None:
    for row in read_matrix().values():
        text = "".join((REPOSITORY / page).read_text(encoding="utf-8") for page in row.docs)
        for figure in row.figures:
            assert any(each in text for each in shown(figure.value)), (row.name, figure.what)


def test_readme_and_docs_claim_no_figure_without_a_row() -> None:
    known: dict[str, set[str]] = {}
    for row in read_matrix().values():
        for page in row.docs:
            known.setdefault(page, set()).update(*(shown(figure.value) for figure in row.figures))
    for path in (REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))):
        page = str(path.relative_to(REPOSITORY))
        found = set(CLAIMED.findall(path.read_text(encoding="utf-8")))
        assert found <= known.get(page, set()) | EXCUSED.get(page, set()), page


EXCUSED = {
    "docs/api.md": {"0.001", "0.002"},  # an example of a response
    "docs/evaluate.md": {".001"},  # the least p-value that is printed
    "docs/experiment.md": set(CLAIMED.findall((REPOSITORY / "docs/experiment.md").read_text("utf-8"))),
    # an example of what is printed beside a peer that is not installed here
}
"""Numbers of three digits that are not measurements."""
