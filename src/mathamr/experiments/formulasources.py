"""From the options of `mathamr experiment` to what experiments of formulas need: formulas, collections, texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mathamr.errors import MathAMRError
from mathamr.experiments.collection import TestCollection
from mathamr.experiments.formulacollection import FormulaCollection, pool_collection, task2_collection
from mathamr.experiments.formulacontexts import ContextScores
from mathamr.experiments.formulaexperiment import FormulaExperiment
from mathamr.experiments.formularunner import FormulaSetting
from mathamr.graphs.formulashard import FormulaShard
from mathamr.systems.ssemb.context import ContextReader
from mathamr.systems.ssemb.system import READER
from mathamr.systems.training.formulas import FORMULAS, FormulaCounts, formulas_of_sources

POOL = "judged.tsv"


def is_pool(path: Path) -> bool:
    """Whether a folder holds a judged pool of trees."""
    return (path / POOL).is_file()


def formula_setting(
    experiment: FormulaExperiment,
    collection: TestCollection | None,
    pools: Sequence[Path],
    out: Path,
    *,
    further: Sequence[Path] = (),
    seeds: int = 3,
    changes: tuple[str, ...] = (),
    device: str = "auto",
) -> FormulaSetting:
    """Reads and parses once what all experiments of a folder share: formulas and collections."""
    shared = out / "formulas"
    shared.mkdir(parents=True, exist_ok=True)
    tests = [test for test in collection.tests if test.task == "formulas"] if collection else []
    if not tests and not pools:
        raise MathAMRError(
            "there are no topics that ask for formulas: name a collection with Task 2, or a judged pool"
        )
    found: list[FormulaCollection] = []
    contexts: dict[str, ContextScores] = {}
    for number, pool in enumerate(pools):
        path = shared / f"pool-{number}.npz"
        if not path.exists():
            pool_collection(pool).save(path)
        found.append(FormulaCollection.load(path))
    for test in tests:
        assert collection is not None
        path = shared / f"{test.name}.npz"
        if not path.exists():
            task2_collection(collection.posts(), test.topics, test.qrels.grades, test.name).save(path)
        made = FormulaCollection.load(path)
        found.append(made)
        contexts[made.name] = ContextScores(
            collection.posts(),
            test.topics,
            ContextReader(READER, device),
            shared / f"{test.name}-context.npy",
        )
    formulas = shared / FORMULAS
    if not formulas.exists():
        sources = [*(collection.paths if collection else ()), *further, *(pool / POOL for pool in pools)]
        FormulaShard.of(formulas_of_sources(tuple(sources), FormulaCounts())).save(formulas)
    return FormulaSetting(
        experiment=experiment,
        formulas=formulas,
        collections=found,
        out=out,
        seeds=seeds,
        changes=changes,
        device=device,
        contexts=contexts,
    )
