"""Prepares everything that training reads, as arrays: pieces of words, syntax, candidates, templates and relations of every sentence.

Training then needs neither spaCy nor the gold graphs.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from mathamr.amr.builtin.frames import load_frames
from mathamr.amr.builtin.lexicon import NAME, Lexicon
from mathamr.amr.builtin.mathematics import is_formula
from mathamr.amr.builtin.model import WEIGHTS, ParserModel
from mathamr.amr.builtin.numbers import (
    NO_RELATION,
    PLACES,
    Vocabularies,
    candidate_numbers,
    concept_key,
    concept_numbers,
)
from mathamr.amr.builtin.states import word_pieces
from mathamr.amr.builtin.words import WordSentence, shape
from mathamr.core.arrays import IntArray
from mathamr.core.settings import DATA
from mathamr.text.configuration import WINDOW
from mathamr.text.folder import load_word_pieces
from mathamr.text.wordpieces import WordPieces
from mathamr_lab.amr.alignment import AlignedGraph, Aligner, numbered, translation_table
from mathamr_lab.amr.augmentation import with_formulas
from mathamr_lab.amr.corpus import Gold
from mathamr_lab.amr.examples import (
    Example,
    NameKinds,
    biology_words,
    build,
    general_tables,
    lexicon_counts,
    names_of,
)
from mathamr_lab.amr.patterns import pattern_graphs
from mathamr_lab.amr.syntax import Analysed, Analyser
from mathamr_lab.amr.topics import TopicGraph, adopt_by_formulas, cut_graph, join_sentences

TOPICS, UNSEEN = 3, 4
"""The kinds of topics' sentences that are learned from, and of those that are left out."""
LEAST_CONCEPT, LEAST_LABEL = 2, 3
"""How often a concept and a relation occur in training to have a vector of their own."""
_WORD = re.compile(r"[A-Za-z]+")
TIMES = 4
"""How often a sentence of the topics counts in the lexicon of mathematical sentences."""
COMMON = 20
"""How often a word occurs in mathematical prose to be known as a word."""
COPIES = 2
"""Copies of every gold sentence with formulas in place of phrases."""

WIDTHS = {
    "shape": 1, "tag": 1, "head": 1, "dep": 1, "candidate": 3, "features": 4, "gold": 1, "template": 4,
    "node": 5, "roles": 7, "edge": 3, "root": 1, "kind": 1,
}  # fmt: skip
"""Numbers in a row of each column."""


class Writer:
    """Collects the columns of one set of sentences."""

    def __init__(self, vocabularies: Vocabularies, deps: dict[str, int], names: NameKinds) -> None:
        self.vocabularies, self.deps, self.names = vocabularies, deps, names
        self.columns: dict[str, list[Sequence[Any]]] = {name: [] for name in WIDTHS}

    def syntax(self, sentence: Analysed, kind: int) -> None:
        """Add words, tags and dependencies."""
        add = {name: column.append for name, column in self.columns.items()}
        add["kind"]([kind])
        add["shape"]([shape(sentence, token) for token in range(len(sentence))])
        add["tag"]([self.vocabularies.tags.get(tag, 0) for tag in sentence.tags])
        add["head"](sentence.heads)
        add["dep"]([self.deps.get(dep, 0) for dep in sentence.deps])

    def meaning(self, example: Example, lexicon: Lexicon, leave_out: int) -> None:
        """Add candidates, templates and relations; the sentence itself counts `leave_out` times in the lexicon."""
        add = {name: column.append for name, column in self.columns.items()}
        sentence, found = example.sentence, self.vocabularies
        pairs = Counter(zip(sentence.lemmas, example.cores, strict=True))
        seen = {pair: leave_out * count for pair, count in pairs.items()}
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
        names = self.names.cores(example, leave_out=leave_out > 0)
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
            (node, concept_numbers(node.concept, found, lexicon.frames, constant=node.constant))
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

    def arrays(self) -> dict[str, Any]:
        """Return the columns by name, as small integers where they fit."""
        made = {}
        for column, found in self.columns.items():
            kind = np.float16 if column == "features" else np.int32
            array = np.array([row for rows in found for row in rows], kind)
            if column != "features" and (not len(array) or np.abs(array).max() < 2**15):
                array = array.astype(np.int16)
            made[column] = array.reshape(-1, WIDTHS[column])
            made[f"{column}/counts"] = np.array([len(rows) for rows in found], np.int16)
        return made


Pairs = list[tuple[Analysed, AlignedGraph]]


@dataclass
class Aligned:
    """Sentences with their aligned graphs: gold graphs, copies with formulas, patterns, topics with their folds."""

    gold: Pairs
    copies: Pairs
    patterns: Pairs
    topics: Pairs
    folds: list[int]
    corpora: list[str]
    latex: list[dict[str, str]]
    """The formulas of each sentence of the topics."""
    formulas: list[str]
    """Formulas that fill the places of those of the corpora, which have none."""
    prose: Counter[str]
    aligner: Aligner

    def build(self, left_out: int | None) -> tuple[list[list[Example]], set[str]]:
        """Return the examples of each part and the templates, those of gold graphs and of topics outside a fold."""
        inside = [pair for pair, fold in zip(self.topics, self.folds, strict=True) if fold != left_out]
        learned, known = build(self.gold + inside, self.aligner)
        gold = learned[: len(self.gold)]
        for example, corpus in zip(gold, self.corpora, strict=True):
            example.corpus = corpus
        others = (self.copies, self.patterns, self.topics)
        return [gold, *(build(part, self.aligner, known)[0] for part in others)], known


def align(train: list[Gold], topics: list[TopicGraph], seed: int) -> Aligned:
    """Align all graphs with their words."""
    analyser = Analyser()
    patterns = pattern_graphs(seed)
    gold = train + patterns
    analysed = [*analyser.analyse([item.text for item in gold])]
    pairs = [(sentence, numbered(item.graph)) for sentence, item in zip(analysed, gold, strict=True)]
    first = len(train)
    aligner = Aligner(load_frames(), translation_table(pairs[:first]))
    for sentence, graph in pairs:
        aligner.align(sentence, graph)
    random = Random(seed)
    made = [
        copy
        for _ in range(COPIES)
        for sentence, graph in pairs[:first]
        if (copy := with_formulas(sentence, graph, random))
    ]
    copies = [*zip(analyser.analyse([text for text, _ in made]), (graph for _, graph in made), strict=True)]
    for sentence, graph in copies:
        aligner.align(sentence, graph)
    cut: Pairs = []
    stream = analyser.analyse([text for topic in topics for text in topic.sentences])
    for topic in topics:
        own = [next(stream) for _ in topic.sentences]
        whole = numbered(topic.graph)
        joined = join_sentences(own)
        aligner.align(joined, whole)
        adopt_by_formulas(aligner, joined, whole)
        cut += zip(own, cut_graph(whole, own), strict=True)
    folds = [topic.fold for topic in topics for _ in topic.sentences]
    corpora = [item.corpus for item in train]
    latex = [topic.latex for topic in topics for _ in topic.sentences]
    return Aligned(
        pairs[:first],
        copies,
        pairs[first:],
        cut,
        folds,
        corpora,
        latex,
        short_formulas(seed),
        prose_words(),
        aligner,
    )


def prepare(aligned: Aligned, out: Path, left_out: int | None) -> None:
    """Write `arrays.npz` and `tables.json`; topics of the fold `left_out` are not learned from."""
    (gold, copies, patterns, sentences), known = aligned.build(left_out)
    topics = [e for e, fold in zip(sentences, aligned.folds, strict=True) if fold != left_out]
    learned = gold + patterns + topics
    general = [e for e in gold if e.corpus == "little-prince"] + patterns
    tables: dict[str, Any] = general_tables(general, topics)
    biology = Counter(word for e in gold if e.corpus != "little-prince" for word in e.sentence.lemmas)
    tables["biology"] = biology_words(biology, tables["general"], aligned.prose)
    tables["words"] = common_words(aligned.prose)
    tables["mathematical"] = {
        lemma: {core: TIMES * count for core, count in cores.items()}
        for lemma, cores in sorted(lexicon_counts(topics).items())
    }
    lexicon = Lexicon(
        load_frames(), lexicon_counts(gold + patterns), None, None, tables["biology"], tables["words"],
        tables["mathematical"],
    )  # fmt: skip
    for example in general + sentences:
        lexicon.read_capitals(example.sentence)
    concepts = Counter(
        concept_key(node.concept, constant=node.constant)
        for example in learned + copies
        for node in example.nodes
    )
    concepts.update(core for example in learned for core in example.cores)
    concepts.update(NAME + kind for example in gold for _, _, kind in names_of(example) if kind)
    names = NameKinds(gold)
    labels = Counter(label for example in learned for label in example.edges.values())
    tags = sorted({tag for example in learned for tag in example.sentence.tags})
    deps = sorted({dep for example in learned for dep in example.sentence.deps})
    vocabularies = Vocabularies.of(
        [c for c, count in sorted(concepts.items()) if count >= LEAST_CONCEPT and not is_formula(c)],
        sorted(known),
        [NO_RELATION, *sorted(label for label, count in labels.items() if count >= LEAST_LABEL)],
        tags,
    )
    numbers = {dep: number for number, dep in enumerate(deps)}
    writer = Writer(vocabularies, numbers, names)
    for kind, part in enumerate((gold, copies, patterns, sentences)):
        for number, example in enumerate(part):
            unseen = kind == TOPICS and aligned.folds[number] == left_out
            writer.syntax(example.sentence, UNSEEN if unseen else kind)
            # What the lexicon knows from the sentence itself; topics count in mathematical sentences alone.
            own = TIMES * example.sentence.mathematical if kind == TOPICS else 1
            writer.meaning(example, lexicon, leave_out=0 if unseen else own)
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out / "arrays.npz", **writer.arrays())
    tables |= {
        name: list(getattr(vocabularies, name)) for name in ("concepts", "templates", "labels", "tags")
    }
    tables |= {"lexicon": lexicon.counts, "names": names.table(), "deps": deps}
    (out / "tables.json").write_text(json.dumps(tables, ensure_ascii=False), encoding="utf-8")
    print(
        f"{len(gold)} gold graphs, {len(copies)} copies with formulas, {len(patterns)} patterns,"
        f" {len(topics)} sentences of topics; {len(vocabularies.concepts)} concepts,"
        f" {len(known)} templates, {len(vocabularies.labels)} relations: {out}",
        flush=True,
    )


def write_pieces(aligned: Aligned, out: Path, seed: int) -> None:
    """Write the word pieces of all words, of each sentence alone and (gold graphs and topics) among its neighbours."""
    pieces, random = load_word_pieces(ParserModel.load(WEIGHTS).encoder)[0], Random(seed)

    def fill(sentences: Sequence[WordSentence]) -> dict[str, str]:
        words = [word for sentence in sentences for word in sentence.words if is_formula(word)]
        return {word: random.choice(aligned.formulas) for word in words}

    read: dict[str, list[tuple[Any, ...]]] = {"alone": [], "among": []}
    for kind, group in enumerate((aligned.gold, aligned.copies, aligned.patterns, aligned.topics)):
        for number, (sentence, _) in enumerate(group):
            own = aligned.latex[number] if kind == TOPICS else fill([sentence])
            read["alone"].append(_pieces_of(pieces, [sentence], own, 0))
            if kind in (0, TOPICS):
                first = max(0, number - random.randrange(4))
                near = [each for each, _ in group[first : number + 1 + random.randrange(4)]]
                shown = fill(near) | (own if kind == TOPICS else {})
                read["among"].append(_pieces_of(pieces, near, shown, number - first))
    arrays: dict[str, Any] = {}
    for how, rows in read.items():
        for column, found in zip(("pieces", "first", "lengths"), zip(*rows, strict=True), strict=True):
            arrays[f"{how}/{column}"] = np.concatenate(found).astype(np.uint16)
            arrays[f"{how}/{column}/counts"] = np.array([len(each) for each in found], np.int32)
    np.savez_compressed(out / "pieces.npz", **arrays)


def _pieces_of(
    pieces: WordPieces, sentences: Sequence[WordSentence], latex: Mapping[str, str], number: int
) -> tuple[np.ndarray[Any, Any], IntArray, IntArray]:
    """Return the pieces of the windows that one of the sentences needs, and where in them its words are."""
    numbers, first, lengths = word_pieces(pieces, sentences, latex)
    start = sum(len(each) for each in sentences[:number])
    own = slice(start, start + len(sentences[number]))
    first, lengths = first[own], lengths[own]
    if not len(first):
        return numbers[:0], first, lengths
    low, high = int(first.min()) // WINDOW * WINDOW, int((first + lengths - 1).max()) // WINDOW * WINDOW
    return numbers[low : high + WINDOW], first - low, lengths


@cache
def prose_words() -> Counter[str]:
    """Return how often words occur in mathematical prose, as they are written."""
    with gzip.open(DATA.path / "planetmath" / "entries.jsonl.gz", "rt", encoding="utf-8") as rows:
        texts = [json.loads(row)["text"] for row in rows]
    texts.append((DATA.path / "arqmath-mini" / "Posts.xml").read_text(encoding="utf-8"))
    return Counter(word for text in texts for word in _WORD.findall(text))


def common_words(prose: Counter[str]) -> list[str]:
    """Return the words of mathematical prose that are not mostly written with a capital, as names are."""
    return sorted(
        word
        for word, count in prose.items()
        if count >= COMMON and len(word) > 2 and word.islower() and count > prose[word.capitalize()]
    )


def short_formulas(seed: int, most: int = 3000) -> list[str]:
    """Return formulas of posts to fill gaps with, and one in eight times plain letters."""
    with (DATA.path / "arqmath-mini" / "formulas.tsv").open(encoding="utf-8", newline="") as file:
        found = [
            row["formula"] for row in csv.DictReader(file, delimiter="\t") if 0 < len(row["formula"]) <= 60
        ]
    chosen = Random(seed).sample(found, min(most, len(found)))
    return chosen + ["x"] * (len(chosen) // 8 + 1) + list("abcfghnxyzABCGKSTX")
