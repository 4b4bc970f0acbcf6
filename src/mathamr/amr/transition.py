"""IBM's transition parser (https://github.com/IBM/transition-amr-parser), the one MathAMR+ was built with."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from mathamr.amr.graph import Amr
from mathamr.amr.model import imported, model_fingerprint, quiet, results_of
from mathamr.core.errors import MathAMRError

DEFAULT_MODEL = "AMR3-structbart-L"
_PACKAGE = "transition-neural-parser"


class TransitionParser:
    """Structured BART; `model` is a checkpoint file, or a name of the package's own list, which it downloads."""

    name = "transition"

    def __init__(self, model: str | None = None) -> None:
        install = f"pip install {_PACKAGE} torch-scatter"
        module = imported("transition_amr_parser.parse", "IBM's transition parser", install)
        self.model = model or DEFAULT_MODEL
        checkpoint = Path(self.model).expanduser()
        if not checkpoint.is_file() and (checkpoint.suffix == ".pt" or len(checkpoint.parts) > 1):
            raise MathAMRError(
                f"no checkpoint at {checkpoint}: give --model the path of a checkpoint_….pt file beside its "
                f"dictionaries, or a name such as {DEFAULT_MODEL} or doc-sen-conll-amr-seed42 to download one"
            )
        self.checkpoint = checkpoint if checkpoint.is_file() else None
        try:
            with quiet():
                if self.checkpoint:
                    self._parser: Any = module.AMRParser.from_checkpoint(str(self.checkpoint))
                else:
                    self._parser = module.AMRParser.from_pretrained(self.model)
        except Exception as error:  # the package raises bare exceptions
            raise MathAMRError(
                f"IBM's parser cannot load {self.model!r}: {error}; give --model a checkpoint file or a model's name"
            ) from error

    @property
    def fingerprint(self) -> str:
        """Return the package's version and the model's name or file."""
        try:
            its_version = version(_PACKAGE)
        except PackageNotFoundError:  # installed from a clone
            its_version = "unknown"
        return model_fingerprint(f"transition-{its_version}-{self.model}", self.checkpoint)

    @property
    def documents(self) -> bool:
        """True for a model of documents, such as the thesis's: it resolves coreference between sentences."""
        return any(part.startswith("doc") for part in Path(self.model).parts)

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        """Return one graph for every text, with the parser's own tokens and alignments; a text of several lines is a document."""
        with quiet():
            # A sentence without a token would fail its whole batch.
            texts = [
                [self._parser.tokenize(line)[0] or ["."] for line in text.split("\n")] for text in sentences
            ]
            found: dict[int, str | None] = {}
            for parse, numbers in (
                (self._parser.parse_docs, [n for n, text in enumerate(texts) if len(text) > 1]),
                (self._parser.parse_sentences, [n for n, text in enumerate(texts) if len(text) == 1]),
            ):
                if numbers:
                    chosen = [texts[n] if len(texts[n]) > 1 else texts[n][0] for n in numbers]
                    found |= zip(numbers, parse(chosen)[0], strict=True)
        return results_of([found[number] for number in range(len(texts))])
