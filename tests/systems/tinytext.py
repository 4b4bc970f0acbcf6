"""MathAMR and MaRF as small as they can be: untrained, over a text encoder of one layer that knows single letters."""

from __future__ import annotations

import string
from dataclasses import replace
from pathlib import Path

import torch

from mathamr.core.tensorfile import halved
from mathamr.systems.marf.configuration import CONFIGURATIONS, MarfConfiguration
from mathamr.systems.marf.mathtokens import MathTokens
from mathamr.systems.marf.model import MarfVocabularies, made_model
from mathamr.systems.marf.network import MarfNetwork
from mathamr.systems.marf.postinput import PAD as LATEX_PAD
from mathamr.systems.marf.postinput import UNKNOWN as LATEX_UNKNOWN
from mathamr.systems.marf.postinput import LatexVocabulary
from mathamr.systems.marf.system import MarfSystem, PublishedMarfSystem
from mathamr.systems.mathamr.configuration import MathAMRConfiguration
from mathamr.systems.mathamr.system import MathAMRSystem
from mathamr.text.encoder import TextEncoder
from mathamr.text.torchfolder import load_text_encoder, save_text_encoder
from mathamr.text.transformer import Transformer, TransformerConfiguration
from mathamr.text.wordpieces import WordPieces
from mathamr_lab.systems.marf.freshnetwork import fresh_network, stored_weights
from mathamr_lab.systems.stateencoder import StateEncoder
from mathamr_lab.training.lowrank import add_changes, changes_of

LETTERS = [*string.ascii_lowercase, *string.digits, *"$^_={}+-.,?\\"]
PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *LETTERS,
    *(f"##{letter}" for letter in string.ascii_lowercase),
]
VOCABULARIES = MarfVocabularies(
    MathTokens(["frac", "sum"]),
    LatexVocabulary(
        [LATEX_PAD, LATEX_UNKNOWN, *string.ascii_lowercase, *"{}+=^_<", "\\frac", "\\sum", "1", "2"]
    ),
)


def tiny_base(folder: Path) -> Path:
    """The folder of a text encoder that is not trained."""
    if not folder.exists():
        torch.manual_seed(5)
        shape = TransformerConfiguration(
            pieces=len(PIECES), size=16, layers=1, heads=2, inner=32, positions=260, dropout=0.0
        )
        save_text_encoder(folder, TextEncoder(Transformer(shape), WordPieces(PIECES)))
    return folder


def tiny_mathamr(base: Path, context: str = "amr-opt") -> MathAMRSystem:
    """MathAMR with changes that do change something."""
    torch.manual_seed(6)
    changed = load_text_encoder(base, "cpu")
    add_changes(changed.model, 2)
    for name, parameter in changed.model.named_parameters():
        if name.endswith(".up"):
            torch.nn.init.normal_(parameter, std=0.1)
    configuration = MathAMRConfiguration(context=context, base=str(base), rank=2, length=64)
    return MathAMRSystem(load_text_encoder(base, "cpu"), configuration, halved(changes_of(changed.model)))


def tiny_marf(base: Path) -> MarfSystem:
    """MaRF with a fusion that does change something."""
    torch.manual_seed(7)
    configuration = CONFIGURATIONS["tiny"].changed([f'base="{base}"'])
    network = tiny_network(base, configuration)
    torch.nn.init.normal_(network.fusion.outer.weight, std=0.3)
    weights = stored_weights(network, torch.eye(configuration.size)[:, : configuration.stored])
    model = made_model(load_text_encoder(base, "cpu"), VOCABULARIES, configuration, weights)
    return MarfSystem(model, "cpu")


def tiny_published_marf(base: Path) -> PublishedMarfSystem:
    """MaRF with the post as the context of formulas."""
    model = tiny_marf(base).model
    return PublishedMarfSystem(replace(model, name="marf-paper"), "cpu")


def tiny_network(base: Path, configuration: MarfConfiguration, tuning: str = "low-rank") -> MarfNetwork:
    """A network that starts from the tiny base."""
    text = StateEncoder(
        load_text_encoder(base, "cpu"),
        str(base),
        tuning=tuning,
        rank=configuration.rank,
        commands=VOCABULARIES.mathematics,
        projected=False,
    )
    return fresh_network(text, configuration, len(VOCABULARIES.latex))
