"""The parse models of amrlib (https://amrlib.readthedocs.io): BART, T5 and SPRING."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mathamr.amr.graph import Amr
from mathamr.amr.model import imported, missing_part, model_fingerprint, quiet, results_of
from mathamr.core.errors import MathAMRError

_MODELS = "https://github.com/bjascob/amrlib-models"


class AmrlibParser:
    """Any sentence-to-graph model of amrlib; `model` is its folder, by default amrlib's own `model_stog`."""

    name = "amrlib"

    def __init__(self, model: str | None = None) -> None:
        self._amrlib = imported("amrlib", "amrlib", "pip install amrlib")
        self.folder = (
            Path(model).expanduser() if model else Path(self._amrlib.defaults.data_dir) / "model_stog"
        )
        if not self.folder.is_dir():
            raise MathAMRError(
                f"no amrlib model at {self.folder}: download a model_parse_… archive from {_MODELS}, unpack it, and "
                f"give its folder with --model, or put it there"
            )
        try:
            with quiet():
                self._model = self._amrlib.load_stog_model(model_dir=str(self.folder))
        except ModuleNotFoundError as error:
            raise missing_part(error.name, "this amrlib model") from error
        except (OSError, KeyError, ValueError, TypeError, AttributeError, ImportError, RuntimeError) as error:
            raise MathAMRError(f"the amrlib model at {self.folder} cannot be loaded: {error}") from error

    @property
    def fingerprint(self) -> str:
        """amrlib's version and the model's files."""
        return model_fingerprint(f"amrlib-{self._amrlib.__version__}", self.folder)

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        """Return one graph for every sentence; amrlib returns none if its output is not Penman."""
        with quiet():
            texts = self._model.parse_sents(list(sentences), add_metadata=False)
        return results_of(texts)
