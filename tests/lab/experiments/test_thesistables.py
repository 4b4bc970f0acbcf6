"""The tables: the thesis's form, with stars where a difference stands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from mathamr import sample
from mathamr.evaluation.scores import Scores
from mathamr_lab.cli.experiment import command as experiment_command
from mathamr_lab.experiments.collection import TestSet, collection_of
from mathamr_lab.experiments.experiment import Published
from mathamr_lab.experiments.findings import Findings, TestFindings, VariantFindings, of_one_model
from mathamr_lab.experiments.scale import scale_named
from mathamr_lab.experiments.seedsummary import Spread
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.tables import MeasuredRow, comparison_table
from mathamr_lab.experiments.thesistables import command, markdown
from tests.lab.experiments.conftest import GRAPHS

COLLECTION = collection_of([sample.folder()])
ANSWERS = COLLECTION.tests[0]


def setting(name: str, **fields: object) -> ExperimentSetting:
    made = ExperimentSetting(GRAPHS[name], COLLECTION, Path("out"), scale_named("thesis"), seeds=2)
    return replace(made, **fields)  # type: ignore[arg-type]


def scores(base: float, test: TestSet = ANSWERS) -> Scores:
    """Values around a base that differ from topic to topic in the same way."""
    values = {
        str(measure): {topic.id: base + (place - 9.5) / 1000 for place, topic in enumerate(test.topics)}
        for measure in test.measures
    }
    return Scores("run", values)


def found(name: str, bases: Mapping[str, tuple[float, ...]], measures: tuple[str, ...] = ()) -> Findings:
    experiment = GRAPHS[name]
    rows = tuple(
        VariantFindings(
            variant, {seed: scores(base) for seed, base in enumerate(bases.get(variant.name, ()))}
        )
        for variant in experiment.variants
    )
    names = measures or tuple(str(measure) for measure in ANSWERS.measures)
    costs = {
        variant.name: {"seconds": Spread(12.5, 0.25, 2), "parameters": Spread(2e6, 0.0, 2)}
        for variant in experiment.variants
    }
    test = TestFindings(ANSWERS, rows, names, ())
    return Findings(setting(name), (test,), costs, {"posts": 336, "answers": 209}, 209)  # type: ignore[arg-type]


REPRESENTATIONS = {"both": (0.5, 0.6), "opt": (0.4, 0.3), "slt": (0.3, 0.3), "absent": (0.3, 0.2)}


def line(text: str, start: str, table: int = 0) -> str:
    return [row for row in text.splitlines() if row.startswith(f"| {start}")][table]


def test_the_best_seed_stands_beside_the_thesis_s_and_bears_stars() -> None:
    text = markdown(found("formula-representations", REPRESENTATIONS))
    assert "### Best seed (thesis, Table 4.6)" in text
    cells = line(text, "Both (OPT+SLT)").split(" | ")
    assert cells[1:6] == ["0.600*", "0.600*", "0.600*", "0.600*", "1"]
    assert cells[6] == "0.497*"
    assert line(text, "None, placeholders dropped †").split(" | ")[1:7:5] == ["0.300", "0.404"]
    assert line(text, "SLT-only").split(" | ")[1] == "0.300"
    assert "correction for 12 two-tailed paired" in text


def test_means_and_deviations_are_over_seeds() -> None:
    text = markdown(found("formula-representations", REPRESENTATIONS))
    assert "over 2 seeds (thesis, Table 4.7)" in text
    assert line(text, "Both (OPT+SLT)", 1).split(" | ")[1] == "0.550 ± 0.071"
    assert line(text, "Both (OPT+SLT)", 1).split(" | ")[5] == "0.494 ± 0.002"


def test_costs_name_units_and_the_thesis_s_figures() -> None:
    text = markdown(found("formula-representations", REPRESENTATIONS))
    costs = text[text.index("## Costs") :]
    assert "| Time/epoch (s) | thesis Time/epoch (s) (training sample) | Memory (GB) | thesis Memory" in costs
    assert line(costs, "OPT-only").startswith("| OPT-only | 12.5 ± 0.2 | 362.4 |")
    assert "2,000,000" in line(costs, "OPT-only")


def test_published_columns_name_what_was_searched() -> None:
    text = markdown(found("formula-representations", REPRESENTATIONS))
    assert "thesis nDCG' (judged subset)" in text
    assert "thesis Queries/s (judged subset)" in text or "thesis Index (MB) (judged subset)" in text
    benchmark = markdown(found("benchmark", {"mathamrplus": (0.5,)}))
    assert "Formula queries/s | thesis Formula queries/s (full collection) |" in benchmark
    assert "| – | 21,515,119 | – | 2.2 |" in line(benchmark, "MathAMR+", -1) + " |"
    rows = [MeasuredRow(name, {0: scores(0.5)}, {"nDCG'": PUBLISHED}) for name in ("one", "other")]
    table = "\n".join(comparison_table(rows, ["nDCG'"], searched="assessed formulas"))
    assert "paper nDCG' (assessed formulas)" in table


def test_a_variant_that_cannot_do_the_task_has_dashes_and_no_test() -> None:
    text = markdown(found("formula-representations", {**REPRESENTATIONS, "absent": ()}))
    assert line(text, "None").split(" | ")[1:6] == ["–", "–", "–", "–", "–"]
    assert "paired" not in text


def test_only_the_measures_of_the_thesis_are_tested() -> None:
    bases = {
        variant.name: (0.7 if variant.cells == ("β = 0.3", "Single-vector") else 0.5,)
        for variant in GRAPHS["document-loss"].variants
    }
    text = markdown(found("document-loss", bases, ("nDCG'", "P'@10")))
    assert line(text, "β = 0.3 | Single-vector").split(" | ")[2:] == [
        "0.700*",
        "0.700*",
        "0",
        "0.411*",
        "0.165 |",
    ]
    assert line(text, "β = 1 † | Single-vector").split(" | ")[2:4] == ["0.500", "0.500"]
    assert "correction for 24 two-tailed" in text


def test_the_benchmark_names_the_systems_of_the_thesis() -> None:
    text = markdown(found("benchmark", {"mathamrplus": (0.3,)}))
    assert "| Approach0 / Struct.+ColBERT (Coco-MAE) | 0.546 | 0.237 | 0.360 | 0.221 |" in text
    assert "L2L / All" not in text


PUBLISHED = 0.123456


@pytest.mark.parametrize("name", list(GRAPHS))
def test_a_published_figure_never_stands_in_a_column_with_ours(name: str) -> None:
    given = found(name, {variant.name: (0.5, 0.6) for variant in GRAPHS[name].variants})
    experiment = given.setting.graphs
    figures = dict.fromkeys(given.tests[0].measures, PUBLISHED)
    published = Published(figures, (), dict.fromkeys(figures, (PUBLISHED, PUBLISHED)), {"seconds": PUBLISHED})
    variants = {variant.name: replace(variant, published=published) for variant in experiment.variants}
    systems = tuple(replace(system, figures=figures) for system in experiment.systems)
    changed = replace(experiment, variants=tuple(variants.values()), systems=systems)
    rows = tuple(replace(row, variant=variants[row.variant.name]) for row in given.tests[0].rows)
    text = markdown(
        replace(
            given,
            setting=replace(given.setting, experiment=changed),
            tests=(replace(given.tests[0], rows=rows),),
        )
    )
    assert in_columns(text, f"{PUBLISHED:.3f}") | in_columns(text, f"{PUBLISHED:.1f}")
    for column in in_columns(text, f"{PUBLISHED:.3f}") | in_columns(text, f"{PUBLISHED:.1f}"):
        assert column.startswith("thesis ")
        assert column.endswith((" (full collection)", " (judged subset)", " (training sample)"))


def test_a_paper_s_figure_never_stands_in_a_column_with_ours() -> None:
    rows = [MeasuredRow(name, {0: scores(0.5)}, {"nDCG'": PUBLISHED}) for name in ("one", "other")]
    text = "\n".join(comparison_table(rows, ["nDCG'", "MAP'"], baselines=["one"], list_tests=True))
    assert in_columns(text, f"{PUBLISHED:.3f}") == {"paper nDCG' (full collection)"}


def test_rows_are_tested_over_the_seeds_that_all_have() -> None:
    def measured(*values: float) -> Scores:
        return Scores("", {"nDCG'": {f"A.{place}": value for place, value in enumerate(values)}})

    ours = {0: measured(0.1, 0.3, 0.2), 2: measured(0.3, 0.3, 0.4)}
    theirs = {0: measured(0.0, 0.3, 0.3), 1: measured(1.0, 1.0, 1.0), 2: measured(0.4, 0.3, 0.3)}
    rows = [MeasuredRow("base", theirs), MeasuredRow("row", ours)]
    text = "\n".join(comparison_table(rows, ["nDCG'"], baselines=["base"], list_tests=True))
    assert "| row, 2 of 3 seeds | 0.267" in text
    assert "| row | nDCG' | +0.000 |" in text


def in_columns(text: str, figure: str) -> set[str]:
    """The heads of the columns of all tables with a cell that begins with a figure."""
    found: set[str] = set()
    heads: list[str] = []
    for row in text.splitlines():
        cells = [cell.strip() for cell in row.strip("|").split("|")] if row.startswith("|") else []
        heads = heads if heads and cells else cells
        found |= {head for head, cell in zip(heads, cells, strict=False) if cell.startswith(figure)}
    return found


def test_all_rankings_of_a_model_are_those_of_its_best_seed_by_maxsim() -> None:
    bases = {"beta-1-maxsim": (0.5, 0.6), "beta-1-single": (0.4, 0.3), "beta-0-maxsim": (0.2, 0.1)}
    test = found("document-loss", bases).tests[0]
    best = {
        row.variant.name: row.summary.best_seed for row in of_one_model(test.rows) if row.summary is not None
    }
    assert best == {"beta-1-maxsim": 1, "beta-1-single": 1, "beta-0-maxsim": 0}
    bases = {"maxsim-exact": (0.6, 0.5), "maxsim-hnsw": (0.5, 0.6), "single-hnsw": (0.6,)}
    rows = of_one_model(found("retrieval-strategies", bases).tests[0].rows)
    # The last one is not measured with the baseline's seed yet.
    assert [row.summary.best_seed for row in rows if row.summary is not None] == [1, 1, 0]


def test_the_command_can_be_run(tmp_path: Path) -> None:
    def parsed(made: ExperimentSetting) -> dict[str, object]:
        words = shlex.split(command(made))
        assert words[:2] == ["mathamr", "experiment"]
        read: dict[str, object] = {}
        CliRunner().invoke(_reading(read), words[2:], catch_exceptions=False)
        return read

    plain = parsed(setting("connectivity"))
    assert (plain["judged_only"], plain["accepted"], plain["parser"]) == (False, False, "builtin")
    made = setting(
        "connectivity",
        collection=collection_of([sample.folder()], judged_only=True),
        accepted=True,
        parser="amrlib",
        parser_model="my model",
        wanted_engine="qdrant",
    )
    read = parsed(made)
    assert (read["names"], read["corpus"]) == (["connectivity"], [sample.folder()])
    assert (read["judged_only"], read["accepted"]) == (True, True)
    assert (read["parser"], read["parser_model"], read["engine"]) == ("amrlib", "my model", "qdrant")


def _reading(into: dict[str, object]) -> typer.Typer:
    """The command's options, which are read and not acted on."""

    @wraps(experiment_command)
    def read(**options: object) -> None:
        into.update(options)

    app = typer.Typer()
    app.command()(read)
    return app


def test_the_command_makes_the_findings_again() -> None:
    made = setting(
        "virtual-nodes", changes=("epochs=2",), baselines=("bm25",), store=Path("my store"), out=Path("o")
    )
    assert command(made) == (
        f"mathamr experiment virtual-nodes --corpus {sample.folder()} --scale thesis --set epochs=2"
        " --seeds 2 --baseline bm25 --store 'my store' --out o"
    )
