"""Trains the built-in parser on the states of a text encoder in the box: `python -m mathamr_lab.amr [--held-out] [--out FILE]`.

Reads the gold graphs and prose under MATHAMR_DATA. With `--held-out`, as the shipped weights were trained, the held-out parts stay unseen, for measuring with
`python -m mathamr_lab.amr.evaluate`. `--prepare FOLDER` only writes what training
reads; `python -m mathamr_lab.amr.fit` then trains from it on a machine with a GPU, and `--pack` makes the parser's file.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from mathamr.amr.builtin.model import BOX, WEIGHTS
from mathamr.text.folder import PIECES
from mathamr.text.wordpieces import WordPieces
from mathamr_lab.amr.corpus import split
from mathamr_lab.amr.pack import pack

PROSE = 12_000
"""Sentences of mathematical prose: their formulas fill gaps, and `--prose N` of `fit` adds N of them to each batch for their syntax."""


def main() -> None:
    """Prepares, trains and packs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", action="store_true", help="do not train on the held-out parts")
    parser.add_argument(
        "--encoder", default="mathamr-2", help="the model in the box whose text encoder is read with"
    )
    parser.add_argument("--out", type=Path, default=WEIGHTS, help=f"where the weights go (default {WEIGHTS})")
    parser.add_argument("--prepare", type=Path, help="only prepare the training, into this folder")
    parser.add_argument(
        "--pack", type=Path, nargs=2, help="only pack: the prepared folder, and the trained .npz"
    )
    parser.add_argument("--prose", type=int, default=PROSE, help=f"sentences of prose (default {PROSE:,})")
    given, options = parser.parse_known_args()
    if given.pack:
        prepared, weights = given.pack
        pack(weights, weights.with_suffix(".json"), prepared, given.out, given.encoder)
        return
    from mathamr_lab.amr.prepared import prepare

    train, held = split(everything=not given.held_out)
    unseen = [gold for part in held.values() for gold in part] if given.held_out else []
    pieces = WordPieces.load(BOX / given.encoder / "text" / PIECES)
    if given.prepare:
        prepare(train, unseen, pieces, given.prepare, prose=given.prose)
        return
    from mathamr_lab.amr.fit import fit, options_of

    with TemporaryDirectory() as folder:
        prepared = Path(folder)
        prepare(train, unseen, pieces, prepared, prose=given.prose)
        fit(options_of([str(prepared), str(BOX / given.encoder / "text"), folder, *options]))
        pack(prepared / "parser.npz", prepared / "parser.json", prepared, given.out, given.encoder)


if __name__ == "__main__":
    main()
