"""Fit the parser's network to prepared sentences: `python -m mathamr_lab.amr.fit PREPARED OUT`.

Needs torch alone, and no data: `mathamr_lab.amr.prepared` has written everything as arrays, and the text encoder in the box reads the word pieces
again at every step, so that the shares of its layers are learned too.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.amr.builtin.model import BOX, WEIGHTS, ParserModel
from mathamr.text.configuration import WINDOW
from mathamr.text.onnxencoder import restored_array
from mathamr.text.torchfolder import load_text_encoder
from mathamr.text.transformer import Transformer
from mathamr_lab.amr.network import ParserNetwork

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


class Sentences:
    """The prepared sentences, each as a dictionary of arrays; `read` has for each way a sentence was read its pieces and their words."""

    def __init__(self, folder: Path, name: str) -> None:
        arrays, pieces = np.load(folder / "arrays.npz"), np.load(folder.parent / f"{name}-pieces.npz")
        columns = {column: _split(arrays, f"{name}/{column}") for column in COLUMNS}
        self.rows = [
            {column: parts[number] for column, parts in columns.items()}
            for number in range(len(columns["kind"]))
        ]
        self.kinds = np.array([int(row["kind"][0, 0]) for row in self.rows])
        sizes = np.array([len(row["shape"]) for row in self.rows])
        nodes = np.array([len(row["node"]) for row in self.rows])
        fits = (sizes > 0) & (sizes <= LONGEST) & (nodes <= MOST_NODES)
        self.of_kind = [np.flatnonzero((self.kinds == kind) & fits) for kind in range(len(KINDS))]
        self.usable = np.flatnonzero(sizes > 0)
        self.read: list[list[tuple[np.ndarray, ...]]] = [[] for _ in self.rows]
        among = np.flatnonzero((self.kinds != 1) & (self.kinds != 2))
        for how, chosen in (("alone", np.arange(len(self.rows))), ("among", among)):
            if f"{how}/pieces" in pieces:
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
        self.network, self.encoder = network, encoder.requires_grad_(False)
        self.layers = sorted(mix)
        self.mix = nn.Parameter(torch.tensor([mix[layer] for layer in self.layers]))

    def pooled(self, batch: dict[str, Tensor]) -> Tensor:
        """Return the means of the states of each word's pieces (rows, words, size)."""
        encoder = self.encoder.eval()
        places = torch.arange(batch["pieces"].shape[1], device=self.mix.device)
        visible = (places < batch["lengths"][:, None])[:, None, None, :]
        with torch.no_grad():
            states = [encoder.norm(encoder.pieces(batch["pieces"]) + encoder.positions(places))]
            for layer in encoder.layers:
                states.append(layer(states[-1], visible))
        mixed = sum(self.mix[place] * states[layer].float() for place, layer in enumerate(self.layers))
        means = functional.embedding_bag(
            batch["members"], mixed.reshape(-1, mixed.shape[-1]), batch["offsets"], mode="mean"
        )
        table = means.new_zeros(batch["shape"].numel(), means.shape[1])
        return table.index_copy(0, batch["places"], means).view(*batch["shape"].shape, -1)

    def forward(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return all losses of a batch, and counts of what is right."""
        net = self.network
        words = net.words(self.pooled(batch), batch["shape"], batch["sizes"])
        arcs = net.arcs(words, batch["sizes"])
        flat = words.reshape(-1, words.shape[-1])
        found: dict[str, Tensor] = {}
        tags = net.tag(words)
        found["tag"] = functional.cross_entropy(tags.transpose(1, 2), batch["tag"])
        found["head"] = functional.cross_entropy(arcs.transpose(1, 2), batch["head"])
        heads = (batch["head"] - 1).clamp(min=0)
        above = words.gather(1, heads[..., None].expand(-1, -1, words.shape[-1]))
        above = torch.where((batch["head"] > 0)[..., None], above, words)
        deps = net.dep(torch.relu(net.dep_child(words) + net.dep_head(above)))
        found["dep"] = functional.cross_entropy(deps.transpose(1, 2), batch["dep"])
        if not self.training:
            known = batch["tag"] >= 0
            found["tag right"] = (tags.argmax(-1) == batch["tag"])[known].float().mean()
            found["head right"] = (arcs.argmax(-1) == batch["head"])[known].float().mean()
        if not len(batch["gold"]):
            return found
        candidate = batch["candidate"]
        concept = self._dropped(candidate[:, 1])
        scores = net.core_scores(flat, candidate[:, 0], concept, candidate[:, 2], batch["features"])
        first = batch["first"]
        sizes = first[1:] - first[:-1]
        rows = torch.repeat_interleave(torch.arange(len(sizes), device=sizes.device), sizes)
        inside = torch.arange(len(scores), device=sizes.device) - first[rows]
        table = scores.new_full((len(sizes), int(sizes.max())), -1e4).index_put((rows, inside), scores)
        found["core"] = functional.cross_entropy(table, batch["gold"])
        template = net.template_scores(flat, batch["template"][:, 0], self._dropped(batch["template"][:, 1]))
        found["template"] = functional.cross_entropy(template, batch["template"][:, 2])
        chosen, node = batch["with_nodes"], batch["node"]
        relations, roots = net.relation_scores(
            words[chosen],
            arcs[chosen],
            node[..., 0],
            self._dropped(node[..., 1]),
            node[..., 2],
            node[..., 3],
            batch["roles"],
        )
        labels = batch["edges"]
        total = functional.cross_entropy(relations.permute(0, 3, 1, 2), labels, reduction="sum")
        found["relation"] = total / batch["is_node"].sum()
        roots = roots.masked_fill(~batch["is_node"], -1e4)
        if bool((batch["root"] >= 0).any()):
            found["root"] = functional.cross_entropy(roots, batch["root"])
        if not self.training:
            found["core right"] = (table.argmax(1) == batch["gold"]).float().mean()
            found["template right"] = (template.argmax(1) == batch["template"][:, 2]).float().mean()
            best = relations.argmax(-1).masked_fill(labels < 0, 0)
            found["hits"] = ((best == labels) & (labels > 0)).sum()
            found["made"], found["wanted"] = (best > 0).sum(), (labels > 0).sum()
            found["root right"] = (roots.argmax(1) == batch["root"]).float().mean()
        return found

    def _dropped(self, concept: Tensor) -> Tensor:
        if not self.training:
            return concept
        return concept.masked_fill(
            torch.rand(concept.shape, device=concept.device) < CONCEPT_DROP, UNKNOWN_CONCEPT
        )


WEIGHT = {"tag": 0.3, "head": 0.5, "dep": 0.3, "core": 1.0, "template": 0.7, "relation": 1.0, "root": 0.3}


def evaluate(reader: Reader, collator: Collator, numbers: np.ndarray, device: torch.device) -> str:
    """Return mean accuracies over sentences, with gold cores and nodes."""
    reader.eval()
    sums: dict[str, float] = {}
    batches = [numbers[start : start + 48] for start in range(0, len(numbers), 48)]
    with torch.inference_mode():
        for part in batches:
            batch = {name: tensor.to(device) for name, tensor in collator.batch(part).items()}
            for name, value in reader(batch).items():
                sums[name] = sums.get(name, 0.0) + float(value)
    reader.train()
    found = {name: value / len(batches) for name, value in sums.items() if name.endswith("right")}
    hits, made, wanted = (sums.get(name, 0.0) for name in ("hits", "made", "wanted"))
    found["relations F"] = 2 * hits / max(1.0, made + wanted)
    return " ".join(f"{name} {value:.4f}" for name, value in found.items())


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
    torch.manual_seed(given.seed)
    torch.set_num_threads(given.threads)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tables = json.loads((given.prepared / "tables.json").read_text(encoding="utf-8"))
    model = ParserModel.load(given.start)
    configuration = replace(
        model.configuration, concepts=len(tables["concepts"]), templates=len(tables["templates"]),
        labels=len(tables["labels"]), tags=len(tables["tags"]), dropout=given.dropout,
    )  # fmt: skip
    if given.size:
        configuration = replace(configuration, size=given.size, layers=given.layers, inner=2 * given.size)
    network = ParserNetwork(configuration, len(tables["deps"]))
    if not given.size:
        start_from(network, model, tables)
    text = load_text_encoder(BOX / given.encoder / "text", "cpu")
    reader = Reader(network, text.model, model.mix).to(device)
    trained = [*network.parameters(), reader.mix]
    optimiser = torch.optim.AdamW(trained, lr=given.rate, weight_decay=0.01)
    averaged = copy.deepcopy(reader)
    followed = [*averaged.network.parameters(), averaged.mix]
    train, dev = Sentences(given.prepared, "train"), Sentences(given.prepared, "dev")
    marks = (text.pieces.begin, text.pieces.end, text.pieces.pad)
    collator, tester, unseen = (
        Collator(train, marks, given.seed),
        Collator(dev, marks, 1),
        Collator(train, marks, 1),
    )
    left_out = np.setdiff1d(train.usable, np.concatenate(train.of_kind))
    left_out = left_out[train.kinds[left_out] >= len(KINDS)]
    started = time.perf_counter()
    reader.train()
    running: dict[str, Tensor] = {}
    step, progress = 0, 0.0
    while progress < 1:
        progress = max((step + 1) / given.steps, (time.perf_counter() - started) / given.seconds)
        optimiser.param_groups[0]["lr"] = given.rate * min(1.0, (step + 1) / 100) * max(0.01, 1 - progress)
        numbers = np.concatenate([
            collator.random.choice(own, share) for own, share in zip(train.of_kind, given.shares, strict=True) if len(own)
        ])  # fmt: skip
        batch = {
            name: tensor.to(device, non_blocking=True) for name, tensor in collator.batch(numbers).items()
        }
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            losses = reader(batch)
        loss = sum(WEIGHT[name] * value for name, value in losses.items() if value.requires_grad)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        decay = min(given.average, (step + 1) / (step + 10))
        with torch.no_grad():
            for kept, new in zip(followed, trained, strict=True):
                kept.lerp_(new, 1 - decay)
        for name, value in losses.items():
            running[name] = (
                value.detach() if name not in running else 0.99 * running[name] + 0.01 * value.detach()
            )
        step += 1
        if step % given.report == 0 or progress >= 1:
            shown = " ".join(f"{name} {float(value):.3f}" for name, value in running.items())
            print(f"{given.name} step {step} {time.perf_counter() - started:.0f} s: {shown}", flush=True)
            for what, other, chosen in (
                ("held out", tester, dev.usable),
                ("topics left out", unseen, left_out),
            ):
                if len(chosen):
                    print(f"  {given.name} {what}: {evaluate(averaged, other, chosen, device)}", flush=True)
    averaged.eval()
    if not given.size:
        # What the start knew of other texts is kept in part (Wortsman et al., WiSE-FT, CVPR 2022).
        before = copy.deepcopy(averaged.network)
        start_from(before, model, tables)
        with torch.no_grad():
            for new, old in zip(averaged.network.parameters(), before.parameters(), strict=True):
                new.lerp_(old, given.keep)
    given.out.mkdir(parents=True, exist_ok=True)
    weights = {name: value.cpu().half().numpy() for name, value in averaged.network.state_dict().items()}
    shares = {str(layer): share for layer, share in zip(reader.layers, averaged.mix.tolist(), strict=True)}
    row = {"network": asdict(configuration), "mix": shares, "encoder": given.encoder}
    np.savez(given.out / f"{given.name}.npz", **weights)
    (given.out / f"{given.name}.json").write_text(json.dumps(row), encoding="utf-8")


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the options of a training."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prepared", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--start", type=Path, default=WEIGHTS, help="the parser whose weights training starts from"
    )
    parser.add_argument("--name", default="parser")
    parser.add_argument(
        "--size", type=int, default=0, help="train a network of this size from the beginning instead"
    )
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument(
        "--encoder", default="mathamr-3", help="the model of the box whose text encoder reads"
    )
    parser.add_argument("--dropout", type=float, default=0.3)
    parser.add_argument("--rate", type=float, default=8e-4)
    parser.add_argument(
        "--shares",
        type=int,
        nargs=len(KINDS),
        default=[20, 8, 4, 32],
        help=f"sentences of a batch: {', '.join(KINDS)}",
    )
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument(
        "--seconds", type=float, default=1e9, help="end after so much time, whatever the steps"
    )
    parser.add_argument("--average", type=float, default=0.998)
    parser.add_argument(
        "--keep", type=float, default=0.3, help="the share of the start in the weights written"
    )
    parser.add_argument("--report", type=int, default=250)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    fit(options_of())
