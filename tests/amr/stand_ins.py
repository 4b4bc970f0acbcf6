"""Stand-ins for amrlib 0.8 and transition-neural-parser 0.5, at the interfaces those packages really have."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from mathamr.amr.graph import Amr, string


def penman_of(tokens: list[str], isi: bool = False) -> str:
    """A graph in which all words hang under the first one; formulas become names, as big parsers make them."""
    nodes = []
    for number, token in enumerate(tokens):
        marker = f"~{number}" if isi else ""
        if token.startswith("FORMULA_"):
            nodes.append(f"(v{number} / thing :name (w{number} / name :op1 {string(token)}{marker}))")
        else:
            nodes.append(f"(v{number} / {string(token)}{marker})")
    inner = "".join(f" :op{number} {node}" for number, node in enumerate(nodes, start=1))
    return f"(a / and{inner})" if nodes else "(a / amr-empty)"


def words(sentence: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", sentence)


class StogModel:
    """As `amrlib.models.inference_bases.STOGInferenceBase` declares it."""

    def parse_sents(
        self, sents: list[str], add_metadata: bool = True, disable_progress: bool = True
    ) -> list[str | None]:
        assert isinstance(sents, list)
        print("amrlib chatters")
        graphs = [
            None if "GIBBERISH" in s else "()" if "BACKOFF" in s else penman_of(words(s)) for s in sents
        ]
        if add_metadata:
            return [f"# ::snt {s}\n{g}" if g else None for s, g in zip(sents, graphs, strict=True)]
        return list(graphs)


@pytest.fixture
def amrlib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The package `amrlib`, without a model yet; `data_dir/model_stog` is where its default one belongs."""

    def load_stog_model(model_dir: str | None = None, **kwargs: Any) -> StogModel:
        if not (Path(str(model_dir)) / "amrlib_meta.json").is_file():
            raise FileNotFoundError(
                2, "No meta-data (amrlib_meta.json or hard-coded) available for", model_dir
            )
        return StogModel()

    module = ModuleType("amrlib")
    module.__dict__.update(
        __version__="0.8.1",
        defaults=SimpleNamespace(data_dir=str(tmp_path / "data")),
        load_stog_model=load_stog_model,
    )
    monkeypatch.setitem(sys.modules, "amrlib", module)
    return module


def amrlib_model(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "amrlib_meta.json").write_text("{}")
    return folder


class AMRParser:
    """As `transition_amr_parser.parse.AMRParser` has it."""

    def __init__(self, origin: str) -> None:
        self.origin = origin

    @classmethod
    def from_pretrained(cls, model_name: str, beam: int = 1, **kwargs: Any) -> AMRParser:
        if model_name not in ("AMR3-structbart-L", "doc-sen-conll-amr-seed42"):
            raise ValueError("The model_name provided in not in our library")
        print("load from cache")
        return cls(model_name)

    @classmethod
    def from_checkpoint(cls, checkpoint: str, beam: int = 1, **kwargs: Any) -> AMRParser:
        assert Path(checkpoint).is_file()
        return cls(checkpoint)

    def tokenize(self, sentence: str) -> tuple[list[str], list[tuple[int, int]]]:
        assert isinstance(sentence, str)
        return words(sentence), [match.span() for match in re.finditer(r"\w+|[^\w\s]", sentence)]

    def parse_sentences(
        self, batch: list[list[str]], batch_size: int = 128
    ) -> tuple[list[str], list[object]]:
        print("Running on batch size: " + str(batch_size))
        if not all(batch):
            raise Exception("Did not expect empty sample")
        annotations = []
        for tokens in batch:
            if "GIBBERISH" in tokens:
                annotations.append("(a / and :op1 (b / boy)")
                continue
            graph = penman_of(tokens, isi=True)
            annotations.append(f"# ::tok {' '.join(tokens)}\n{graph}\n")
            Amr.from_penman(annotations[-1])
        return annotations, [object() for _ in batch]

    def parse_docs(self, docs: list[list[list[str]]]) -> tuple[list[str], list[object]]:
        """One graph a document: `:snt1`…, and "it" is the first word of the sentence before, which is one node then."""
        self.documents = [[*doc] for doc in docs]
        annotations = []
        for doc in docs:
            if any("GIBBERISH" in tokens for tokens in doc):
                annotations.append("(m / multi-sentence :snt1 (b / boy)")
                continue
            parts, place = [], 0
            for number, tokens in enumerate(doc):
                inner = " ".join(
                    f":op{at + 1} "
                    + (
                        f"v{number - 1}x0"
                        if token == "it" and number
                        else f"(v{number}x{at} / {string(token)}~{place + at})"
                    )
                    for at, token in enumerate(tokens)
                )
                parts.append(f":snt{number + 1} (a{number} / and {inner})")
                place += len(tokens)
            flat = " ".join(token for tokens in doc for token in tokens)
            annotations.append(f"# ::tok {flat}\n(m / multi-sentence {' '.join(parts)})\n")
        return annotations, [object() for _ in docs]


@pytest.fixture
def transition(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The package `transition_amr_parser`."""
    package, module = ModuleType("transition_amr_parser"), ModuleType("transition_amr_parser.parse")
    module.__dict__["AMRParser"] = AMRParser
    monkeypatch.setitem(sys.modules, "transition_amr_parser", package)
    monkeypatch.setitem(sys.modules, "transition_amr_parser.parse", module)
    return module
