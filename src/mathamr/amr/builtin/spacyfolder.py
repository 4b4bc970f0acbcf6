"""`SpacyFolder`: reads the small English model of spaCy from its folder, without spaCy.

Importing spaCy and building its pipeline takes a second of processor time, twenty times as long as a query, and only the
numbers in its files are needed here. A model that is not built like the small English model of spaCy 3.8 raises a `ValueError`.
"""

from __future__ import annotations

import json
from collections.abc import Container, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mathamr.amr.builtin.arceager import ArcEager, ParserWeights
from mathamr.amr.builtin.messagepack import unpacked
from mathamr.amr.builtin.tagger import Tagger
from mathamr.amr.builtin.texthash import number_of, table_rows
from mathamr.amr.builtin.tokeniser import Tokeniser
from mathamr.amr.builtin.wordvectors import MaxoutLayer, TokenForm, WordVectors
from mathamr.core.arrays import FloatArray

KINDS = ("noun", "verb", "adj", "adv")
"""The word classes that have lemmas."""
COLUMNS = ["NORM", "PREFIX", "SUFFIX", "SHAPE", "SPACY", "IS_SPACE"]
"""The attributes of a word that the embedding uses."""
LONGEST_SHAPE, LONGEST_RUN = 100, 4
LARGEST = 64 << 20
_ACTIONS = "SDLRB"


class NetworkNode(NamedTuple):
    """A node of a network that has parameters."""

    name: str
    parameters: dict[str, FloatArray]
    attributes: dict[str, Any]


class LemmaTables(NamedTuple):
    """The tables of a lemmatiser by word class: endings with their replacements, known lemmas, exceptions."""

    rules: dict[str, Sequence[Sequence[str]]]
    known: dict[str, Container[str]]
    exceptions: dict[str, dict[str, str]]


class SpacyFolder:
    """The parts of the model in a folder, each read when it is first used."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def of_package(cls, name: str) -> SpacyFolder:
        """The folder of an installed model."""
        found = find_spec(name)
        for place in (found.submodule_search_locations or ()) if found else ():
            for head in Path(place).glob(f"{name}-*/config.cfg"):
                return cls(head.parent)
        raise ValueError(f"no folder of {name}")

    @cached_property
    def tokeniser(self) -> Tokeniser:
        """The tokeniser."""
        return Tokeniser(self._read("tokenizer"), self._read("vocab/lookups.bin")["lexeme_norm"])

    @cached_property
    def vectors(self) -> WordVectors:
        """The shared vectors."""
        attributes = [dict(row) for row in self._read("tok2vec/model")["attrs"]]
        named = {name: unpacked(value) for row in attributes for name, value in row.items() if name != "pad"}
        pads = [unpacked(row["pad"]) for row in attributes if "pad" in row]
        if named.get("columns") != COLUMNS or named.get("window_size") != 1:
            raise ValueError("the embedding is not of the expected kind, or its window is not one word wide")
        nodes = self._nodes("tok2vec/model")
        tables = [node for node in nodes if node.name == "hashembed"]
        maxouts = [node.parameters for node in nodes if node.name == "maxout"]
        norms = [node.parameters for node in nodes if node.name == "layernorm"]
        if len(tables) != len(COLUMNS) or len(maxouts) != len(norms) or len(nodes) != 6 + 2 * len(maxouts):
            raise ValueError("the network is not of the expected kind")
        layers = [MaxoutLayer.of(*pair) for pair in zip(maxouts, norms, strict=True)]
        embedding = Embedding([(node.attributes["seed"], node.parameters["E"]) for node in tables], layers[0])
        return WordVectors(lambda forms: embedding(forms, self.tokeniser), layers[1:], max(pads))

    @cached_property
    def tagger(self) -> Tagger:
        """The tagger."""
        (node,) = self._nodes("tagger/model")
        labels = json.loads(self._bytes("tagger/cfg"))["labels"]
        return Tagger(node.parameters["W"], node.parameters["b"], labels)

    @cached_property
    def parser(self) -> ArcEager:
        """The dependency parser."""
        if json.loads(self._bytes("parser/cfg"))["beam_width"] != 1:
            raise ValueError("the parser is not of the expected kind")
        lower, upper, linear = self._nodes("parser/model")
        if [lower.name, upper.name, linear.name] != ["precomputable_affine", "linear", "linear"]:
            raise ValueError("the parser is not of the expected kind")
        weights = ParserWeights(
            linear.parameters["W"], linear.parameters["b"], lower.parameters["W"], lower.parameters["b"],
            lower.parameters["pad"], upper.parameters["W"], upper.parameters["b"],
        )  # fmt: skip
        return ArcEager(weights, move_names(json.loads(self._read("parser/moves")["moves"])))

    @cached_property
    def lemmas(self) -> LemmaTables:
        """The tables of the lemmatiser."""
        read = unpacked(self._bytes("lemmatizer/lookups/lookups.bin"), keeps_words=True)
        rules, index, exceptions = (
            {kind: read[f"lemma_{name}"].get(number_of(kind)) for kind in KINDS}
            for name in ("rules", "index", "exc")
        )
        return LemmaTables(
            {kind: found or [] for kind, found in rules.items()},
            {kind: () if found is None else found for kind, found in index.items()},
            {
                kind: {form: lemmas[0] for form, lemmas in (found or {}).items()}
                for kind, found in exceptions.items()
            },
        )

    def _nodes(self, name: str) -> list[NetworkNode]:
        """The nodes of a network that have parameters, in the order of the file."""
        read = self._read(name)
        result = []
        for head, attributes, parameters in zip(read["nodes"], read["attrs"], read["params"], strict=True):
            own = {key: value for key, value in parameters.items() if value is not None}
            if own:
                result.append(
                    NetworkNode(
                        head["name"], own, {key: unpacked(value) for key, value in attributes.items()}
                    )
                )
        return result

    def _read(self, name: str) -> Any:
        return unpacked(self._bytes(name))

    def _bytes(self, name: str) -> bytes:
        path = self.folder / name
        if path.stat().st_size > LARGEST:
            raise ValueError(f"{path} is larger than any file of the model")
        return path.read_bytes()


class Embedding:
    """Embeds words as spaCy's small models do: four summed rows for each of six attributes, and a layer over all of them."""

    def __init__(self, tables: Sequence[tuple[int, FloatArray]], layer: MaxoutLayer) -> None:
        self._tables, self._layer = tables, layer

    def __call__(self, forms: Sequence[TokenForm], tokeniser: Tokeniser) -> FloatArray:
        """One row for each word."""
        traits = np.array([self._traits(form, tokeniser) for form in forms], np.uint64)
        parts = [
            table[table_rows(traits[:, column], seed, len(table))].sum(axis=1)
            for column, (seed, table) in enumerate(self._tables)
        ]
        return self._layer.finish(np.concatenate(parts, axis=1) @ self._layer.weights)

    def _traits(self, form: TokenForm, tokeniser: Tokeniser) -> list[int]:
        text, norm = form.text, tokeniser.norm(form.text) if form.norm is None else form.norm
        named = map(number_of, (norm, text[:1], text[-3:], shape(text)))
        return [*named, int(form.space), int(text.isspace())]


def shape(text: str) -> str:
    """The shape of a word as spaCy defines it: its classes of characters, with runs shortened.

    >>> shape("Hausdorff"), shape("x_12")
    ('Xxxxx', 'x_dd')
    """
    if len(text) >= LONGEST_SHAPE:
        return "LONG"
    kinds: list[str] = []
    last, run = "", 0
    for character in text:
        kind = character
        if character.isalpha():
            kind = "X" if character.isupper() else "x"
        elif character.isdigit():
            kind = "d"
        last, run = kind, run + 1 if kind == last else 1
        if run <= LONGEST_RUN:
            kinds.append(kind)
    return "".join(kinds)


def move_names(moves: dict[str, dict[str, int]]) -> list[str]:
    """The names of a parser's moves in the order of its output: by action, the most frequent labels first."""
    result: list[str] = []
    later: list[str] = []
    for action, labels in sorted(moves.items()):
        for count, label in sorted(((count, label) for label, count in labels.items()), reverse=True):
            name = f"{_ACTIONS[int(action)]}-{label}" if label else _ACTIONS[int(action)]
            (result if count >= 0 else later).append(name)
    if later:
        raise ValueError("labels were added to the parser after training")
    return result
