"""Fits the parser's network on the states of a text encoder: `python -m mathamr_lab.amr.fit PREPARED ENCODER OUT`.

Needs torch alone: what it reads was prepared by `mathamr_lab.amr.prepared`. Every sentence is read as the index reads it, among others
of its text, half of the time; formulas are filled with random LaTeX.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.amr.builtin.model import NetworkConfiguration
from mathamr.text.encoder import TextEncoder
from mathamr.text.torchfolder import load_text_encoder
from mathamr_lab.amr.network import ParserNetwork

SHARES = {0: 32, 1: 12, 2: 6, 3: 40}
"""Sentences of a batch by kind: gold, copies with formulas, patterns, prose without graphs."""
LONGEST, MOST_NODES, WINDOW = 110, 70, 250
UNKNOWN_CONCEPT = 0
CONCEPT_DROP = 0.15


class Sentences:
    """The prepared sentences, each as a dictionary of arrays."""

    def __init__(self, arrays: Any, name: str) -> None:
        self.rows: list[dict[str, np.ndarray]] = []
        columns = {}
        for column in (
            "piece", "shape", "tag", "head", "dep", "candidate", "features", "gold", "template", "node", "roles", "edge",
            "root", "kind",
        ):  # fmt: skip
            counts = arrays[f"{name}/{column}/counts"].astype(np.int64)
            columns[column] = np.split(arrays[f"{name}/{column}"], np.cumsum(counts))[:-1]
        for number in range(len(columns["kind"])):
            self.rows.append({column: parts[number] for column, parts in columns.items()})
        self.kinds = np.array([int(row["kind"][0, 0]) for row in self.rows])
        sizes = np.array([len(row["shape"]) for row in self.rows])
        nodes = np.array([len(row["node"]) for row in self.rows])
        fits = (sizes > 0) & (sizes <= LONGEST) & (nodes <= MOST_NODES)
        self.of_kind = {kind: np.flatnonzero((self.kinds == kind) & fits) for kind in SHARES}
        self.usable = np.flatnonzero(sizes > 0)


class Collator:
    """Makes batches of sentences: rows of pieces for the encoder, and everything to learn."""

    def __init__(
        self, sentences: Sentences, formulas: list[np.ndarray], marks: tuple[int, int, int], seed: int
    ) -> None:
        self.sentences, self.formulas = sentences, formulas
        self.pad, self.begin, self.end = marks
        self.random = np.random.default_rng(seed)

    def filled(self, number: int) -> tuple[list[int], list[int]]:
        """Pieces of a sentence and their words, formulas filled at random."""
        pieces, owners = [], []
        for piece, owner in self.sentences.rows[number]["piece"].tolist():
            if piece >= 0:
                pieces.append(piece)
                owners.append(owner)
            else:
                formula = self.formulas[self.random.integers(len(self.formulas))]
                pieces += formula.tolist()
                owners += [owner] * len(formula)
        return pieces[:WINDOW], owners[:WINDOW]

    def around(self, number: int, share: float) -> tuple[list[int], list[int]]:
        """Pieces before and after a sentence: its neighbours in their corpus, or none."""
        before: list[int] = []
        after: list[int] = []
        kinds = self.sentences.kinds
        if self.random.random() < share:
            for step, part in ((-1, before), (1, after)):
                for distance in range(1, 1 + int(self.random.integers(0, 4))):
                    other = number + step * distance
                    if 0 <= other < len(kinds) and kinds[other] == kinds[number]:
                        more, _ = self.filled(other)
                        part[:] = more + part if step < 0 else part + more
        return before, after

    def batch(self, numbers: np.ndarray, share: float) -> dict[str, Tensor]:
        """One batch; `share` of the sentences are read among their neighbours."""
        rows = [self.sentences.rows[n] for n in numbers]
        texts, members, offsets = [], [], []
        width = max(len(row["shape"]) for row in rows)
        for number, row in zip(numbers, rows, strict=True):
            pieces, owners = self.filled(number)
            before, after = self.around(number, share)
            room = WINDOW - len(pieces)
            before = before[max(0, len(before) - room // 2) :] if room > 1 else []
            after = after[: max(0, room - len(before))]
            texts.append([self.begin, *before, *pieces, *after, self.end])
            by_word: list[list[int]] = [[] for _ in range(len(row["shape"]))]
            for place, owner in enumerate(owners, start=1 + len(before)):
                by_word[owner].append(place)
            last = [1 + len(before)] if pieces else [0]
            for word in range(width):
                if word < len(by_word):
                    last = by_word[word] or last[-1:]
                    members.append(last)
                else:
                    members.append([0])
        longest = -(-max(map(len, texts)) // 32) * 32
        numbers_of = np.full((len(texts), longest), self.pad, np.int64)
        for place, text in enumerate(texts):
            numbers_of[place, : len(text)] = text
        flat = []
        at = 0
        for place, member in enumerate(members):
            offsets.append(at)
            flat += [place // width * longest + piece for piece in member]
            at += len(member)
        made: dict[str, Any] = {
            "pieces": numbers_of, "lengths": np.array([len(text) for text in texts]), "members": np.array(flat),
            "offsets": np.array(offsets), "sizes": np.array([len(row["shape"]) for row in rows]),
        }  # fmt: skip
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
    """The encoder and the network over its states; some of the encoder's layers may be the parser's own copies."""

    def __init__(self, encoder: TextEncoder, network: ParserNetwork, own: int, tune: bool) -> None:
        super().__init__()
        self.encoder = encoder.model
        self.network, self.tune = network, tune
        self.encoder.requires_grad_(tune)
        layers = list(self.encoder.layers)
        self.own = (
            nn.ModuleList(copy.deepcopy(layer) for layer in layers[len(layers) - own :]) if own else None
        )
        if self.own is not None:
            self.own.requires_grad_(True)
        self.encoder_layers = len(layers) - own

    def states(self, numbers: Tensor, lengths: Tensor) -> list[Tensor]:
        """The states of every layer, the embeddings first."""
        model = self.encoder
        places = torch.arange(numbers.shape[1], device=numbers.device)
        mask = (places < lengths[:, None])[:, None, None, :]
        with torch.set_grad_enabled(self.tune and torch.is_grad_enabled()):
            x = model.norm(model.pieces(numbers) + model.positions(places))
            found = [x]
            for layer in model.layers[: self.encoder_layers]:
                x = layer(x, mask)
                found.append(x)
        for layer in self.own or ():
            x = layer(x, mask)
            found.append(x)
        return found

    def pooled(self, batch: dict[str, Tensor]) -> Tensor:
        """Means (rows, words, states) of the mixed states over the pieces of words."""
        every = self.states(batch["pieces"], batch["lengths"])
        mixed = self.network.mixed([every[layer] for layer in self.network.configuration.layers_read])
        means = functional.embedding_bag(
            batch["members"], mixed.reshape(-1, mixed.shape[-1]).float(), batch["offsets"], mode="mean"
        )
        return means.view(*batch["shape"].shape, -1)

    def forward(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """All losses of a batch, and counts of what is right."""
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


def evaluate(reader: Reader, collator: Collator, device: torch.device, share: float) -> dict[str, float]:
    """Mean accuracies over all sentences, with gold cores and nodes."""
    reader.eval()
    sums: dict[str, float] = {}
    usable = collator.sentences.usable
    batches = [usable[start : start + 48] for start in range(0, len(usable), 48)]
    with torch.inference_mode():
        for numbers in batches:
            batch = {name: tensor.to(device) for name, tensor in collator.batch(numbers, share).items()}
            for name, value in reader(batch).items():
                sums[name] = sums.get(name, 0.0) + float(value)
    reader.train()
    found = {name: value / len(batches) for name, value in sums.items() if name.endswith("right")}
    hits, made, wanted = (sums.get(name, 0.0) for name in ("hits", "made", "wanted"))
    found["relations F"] = 2 * hits / max(1.0, made + wanted)
    return found


def fit(given: argparse.Namespace) -> None:
    """Trains and writes `weights.npz` (16 bits) and `network.json`."""
    torch.manual_seed(given.seed)
    torch.set_num_threads(given.threads)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    arrays = np.load(given.prepared / "arrays.npz")
    tables = json.loads((given.prepared / "tables.json").read_text(encoding="utf-8"))
    encoder = load_text_encoder(given.encoder, str(device))
    marks = (encoder.pieces.pad, encoder.pieces.begin, encoder.pieces.end)
    formulas = np.split(arrays["formulas"], np.cumsum(arrays["formulas/counts"].astype(np.int64))[:-1])
    train, dev = Sentences(arrays, "train"), Sentences(arrays, "dev")
    layers = tuple(map(int, given.layers_read.split(",")))
    configuration = NetworkConfiguration(
        len(tables["concepts"]), len(tables["templates"]), len(tables["labels"]), len(tables["tags"]), layers,
        encoder.model.configuration.size, given.size, given.layers, given.inner, given.heads, dropout=given.dropout,
    )  # fmt: skip
    network = ParserNetwork(configuration, len(tables["deps"]))
    reader = Reader(encoder, network, given.own, given.tune).to(device)
    slow = [
        *(reader.own.parameters() if reader.own is not None else ()),
        *(reader.encoder.parameters() if given.tune else ()),
    ]
    groups = [{"params": list(network.parameters()), "lr": given.rate}]
    if slow:
        groups.append({"params": slow, "lr": given.slow_rate})
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
    averaged = copy.deepcopy(reader)
    collator, tester = Collator(train, formulas, marks, given.seed), Collator(dev, formulas, marks, 1)
    started = time.perf_counter()
    reader.train()
    reader.encoder.eval()
    running: dict[str, Tensor] = {}
    rates = [group["lr"] for group in groups]
    step, progress = 0, 0.0
    while progress < 1:
        progress = max((step + 1) / given.steps, (time.perf_counter() - started) / given.seconds)
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * min(1.0, (step + 1) / 200) * max(0.01, 1 - progress)
        numbers = np.concatenate([
            collator.random.choice(train.of_kind[kind], share if kind < 3 else given.prose)
            for kind, share in SHARES.items()
            if len(train.of_kind[kind])
        ])  # fmt: skip
        batch = {
            name: tensor.to(device, non_blocking=True)
            for name, tensor in collator.batch(numbers, 0.5).items()
        }
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            losses = reader(batch)
        loss = sum(WEIGHT[name] * value for name, value in losses.items())
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([p for group in groups for p in group["params"]], 1.0)
        optimiser.step()
        decay = min(given.average, (step + 1) / (step + 10))
        with torch.no_grad():
            for kept, new in zip(averaged.parameters(), reader.parameters(), strict=True):
                if new.requires_grad:
                    kept.lerp_(new, 1 - decay)
        for name, value in losses.items():
            running[name] = (
                value.detach() if name not in running else 0.99 * running[name] + 0.01 * value.detach()
            )
        step += 1
        if step % given.every == 0 or progress >= 1:
            shown = " ".join(f"{name} {float(value):.3f}" for name, value in running.items())
            print(f"{given.name} step {step} {time.perf_counter() - started:.0f} s: {shown}", flush=True)
            if len(dev.usable):
                for share in (0.0, 1.0):
                    found = evaluate(averaged, tester, device, share)
                    print(
                        f"  {given.name} context {share:.0f}: "
                        + " ".join(f"{n} {v:.4f}" for n, v in found.items()),
                        flush=True,
                    )
    averaged.eval()
    weights = {f"network.{name}": value for name, value in averaged.network.state_dict().items()}
    if averaged.own is not None:
        weights |= {f"own.{name}": value for name, value in averaged.own.state_dict().items()}
    given.out.mkdir(parents=True, exist_ok=True)
    np.savez(
        given.out / f"{given.name}.npz",
        **{name: value.cpu().half().numpy() for name, value in weights.items()},
    )
    row = asdict(configuration) | {"own": given.own, "fingerprint": encoder.fingerprint}
    (given.out / f"{given.name}.json").write_text(json.dumps(row), encoding="utf-8")


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options of a training."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prepared", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--name", default="parser")
    parser.add_argument("--layers-read", default="1,2,3,4,5,6")
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--inner", type=int, default=512)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--own", type=int, default=0)
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--dropout", type=float, default=0.3)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--slow-rate", type=float, default=5e-5)
    parser.add_argument("--prose", type=int, default=0)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument(
        "--seconds", type=float, default=1e9, help="end after so much time, whatever the steps"
    )
    parser.add_argument("--average", type=float, default=0.998)
    parser.add_argument("--every", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    fit(options_of())
