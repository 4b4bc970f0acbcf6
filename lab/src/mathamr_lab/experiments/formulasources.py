"""From the options of `mathamr experiment` to what experiments of formulas need: formulas, collections, texts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.topics import read_topics
from mathamr.systems.ssemb.context import ContextReader
from mathamr.systems.ssemb.system import READER
from mathamr_lab.experiments.collection import TestCollection, TestSet
from mathamr_lab.experiments.formulacollection import POOL, FormulaCollection, task2_collection
from mathamr_lab.experiments.formulacontexts import ContextScores
from mathamr_lab.experiments.formularunner import FormulaSetting
from mathamr_lab.experiments.judgedpool import pool_collection
from mathamr_lab.recipes.formulas import FORMULAS, prepare_formulas
from mathamr_lab.recipes.recipe import TrainingSources


def formula_setting(
    collection: TestCollection | None,
    pools: Sequence[Path],
    out: Path,
    *,
    further: Sequence[Path] = (),
    seeds: int = 3,
    changes: tuple[str, ...] = (),
    device: str = "auto",
    workers: int = 1,
    threads: int = 1,
    so_far: bool = False,
) -> FormulaSetting:
    """Reads and parses once what all experiments of a folder share: formulas and collections."""
    shared = out / "formulas"
    shared.mkdir(parents=True, exist_ok=True)
    tests = [test for test in collection.tests if test.task == "formulas"] if collection else []
    if not tests and not pools:
        raise MathAMRError(
            "there are no topics that ask for formulas: name a collection with Task 2, or a judged pool"
        )
    places = [shared / f"pool-{number}.npz" for number in range(len(pools))]
    for path, pool in zip(places, pools, strict=True):
        if not path.exists():
            _save(pool_collection(pool), path)
    contexts: dict[str, ContextScores] = {}
    for test in tests:
        assert collection is not None
        places.append(shared / f"{test.name}.npz")
        if not places[-1].exists():
            found = task2_collection(
                collection.posts(), test.topics, test.qrels.grades, test.name, _years(test)
            )
            _save(found, places[-1])
        contexts[test.name] = ContextScores(
            collection.posts(),
            test.topics,
            ContextReader(READER, device),
            shared / f"{test.name}-context.npy",
        )
    if not (shared / FORMULAS).exists():
        first, *others = [
            *(collection.paths if collection else ()),
            *further,
            *(pool / POOL for pool in pools),
        ]
        sources = TrainingSources(path=first, posts=tuple(others))
        prepare_formulas(sources, shared, lambda line: print(line, file=sys.stderr), orders=False)
    return FormulaSetting(
        formulas=shared / FORMULAS,
        collections=[FormulaCollection.load(path) for path in places],
        places=places,
        out=out,
        seeds=seeds,
        changes=changes,
        device=device,
        workers=workers,
        threads=threads,
        so_far=so_far,
        contexts=contexts,
    )


def _save(collection: FormulaCollection, path: Path) -> None:
    """In two steps, so that a file that is there is whole: ids and grades are written last."""
    partial = path.with_name(f"part-{path.name}")
    collection.save(partial)
    partial.with_suffix(".json").replace(path.with_suffix(".json"))
    partial.replace(path)


def _years(test: TestSet) -> dict[str, list[str]]:
    """The topics of each file, where there are several."""
    if len(test.files) < 2:
        return {}
    return {topics.stem: [topic.id for topic in read_topics(topics)] for topics, _ in test.files}
