"""MaRF's model folder: the learned weights in sixteen or eight bits and the name of the text encoder they change; no pickles.

config.json           the sizes, the text encoder it starts from, hashes of the other files
weights.safetensors   changes of low rank and added embeddings, the formula encoder, the fusion, principal components
mathtokens.txt        one LaTeX command per line that the text encoder reads as one word
latextokens.txt       one normalised LaTeX token per line
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mathamr.core.errors import MathAMRError
from mathamr.core.modelfolder import WEIGHTS, ModelFolder, write_model_folder
from mathamr.core.storage.plainfiles import read_description
from mathamr.core.tensorfile import read_tensors, tensor_bytes, under, use_weights
from mathamr.core.unfilled import unfilled
from mathamr.systems.baseencoder import checked_base_encoder
from mathamr.systems.layers.lowrank import merge
from mathamr.systems.marf.configuration import MarfConfiguration
from mathamr.systems.marf.mathtokens import MathTokens
from mathamr.systems.marf.network import ContextEncoder, FormulaEncoder, MarfNetwork
from mathamr.systems.marf.postinput import InputReader, LatexVocabulary
from mathamr.text.encoder import TextEncoder
from mathamr.text.torchfolder import restored
from mathamr.text.wordpieces import WordPieces

MATH_TOKENS, LATEX_TOKENS = "mathtokens.txt", "latextokens.txt"
_TRANSFORMER, _ADDED, COMPONENTS = "context.transformer.", "context.transformer.pieces.added", "components"


@dataclass(frozen=True, slots=True, eq=False)
class MarfVocabularies:
    """The vocabularies for text and formulas."""

    mathematics: MathTokens
    latex: LatexVocabulary

    def reader(self, pieces: WordPieces, configuration: MarfConfiguration) -> InputReader:
        """Make the reader of posts for a model; `pieces` are those of the base."""
        return InputReader(
            self.mathematics.added_to(pieces),
            self.mathematics,
            self.latex,
            length=configuration.length,
            formula_length=configuration.formula_length,
            normalised=configuration.normalised,
        )

    def files(self) -> dict[str, bytes]:
        """Return the two files of a folder by name."""
        commands = "".join(f"{command}\n" for command in self.mathematics.commands)
        return {MATH_TOKENS: commands.encode(), LATEX_TOKENS: self.latex.to_text().encode()}

    def save(self, folder: Path) -> None:
        """Write both files."""
        for name, content in self.files().items():
            (folder / name).write_bytes(content)

    @classmethod
    def load(cls, folder: Path) -> MarfVocabularies:
        """Read the vocabularies of a folder."""
        path = folder / MATH_TOKENS
        try:
            commands = read_description(path).decode().split()
        except (OSError, UnicodeDecodeError) as error:
            raise MathAMRError(f"cannot read the mathematical tokens in {path}: {error}") from error
        return cls(MathTokens(commands), LatexVocabulary.load(folder / LATEX_TOKENS))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MarfModel:
    """A loaded model: the network, its input reader, and the weights it was built from."""

    name: str
    configuration: MarfConfiguration
    base_fingerprint: str
    vocabularies: MarfVocabularies
    network: MarfNetwork
    components: Tensor
    reader: InputReader
    weights: dict[str, Tensor]
    about: dict[str, Any]


def made_model(
    base: TextEncoder,
    vocabularies: MarfVocabularies,
    configuration: MarfConfiguration,
    weights: dict[str, Tensor],
    *,
    name: str = "marf",
    about: dict[str, Any] | None = None,
    source: Path | None = None,
) -> MarfModel:
    """Build the network from stored weights; changes are merged into the layers they change."""
    source = source or Path(WEIGHTS)
    stored, weights = weights, restored(weights)
    reader = vocabularies.reader(base.pieces, configuration)
    fingerprint = base.fingerprint
    transformer = base.model
    transformer.head = None
    changes = {
        each.removeprefix(_TRANSFORMER): value
        for each, value in weights.items()
        if each.startswith(_TRANSFORMER) and each != _ADDED
    }
    merge(transformer, changes)
    try:
        added, components = weights[_ADDED].float(), weights[COMPONENTS].float()
    except KeyError as error:
        raise MathAMRError(f"{source} holds the weights of another model: {error} is missing") from error
    kept = transformer.pieces.weight.detach()
    if added.shape != (len(vocabularies.mathematics.commands), kept.shape[1]):
        raise MathAMRError(f"{source}: the added tokens are not those of {MATH_TOKENS}")
    if components.shape != (configuration.size, configuration.stored):
        raise MathAMRError(
            f"{source}: the principal components have a different size than the configuration requires"
        )
    transformer.pieces = nn.Embedding.from_pretrained(torch.cat([kept, added.to(kept)]))  # type: ignore[no-untyped-call]
    transformer.configuration = replace(
        transformer.configuration, pieces=len(transformer.pieces.weight), projection=0
    )
    context = ContextEncoder(transformer, transformer.configuration.size, configuration.size)
    with unfilled():
        formula = FormulaEncoder(configuration, len(vocabularies.latex))
        empty = MarfNetwork(context, formula, configuration)
    use_weights(context.head, under(weights, "context.head."), source)
    use_weights(formula, under(weights, "formula."), source)
    use_weights(empty.fusion, under(weights, "fusion."), source)
    return MarfModel(
        name=name,
        configuration=configuration,
        base_fingerprint=fingerprint,
        vocabularies=vocabularies,
        network=empty.eval(),
        components=components,
        reader=reader,
        weights=stored,
        about=about or {},
    )


def save_marf(folder: Path, model: MarfModel, system: str = "marf") -> None:
    """Write the folder that `load_marf` reads."""
    write_model_folder(
        folder,
        {
            "system": system,
            "name": model.name,
            "configuration": model.configuration.to_json(),
            "base": {"name": model.configuration.base, "fingerprint": model.base_fingerprint},
        },
        {WEIGHTS: tensor_bytes(model.weights), **model.vocabularies.files()},
        model.about,
    )


def load_marf(folder: Path) -> MarfModel:
    """Read the model of a folder after checking the hashes of its files."""
    read = ModelFolder.read(folder, "MaRF model")
    with read.parsing():
        configuration = MarfConfiguration.from_json(dict(read.config["configuration"]))
        fingerprint, name = str(read.config["base"]["fingerprint"]), str(read.config["name"])
    weights = read.file(WEIGHTS)
    for each in (MATH_TOKENS, LATEX_TOKENS):
        read.file(each)
    return made_model(
        checked_base_encoder(configuration.base, fingerprint, "cpu", str(folder)),
        MarfVocabularies.load(folder),
        configuration,
        read_tensors(weights),
        name=name,
        about=read.about("system", "name", "configuration", "base"),
        source=weights,
    )
