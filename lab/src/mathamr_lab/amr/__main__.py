"""Train the built-in parser: `python -m mathamr_lab.amr [--held-out] [--folds] --start OLD.npz [--out FILE]`.

Reads the gold graphs and the topics' graphs under MATHAMR_DATA. With `--held-out`, as the shipped weights were trained, the held-out parts stay
unseen, for measuring with `python -m mathamr_lab.amr.evaluate`; `--folds` trains one more parser for each fifth of the topics, without it
(`FOLDER/fold-0.npz`…). The shipped parser knows all topics: folds start from one that does not. Other options are those of `mathamr_lab.amr.fit`.
"""

from __future__ import annotations

import argparse
import gzip
import pickle
from pathlib import Path
from tempfile import TemporaryDirectory

from mathamr.amr.builtin.model import WEIGHTS
from mathamr_lab.amr.corpus import split
from mathamr_lab.amr.fit import fit, options_of
from mathamr_lab.amr.pack import pack
from mathamr_lab.amr.prepared import Aligned, align, prepare, write_pieces
from mathamr_lab.amr.topics import FOLDS, topic_graphs

SEED = 1


def main() -> None:
    """Prepare, train and pack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", action="store_true", help="do not train on the held-out parts")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help=f"where the weights go (default {WEIGHTS})")
    parser.add_argument(
        "--folder", type=Path, help="keep what training reads and makes here (default: nowhere)"
    )
    parser.add_argument("--folds", action="store_true", help="also train without each fifth of the topics")
    parser.add_argument(
        "--prepare", action="store_true", help="only write into the folder what training reads"
    )
    parser.add_argument("--every", type=int, default=1, help="train on one in so many gold sentences")
    given, options = parser.parse_known_args()
    if given.folds and "--start" not in options:
        parser.error(
            "--folds needs --start: the shipped parser has learned from the topics that a fold leaves out"
        )
    with TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        folds: list[int | None] = [None, *range(FOLDS)] if given.folds else [None]
        aligned = _aligned(folder, given.held_out)
        _prepare(aligned, folder, folds, given.every)
        for fold in () if given.prepare else folds:
            prepared = folder / _name(fold)
            chosen = options_of([str(prepared), str(folder / "trained"), "--name", _name(fold), *options])
            fit(chosen)
            out = given.out if fold is None else folder / f"{_name(fold)}.npz"
            pack(folder / "trained" / f"{_name(fold)}.npz", prepared, out)


def _name(fold: int | None) -> str:
    return "all" if fold is None else f"fold-{fold}"


def _aligned(folder: Path, held_out: bool) -> Aligned:
    """Return the aligned graphs, kept in the folder: only making them needs spaCy and the data."""
    kept = folder / "aligned.pickle.gz"
    if not kept.exists():
        train, held = split(everything=not held_out)
        unseen = [gold for part in held.values() for gold in part] if held_out else []
        kept.write_bytes(gzip.compress(pickle.dumps(align(train, unseen, topic_graphs(), SEED))))
    found: Aligned = pickle.loads(gzip.decompress(kept.read_bytes()))
    return found


def _prepare(aligned: Aligned, folder: Path, folds: list[int | None], every: int) -> None:
    """Write what is not there yet: the pieces of words, and the arrays of each fold."""
    if not (folder / "dev-pieces.npz").exists():
        write_pieces(aligned, folder, SEED, every)
    for fold in folds:
        if not (folder / _name(fold) / "tables.json").exists():
            prepare(aligned, folder / _name(fold), fold, every)


if __name__ == "__main__":
    main()
