"""Writes the texts of a shard's posts, and the text encoder to start from, for `python -m mathamr.training.language`.

    python scripts/export_texts.py pairs.npz POSTS… --out texts.npz --base FOLDER

POSTS are what the graphs of the shard were made of. The base is all-MiniLM-L6-v2 (pip install 'mathamr[minilm]').
"""

from __future__ import annotations

import argparse
import sys
from itertools import chain
from pathlib import Path

from mathamr.errors import MathAMRError
from mathamr.graphs import shard as shards
from mathamr.layers.language.encoder import WINDOW
from mathamr.layers.language.files import save_text_encoder
from mathamr.layers.language.minilm import packaged_minilm
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.training.language.shard import export_texts


def main() -> int:
    """Exit code 0 when done, 1 after a clear error."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shard", type=Path)
    parser.add_argument("posts", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True)
    given = parser.parse_args()
    try:
        base = packaged_minilm()
        posts = chain.from_iterable(read_posts(path, Report()) for path in given.posts)
        print(export_texts(posts, shards.load(given.shard), base.pieces, WINDOW, given.out))
        save_text_encoder(given.base, base)
    except MathAMRError as error:
        print(f"mathamr: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
