"""`Prepared`: everything that training reads, as arrays: pieces, syntax, candidates, templates and relations of every sentence.

The arrays hold no text encoder's numbers, so that one preparation serves every encoder with the same word pieces, and training
needs neither spaCy nor the gold graphs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from mathamr.amr.builtin.frames import load_frames
from mathamr.amr.builtin.lexicon import NAME, Lexicon
from mathamr.amr.builtin.mathematics import is_formula
from mathamr.amr.builtin.numbers import (
    NO_RELATION,
    PLACES,
    Vocabularies,
    candidate_numbers,
    concept_key,
    concept_numbers,
)
from mathamr.amr.builtin.words import WordSentence, shape
from mathamr.text.wordpieces import WordPieces
from mathamr_lab.amr.alignment import Aligner, numbered, translation_table
from mathamr_lab.amr.augmentation import with_formulas
from mathamr_lab.amr.corpus import Gold
from mathamr_lab.amr.examples import Example, NameKinds, build, general_tables, lexicon_counts, names_of
from mathamr_lab.amr.patterns import pattern_graphs
from mathamr_lab.amr.prose import analysed_prose
from mathamr_lab.amr.syntax import Analyser

LEAST_CONCEPT, LEAST_LABEL = 2, 3
"""How often a concept and a relation occur in training to have a vector of their own."""
UNFILLED = -1
"""The piece of a formula that training fills with the pieces of a random one."""
COPIES = 2
"""Copies of every gold sentence with formulas in place of phrases."""

WIDTHS = {
    "piece": 2, "shape": 1, "tag": 1, "head": 1, "dep": 1, "candidate": 3, "features": 4, "gold": 1, "template": 4,
    "node": 5, "roles": 7, "edge": 3, "root": 1, "kind": 1,
}  # fmt: skip
"""Numbers in a row of each column."""


@dataclass
class Columns:
    """Rows of numbers of different lengths per sentence, flat, with the counts of each sentence."""

    flat: list[int | float] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    width: int = 1

    def add(self, rows: Sequence[Any]) -> None:
        """Adds the rows of one sentence."""
        self.counts.append(len(rows))
        for row in rows:
            if self.width == 1:
                self.flat.append(row)
            else:
                self.flat.extend(row)


def pieces_of(sentence: WordSentence, pieces: WordPieces, latex: Mapping[str, str]) -> list[tuple[int, int]]:
    """(piece, word) of a sentence; a formula without LaTeX is one unfilled piece."""
    found: list[tuple[int, int]] = []
    done = 0
    starts = [start for start, _ in sentence.places]
    tokenizer = pieces._tokenizer
    for token, word in enumerate([*sentence.words, ""]):
        if token < len(sentence) and not is_formula(word):
            continue
        end = starts[token] if token < len(sentence) else len(sentence.text)
        encoded = tokenizer.encode(sentence.text[done:end], add_special_tokens=False)
        for number, (start, _) in zip(encoded.ids, encoded.offsets, strict=True):
            owner = int(np.searchsorted(starts, done + start, side="right")) - 1
            found.append((number, max(0, owner)))
        if token < len(sentence):
            if word in latex:
                ids = tokenizer.encode(f"${latex[word]}$", add_special_tokens=False).ids[:64]
                found += [(number, token) for number in ids]
            else:
                found.append((UNFILLED, token))
            done = sentence.places[token][1]
    return found


class Writer:
    """Collects the columns of one set of sentences."""

    def __init__(
        self, vocabularies: Vocabularies, pieces: WordPieces, deps: dict[str, int], names: NameKinds
    ) -> None:
        self.vocabularies, self.pieces, self.deps, self.names = vocabularies, pieces, deps, names
        self.columns = {name: Columns(width=width) for name, width in WIDTHS.items()}

    def syntax(self, sentence: Any, latex: Mapping[str, str], kind: int) -> None:
        """Adds words, tags and dependencies."""
        add = {name: column.add for name, column in self.columns.items()}
        add["kind"]([kind])
        add["piece"](pieces_of(sentence, self.pieces, latex))
        add["shape"]([shape(sentence, token) for token in range(len(sentence))])
        add["tag"]([self.vocabularies.tags.get(tag, 0) for tag in sentence.tags])
        add["head"](sentence.heads)
        add["dep"]([self.deps.get(dep, 0) for dep in sentence.deps])

    def meaning(self, example: Example | None, lexicon: Lexicon | None, leave_out: bool) -> None:
        """Adds candidates, templates and relations; without an example nothing."""
        add = {name: column.add for name, column in self.columns.items()}
        if example is None or lexicon is None:
            for name in ("candidate", "features", "gold", "template", "node", "roles", "edge", "root"):
                add[name]([])
            return
        sentence, found = example.sentence, self.vocabularies
        seen = Counter(zip(sentence.lemmas, example.cores, strict=True)) if leave_out else None
        candidates, features, gold = [], [], []
        for token, core in enumerate(example.cores):
            offered = lexicon.candidates(sentence, token, seen)
            place = -1
            for number, candidate in enumerate(offered):
                concept, reason, numbers = candidate_numbers(candidate, found)
                candidates.append((token, concept, reason))
                features.append(numbers)
                if candidate.core == core:
                    place = number
            gold.append(place if len(offered) > 1 else -1)
        add["candidate"](candidates)
        add["features"](features)
        add["gold"](gold)
        names = self.names.cores(example, leave_out)
        rows = [
            (
                token,
                found.concept(names.get(token, core) if core == NAME else core),
                found.templates.get(template, 0),
                int(core == NAME),
            )
            for token, core, template in example.templates
            if not is_formula(core)
        ]
        add["template"](rows)
        nodes = [
            (node, concept_numbers(node.concept, node.constant, found, lexicon.frames))
            for node in example.nodes
        ]
        add["node"](
            [
                (node.token, concept, kind, min(node.place, PLACES - 1), is_source)
                for node, (concept, kind, is_source, *_) in nodes
            ]
        )
        add["roles"]([numbers[3:] for _, numbers in nodes])
        labels = found.labels
        add["edge"](
            [(s, t, labels.get(label, 0)) for (s, t), label in example.edges.items() if label in labels]
        )
        add["root"]([example.root])

    def arrays(self, name: str) -> dict[str, Any]:
        """The columns by name, as small integers where they fit."""
        made = {}
        for column, found in self.columns.items():
            array = np.array(found.flat, np.float16 if column == "features" else np.int32)
            if column != "features" and (not len(array) or np.abs(array).max() < 2**15):
                array = array.astype(np.int16)
            made[f"{name}/{column}"] = array.reshape(-1, found.width)
            made[f"{name}/{column}/counts"] = np.array(found.counts, np.int16)
        return made


def examples_of(
    train: list[Gold], held: list[Gold], seed: int
) -> tuple[list[Example], list[Example], list[Example], list[Example], set[str]]:
    """Aligned examples of the gold graphs, of their copies with formulas, of the patterns, of the held-out part; and templates."""
    frames, analyser = load_frames(), Analyser()
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
    copies = [
        made
        for _ in range(COPIES)
        for sentence, graph in pairs[:first]
        if (made := with_formulas(sentence, graph, random))
    ]
    copied = list(
        zip(analyser.analyse([text for text, _ in copies]), (graph for _, graph in copies), strict=True)
    )
    for sentence, graph in copied:
        aligner.align(sentence, graph)
    examples, known = build(pairs[:first], aligner)
    for example, item in zip(examples, train, strict=True):
        example.corpus = item.corpus
    with_copies, _ = build(copied, aligner, known)
    filled, _ = build(pairs[last:], aligner, known)
    dev, _ = build(pairs[first:last], aligner, known)
    return examples, with_copies, filled, dev, known


def prepare(
    train: list[Gold], held: list[Gold], pieces: WordPieces, out: Path, *, prose: int, seed: int = 1
) -> None:
    """Writes `arrays.npz` and `tables.json`."""
    examples, copies, patterns, dev, known = examples_of(train, held, seed)
    lexicon = Lexicon(load_frames(), lexicon_counts(examples + patterns))
    concepts = Counter(
        concept_key(node.concept, node.constant)
        for example in examples + copies + patterns
        for node in example.nodes
    )
    concepts.update(core for example in examples + patterns for core in example.cores)
    concepts.update(NAME + kind for example in examples for _, _, kind in names_of(example) if kind)
    names = NameKinds(examples)
    labels = Counter(label for example in examples + patterns for label in example.edges.values())
    sentences = analysed_prose(prose, seed)
    every = [e.sentence for e in examples + patterns] + [sentence for sentence, _ in sentences]
    tags = sorted({tag for sentence in every for tag in sentence.tags})
    deps = sorted({dep for sentence in every for dep in sentence.deps})
    vocabularies = Vocabularies.of(
        [c for c, count in sorted(concepts.items()) if count >= LEAST_CONCEPT and not is_formula(c)],
        sorted(known),
        [NO_RELATION, *sorted(label for label, count in labels.items() if count >= LEAST_LABEL)],
        tags,
    )
    numbers = {dep: number for number, dep in enumerate(deps)}
    arrays: dict[str, Any] = {}
    writer = Writer(vocabularies, pieces, numbers, names)
    for kind, part in enumerate((examples, copies, patterns)):
        for example in part:
            writer.syntax(example.sentence, {}, kind)
            writer.meaning(example, lexicon, leave_out=True)
    for sentence, latex in sentences:
        writer.syntax(sentence, latex, 3)
        writer.meaning(None, None, leave_out=False)
    arrays |= writer.arrays("train")
    writer = Writer(vocabularies, pieces, numbers, names)
    for example in dev:
        writer.syntax(example.sentence, {}, 0)
        writer.meaning(example, lexicon, leave_out=False)
    arrays |= writer.arrays("dev")
    formulas = [
        pieces._tokenizer.encode(f"${text}$", add_special_tokens=False).ids[:64]
        for text in _formulas(sentences)
    ]
    arrays["formulas"] = np.array([n for row in formulas for n in row], np.int32)
    arrays["formulas/counts"] = np.array([len(row) for row in formulas], np.int16)
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out / "arrays.npz", **arrays)
    tables: dict[str, Any] = {
        name: list(getattr(vocabularies, name)) for name in ("concepts", "templates", "labels", "tags")
    }
    tables |= {"lexicon": lexicon.counts, "names": names.table(), "deps": deps}
    tables |= general_tables([e for e in examples if e.corpus == "little-prince"] + patterns)
    (out / "tables.json").write_text(json.dumps(tables, ensure_ascii=False), encoding="utf-8")
    print(
        f"{len(examples)} gold graphs, {len(copies)} copies with formulas, {len(patterns)} patterns, {len(dev)} held out,"
        f" {len(sentences)} sentences of prose; {len(vocabularies.concepts)} concepts, {len(known)} templates,"
        f" {len(vocabularies.labels)} relations: {out}",
        flush=True,
    )


def _formulas(sentences: Sequence[tuple[Any, Mapping[str, str]]], most: int = 3000) -> list[str]:
    """Formulas to fill gaps with: short ones, as in prose, and one in four times plain letters."""
    found = [text for _, latex in sentences for text in latex.values() if 0 < len(text) <= 60][:most]
    return found + ["x"] * (len(found) // 8 + 1) + list("abcfghnxyzABCGKSTX")
