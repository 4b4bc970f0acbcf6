"""Vocabularies of node labels and relations: counted over a corpus, stored as readable text."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.storage.plainfiles import read_description
from mathamr.graphs.flatgraph import VIRTUAL_EDGES, VIRTUAL_LABELS, FlatGraph, NodePart

UNKNOWN = "UNK"
MASK = "MASK"
URL = "[URL]"
FORMULA = "FORMULA"
UNKNOWN_INTEGER = "[UNKNUM_INT]"
UNKNOWN_DECIMAL = "[UNKNUM_DEC]"
UNKNOWN_RATIONAL = "[UNKNUM_RAT]"
SPECIAL = (UNKNOWN, MASK, URL, FORMULA, UNKNOWN_INTEGER, UNKNOWN_DECIMAL, UNKNOWN_RATIONAL, *VIRTUAL_LABELS)

UNKNOWN_RELATION = ":UNK"
INVERSE = "*"

MANY_SENTENCES = 32
"""Beyond this number of sentences, the number of a sentence carries nothing that could be learned."""

_SENTENCE = re.compile(r":snt(\d+)$")
_FRAME = re.compile(r"-\d\d+$")
_INTEGER = re.compile(r"[+\-−]?\d+$")
_DECIMAL = re.compile(r"[+\-−]?(\d+\.\d*|\.\d+|\d+(\.\d*)?[eE][+-]?\d+)$")
_RATIONAL = re.compile(r"[+\-−]?\d+\s*[/⁄]\s*\d+$")


@lru_cache(maxsize=200_000)
def normalise(label: str, part: NodePart) -> str:
    """Return the vocabulary's form of a label (thesis, section 3.3.1).

    >>> normalise("sequences", NodePart.CONCEPT), normalise("converge-01", NodePart.CONCEPT)
    ('sequenc', 'converge-01')
    >>> normalise("V!𝑥", NodePart.OPT), normalise("FORMULA_12", NodePart.FORMULA)
    ('V!x', 'FORMULA')
    """
    if part is NodePart.FORMULA:
        return FORMULA
    if part is NodePart.VIRTUAL:
        return label
    if part is NodePart.CONSTANT and len(label) > 1 and label[0] == label[-1] == '"':
        label = label[1:-1]
    label = unicodedata.normalize("NFKC", label)
    if "http" in label or "www." in label:
        return URL
    if part is NodePart.CONCEPT and not _FRAME.search(label):
        return _stem(label.lower())
    return label


def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> Any:
    """Return Porter's stemmer, imported on first use: a machine that only trains has numbers and does not need it."""
    import Stemmer

    return Stemmer.Stemmer("porter", 0)


@lru_cache(maxsize=10_000)
def normalise_relation(role: str) -> str:
    """Return the vocabulary's form of a role: the sentences of a very long post share one.

    >>> normalise_relation(":snt7"), normalise_relation(":snt1204"), normalise_relation(":ARG0")
    (':snt7', ':snt32+', ':ARG0')
    """
    match = _SENTENCE.match(role)
    return f":snt{MANY_SENTENCES}+" if match and int(match[1]) > MANY_SENTENCES else role


def number_class(label: str) -> str | None:
    """Return the token for a rare number of this kind, or None if the label is not a number.

    >>> number_class("N!17"), number_class("2.5e3"), number_class("N!1/3"), number_class("V!x")
    ('[UNKNUM_INT]', '[UNKNUM_DEC]', '[UNKNUM_RAT]', None)
    """
    text = label[2:] if label.startswith("N!") else label
    if _INTEGER.match(text):
        return UNKNOWN_INTEGER
    if _DECIMAL.match(text):
        return UNKNOWN_DECIMAL
    if _RATIONAL.match(text):
        return UNKNOWN_RATIONAL
    return None


@dataclass
class VocabularyCounts:
    """Counts of labels and relations over a corpus; counts of parts can be added."""

    labels: Counter[str] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)
    raw_labels: set[str] = field(default_factory=set)
    raw_relations: set[str] = field(default_factory=set)

    def count(self, flat: FlatGraph) -> None:
        """Count one graph, without its virtual nodes and edges."""
        for label, part in zip(flat.labels, flat.parts, strict=True):
            if part is not NodePart.VIRTUAL:
                self.labels[normalise(label, part)] += 1
                self.raw_labels.add(label)
        for _, role, _ in flat.edges:
            if role not in VIRTUAL_EDGES:
                self.relations[normalise_relation(role)] += 1
                self.raw_relations.add(role)

    def add(self, other: VocabularyCounts) -> None:
        """Add the counts of another part of the corpus."""
        self.labels.update(other.labels)
        self.relations.update(other.relations)
        self.raw_labels |= other.raw_labels
        self.raw_relations |= other.raw_relations

    def to_json(self) -> list[Any]:
        """Return the JSON form for another process."""
        return [self.labels, self.relations, sorted(self.raw_labels), sorted(self.raw_relations)]

    @classmethod
    def from_json(cls, row: list[Any]) -> VocabularyCounts:
        """Create the counts from the JSON of `to_json`."""
        labels, relations, raw_labels, raw_relations = row
        return cls(Counter(labels), Counter(relations), set(raw_labels), set(raw_relations))


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a corpus its vocabularies cover."""

    labels_raw: int
    labels: int
    share: float
    relations_raw: int
    relations: int


@dataclass(frozen=True)
class Vocabulary:
    """Node labels by number; number 0 is the unknown label."""

    labels: tuple[str, ...]
    coverage: float = 1.0
    _number: dict[str, int] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.labels[: len(SPECIAL)] != SPECIAL:
            raise MathAMRError(f"a vocabulary must start with the labels {', '.join(SPECIAL)}")
        self._number.update({label: number for number, label in enumerate(self.labels)})
        if len(self._number) != len(self.labels):
            raise MathAMRError("a vocabulary must list each label once")

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def build(cls, counts: VocabularyCounts, size: int = 20_000, number_threshold: int = 5) -> Vocabulary:
        """Build the vocabulary of the `size` most frequent labels; numbers rarer than the threshold fall into their class.

        `coverage` is the share of the corpus's nodes whose label or number class is in it.
        """
        kept: Counter[str] = Counter()
        numbers = 0
        for label, count in counts.labels.items():
            if label in SPECIAL:
                continue
            if count < number_threshold and number_class(label):
                numbers += count
            else:
                kept[label] = count
        ranked = sorted(kept.items(), key=lambda item: (-item[1], item[0]))[: max(0, size - len(SPECIAL))]
        special = sum(counts.labels[label] for label in SPECIAL)
        total = sum(counts.labels.values())
        truncated = kept.keys() - {label for label, _ in ranked}
        lost = sum(kept[label] for label in truncated if not number_class(label))
        assert special + numbers + kept.total() == total
        return cls(SPECIAL + tuple(label for label, _ in ranked), 1 - lost / total if total else 1.0)

    def number(self, label: str, part: NodePart) -> int:
        """Return the number of a node's label, of its class of numbers, or of `UNK`."""
        normal = normalise(label, part)
        number = self._number.get(normal)
        if number is not None:
            return number
        kind = number_class(normal)
        return self._number[kind] if kind else 0

    def to_text(self) -> str:
        """Return the content of a file: one label per line."""
        return _written(self.labels)

    def save(self, path: Path) -> None:
        """Write the file that `load` reads."""
        path.write_text(self.to_text(), encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """Read the vocabulary in a file."""
        return cls(tuple(_read_lines(path)))


@dataclass(frozen=True)
class RelationVocabulary:
    """Relations by number: forward relation i is number 2i, its inverse 2i + 1."""

    relations: tuple[str, ...]
    _number: dict[str, int] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.relations[: 1 + len(VIRTUAL_EDGES)] != (UNKNOWN_RELATION, *VIRTUAL_EDGES):
            raise MathAMRError("a relation vocabulary must start with the unknown and the virtual relations")
        self._number.update({relation: 2 * number for number, relation in enumerate(self.relations)})

    def __len__(self) -> int:
        return 2 * len(self.relations)

    @classmethod
    def build(cls, counts: VocabularyCounts) -> RelationVocabulary:
        """Build the vocabulary of all relations of the corpus, the most frequent first, after the virtual ones."""
        ranked = sorted(counts.relations.items(), key=lambda item: (-item[1], item[0]))
        return cls((UNKNOWN_RELATION, *VIRTUAL_EDGES, *(relation for relation, _ in ranked)))

    def number(self, relation: str) -> int:
        """Return the number of a forward relation; the inverse is one more."""
        return self._number.get(normalise_relation(relation), 0)

    def name(self, number: int) -> str:
        """Return the name of a relation, with ``*`` when it is an inverse one."""
        return self.relations[number // 2] + (INVERSE if number % 2 else "")

    def to_text(self) -> str:
        """Return the content of a file: one forward relation per line."""
        return _written(self.relations)

    def save(self, path: Path) -> None:
        """Write the file that `load` reads."""
        path.write_text(self.to_text(), encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path) -> RelationVocabulary:
        """Read the vocabulary in a file."""
        return cls(tuple(_read_lines(path)))


def _written(lines: Iterable[str]) -> str:
    return "".join(
        line.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r") + "\n" for line in lines
    )


def _read_lines(path: Path) -> list[str]:
    try:
        text = read_description(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise MathAMRError(f"cannot read the vocabulary {path}: {error}") from error
    lines = text.split("\n")[:-1]
    if "\\" not in text:
        return lines
    return [_unescaped(line) if "\\" in line else line for line in lines]


def _unescaped(line: str) -> str:
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "r": "\r"}.get(m[1], m[1]), line)
