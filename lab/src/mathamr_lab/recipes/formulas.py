"""The training data of systems of formulas: the trees of all visual classes, from posts or tables of trees."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.workers import processors
from mathamr.formulas.tree import Opt, Slt
from mathamr.graphs.formulashard import FormulaShard
from mathamr.posts.identifiers import SeenIds
from mathamr_lab.recipes.recipe import TrainingSources

FORMULAS, ORDERS = "formulas.npz", "orders.npz"
TABLES = (".tsv",)


@dataclass(slots=True)
class FormulaCounts:
    """The counts of what was read so far."""

    seen: int = 0
    unreadable: int = 0
    visuals: SeenIds = field(default_factory=SeenIds)


def prepare_formulas(
    sources: TrainingSources, folder: Path, say: Callable[[str], None], *, orders: bool
) -> list[Path]:
    """Write the trees of all visual classes of the sources, and the orders that a teacher gives some of them.

    A shard that has such orders beside it brings them along.
    """
    path = folder / FORMULAS
    (folder / ORDERS).unlink(missing_ok=True)
    files = (sources.path, *sources.posts)
    is_shard = len(files) == 1 and sources.path.suffix == ".npz"
    if is_shard:
        shard = FormulaShard.load(sources.path)
        shutil.copyfile(sources.path, path)
    else:
        counts = FormulaCounts()
        shard = FormulaShard.of(formulas_of_sources(files, counts))
        say(
            f"{len(shard):,} formulas that look different, of {counts.seen:,};"
            f" {counts.unreadable:,} could not be read and are left out"
        )
        shard.save(path)
    if not orders:
        return [path]
    known = sources.path.with_name(ORDERS)
    if is_shard and known.exists():
        shutil.copyfile(known, folder / ORDERS)
    else:
        prepare_orders(shard, folder, say)
    return [path, folder / ORDERS]


def prepare_orders(shard: FormulaShard, folder: Path, say: Callable[[str], None]) -> None:
    """Write the orders that a teacher gives some formulas of the shard."""
    from mathamr_lab.recipes.formulaorders import OrderSettings, make_orders

    make_orders(shard, OrderSettings(), processors(), say).save(folder / ORDERS)


def formulas_of_sources(paths: tuple[Path, ...], counts: FormulaCounts) -> Iterator[tuple[Slt, Opt]]:
    """Yield the trees of every visual class once, from posts or from tables with the columns `slt` and `opt` (Tangent strings)."""
    from mathamr.formulas.visualkey import visual_key

    for path in paths:
        read = _of_table if path.suffix in TABLES and _is_table(path) else _of_posts
        for slt, opt in read(path, counts):
            if counts.visuals.add(visual_key(slt)):
                yield slt, opt


def _is_table(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as lines:
            return {"slt", "opt"} <= set(lines.readline().rstrip("\n").split("\t"))
    except (OSError, UnicodeDecodeError) as error:
        raise MathAMRError(f"cannot read {path}: {error}") from error


def _of_table(path: Path, counts: FormulaCounts) -> Iterator[tuple[Slt, Opt]]:
    from mathamr.formulas.notation import opt_from_string, slt_from_string

    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            counts.seen += 1
            try:
                yield slt_from_string(row["slt"] or ""), opt_from_string(row["opt"] or "")
            except MathAMRError:
                counts.unreadable += 1


def _of_posts(path: Path, counts: FormulaCounts) -> Iterator[tuple[Slt, Opt]]:
    from mathamr.formulas.trees import trees_of
    from mathamr.posts.reader import read_posts
    from mathamr.posts.report import Report

    for post in read_posts(path, Report()):
        for formula in post.formulas:
            counts.seen += 1
            (opt, slt), _ = trees_of(formula, post.macros)
            if opt is None or slt is None:
                counts.unreadable += 1
            else:
                yield slt, opt
