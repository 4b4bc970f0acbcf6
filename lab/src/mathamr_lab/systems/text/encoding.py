"""Remote encoding: posts are cut into word pieces here, encoded on a machine with a GPU, and indexed here.

python -m mathamr_lab.systems.text.encoding texts PATH… --out texts.npz       # here: reads posts or topics
python -m mathamr_lab.systems.text.encoding vectors texts.npz… --model FOLDER --out vectors.npz   # there: torch and numpy
MATHAMR_VECTORS=FOLDER mathamr index PATH --model …                       # here: with the folder that has vectors.npz
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathamr.core.errors import MathAMRError
from mathamr.text.configuration import WINDOW, WINDOWS
from mathamr.text.encoder import BUDGET, TextEncoder
from mathamr.text.precomputed import PrecomputedVectors
from mathamr_lab.systems.mathamrplus.text.corpus import TextCorpus, vocabulary_checksum
from mathamr_lab.systems.mathamrplus.text.shard import TextShard

if TYPE_CHECKING:
    from mathamr.posts.post import Post


def export(posts: Iterator[Post], path: Path) -> str:
    """Write posts as word pieces with the spans of their parts; return how many."""
    from mathamr.text.published import packaged_minilm
    from mathamr_lab.systems.text.materials import cut_posts

    pieces = packaged_minilm().pieces
    kept = list(posts)
    cut = tuple(cut_posts(kept, pieces, WINDOW * WINDOWS))
    corpus = TextCorpus(
        ids=tuple(post.id for post in kept),
        texts=TextShard(cut),
        groups=np.arange(len(kept)),
        pairs=np.zeros((0, 2), np.int64),
        held=np.zeros(0, np.bool_),
        kinds=(),
        vocabulary=vocabulary_checksum(pieces),
    )
    corpus.save(path)
    return f"{len(kept):,} texts in {path} ({path.stat().st_size / 2**20:.1f} MiB)"


def precomputed(encoder: TextEncoder, texts: TextCorpus) -> PrecomputedVectors:
    """Return the vectors of all texts from the encoder."""
    posts = texts.numbered_for(encoder.pieces).texts.posts
    budget = BUDGET * (16 if encoder.device.type == "cuda" else 1)
    return PrecomputedVectors.of(encoder.fingerprint, posts, encoder.encode_pieces(posts, budget))


def _posts(paths: list[Path]) -> Iterator[Post]:
    from mathamr.posts.reader import read_posts
    from mathamr.posts.report import Report

    for path in paths:
        yield from read_posts(path, Report())


def main(arguments: list[str] | None = None) -> int:
    """Return exit code 0 when done, 1 after a clear error."""
    parser = argparse.ArgumentParser(prog="python -m mathamr_lab.systems.text.encoding", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    texts = commands.add_parser("texts", help="posts as word pieces")
    texts.add_argument("paths", type=Path, nargs="+")
    vectors = commands.add_parser("vectors", help="the vectors of such texts")
    vectors.add_argument("paths", type=Path, nargs="+")
    vectors.add_argument("--model", type=Path, required=True, help="folder of a text encoder")
    vectors.add_argument("--device", default="auto")
    for each in (texts, vectors):
        each.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    try:
        if given.command == "texts":
            print(export(_posts(given.paths), given.out), file=sys.stderr)
        else:
            from mathamr.text.torchfolder import load_text_encoder

            encoder = load_text_encoder(given.model, given.device)
            corpora = [TextCorpus.load(path) for path in given.paths]
            PrecomputedVectors.joined([precomputed(encoder, corpus) for corpus in corpora]).save(given.out)
    except MathAMRError as error:
        print(f"mathamr: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
