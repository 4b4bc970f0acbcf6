"""A student of two teachers: a published encoder, and the encoder that training starts from.

Their vectors stand side by side, so that the student learns from the one and keeps what it knows from the other. The
student's vectors, mapped linearly, should have that direction, and the similarities within a batch of neighbouring passages
should be those of the teachers; pairs of question and answer are contrasted besides.
"""

from __future__ import annotations

import zlib
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from mathamr.core.arrays import IntArray
from mathamr.core.errors import MathAMRError
from mathamr.text.encoder import BUDGET, GPU_BUDGET, TextEncoder
from mathamr.text.torchfolder import save_text_encoder
from mathamr.text.transformer import Transformer
from mathamr.text.wordpieces import WordPieces
from mathamr_lab.systems.text.corpus import TextCorpus, offset
from mathamr_lab.systems.text.materials import DECLARED
from mathamr_lab.systems.text.passages import NONE, Passages
from mathamr_lab.training.losses import alike, info_nce
from mathamr_lab.training.maxsim import there
from mathamr_lab.training.optimiser import Optimiser, ParameterGroup, Schedule
from mathamr_lab.training.plain import PlainTrainer
from mathamr_lab.training.settings import Ranges, TrainingConfiguration

STEP = 16
"""Rows of passages are as wide as a multiple of this."""
PARTS = 8
"""The number of parts of a batch, by length, that are padded separately."""
MOST_FITTED, ROUNDS = 20_000, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageTraining(TrainingConfiguration):
    """The training of a student from passages.

    A batch has `pairs` pairs of question and answer and, for the rest, groups of `group` passages from one of `clusters`
    clusters of the first teacher's vectors. `labels` weighs the contrast of the pairs, `sharpness` is the temperature of
    similarities, `map_rate` the rate of the linear map. `renamed` and `renamed_documents` are the shares of passages and
    questions, and of answers, that are read in other letters where they have such forms. `library` is the share of the pairs
    of a formal library that is used: it has more pairs than all collections of posts together.
    """

    title: ClassVar[str] = "training from passages"
    ranges: ClassVar[Ranges] = {
        "group": (1, 1e6),
        "clusters": (2, 1e6),
        "pairs": (0, 1e6),
        "labels": (0, 1e3),
        "sharpness": (1e-3, 10),
        "map_rate": (0, 1),
        "renamed": (0, 1),
        "renamed_documents": (0, 1),
        "library": (0, 1),
    }

    batch_size: int = 1024
    epochs: int = 8
    learning_rate: float = 4e-4
    warmup: float = 0.05
    group: int = 32
    clusters: int = 2048
    pairs: int = 128
    labels: float = 0.3
    sharpness: float = 0.05
    map_rate: float = 1e-3
    renamed: float = 0.5
    renamed_documents: float = 0.15
    library: float = 1.0


class PassageReader:
    """Passages on a device, arranged as rows for an encoder with the numbers of its vocabulary."""

    def __init__(self, passages: Passages, pieces: WordPieces, device: torch.device) -> None:
        self.device, self._pieces = device, pieces
        self._shift = offset(pieces, passages.vocabulary)
        self._numbers = torch.from_numpy(passages.numbers.astype(np.int32)).to(device)

    def means(
        self, model: nn.Module, weights: dict[str, Tensor], starts: Tensor, lengths: Tensor, width: int
    ) -> Tensor:
        """Return the means of the states of passages, with their marks, in 32 bits."""
        places = torch.arange(width - 1, device=self.device)
        body = (
            self._numbers[(starts[:, None] + places).clamp_(max=len(self._numbers) - 1)].long() + self._shift
        )
        body = torch.where(places < lengths[:, None], body, self._pieces.pad)
        body = torch.where(places == lengths[:, None], self._pieces.end, body)
        begin = torch.full((len(starts), 1), self._pieces.begin, device=self.device)
        states = functional_call(model, weights, (torch.cat([begin, body], 1), lengths + 2))
        kept = torch.arange(width, device=self.device) < lengths[:, None] + 2
        sums: Tensor = torch.einsum("rwd,rw->rd", states.float(), kept.float())
        return sums / (lengths[:, None] + 2)


def width_of(lengths: IntArray) -> int:
    """Return the width of rows for passages of these lengths and their marks."""
    return -(-(int(lengths.max()) + 2) // STEP) * STEP


def low(weights: dict[str, Tensor], device: torch.device, kind: torch.dtype) -> dict[str, Tensor]:
    """Return weights as a GPU multiplies them fast; on a processor they stay."""
    return {name: each.to(kind) if device.type == "cuda" else each for name, each in weights.items()}


@torch.inference_mode()
def passage_vectors(encoder: TextEncoder, passages: Passages) -> npt.NDArray[np.float16]:
    """Return the unit vectors of passages, each read alone."""
    device, reader = encoder.device, PassageReader(passages, encoder.pieces, encoder.device)
    encoder.model.eval()
    weights = low(dict(encoder.model.state_dict()), device, torch.float16)
    budget = GPU_BUDGET if device.type == "cuda" else BUDGET
    order = np.argsort(-passages.lengths, kind="stable")
    found = np.zeros((len(passages), encoder.model.configuration.size), np.float16)
    at = 0
    while at < len(order):
        width = width_of(passages.lengths[order[at : at + 1]])
        chosen = order[at : at + max(1, budget // width)]
        at += len(chosen)
        starts, lengths = (there(array[chosen], device) for array in (passages.starts, passages.lengths))
        means = reader.means(encoder.model, weights, starts, lengths, width)
        vectors = functional.normalize(means, dim=-1)
        found[chosen] = vectors.half().cpu().numpy()
    return found


def clustered(vectors: Tensor, count: int) -> IntArray:
    """Return the cluster of each unit vector, by spherical k-means."""
    count = max(2, min(count, len(vectors) // 64))
    generator = torch.Generator().manual_seed(0)
    centres = vectors[torch.randperm(len(vectors), generator=generator)[:count].to(vectors.device)].float()
    labels = torch.zeros(len(vectors), dtype=torch.long, device=vectors.device)
    for _ in range(ROUNDS):
        labels = torch.cat([(part.float() @ centres.T).argmax(1) for part in _split(vectors)])
        sums = torch.zeros_like(centres)
        for part, own in zip(_split(vectors), _split(labels), strict=True):
            sums.index_add_(0, own, part.float())
        empty = sums.norm(dim=1) == 0
        sums[empty] = centres[empty]
        centres = functional.normalize(sums, dim=-1)
    return labels.cpu().numpy()


def _split(rows: Tensor) -> list[Tensor]:
    return [rows[at : at + (1 << 16)] for at in range(0, len(rows), 1 << 16)]


@dataclass(frozen=True, slots=True, eq=False)
class PassageStep:
    """Passages in parts of similar length, the order in which they were before, their teachers' rows, and the groups of the pairs."""

    parts: tuple[tuple[Tensor, Tensor, int], ...]
    before: Tensor
    taught: Tensor
    groups: Tensor


class Student(nn.Module):
    """An encoder, and the linear map from its vectors to its teachers'."""

    def __init__(self, encoder: Transformer, taught: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.map = nn.Linear(encoder.configuration.size, taught, bias=False)


class FollowingTrainer(PlainTrainer[PassageStep]):
    """Trains a student on passages with the vectors of its teachers, the first teacher's first."""

    unit = "passages"

    def __init__(
        self,
        passages: Passages,
        corpus: TextCorpus,
        base: TextEncoder,
        configuration: PassageTraining,
        taught: npt.NDArray[np.float16],
        first: int,
        device: torch.device,
    ) -> None:
        if len(taught) != len(passages):
            raise MathAMRError(f"the teachers have {len(taught)} vectors for {len(passages)} passages")
        self.passages, self.settings, self.device = passages, configuration, device
        self.fused = device.type == "cuda"
        self._taught = torch.from_numpy(taught).to(device)
        self._checksum = zlib.crc32(np.ascontiguousarray(taught[:: max(1, len(taught) // 1000)]).data)
        known = corpus.of_kinds(["same"]).parted()[0]
        places = passages.wholes[known]
        kept = (places != NONE).all(1) & (known[:, 0] != known[:, 1])
        declared = np.array([corpus.ids[question].startswith(DECLARED) for question in known[:, 0]], np.bool_)
        kept &= ~declared | (np.random.default_rng(2).random(len(known)) < configuration.library)
        self.pairs, self._groups = places[kept], corpus.groups[known[kept, 0]]
        self._clusters = clustered(
            functional.normalize(self._taught[:, :first].float(), dim=-1), configuration.clusters
        )
        self._paired = configuration.pairs if configuration.labels and len(self.pairs) else 0
        if configuration.batch_size <= 2 * self._paired:
            raise MathAMRError(
                f"a batch of {configuration.batch_size} has no room for passages beside {self._paired} pairs"
            )
        model = Transformer(replace(base.model.configuration, dropout=0.0, projection=0))
        model.load_state_dict(
            {name: each for name, each in base.model.state_dict().items() if not name.startswith("head.")}
        )
        self.encoder = TextEncoder(model, base.pieces, device=str(device))
        self._dropout = base.model.configuration.dropout
        self._reader = PassageReader(passages, base.pieces, device)
        torch.manual_seed(configuration.seed)
        student = Student(model, taught.shape[1]).to(device)
        student.map.weight.data.copy_(self._fitted(base))
        super().__init__(student, len(passages), configuration, device)
        self.optimiser = Optimiser(
            self._groups_of(student),
            Schedule(configuration.epochs * self.steps, configuration.warmup),
            clip=configuration.clip,
            clipped=student.encoder.parameters(),
            fused=self.fused,
        )

    def _fitted(self, base: TextEncoder) -> Tensor:
        """Return the map from the start's vectors to the teachers' by least squares over some passages."""
        some = np.sort(np.random.default_rng(1).permutation(len(self.passages))[:MOST_FITTED])
        part = replace(self.passages, starts=self.passages.starts[some], lengths=self.passages.lengths[some])
        start = TextEncoder(self.encoder.model, base.pieces, device=str(self.device))
        ours = torch.from_numpy(passage_vectors(start, part)).to(self.device).float()
        theirs = self._taught[torch.from_numpy(some).to(self.device)].float()
        ridge = 1e-3 * len(some) / ours.shape[1] * torch.eye(ours.shape[1], device=self.device)
        fitted: Tensor = torch.linalg.solve(ours.T @ ours + ridge, ours.T @ theirs).T
        return fitted

    def _groups_of(self, student: Student) -> list[ParameterGroup]:
        """Return matrices, which decay, vectors, and the map."""
        rate, decay = self.settings.learning_rate, self.settings.weight_decay
        named = dict(student.encoder.named_parameters(prefix="encoder"))
        matrices = {name: each for name, each in named.items() if each.ndim > 1}
        vectors = {name: each for name, each in named.items() if each.ndim == 1}
        return [
            ParameterGroup(parameters=matrices, rate=rate, weight_decay=decay),
            ParameterGroup(parameters=vectors, rate=rate),
            ParameterGroup(
                parameters=dict(student.map.named_parameters(prefix="map")), rate=self.settings.map_rate
            ),
        ]

    def plan(self, epoch: int) -> list[IntArray]:
        """Return the passages of every step, then its pairs: groups from one cluster, in a random order."""
        settings = self.settings
        generator = np.random.default_rng([settings.seed, 2, epoch])
        order = _grouped(self._clusters, settings.group, generator)
        size = settings.batch_size - 2 * self._paired
        steps = [order[at : at + size] for at in range(0, len(order), size)]
        if len(steps[-1]) < size and len(steps) > 1:
            steps.pop()
        if not self._paired:
            return steps
        pairs: list[IntArray] = []
        while sum(map(len, pairs)) < len(steps) * self._paired:
            pairs.append(_grouped(self._clusters[self.pairs[:, 0]], settings.group // 2 or 1, generator))
        joined = np.concatenate(pairs)
        return [
            np.concatenate([step, joined[at * self._paired : (at + 1) * self._paired]])
            for at, step in enumerate(steps)
        ]

    def step(self, batch: IntArray, epoch: int) -> PassageStep:
        """Return the places of a batch's passages, its questions and its answers."""
        asked = self.pairs[batch[len(batch) - self._paired :]]
        passages = batch[: len(batch) - self._paired]
        chosen = np.concatenate([passages, asked[:, 0], asked[:, 1]])
        generator = self.chance(batch, epoch)
        shares = np.full(len(chosen), self.settings.renamed)
        shares[len(chosen) - len(asked) :] = self.settings.renamed_documents
        starts, lengths = self.passages.drawn(chosen, generator.random(len(chosen)) < shares, generator)
        order = np.argsort(-lengths, kind="stable")
        parts = tuple(
            (there(starts[part], self.device), there(lengths[part], self.device), width_of(lengths[part]))
            for part in np.array_split(order, min(PARTS, len(order)))
        )
        before = np.empty(len(order), np.int64)
        before[order] = np.arange(len(order))
        groups = self._groups[batch[len(batch) - self._paired :]]
        return PassageStep(parts, *(there(array, self.device) for array in (before, chosen, groups)))

    def tried(self, size: int) -> list[int]:
        """Return a quarter and a half of a step: passages of a step differ in width, so a few say nothing of all."""
        return [max(1, size // 4), max(2, size // 2)]

    def first(self, count: int, epoch: int) -> PassageStep:
        """Return the first passages of an epoch's first step, with all its pairs."""
        batch = self.plan(epoch)[0]
        return self.step(np.concatenate([batch[:count], batch[len(batch) - self._paired :]]), epoch)

    def precision(self) -> AbstractContextManager[object]:
        """Return an empty context: the weights themselves are read in sixteen bits."""
        return nullcontext()

    def loss(self, step: PassageStep) -> Tensor:
        """Return the distance from the teachers' vectors and similarities, and the contrast of the pairs."""
        assert isinstance(self.model, Student)
        settings, encoder = self.settings, self.model.encoder
        weights = low(dict(encoder.named_parameters()), self.device, torch.bfloat16)
        means = torch.cat([self._reader.means(encoder, weights, *part) for part in step.parts])
        ours = functional.normalize(means.index_select(0, step.before), dim=-1)
        theirs = self._taught.index_select(0, step.taught).float()
        mapped = functional.cosine_similarity(self.model.map(ours), theirs, dim=-1)
        loss = (1 - mapped).mean() + alike(ours, theirs, settings.sharpness)
        if self._paired:
            count = len(step.groups)
            scores = ours[-2 * count : -count] @ ours[-count:].T
            same = step.groups[:, None] == step.groups[None]
            same.fill_diagonal_(False)
            contrast = info_nce(scores, settings.temperature, same) + info_nce(
                scores.T, settings.temperature, same
            )
            loss = loss + settings.labels * contrast / 2
        return loss

    def validate(self) -> None:
        """Measure nothing: the last epoch, whose rate is zero, is kept, and `join` measures what it stores."""

    def identity(self) -> dict[str, Any]:
        """Return what identifies the run."""
        return {
            "training": self.settings.to_json(),
            "materials": [zlib.crc32(self.passages.numbers.data), len(self.passages), len(self.pairs)],
            "teachers": self._checksum,
        }

    @property
    def summary(self) -> str:
        """One line on the passages and the student."""
        parameters = sum(each.numel() for each in self.encoder.model.parameters())
        return (
            f"training on {len(self.passages):,} passages and {len(self.pairs):,} pairs, {self.steps:,} steps an epoch;"
            f" {parameters:,} parameters"
        )

    def save(self, folder: Path, _about: dict[str, Any]) -> None:
        """Write the folder of the text encoder, in sixteen bits."""
        model = Transformer(replace(self.encoder.model.configuration, dropout=self._dropout))
        model.load_state_dict(self.encoder.model.state_dict())
        save_text_encoder(folder, TextEncoder(model, self.encoder.pieces, device="cpu"), half=True)


def _grouped(labels: IntArray, size: int, generator: np.random.Generator) -> IntArray:
    """Return all places in a random order in which groups of this size, of one label, stand together."""
    order = generator.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    groups = [order[at : at + size] for at in range(0, len(order), size)]
    generator.shuffle(groups)
    return np.concatenate(groups)
