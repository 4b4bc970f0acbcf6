"""`TextEncoder`: vectors of a post's formulas, sentences and complete text, each read in its context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from mathamr.core.arrays import FloatArray
from mathamr.core.batches import portions
from mathamr.core.cancellation import check_cancelled
from mathamr.core.device import chosen_device
from mathamr.core.memory import give_back
from mathamr.core.prioritylock import give_way
from mathamr.text.configuration import WINDOW, WINDOWS
from mathamr.text.textvectors import TextVectors
from mathamr.text.transformer import Transformer
from mathamr.text.wordpieces import MOST_CHARACTERS, Pieces, WordPieces

if TYPE_CHECKING:
    from mathamr.text.wording import Wording

AT_A_TIME = 256
"""The number of posts that are sorted by length before they are encoded, so that there is little padding."""
BUDGET, GPU_BUDGET = 4_096, 1 << 17
"""The number of pieces in the transformer at a time, including padding: on a processor, and on a GPU, which would idle with fewer."""
STEP = 32
"""Row widths are multiples of this, and row counts are powers of two or three times one: torch's libraries cache
something for every shape, and attention is faster with round numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class PieceBatch:
    """Rows of pieces for the transformer, and the members of spans among all states of the batch."""

    rows: tuple[tuple[Tensor, Tensor], ...]
    members: Tensor
    offsets: Tensor

    def to(self, device: torch.device) -> PieceBatch:
        """Return the batch on a device."""
        return PieceBatch(
            tuple((n.to(device, non_blocking=True), k.to(device, non_blocking=True)) for n, k in self.rows),
            self.members.to(device, non_blocking=True),
            self.offsets.to(device, non_blocking=True),
        )


class TextEncoder:
    """Encodes wordings with a transformer: one pass over a post gives the vectors of all its parts."""

    def __init__(
        self,
        model: Transformer,
        pieces: WordPieces,
        *,
        device: str = "cpu",
        fingerprint: str = "",
    ) -> None:
        self.device = chosen_device(device)
        self.model = model.to(self.device).eval()
        self.pieces, self.fingerprint = pieces, fingerprint
        self.size = model.configuration.projection or model.configuration.size

    def encode(self, wordings: Iterable[Wording], windows: int = WINDOWS) -> Iterator[TextVectors]:
        """Yield the vectors of every wording's spans in its first windows, in the order of the wordings."""
        for chosen in portions(wordings, AT_A_TIME, lambda wording: len(wording.text), MOST_CHARACTERS):
            cut = [pieces.cut(WINDOW * windows) for pieces in self.pieces.cut(chosen)]
            yield from self.encode_pieces(cut)
            if len(chosen) == AT_A_TIME:
                give_back()

    def encode_pieces(self, posts: Sequence[Pieces], budget: int | None = None) -> list[TextVectors]:
        """Return the vectors of the spans of cut wordings, in order."""
        budget = budget or (BUDGET if self.device.type == "cpu" else GPU_BUDGET)
        order = sorted(range(len(posts)), key=lambda place: -len(posts[place]))
        found: list[TextVectors | None] = [None] * len(posts)
        for places in _within_budget(order, posts, budget):
            chosen = [posts[place] for place in places]
            vectors = self._vectors(chosen, budget)
            cuts = np.cumsum([len(pieces.of) for pieces in chosen])[:-1]
            for place, rows in zip(places, np.split(vectors, cuts), strict=True):
                found[place] = TextVectors(posts[place].of, rows)
        return [vectors for vectors in found if vectors is not None]

    def _vectors(self, posts: Sequence[Pieces], budget: int) -> FloatArray:
        # Only a post that stands alone can be larger than the budget.
        groups = max(1, -(-len(posts[0]) // budget)) if len(posts) == 1 else 1
        batch = batch_of(posts, self.pieces, groups).to(self.device)
        with torch.inference_mode(), precision(self.device):
            vectors = vectors_of(self.model, batch)
        return vectors.float().cpu().numpy()


def vectors_of(model: Transformer, batch: PieceBatch) -> Tensor:
    """Return the vectors of all spans of a batch."""
    size = model.configuration.size
    states = []
    for numbers, lengths in batch.rows:
        give_way()
        check_cancelled()
        states.append(model(numbers, lengths).reshape(-1, size))
    return model.pooled(torch.cat(states), batch.members, batch.offsets)


def batch_of(posts: Sequence[Pieces], pieces: WordPieces, groups: int = 1) -> PieceBatch:
    """Arrange posts as rows of windows, in groups of similar length, each padded separately.

    A span over a complete post includes the start and end marks, as the mean of Sentence-BERT does.
    """
    windows = [
        (post, start) for post, cut in enumerate(posts) for start in range(0, max(1, len(cut)), WINDOW)
    ]
    windows.sort(key=lambda window: -min(WINDOW, len(posts[window[0]]) - window[1]))
    rows: list[tuple[Tensor, Tensor]] = []
    # The position of the state of each piece of each post.
    places = [np.zeros(len(cut), np.int64) for cut in posts]
    marks: list[list[int]] = [[] for _ in posts]
    done = 0
    for group in np.array_split(np.arange(len(windows)), min(groups, max(1, len(windows)))):
        if not len(group):
            continue
        chosen = [windows[number] for number in group]
        cuts = [posts[post].numbers[start : start + WINDOW] for post, start in chosen]
        width = -(-(max(len(cut) for cut in cuts) + 2) // STEP) * STEP
        # Padding rows have only their marks.
        numbers = np.full((_rounded(len(cuts)), width), pieces.pad, np.int64)
        numbers[:, :2] = pieces.begin, pieces.end
        for row, (cut, (post, start)) in enumerate(zip(cuts, chosen, strict=True)):
            numbers[row, 1 : 1 + len(cut)] = cut
            numbers[row, 1 + len(cut)] = pieces.end
            first = done + row * width + 1
            places[post][start : start + len(cut)] = np.arange(first, first + len(cut))
            marks[post] += [first - 1, first + len(cut)]
        lengths = np.full(len(numbers), 2, np.int64)
        lengths[: len(cuts)] += [len(cut) for cut in cuts]
        rows.append((torch.from_numpy(numbers), torch.from_numpy(lengths)))
        done += numbers.size
    members = [
        np.append(places[post], marks[post]) if end - start == len(cut) else places[post][start:end]
        for post, cut in enumerate(posts)
        for start, end in zip(cut.starts, cut.ends, strict=True)
    ]
    counts = np.array([len(member) for member in members], np.int64)
    offsets = np.cumsum(counts) - counts
    flat = np.concatenate(members) if members else np.zeros(0, np.int64)
    return PieceBatch(tuple(rows), torch.from_numpy(flat), torch.from_numpy(offsets))


def _rounded(rows: int) -> int:
    """Return the least of 1, 2, 3, 4, 6, 8, 12, 16, … that is at least the number."""
    power = 1 << (rows - 1).bit_length()
    return min(size for size in (power, power * 3 // 4) if size >= rows)


def precision(device: torch.device) -> AbstractContextManager[object]:
    """Return the context for products: sixteen bits if the device multiplies them faster."""
    if device.type == "cuda" or (device.type == "cpu" and _multiplies_bfloat16()):
        return torch.autocast(device.type, torch.bfloat16)
    return nullcontext()


def _multiplies_bfloat16() -> bool:
    """Return True if this processor has instructions for products of bfloat16 matrices."""
    has_amx = getattr(torch.cpu, "_is_amx_tile_supported", None)
    return bool(has_amx and has_amx())


def _within_budget(order: Sequence[int], posts: Sequence[Pieces], budget: int) -> Iterator[list[int]]:
    """Group posts in order of length, the longest first, as many at a time as fit the budget."""
    waiting: list[int] = []
    rows = width = 0
    for place in order:
        windows = max(1, -(-len(posts[place]) // WINDOW))
        widest = min(WINDOW, len(posts[place])) + 2
        if waiting and (rows + windows) * max(width, widest) > budget:
            yield waiting
            waiting, rows, width = [], 0, 0
        waiting.append(place)
        rows, width = rows + windows, max(width, widest)
    if waiting:
        yield waiting
