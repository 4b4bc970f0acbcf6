"""`StateEncoder`: the text encoder that MathAMR and MaRF are trained from."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError
from mathamr.core.tensorfile import halved
from mathamr.systems.layers.lowrank import merge
from mathamr.systems.marf.mathtokens import MathTokens
from mathamr.text.encoder import TextEncoder
from mathamr.text.torchfolder import quantised, restored
from mathamr.text.transformer import Transformer
from mathamr.text.wording import Span, Wording
from mathamr.text.wordpieces import UNKNOWN, WordPieces
from mathamr_lab.training.lowrank import add_changes, changes_between, changes_of

TUNINGS = ("full", "low-rank")
"""Which weights of a base are trained: all, or changes of low rank beside every linear layer."""


class StateEncoder(nn.Module):
    """A text encoder whose states of tokens (rows, width, size) are trained further; LaTeX `commands` become words of its vocabulary."""

    def __init__(
        self,
        encoder: TextEncoder,
        name: str,
        *,
        tuning: str = "full",
        rank: int = 16,
        commands: MathTokens | None = None,
        projected: bool = True,
    ) -> None:
        super().__init__()
        if tuning not in TUNINGS:
            raise MathAMRError(f"unknown tuning {tuning!r} of a base; known: {', '.join(TUNINGS)}")
        self.name, self.tuning = name, tuning
        self.fingerprint = encoder.fingerprint
        self.model, self._commands = encoder.model, commands or MathTokens([])
        if not projected:
            self.model.head = None
        self._before = {key: value.detach().clone() for key, value in self.model.state_dict().items()}
        own = encoder.pieces
        self.model.requires_grad_(tuning == "full")
        if tuning == "low-rank":
            add_changes(self.model, rank)
        if commands is not None:
            _add_words(self.model, own, commands)
        self.pieces = self._commands.added_to(own) if commands is not None else own
        self.size, self.pad, self.mask = self.model.configuration.size, own.pad, own.mask

    @property
    def embeddings(self) -> Tensor:
        """The embeddings of all pieces, those of commands last."""
        return self.model.pieces.weight

    def numbers(self, texts: Sequence[str], length: int) -> list[AnyArray]:
        """Return the pieces of texts with both marks."""
        spelled = [self._commands.spelled(text) for text in texts]
        wordings = [Wording(text, (Span(0, 0, len(text)),)) for text in spelled]
        return [
            np.array([self.pieces.begin, *each.numbers[: length - 2], self.pieces.end], np.int32)
            for each in self.pieces.cut(wordings)
        ]

    def forward(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        """Return the last states."""
        found: Tensor = self.model(numbers, lengths)
        return found

    def vectors(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Return the unit means of states, projected as the encoder does it."""
        if self.model.head is None:
            return mean_vectors(states, lengths)
        real = (torch.arange(states.shape[1], device=states.device) < lengths[:, None])[..., None]
        means = (states.float() * real).sum(1) / lengths[:, None].clamp(min=1)
        return functional.normalize(self.model.head(means).float(), dim=-1)

    @torch.no_grad()
    def use_stored(self, rank: int) -> None:
        """Replace what was learned by the base with changes of this rank, as a folder stores them."""
        changes = restored(quantised(self.changes(rank)))
        place = next(self.model.parameters()).device
        plain = Transformer(self.model.configuration)
        plain.head = None if self.model.head is None else plain.head
        plain.load_state_dict(self._before)
        merge(plain, changes)
        for name, value in plain.state_dict().items():
            own = (
                name
                if isinstance(self.model.pieces, nn.Embedding)
                else name.replace("pieces.", "pieces.kept.")
            )
            self.model.get_parameter(own).copy_(value.to(place))

    def rounded(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return weights as a folder stores them: in sixteen bits; after a full training matrices in eight."""
        matrices = {name: each for name, each in weights.items() if each.ndim == 2 and self.tuning == "full"}
        others = {name: each for name, each in weights.items() if name not in matrices}
        return {**quantised(matrices), **halved(others)}

    def changes(self, rank: int) -> dict[str, Tensor]:
        """Return what was learned as changes to the base: as they are, or of a full training those of this rank."""
        if self.tuning != "full":
            return changes_of(self.model)
        learned = {
            name.replace("pieces.kept.", "pieces."): value.detach().cpu()
            for name, value in self.model.state_dict().items()
            if name != "pieces.added"
        }
        return changes_between(self._before, learned, rank)


def _add_words(model: Transformer, own: WordPieces, commands: MathTokens) -> None:
    """Append a word for each command to a vocabulary, each with the embedding of the piece that spells it or its first letter."""
    number = {piece: place for place, piece in enumerate(own.vocabulary)}
    unknown = number.get(UNKNOWN, own.pad)
    kept = model.pieces
    assert isinstance(kept, nn.Embedding)
    layer = AddedPieces(kept, len(commands.commands))
    with torch.no_grad():
        for place, command in enumerate(commands.commands):
            spelled = number.get(command.lower(), number.get(command[0].lower(), unknown))
            layer.added[place] = kept.weight[spelled]
    model.pieces = layer  # type: ignore[assignment]


class AddedPieces(nn.Module):
    """The embeddings of a vocabulary, and trainable ones of words appended to it."""

    def __init__(self, kept: nn.Embedding, added: int) -> None:
        super().__init__()
        self.kept = kept
        self.added = nn.Parameter(torch.zeros(added, kept.embedding_dim, device=kept.weight.device))

    @property
    def weight(self) -> Tensor:
        """All embeddings, the added ones last."""
        return torch.cat([self.kept.weight, self.added])

    def forward(self, numbers: Tensor) -> Tensor:
        """Return the embeddings of pieces."""
        return functional.embedding(numbers, self.weight)


def plain_line(line: str) -> str:
    """Return a line with mathematical letters, as OPTs have them, made plain; an empty one becomes a question mark."""
    return unicodedata.normalize("NFKC", line).strip() or "?"


def mean_vectors(states: Tensor, lengths: Tensor) -> Tensor:
    """Return the unit means of the states within each row's length."""
    real = torch.arange(states.shape[1], device=states.device) < lengths[:, None]
    return functional.normalize((states.float() * real[..., None]).sum(1), dim=-1)
