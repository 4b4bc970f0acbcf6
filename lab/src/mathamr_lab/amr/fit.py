"""Fit the parser's network to prepared sentences: `python -m mathamr_lab.amr.fit PREPARED OUT`.

Needs torch alone, and no data: `mathamr_lab.amr.prepared` has written everything as arrays. Batches are made once, with the states of their words in
every layer of the text encoder, which is not trained; the shares of the layers are learned.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.amr.builtin.model import BOX, WEIGHTS, ParserModel
from mathamr.core.integrity import file_hash
from mathamr.core.tensorfile import tensor_bytes, under
from mathamr.text.configuration import WINDOW
from mathamr.text.onnxencoder import restored_array
from mathamr.text.torchfolder import load_text_encoder
from mathamr.text.transformer import Transformer
from mathamr_lab.amr.network import ParserNetwork
from mathamr_lab.training.loop import train
from mathamr_lab.training.optimiser import Schedule
from mathamr_lab.training.plain import LEARNED, PlainTrainer, use_learned
from mathamr_lab.training.resources import Resources
from mathamr_lab.training.settings import Ranges, TrainingConfiguration, autocast

KINDS = ("gold", "copies", "patterns", "topics")
COLUMNS = (
    "shape",
    "tag",
    "head",
    "dep",
    "candidate",
    "features",
    "gold",
    "template",
    "node",
    "roles",
    "edge",
    "root",
    "kind",
)
LONGEST, MOST_NODES = 110, 60
UNKNOWN_CONCEPT = 0
CONCEPT_DROP = 0.15
ENCODER = "mathamr-3"
"""The model of the box whose text encoder reads."""
SHARES = (20, 8, 4, 32)
"""Sentences of a batch, by kind."""
DROPOUT, AVERAGE, SEED = 0.3, 0.998, 1


class Sentences:
    """The prepared sentences, each as a dictionary of arrays; `read` has for each way a sentence was read its pieces and their words."""

    def __init__(self, folder: Path) -> None:
        arrays, pieces = np.load(folder / "arrays.npz"), np.load(folder.parent / "pieces.npz")
        columns = {column: _split(arrays, column) for column in COLUMNS}
        self.rows = [
            {column: parts[number] for column, parts in columns.items()}
            for number in range(len(columns["kind"]))
        ]
        kinds = np.array([int(row["kind"][0, 0]) for row in self.rows])
        sizes = np.array([len(row["shape"]) for row in self.rows])
        nodes = np.array([len(row["node"]) for row in self.rows])
        fits = (sizes > 0) & (sizes <= LONGEST) & (nodes <= MOST_NODES)
        self.of_kind = [np.flatnonzero((kinds == kind) & fits) for kind in range(len(KINDS))]
        self.read: list[list[tuple[np.ndarray, ...]]] = [[] for _ in self.rows]
        among = np.flatnonzero((kinds != 1) & (kinds != 2))
        for how, chosen in (("alone", np.arange(len(self.rows))), ("among", among)):
            parts = [_split(pieces, f"{how}/{column}") for column in ("pieces", "first", "lengths")]
            for number, *own in zip(chosen, *parts, strict=True):
                self.read[number].append(tuple(own))


def _split(arrays: Any, name: str) -> list[np.ndarray]:
    return np.split(arrays[name], np.cumsum(arrays[f"{name}/counts"].astype(np.int64)))[:-1]


class Collator:
    """Makes batches of sentences: the pieces of their words, and everything to learn."""

    def __init__(self, sentences: Sentences, marks: tuple[int, int, int], seed: int) -> None:
        self.sentences, self.marks = sentences, marks
        self.random = np.random.default_rng(seed)

    def batch(self, numbers: np.ndarray) -> dict[str, Tensor]:
        """Return one batch; half of the sentences that were read among their neighbours are taken as read there."""
        rows = [self.sentences.rows[n] for n in numbers]
        width = max(len(row["shape"]) for row in rows)
        read = [self.sentences.read[n] for n in numbers]
        made: dict[str, Any] = {"sizes": np.array([len(row["shape"]) for row in rows])}
        self._pieces([own[int(self.random.integers(len(own)))] for own in read], width, made)
        for name, fill in (("shape", 0), ("tag", -100), ("head", -100), ("dep", -100)):
            table = np.full((len(rows), width), fill, np.int64)
            for place, row in enumerate(rows):
                own = row[name][:, 0].astype(np.int64)
                if name == "head":
                    own = np.where(own == np.arange(len(own)), 0, own + 1)
                table[place, : len(own)] = own
            made[name] = table
        self._meaning(rows, width, made)
        return {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in made.items()}

    def _pieces(self, read: list[tuple[np.ndarray, ...]], width: int, made: dict[str, Any]) -> None:
        """Add the windows of pieces with their marks, and the pieces of each word as places in all windows."""
        begin, end, pad = self.marks
        windows = [own[at : at + WINDOW] for own, _, _ in read for at in range(0, max(1, len(own)), WINDOW)]
        longest = max(map(len, windows)) + 2
        table = np.full((len(windows), longest), pad, np.int64)
        for place, window in enumerate(windows):
            table[place, : len(window) + 2] = [begin, *window, end]
        members, offsets, places, row, count = [], [], [], 0, 0
        for number, (own, first, lengths) in enumerate(read):
            starts, lengths = first.astype(np.int64), lengths.astype(np.int64)
            inside = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            piece = np.repeat(starts, lengths) + inside
            members.append((row + piece // WINDOW) * longest + 1 + piece % WINDOW)
            offsets.append(count + np.cumsum(lengths) - lengths)
            places.append(number * width + np.arange(len(lengths)))
            row, count = row + max(1, -(-len(own) // WINDOW)), count + len(piece)
        made |= {
            "pieces": table,
            "lengths": np.array([len(window) + 2 for window in windows]),
            "members": np.concatenate(members),
            "offsets": np.concatenate(offsets),
            "places": np.concatenate(places),
        }

    def _meaning(self, rows: list[dict[str, np.ndarray]], width: int, made: dict[str, Any]) -> None:
        candidates, features, gold, first, templates = [], [], [], [0], []
        for place, row in enumerate(rows):
            if not len(row["gold"]):
                continue
            own = row["candidate"].astype(np.int64)
            counts = np.bincount(own[:, 0], minlength=len(row["gold"]))
            bounds = np.cumsum(counts) - counts
            for word, wanted in enumerate(row["gold"][:, 0].tolist()):
                if wanted < 0:
                    continue
                part = own[bounds[word] : bounds[word] + counts[word]].copy()
                part[:, 0] += place * width
                candidates.append(part)
                features.append(row["features"][bounds[word] : bounds[word] + counts[word]])
                gold.append(wanted)
                first.append(first[-1] + len(part))
            part = row["template"].astype(np.int64).copy()
            part[:, 0] += place * width
            templates.append(part)
        made["candidate"] = np.concatenate(candidates) if candidates else np.zeros((0, 3), np.int64)
        made["features"] = (np.concatenate(features) if features else np.zeros((0, 4))).astype(np.float32)
        made["gold"], made["first"] = np.array(gold, np.int64), np.array(first, np.int64)
        made["template"] = np.concatenate(templates) if templates else np.zeros((0, 4), np.int64)
        chosen = [place for place, row in enumerate(rows) if len(row["node"])]
        most = max([len(rows[place]["node"]) for place in chosen], default=1)
        nodes = np.zeros((len(chosen), most, 5), np.int64)
        roles = np.zeros((len(chosen), most, 7), np.float32)
        labels = np.full((len(chosen), most, most), -100, np.int64)
        roots = np.full(len(chosen), -100, np.int64)
        is_node = np.zeros((len(chosen), most), bool)
        for number, place in enumerate(chosen):
            row = rows[place]
            size = len(row["node"])
            nodes[number, :size], roles[number, :size] = row["node"], row["roles"]
            token, kind, source = row["node"][:, 0], row["node"][:, 2], row["node"][:, 4] == 1
            allowed = source[:, None] & (kind != 5)[None] & (token[:, None] != token[None])
            table = np.where(allowed, 0, -100)
            for s, t, label in row["edge"].tolist():
                if allowed[s, t]:
                    table[s, t] = label
            labels[number, :size, :size] = table
            roots[number] = row["root"][0, 0] if row["root"][0, 0] >= 0 else -100
            is_node[number, :size] = True
        made |= {
            "with_nodes": np.array(chosen, np.int64),
            "node": nodes,
            "roles": roles,
            "edges": labels,
            "root": roots,
            "is_node": is_node,
        }


class Reader(nn.Module):
    """The text encoder, which is not trained, the shares of its layers, and the network with its losses."""

    def __init__(self, network: ParserNetwork, encoder: Transformer, mix: dict[int, float]) -> None:
        super().__init__()
        self.network, self.encoder = network, encoder.requires_grad_(False).eval()
        self.layers = sorted(mix)
        self.mix = nn.Parameter(torch.tensor([mix[layer] for layer in self.layers]))

    @torch.no_grad()
    def read(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return a batch with the means of the states of each word's pieces (layers, words, size) in place of its pieces."""
        encoder, kept = self.encoder, dict(batch)
        pieces, lengths, members, offsets = (
            kept.pop(name) for name in ("pieces", "lengths", "members", "offsets")
        )
        places = torch.arange(pieces.shape[1], device=pieces.device)
        visible = (places < lengths[:, None])[:, None, None, :]
        states = [encoder.norm(encoder.pieces(pieces) + encoder.positions(places))]
        for layer in encoder.layers:
            states.append(layer(states[-1], visible))
        flat = [states[layer].float().flatten(0, 1) for layer in self.layers]
        means = [functional.embedding_bag(members, each, offsets, mode="mean") for each in flat]
        return kept | {"means": torch.stack(means).half()}

    def pooled(self, batch: dict[str, Tensor]) -> Tensor:
        """Return the mixed states of words (rows, words, size)."""
        mixed = (self.mix[:, None, None] * batch["means"].float()).sum(0)
        table = mixed.new_zeros(batch["shape"].numel(), mixed.shape[1])
        return table.index_copy(0, batch["places"], mixed).view(*batch["shape"].shape, -1)

    def forward(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return all losses of a batch."""
        net = self.network
        words = net.words(self.pooled(batch), batch["shape"], batch["sizes"])
        arcs = net.arcs(words, batch["sizes"])
        flat = words.flatten(0, 1)
        heads = (batch["head"] - 1).clamp(min=0)
        above = words.gather(1, heads[..., None].expand(-1, -1, words.shape[-1]))
        above = torch.where((batch["head"] > 0)[..., None], above, words)
        deps = net.dep(torch.relu(net.dep_child(words) + net.dep_head(above)))
        found = {
            "tag": functional.cross_entropy(net.tag(words).transpose(1, 2), batch["tag"]),
            "head": functional.cross_entropy(arcs.transpose(1, 2), batch["head"]),
            "dep": functional.cross_entropy(deps.transpose(1, 2), batch["dep"]),
        }
        candidate, first = batch["candidate"], batch["first"]
        scores = net.core_scores(
            flat, candidate[:, 0], dropped(candidate[:, 1]), candidate[:, 2], batch["features"]
        )
        sizes = first[1:] - first[:-1]
        rows = torch.repeat_interleave(torch.arange(len(sizes), device=sizes.device), sizes)
        inside = torch.arange(len(scores), device=sizes.device) - first[rows]
        table = scores.new_full((len(sizes), int(sizes.max())), -1e4).index_put((rows, inside), scores)
        found["core"] = functional.cross_entropy(table, batch["gold"])
        owner, core, template, _ = batch["template"].T
        found["template"] = functional.cross_entropy(
            net.template_scores(flat, owner, dropped(core)), template
        )
        chosen, (token, concept, kind, place, _) = batch["with_nodes"], batch["node"].unbind(-1)
        relations, roots = net.relation_scores(
            words[chosen], arcs[chosen], token, dropped(concept), kind, place, batch["roles"]
        )
        total = functional.cross_entropy(relations.permute(0, 3, 1, 2), batch["edges"], reduction="sum")
        found["relation"] = total / batch["is_node"].sum()
        found["root"] = functional.cross_entropy(roots.masked_fill(~batch["is_node"], -1e4), batch["root"])
        return found


def dropped(concept: Tensor) -> Tensor:
    """Return concepts, some of them unknown."""
    return concept.masked_fill(
        torch.rand(concept.shape, device=concept.device) < CONCEPT_DROP, UNKNOWN_CONCEPT
    )


WEIGHT = {"tag": 0.3, "head": 0.5, "dep": 0.3, "core": 1.0, "template": 0.7, "relation": 1.0, "root": 0.3}


def start_from(network: ParserNetwork, model: ParserModel, tables: dict[str, list[str]]) -> None:
    """Copy the weights of a trained parser; rows of concepts, templates, relations and tags are found by name."""
    rows = {
        name: ([tables[name].index(each) for each in model.tables[name] if each in known],
               [place for place, each in enumerate(model.tables[name]) if each in known])
        for name in ("concepts", "templates", "labels", "tags")
        for known in [frozenset(tables[name])]
    }  # fmt: skip
    named = {"template.": "templates", "relation.": "labels", "tag.": "tags"}
    weights = {
        name: restored_array(model.weights, name) for name in model.weights if not name.endswith(".scale")
    }
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name not in weights:
                continue
            kind = (
                "concepts"
                if "_concept." in name
                else next((v for k, v in named.items() if name.startswith(k)), None)
            )
            if kind is None:
                parameter.copy_(torch.from_numpy(weights[name]))
            else:
                to, source = rows[kind]
                parameter[to] = torch.from_numpy(weights[name][source])


def fit(given: argparse.Namespace) -> None:
    """Train, and write the weights (`.npz`, 16 bits) and the shape of the network (`.json`)."""
    torch.manual_seed(SEED)
    torch.set_num_threads(given.threads)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tables = json.loads((given.prepared / "tables.json").read_text(encoding="utf-8"))
    model = ParserModel.load(given.start)
    shape = replace(
        model.configuration, concepts=len(tables["concepts"]), templates=len(tables["templates"]),
        labels=len(tables["labels"]), tags=len(tables["tags"]), dropout=DROPOUT,
    )  # fmt: skip
    network = ParserNetwork(shape, len(tables["deps"]))
    start_from(network, model, tables)
    text = load_text_encoder(BOX / ENCODER / "text", "cpu")
    reader = Reader(network, text.model, model.mix).to(device)
    before = copy.deepcopy(network)
    sentences = Sentences(given.prepared)
    collator = Collator(sentences, (text.pieces.begin, text.pieces.end, text.pieces.pad), SEED)
    batches = []
    for _ in range(given.batches):
        chosen = [
            collator.random.choice(own, share)
            for own, share in zip(sentences.of_kind, SHARES, strict=True)
            if len(own)
        ]
        batch = collator.batch(np.concatenate(chosen))
        batches.append(reader.read({name: tensor.to(device) for name, tensor in batch.items()}))
    most = max(1, min(given.report, given.steps))
    steps = next(count for count in range(most, 0, -1) if given.steps % count == 0)
    configuration = ParserTraining(
        batch_size=sum(SHARES), epochs=given.steps // steps, steps=steps, learning_rate=given.rate, seed=SEED
    )
    materials = [file_hash(path) for path in (given.prepared / "arrays.npz", given.start)]
    trainer = ParserTrainer(reader, batches, configuration, " ".join(materials))
    resources = Resources(device=device, stream=sys.stdout)
    if not train(trainer, given.out / given.name, resources).done:
        raise SystemExit(f"stopped; the same command goes on from {given.out / given.name}")
    use_learned(reader, given.out / given.name / LEARNED)
    # What the start knew of other texts is kept in part (Wortsman et al., WiSE-FT, CVPR 2022).
    with torch.no_grad():
        for new, old in zip(network.parameters(), before.parameters(), strict=True):
            new.lerp_(old, given.keep)
    given.out.mkdir(parents=True, exist_ok=True)
    weights = {name: value.cpu().half().numpy() for name, value in network.state_dict().items()}
    shares = {str(layer): share for layer, share in zip(reader.layers, reader.mix.tolist(), strict=True)}
    row = {"network": asdict(shape), "mix": shares, "encoder": ENCODER}
    np.savez(given.out / f"{given.name}.npz", **weights)
    (given.out / f"{given.name}.json").write_text(json.dumps(row), encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserTraining(TrainingConfiguration):
    """A training in steps over batches drawn at random, `steps` between two lines of progress; an epoch is as many steps."""

    title: ClassVar[str] = "training of the parser"
    ranges: ClassVar[Ranges] = {"steps": (1, 1e9)}

    steps: int = 250


class ParserTrainer(PlainTrainer[dict[str, Tensor]]):
    """Trains a network on batches that are made before; what it saves are the averages of its weights over the last steps."""

    unit = "sentences"
    configuration: ParserTraining

    def __init__(
        self, reader: Reader, made: Sequence[dict[str, Tensor]], configuration: ParserTraining, materials: str
    ) -> None:
        self.made, self.materials = made, materials
        self._losses: dict[str, Tensor] = {}
        super().__init__(reader, configuration.batch_size, configuration, reader.mix.device)
        self.averaged = {name: each.detach().clone() for name, each in self.learned.items()}

    def precision(self) -> AbstractContextManager[object]:
        """Return the context in which the loss is computed: sixteen bits on a GPU alone."""
        return autocast("auto", self.device)

    def schedule(self) -> Schedule:
        """Return rates that rise for a hundred steps and fall in a line."""
        return _Falling(self.configuration.epochs * self.steps)

    def plan(self, epoch: int) -> Sequence[int]:
        """Return the numbers of the batches of an epoch."""
        steps, drawn = self.configuration.steps, np.random.default_rng(self.configuration.seed)
        numbers: list[int] = drawn.integers(len(self.made), size=(epoch + 1) * steps).tolist()
        return numbers[epoch * steps :]

    def step(self, batch: int, _epoch: int) -> dict[str, Tensor]:
        """Return a batch."""
        return self.made[batch]

    def tried(self, size: int) -> list[int]:
        """Return the one size of a step that is tried, the whole."""
        return [size]

    def first(self, _count: int, epoch: int) -> dict[str, Tensor]:
        """Return the first batch of an epoch."""
        return self.made[self.plan(epoch)[0]]

    def loss(self, step: dict[str, Tensor]) -> Tensor:
        """Return the weighted sum of all losses."""
        self._losses = self.model(step)
        return torch.stack([WEIGHT[part] * value for part, value in self._losses.items()]).sum()

    @torch.no_grad()
    def learn(self, step: dict[str, Tensor], number: int) -> Tensor:
        """Take one step, and average its weights with those before."""
        with torch.enable_grad():
            loss = super().learn(step, number)
        for name, kept in self.averaged.items():
            kept.lerp_(self.learned[name], 1 - min(AVERAGE, (number + 1) / (number + 10)))
        return loss

    def figures(self, number: int) -> dict[str, float]:
        """Return the rate, and the losses of the last step."""
        return {**super().figures(number), **{part: value.item() for part, value in self._losses.items()}}

    def validate(self) -> None:
        """Measure nothing: `mathamr_lab.amr.evaluate` compares graphs with those of the held-out parts."""

    def save(self, folder: Path, _about: dict[str, Any]) -> None:
        """Write the averages, for `use_learned`."""
        stored = {name: each.cpu() for name, each in self.averaged.items()}
        (folder / LEARNED).write_bytes(tensor_bytes(stored))

    def state(self) -> dict[str, Tensor]:
        """Return everything that the next step depends on."""
        return super().state() | {f"averaged.{name}": each.clone() for name, each in self.averaged.items()}

    def use_state(self, state: dict[str, Tensor]) -> None:
        """Restore what `state` returned."""
        super().use_state(state)
        for name, each in under(state, "averaged.").items():
            self.averaged[name].copy_(each)

    def identity(self) -> dict[str, Any]:
        """Return what identifies the run."""
        return {"training": self.configuration.to_json(), "materials": self.materials}

    @property
    def summary(self) -> str:
        """One line on the batches."""
        return f"learning from {len(self.made):,} batches of up to {self.examples} sentences"


class _Falling(Schedule):
    def rate(self, step: int, highest: float = 1.0, _lowest: float = 0.0) -> float:
        """Return the rate of a step."""
        return highest * min(1.0, (step + 1) / 100) * max(0.01, 1 - step / self.steps)


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the options of a training."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prepared", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--start", type=Path, default=WEIGHTS, help="the parser whose weights training starts from"
    )
    parser.add_argument("--name", default="parser")
    parser.add_argument("--rate", type=float, default=8e-4)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--batches", type=int, default=350, help="batches that are made, and drawn from")
    parser.add_argument(
        "--keep", type=float, default=0.3, help="the share of the start in the weights written"
    )
    parser.add_argument("--report", type=int, default=250)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    fit(options_of())
