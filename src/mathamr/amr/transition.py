"""IBM's transition parser (https://github.com/IBM/transition-amr-parser), the one MathAMR+ was built with."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from mathamr.amr.graph import Amr
from mathamr.amr.model import model_fingerprint, results_of
from mathamr.core.errors import MathAMRError, MissingExtraError

DEFAULT_MODEL = "AMR3-structbart-L"
_PACKAGE = "transition-neural-parser"


class TransitionParser:
    """Structured BART; `model` is a checkpoint file, or a name of the package's own list, which it downloads."""

    name = "transition"

    def __init__(self, model: str | None = None) -> None:
        try:
            module = import_module("transition_amr_parser.parse")
        except ModuleNotFoundError as error:
            missing = (error.name or "").partition(".")[0]
            if missing != "transition_amr_parser":
                raise MissingExtraError(
                    f"{missing}, which IBM's parser needs,", f"pip install {missing}"
                ) from error
            raise MissingExtraError(
                "IBM's transition parser", f"pip install {_PACKAGE} torch-scatter"
            ) from error
        self.model = model or DEFAULT_MODEL
        checkpoint = Path(self.model).expanduser()
        if not checkpoint.is_file() and (checkpoint.suffix == ".pt" or len(checkpoint.parts) > 1):
            raise MathAMRError(
                f"no checkpoint at {checkpoint}: give --model the path of a checkpoint_….pt file beside its "
                f"dictionaries, or a name such as {DEFAULT_MODEL} or doc-sen-conll-amr-seed42 to download one"
            )
        self.checkpoint = checkpoint if checkpoint.is_file() else None
        try:
            # The package prints while it loads and parses, and stdout is data.
            with contextlib.redirect_stdout(sys.stderr):
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
        """The package's version and the model's name or file."""
        try:
            its_version = version(_PACKAGE)
        except PackageNotFoundError:  # installed from a clone
            its_version = "unknown"
        return model_fingerprint(f"transition-{its_version}-{self.model}", self.checkpoint)

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        """One graph for every sentence, with the parser's own tokens and alignments."""
        with contextlib.redirect_stdout(sys.stderr):
            tokens = [self._parser.tokenize(sentence)[0] for sentence in sentences]
            # A sentence without a token would fail its whole batch.
            texts, _ = self._parser.parse_sentences([its_tokens or ["."] for its_tokens in tokens])
        return results_of(texts)
