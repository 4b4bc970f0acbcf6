"""Exports a store of graphs to the shard that training reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.graphs import shard as shards
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.store import GraphStore


def export_store(
    folder: Path,
    graphs: str,
    path: Path,
    *,
    accepted_only: bool = False,
    without: Iterable[Path] = (),
) -> str:
    """Write the pairs of a store and their graphs to a shard; report what was taken and what was left out."""
    name = GraphConfiguration.from_name(graphs).name
    unwanted = {post_id for file in without for post_id in ids_in(file)}
    with GraphStore(folder) as store:
        if len(store) and not store.count_tensors(name):
            formulas, structure, auxiliary = name.split("-")
            raise MathAMRError(
                f"{folder} has no tensors of the configuration {name}; make them with: mathamr graph PATH --out {folder}"
                f" --mode {formulas} --structure {structure} --auxiliary {auxiliary}"
            )
        pairs = list(store.pairs(accepted_only=accepted_only))
        kept = [pair for pair in pairs if not any(listed(post_id, unwanted) for post_id in pair)]
        if len(kept) < 2:
            raise MathAMRError(
                f"{folder} has {len(kept)} pairs of question and answer to train on ({len(pairs) - len(kept)} left out)"
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            written = shards.export(store, name, kept, path)
        except OSError as error:
            raise MathAMRError(f"cannot write the shard {path}: {error}") from error
    size = path.stat().st_size / 2**20
    return (
        f"{len(kept):,} pairs of {len(written):,} posts in {path} ({size:.1f} MiB);"
        f" {len(pairs) - len(kept):,} pairs left out"
    )


def listed(post_id: str, ids: Collection[str]) -> bool:
    """Return True if an id, or an id above it, is in the list.

    >>> listed("stacks/12/answer", {"stacks/12"}), listed("stacks/12", {"stacks/1"})
    (True, False)
    """
    return post_id in ids or post_id.rpartition("/")[0] in ids


def ids_in(path: Path) -> list[str]:
    """Read the ids in a file, one per line."""
    try:
        return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise MathAMRError(f"cannot read the ids in {path}: {error}") from error
