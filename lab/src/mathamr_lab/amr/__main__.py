"""Train the built-in parser: `python -m mathamr_lab.amr [--folds] --start OLD.npz [--out FILE]`.

Reads the gold graphs and the topics' graphs under MATHAMR_DATA; the held-out parts stay unseen, for measuring with
`python -m mathamr_lab.amr.evaluate`. `--folds` trains one more parser for each fifth of the topics, without it (`FOLDER/fold-0.npz`…).
The shipped parser knows all topics: folds start from one that does not. Other options are those of `mathamr_lab.amr.fit`.
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
    parser.add_argument("--out", type=Path, default=WEIGHTS, help=f"where the weights go (default {WEIGHTS})")
    parser.add_argument(
        "--folder", type=Path, help="keep what training reads and makes here (default: nowhere)"
    )
    parser.add_argument("--folds", action="store_true", help="also train without each fifth of the topics")
    parser.add_argument(
        "--prepare", action="store_true", help="only write into the folder what training reads"
    )
    given, options = parser.parse_known_args()
    if given.folds and "--start" not in options:
        parser.error(
            "--folds needs --start: the shipped parser has learned from the topics that a fold leaves out"
        )
    with TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        names = {"all": None} | ({f"fold-{fold}": fold for fold in range(FOLDS)} if given.folds else {})
        aligned = _align(folder)
        if not (folder / "pieces.npz").exists():
            write_pieces(aligned, folder, SEED)
        for name, fold in names.items():
            if not (folder / name / "tables.json").exists():
                prepare(aligned, folder / name, fold)
            if not given.prepare:
                fit(options_of([str(folder / name), str(folder / "trained"), "--name", name, *options]))
                out = given.out if fold is None else folder / f"{name}.npz"
                pack(folder / "trained" / f"{name}.npz", folder / name, out)


def _align(folder: Path) -> Aligned:
    """Return the aligned graphs, kept in the folder: only making them needs spaCy and the data."""
    kept = folder / "aligned.pickle.gz"
    if not kept.exists():
        kept.write_bytes(gzip.compress(pickle.dumps(align(split()[0], topic_graphs(), SEED))))
    found: Aligned = pickle.loads(gzip.decompress(kept.read_bytes()))
    return found


if __name__ == "__main__":
    main()
