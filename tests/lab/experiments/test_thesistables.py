"""The tables: the thesis's form, with stars where a difference stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from mathamr import sample
from mathamr.evaluation.scores import Scores
from mathamr_lab.experiments.collection import TestSet, collection_of
from mathamr_lab.experiments.experiment import Published
from mathamr_lab.experiments.plan import JudgedTest, MeasuredRun
from mathamr_lab.experiments.scale import scale_named
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import Stage
from mathamr_lab.experiments.tables import MeasuredRow, comparison_table
from mathamr_lab.experiments.thesistables import best_seeds, markdown
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


@dataclass(frozen=True)
class Known(MeasuredRun):
    """A run whose scores are given."""

    known: Scores | None = None

    def scores(self) -> Scores | None:
        return self.known


def found(name: str, bases: Mapping[str, tuple[float, ...]]) -> list[MeasuredRun]:
    stage = Stage("run", "never done", Path("nowhere.json"), {}, (), dict)
    return [
        Known(variant.name, seed, JudgedTest.of(ANSWERS), stage, None, scores(base))
        for variant in GRAPHS[name].variants
        for seed, base in enumerate(bases.get(variant.name, ()))
    ]


def report(name: str, bases: Mapping[str, tuple[float, ...]]) -> str:
    return markdown(setting(name), found(name, bases), {"posts": 336, "answers": 209, "pairs": 209})


REPRESENTATIONS = {"both": (0.5, 0.6), "opt": (0.4, 0.3), "slt": (0.3, 0.3), "absent": (0.3, 0.2)}


def line(text: str, start: str, table: int = 0) -> str:
    return [row for row in text.splitlines() if row.startswith(f"| {start}")][table]


def test_the_best_seed_stands_beside_the_thesis_s_and_bears_stars() -> None:
    text = report("formula-representations", REPRESENTATIONS)
    assert "### Best seed (thesis, Table 4.6)" in text
    cells = line(text, "Both (OPT+SLT)").split(" | ")
    assert [cell.partition(" [")[0] for cell in cells[1:5]] == ["0.600*"] * 4
    assert cells[5] == "0.497*"
    assert "both 1, opt 0, slt 0, absent 0." in text
    base = line(text, "None, placeholders dropped").split(" | ")
    assert (base[1].partition(" [")[0], base[5]) == ("0.300", "0.404")
    assert "(12 paired t-tests by topic, Bonferroni corrected" in text


def test_means_and_deviations_are_over_seeds() -> None:
    text = report("formula-representations", REPRESENTATIONS)
    means = text[text.index("### All seeds (thesis, Table 4.7)") :]
    cells = line(means, "Both (OPT+SLT)").split(" | ")
    assert cells[1].startswith("0.550 ± 0.071")
    assert cells[5] == "0.494 ± 0.002"


def test_costs_name_units_and_the_thesis_s_figures() -> None:
    text = report("formula-representations", REPRESENTATIONS)
    costs = text[text.index("## Costs") :]
    assert "| Time/epoch (s) | thesis Time/epoch (s) (training sample) | Memory (GB) | thesis Memory" in costs
    assert line(costs, "OPT-only").startswith("| OPT-only | – | 362.4 |")
    benchmark = report("benchmark", {"mathamrplus": (0.5,)})
    assert "Formula queries/s | thesis Formula queries/s (full collection) |" in benchmark
    assert "| – | 21,515,119 | – | 2.2 |" in line(benchmark, "MathAMR+", -1) + " |"


def test_formulas_stand_beside_the_thesis_s_table_of_formulas() -> None:
    test = next(each for each in COLLECTION.tests if each.task == "formulas")
    stage = Stage("run", "never done", Path("nowhere.json"), {}, (), dict)
    run = Known("mathamrplus", 0, JudgedTest.of(test), stage, None, scores(0.5, test))
    text = markdown(setting("benchmark"), [run], {})
    part = text[text.index(f"## {test.name}") : text.index("## Costs")]
    assert "### Best seed (thesis, Table 4.21)" in part
    assert line(part, "MathAMR+").endswith("| 0.507 | 0.333 | 0.588 | 0.503 |")
    assert "Table 4.19" not in part
    assert (
        "Table"
        not in markdown(setting("virtual-nodes"), [run], {})[text.index(f"## {test.name}") :].split(
            "## Costs"
        )[0]
    )


def test_a_variant_that_cannot_do_the_task_is_left_out_and_so_are_its_tests() -> None:
    text = report("formula-representations", {**REPRESENTATIONS, "absent": ()})
    assert "paired" not in text
    assert "| None, placeholders dropped | 0." not in text


def test_only_the_measures_of_the_thesis_are_tested() -> None:
    bases = {
        variant.name: (0.7 if variant.title == "β = 0.3, Single-vector" else 0.5,)
        for variant in GRAPHS["document-loss"].variants
    }
    text = report("document-loss", bases)
    cells = [cell.partition(" [")[0] for cell in line(text, "β = 0.3, Single-vector").split(" | ")]
    # The third baseline is the same ranking with another loss.
    assert cells[1:] == ["0.700‡", "0.700‡", "0.411*", "0.165 |"]
    assert "(24 paired t-tests by topic" in text


PUBLISHED = 0.123456


@pytest.mark.parametrize("name", list(GRAPHS))
def test_a_published_figure_never_stands_in_a_column_with_ours(name: str) -> None:
    experiment = GRAPHS[name]
    figures = dict.fromkeys(map(str, ANSWERS.measures), PUBLISHED)
    published = Published(figures, (), dict.fromkeys(figures, (PUBLISHED, PUBLISHED)), {"seconds": PUBLISHED})
    changed = replace(
        experiment,
        variants=tuple(replace(variant, published=published) for variant in experiment.variants),
    )
    given = found(name, {variant.name: (0.5, 0.6) for variant in experiment.variants})
    text = markdown(replace(setting(name), experiment=changed), given, {})
    columns = in_columns(text, f"{PUBLISHED:.3f}") | in_columns(text, f"{PUBLISHED:.1f}")
    assert columns
    for column in columns:
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
    assert "| row | base | nDCG' | +0.000 |" in text


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
    def best(name: str, bases: dict[str, tuple[float, ...]]) -> dict[str, int]:
        variants = GRAPHS[name].variants
        known = {
            each.name: {seed: scores(base) for seed, base in enumerate(bases.get(each.name, ()))}
            for each in variants
        }
        return best_seeds(variants, known)

    losses = {"beta-1-maxsim": (0.5, 0.6), "beta-1-single": (0.4, 0.3), "beta-0-maxsim": (0.2, 0.1)}
    assert best("document-loss", losses) == {
        "beta-1-maxsim": 1,
        "beta-1-single": 1,
        "beta-0-maxsim": 0,
    }
    # The last one is not measured with the baseline's seed yet.
    strategies = {"maxsim-exact": (0.6, 0.5), "maxsim-hnsw": (0.5, 0.6), "single-hnsw": (0.6,)}
    assert list(best("retrieval-strategies", strategies).values()) == [1, 1, 0]
