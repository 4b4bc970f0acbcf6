"""Puts a trained graph network and a trained text encoder together into the model folder that the package ships.

    python scripts/make_box.py SHARD TEXTS --graph FOLDER --text FOLDER --out FOLDER

SHARD and TEXTS are what both were trained on (docs/training.md). The text's vectors become principal components of
its states, and the shares of text and graph are those with the best MRR@10 on the validation pairs.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from mathamr.graphs import shard as shards
from mathamr.layers.language.files import load_text_encoder, save_text_encoder
from mathamr.systems.mathamrplus.graphencoder import GraphEncoder
from mathamr.systems.mathamrplus.postencoder import GRAPH, TEXT, Shares, save_joined
from mathamr.training.joining import between, chosen_shares, trial, with_principal_components
from mathamr.training.language.shard import TextShard

GRAPH_FILES = ("config.json", "weights.safetensors", "vocabulary.txt", "relations.txt")


def main() -> None:
    """One model folder from two."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shard", type=Path)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--graph", type=Path, required=True)
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--base", type=Path, help="the text encoder that the training began with")
    parser.add_argument(
        "--learned", type=float, default=0.7, help="how far to go from the base to the trained"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", default="mathamr-1")
    parser.add_argument("--size", type=int, default=192, help="principal components that are kept")
    parser.add_argument(
        "--others", type=int, default=3000, help="other answers among which validation ones are sought"
    )
    parser.add_argument(
        "--shares",
        type=float,
        nargs=3,
        metavar=("FORMULA", "SENTENCE", "DOCUMENT"),
        help="the text's shares, instead of those that are best on the validation pairs",
    )
    given = parser.parse_args()
    shard, texts = shards.load(given.shard), TextShard.load(given.texts)
    tuned = load_text_encoder(given.text)
    if given.base:
        tuned = between(load_text_encoder(given.base), tuned, given.learned)
    text = with_principal_components(tuned, texts, given.size)
    save_text_encoder(given.out / TEXT, text)
    # As it will be loaded: in eight bits.
    text = load_text_encoder(given.out / TEXT)
    (given.out / GRAPH).mkdir(parents=True, exist_ok=True)
    for name in GRAPH_FILES:
        shutil.copy(given.graph / name, given.out / GRAPH / name)
    if given.shares:
        shares = Shares(*given.shares)
    else:
        tried = trial(shard, texts, GraphEncoder.load(given.graph), text, others=given.others)
        shares, rows = chosen_shares(tried, text.size)
        for row in rows:
            print(json.dumps(row))
    save_joined(given.out, given.name, shares)
    print(json.dumps({"chosen": shares.to_json()}))


if __name__ == "__main__":
    main()
