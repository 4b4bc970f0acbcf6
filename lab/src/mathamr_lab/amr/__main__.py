"""Trains the built-in parser: `python -m mathamr_lab.amr [--everything] [--out FILE]`.

Reads the gold graphs under MATHAMR_DATA. Without `--everything` the held-out parts stay unseen, for measuring with
`scripts/evaluate_amr.py`; the shipped weights are trained with it.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from random import Random

import torch

from mathamr.amr.builtin.frames import load_frames
from mathamr.amr.builtin.lexicon import Lexicon
from mathamr.amr.builtin.network import Weights
from mathamr.amr.builtin.parser import WEIGHTS
from mathamr.amr.builtin.syntax import SyntaxAnalyser
from mathamr_lab.amr.alignment import Aligner, numbered, translation_table
from mathamr_lab.amr.augmentation import with_formulas
from mathamr_lab.amr.corpus import Gold, split
from mathamr_lab.amr.examples import Example, build, general_tables, lexicon_counts
from mathamr_lab.amr.models import Fitted, Settings, fit_cores, fit_relations, fit_templates
from mathamr_lab.amr.patterns import pattern_graphs


def prepare(
    train: list[Gold], held: list[Gold], seed: int
) -> tuple[list[Example], list[Example], list[Example], set[str]]:
    """Returns aligned examples of the gold graphs, of their copies with formulas and the patterns, and of the held-out part."""
    frames, analyser = load_frames(), SyntaxAnalyser()
    patterns = pattern_graphs(seed)
    gold = train + held + patterns
    pairs = [
        (sentence, numbered(item.graph))
        for sentence, item in zip(analyser.analyse([item.text for item in gold]), gold, strict=True)
    ]
    first, last = len(train), len(train) + len(held)
    aligner = Aligner(frames, translation_table(pairs[:first]))
    for sentence, graph in pairs:
        aligner.align(sentence, graph)
    random = Random(seed)
    copies = [made for sentence, graph in pairs[:first] if (made := with_formulas(sentence, graph, random))]
    copied = list(
        zip(analyser.analyse([text for text, _ in copies]), (graph for _, graph in copies), strict=True)
    )
    for sentence, graph in copied:
        aligner.align(sentence, graph)
    examples, known = build(pairs[:first], aligner)
    for example, item in zip(examples, train, strict=True):
        example.corpus = item.corpus
    more, _ = build(copied + pairs[last:], aligner, known)
    dev, _ = build(pairs[first:last], aligner, known)
    print(
        f"{len(examples)} gold graphs, {len(copied)} copies with formulas, {len(patterns)} patterns",
        flush=True,
    )
    return examples, more, dev, known


def train_weights(
    examples: list[Example], more: list[Example], dev: list[Example], known: set[str], settings: Settings
) -> Weights:
    """Fits all models, one after the other."""
    patterns = more[-len(pattern_graphs(settings.seed)) :]
    lexicon = Lexicon(load_frames(), lexicon_counts(examples + patterns))
    fitted = Fitted()
    every = examples + more
    fit_cores(every, lexicon, settings, dev, fitted)
    fit_templates(every, known, settings, dev, fitted)
    fit_relations(every, lexicon.frames, settings, dev, fitted)
    fitted.tables["lexicon"] = lexicon.counts
    fitted.tables.update(general_tables([e for e in examples if e.corpus == "little-prince"] + patterns))
    return Weights(fitted.arrays, fitted.tables)


def main() -> None:
    """Trains and writes the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--everything", action="store_true", help="train on the held-out parts too")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help=f"where the weights go (default {WEIGHTS})")
    parser.add_argument("--seed", type=int, default=Settings.seed)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    started = time.perf_counter()
    settings = Settings(seed=arguments.seed)
    train, held = split(arguments.everything)
    unseen = [] if arguments.everything else [gold for part in held.values() for gold in part]
    weights = train_weights(*prepare(train, unseen, settings.seed), settings)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    weights.save(arguments.out)
    size = arguments.out.stat().st_size / 1e6
    print(f"{arguments.out}: {size:.2f} MB after {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
