"""The four models: cores of words, templates of cores, relations of pairs of nodes, and the root."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.amr.builtin.concepts import context
from mathamr.amr.builtin.features import (
    Paths,
    core_features,
    neighbour_features,
    node_features,
    pair_features,
    template_features,
    type_of,
    word_features,
    worth_scoring,
)
from mathamr.amr.builtin.frames import Frames
from mathamr.amr.builtin.lexicon import Lexicon
from mathamr.core.arrays import FloatArray
from mathamr_lab.amr.examples import Example
from mathamr_lab.amr.fit import FeatureVocabulary, Ragged, bag, optimise, to_array

NO_RELATION = "none"


@dataclass
class Settings:
    """Sizes and lengths of training, the same for every model unless it says otherwise."""

    width: int = 64
    pair_width: int = 64
    epochs: int = 8
    pair_epochs: int = 8
    least: int = 5
    pair_least: int = 10
    drop: float = 0.1
    hidden_drop: float = 0.3
    rate: float = 3e-3
    pair_rate: float = 3e-3
    seed: int = 1


class Fitted:
    """The result of a fit: arrays and tables by name."""

    def __init__(self) -> None:
        self.arrays: dict[str, FloatArray] = {}
        self.tables: dict[str, object] = {}

    def add(self, name: str, vocabulary: FeatureVocabulary, module: nn.EmbeddingBag) -> None:
        """Adds feature vectors and the features' names."""
        self.tables[name] = vocabulary.words
        self.arrays[name] = to_array(module.weight)

    def add_linear(self, name: str, module: nn.Linear) -> None:
        """Adds a linear layer, transposed so that inputs multiply from the left."""
        self.arrays[name] = to_array(module.weight.T.contiguous())
        if module.bias is not None:
            self.arrays[name + "/bias"] = to_array(module.bias)


def fit_cores(
    examples: Sequence[Example], lexicon: Lexicon, settings: Settings, dev: Sequence[Example], fitted: Fitted
) -> None:
    """Fits the ranking of the candidate cores of each word."""
    torch.manual_seed(settings.seed)
    generator = np.random.default_rng(settings.seed)
    data = _core_data(examples, lexicon, leave_out=True)
    words = FeatureVocabulary(data.words, settings.least)
    cores = FeatureVocabulary(data.cores, settings.least)
    details = FeatureVocabulary(data.details, settings.least)
    data.encode(words, cores, details)
    test = _core_data(dev, lexicon, leave_out=False)
    test.encode(words, cores, details)
    dense = torch.from_numpy(np.concatenate([context(e.sentence) for e in examples]))
    test_dense = torch.from_numpy(np.concatenate([context(e.sentence) for e in dev])) if dev else dense[:0]
    width = settings.width
    word_bag, core_bag, linear_bag = bag(words, width), bag(cores, width), bag(details, 1)
    projection, output = nn.Linear(dense.shape[1], width), nn.Linear(width, 1, bias=False)
    nn.init.zeros_(linear_bag.weight)
    modules = nn.ModuleList([word_bag, core_bag, linear_bag, projection, output])

    def scores(part: _CoreData, inputs: Tensor, rows: np.ndarray, drop: float) -> Tensor:
        hidden = word_bag(*part.word_ids.pick(rows, drop, generator)) + projection(
            inputs[torch.from_numpy(rows)]
        )
        sizes = part.starts[rows + 1] - part.starts[rows]
        offsets = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        chosen = np.repeat(part.starts[rows] - offsets, sizes) + np.arange(int(sizes.sum()))
        flat = part.core_ids.pick(chosen, drop, generator)
        detailed = linear_bag(*part.detail_ids.pick(chosen, drop, generator))
        owner = torch.from_numpy(np.repeat(np.arange(len(rows)), sizes))
        both = torch.relu(hidden[owner] + core_bag(*flat))
        both = functional.dropout(both, settings.hidden_drop, training=drop > 0)
        single = (output(both) + detailed).squeeze(1)
        padded = torch.full((len(rows), int(sizes.max())), -1e9)
        inside = torch.from_numpy(np.arange(int(sizes.sum())) - np.repeat(offsets, sizes))
        return padded.index_put((owner, inside), single)

    def loss_of(rows: np.ndarray, _: float) -> Tensor:
        rows = data.trainable[rows]
        return functional.cross_entropy(
            scores(data, dense, rows, settings.drop), torch.from_numpy(data.gold[rows])
        )

    def accuracy(_: int) -> str:
        if not dev:
            return ""
        modules.eval()
        with torch.no_grad():
            best = scores(test, test_dense, np.arange(len(test.gold)), 0.0).argmax(1).numpy()
        modules.train()
        content = test.content
        return f"all {np.mean(best == test.gold):.4f} content {np.mean((best == test.gold)[content]):.4f}"

    optimise(
        "cores", modules, len(data.trainable), loss_of, epochs=settings.epochs, batch=512,
        rate=settings.rate, decay=0.01, generator=generator, after=accuracy,
    )  # fmt: skip
    fitted.add("core/word", words, word_bag)
    fitted.add("core/core", cores, core_bag)
    fitted.add("core/detail", details, linear_bag)
    fitted.add_linear("core/dense", projection)
    fitted.add_linear("core/output", output)


class _CoreData:
    def __init__(self) -> None:
        self.words: list[list[str]] = []
        self.cores: list[list[str]] = []
        self.details: list[list[str]] = []
        self.gold_list: list[int] = []
        self.content_list: list[bool] = []
        self.start_list: list[int] = [0]

    def encode(self, words: FeatureVocabulary, cores: FeatureVocabulary, details: FeatureVocabulary) -> None:
        self.word_ids = words.encode(self.words)
        self.core_ids = cores.encode(self.cores)
        self.detail_ids = details.encode(self.details)
        self.gold = np.array(self.gold_list, dtype=np.int64)
        self.content = np.array(self.content_list, dtype=bool)
        self.starts = np.array(self.start_list, dtype=np.int64)
        self.trainable = np.flatnonzero(self.gold >= 0)
        self.words, self.cores, self.details = [], [], []


def _core_data(examples: Sequence[Example], lexicon: Lexicon, leave_out: bool) -> _CoreData:
    data = _CoreData()
    for example in examples:
        sentence = example.sentence
        seen = Counter(zip(sentence.lemmas, example.cores, strict=True)) if leave_out else Counter()
        for token, gold in enumerate(example.cores):
            data.words.append(word_features(sentence, token))
            place = -1
            for number, candidate in enumerate(
                lexicon.candidates(sentence, token, seen if leave_out else None)
            ):
                vectors, weights = core_features(sentence, token, candidate)
                data.cores.append(vectors)
                data.details.append(weights + neighbour_features(sentence, token, candidate))
                if candidate.core == gold:
                    place = number
            data.gold_list.append(place)
            data.content_list.append(gold != "<none>")
            data.start_list.append(len(data.cores))
    return data


def fit_templates(
    examples: Sequence[Example], known: set[str], settings: Settings, dev: Sequence[Example], fitted: Fitted
) -> None:
    """Fits the choice among the known templates for each core."""
    torch.manual_seed(settings.seed)
    generator = np.random.default_rng(settings.seed)
    labels = sorted(known)
    rows, gold, dense = _template_data(examples, labels)
    test_rows, test_gold, test_dense = _template_data(dev, labels)
    vocabulary = FeatureVocabulary(rows, settings.least)
    ids, test_ids = vocabulary.encode(rows), vocabulary.encode(test_rows)
    width = settings.width
    features = bag(vocabulary, width)
    projection, output = nn.Linear(dense.shape[1], width), nn.Linear(width, len(labels))
    modules = nn.ModuleList([features, projection, output])

    def scores(part: Ragged, inputs: Tensor, chosen: np.ndarray, drop: float) -> Tensor:
        hidden = torch.relu(
            features(*part.pick(chosen, drop, generator)) + projection(inputs[torch.from_numpy(chosen)])
        )
        scored: Tensor = output(functional.dropout(hidden, settings.hidden_drop, training=drop > 0))
        return scored

    def loss_of(chosen: np.ndarray, _: float) -> Tensor:
        return functional.cross_entropy(
            scores(ids, dense, chosen, settings.drop), torch.from_numpy(gold[chosen])
        )

    def accuracy(_: int) -> str:
        if not dev:
            return ""
        with torch.no_grad():
            best = scores(test_ids, test_dense, np.arange(len(test_gold)), 0.0).argmax(1).numpy()
        return f"accuracy {np.mean(best == test_gold):.4f}"

    optimise(
        "templates", modules, len(gold), loss_of, epochs=settings.epochs, batch=256,
        rate=settings.rate, decay=0.01, generator=generator, after=accuracy,
    )  # fmt: skip
    fitted.add("template/word", vocabulary, features)
    fitted.add_linear("template/dense", projection)
    fitted.add_linear("template/output", output)
    fitted.tables["templates"] = labels


def _template_data(
    examples: Sequence[Example], labels: list[str]
) -> tuple[list[list[str]], np.ndarray, Tensor]:
    numbers = {label: number for number, label in enumerate(labels)}
    rows, gold, dense = [], [], []
    for example in examples:
        inputs = context(example.sentence)
        for token, core, template in example.templates:
            rows.append(
                template_features(word_features(example.sentence, token), example.sentence.tags[token], core)
            )
            gold.append(numbers.get(template, 0))
            dense.append(inputs[token])
    return rows, np.array(gold, dtype=np.int64), torch.from_numpy(np.array(dense, dtype=np.float32))


class _PairData:
    def __init__(self) -> None:
        self.nodes: list[list[str]] = []
        self.pairs: list[list[str]] = []
        self.source: list[int] = []
        self.target: list[int] = []
        self.gold: list[int] = []
        self.dense: list[np.ndarray] = []
        self.roots: list[tuple[int, int, int]] = []


def _pair_data(
    examples: Sequence[Example], frames: Frames, labels: dict[str, int], known: set[str]
) -> _PairData:
    data = _PairData()
    for example in examples:
        sentence, nodes = example.sentence, example.nodes
        first = len(data.nodes)
        inputs = context(example.sentence)
        paths = Paths(sentence)
        kinds = [type_of(node) for node in nodes]
        roles = [
            frames.roles(node.concept) if kind == "frame" else "-"
            for node, kind in zip(nodes, kinds, strict=True)
        ]
        for number, node in enumerate(nodes):
            data.nodes.append(node_features(sentence, nodes, number, frames))
            data.dense.append(inputs[node.token])
        if nodes and example.root >= 0:
            data.roots.append((first, first + len(nodes), first + example.root))
        for i, source in enumerate(nodes):
            if source.constant or kinds[i] == "name":
                continue
            for j, target in enumerate(nodes):
                if kinds[j] == "name" or source.token == target.token:
                    continue
                path, length = paths.between(source.token, target.token)
                if not worth_scoring(path, length, kinds[i], kinds[j], known):
                    continue
                label = example.edges.get((i, j), NO_RELATION)
                data.pairs.append(
                    pair_features(sentence, source, target, (kinds[i], kinds[j]), path, roles[i])
                )
                data.source.append(first + i)
                data.target.append(first + j)
                data.gold.append(labels.get(label, labels[NO_RELATION]))
    return data


def known_paths(examples: Sequence[Example]) -> set[str]:
    """Returns the dependency paths between nodes that a gold graph relates."""
    found = set()
    for example in examples:
        paths = Paths(example.sentence)
        for one, other in example.edges:
            for a, b in ((one, other), (other, one)):
                found.add(paths.between(example.nodes[a].token, example.nodes[b].token)[0])
    return found


def fit_relations(
    examples: Sequence[Example], frames: Frames, settings: Settings, dev: Sequence[Example], fitted: Fitted
) -> None:
    """Fits the relation, or none, of every ordered pair of nodes, and the root among the nodes."""
    torch.manual_seed(settings.seed)
    generator = np.random.default_rng(settings.seed)
    counts = Counter(label for example in examples for label in example.edges.values())
    names = [NO_RELATION, *sorted(label for label, count in counts.items() if count >= 3)]
    labels = {name: number for number, name in enumerate(names)}
    known = known_paths(examples)
    data, test = _pair_data(examples, frames, labels, known), _pair_data(dev, frames, labels, known)
    node_words, pair_words = (
        FeatureVocabulary(data.nodes, settings.least),
        FeatureVocabulary(data.pairs, settings.pair_least),
    )
    sets = []
    for part in (data, test):
        sets.append((
            node_words.encode(part.nodes), pair_words.encode(part.pairs), np.array(part.source, dtype=np.int64),
            np.array(part.target, dtype=np.int64), np.array(part.gold, dtype=np.int64),
            torch.from_numpy(np.array(part.dense, dtype=np.float32)),
        ))  # fmt: skip
        part.nodes, part.pairs = [], []
    print(
        f"relations: {len(data.gold)} pairs, {len(pair_words.words)} pair and {len(node_words.words)} node features"
    )
    width = settings.pair_width
    source_bag, target_bag, pair_bag = bag(node_words, width), bag(node_words, width), bag(pair_words, width)
    size = sets[0][5].shape[1]
    source_dense, target_dense = nn.Linear(size, width), nn.Linear(size, width, bias=False)
    output = nn.Linear(width, len(names))
    modules = nn.ModuleList([source_bag, target_bag, pair_bag, source_dense, target_dense, output])

    def scores(part: int, rows: np.ndarray, drop: float) -> Tensor:
        nodes, pairs, source, target, _, dense = sets[part]
        ends, places = np.unique(np.concatenate([source[rows], target[rows]]), return_inverse=True)
        ids = nodes.pick(ends, drop, generator)
        inputs = dense[torch.from_numpy(ends)]
        index = torch.from_numpy(places)
        one = (source_bag(*ids) + source_dense(inputs))[index[: len(rows)]]
        other = (target_bag(*ids) + target_dense(inputs))[index[len(rows) :]]
        hidden = torch.relu(one + other + pair_bag(*pairs.pick(rows, drop, generator)))
        scored: Tensor = output(functional.dropout(hidden, settings.hidden_drop, training=drop > 0))
        return scored

    def loss_of(rows: np.ndarray, _: float) -> Tensor:
        return functional.cross_entropy(scores(0, rows, settings.drop), torch.from_numpy(sets[0][4][rows]))

    def quality(_: int) -> str:
        if not dev:
            return ""
        gold = sets[1][4]
        with torch.no_grad():
            best = np.concatenate(
                [scores(1, rows, 0.0).argmax(1).numpy() for rows in np.array_split(np.arange(len(gold)), 40)]
            )
        hits = np.sum((best == gold) & (gold > 0))
        return f"P {hits / max(1, np.sum(best > 0)):.4f} R {hits / np.sum(gold > 0):.4f}"

    optimise(
        "relations", modules, len(data.gold), loss_of, epochs=settings.pair_epochs, batch=2048,
        rate=settings.pair_rate, decay=0.01, generator=generator, after=quality,
    )  # fmt: skip
    fitted.add("pair/source", node_words, source_bag)
    fitted.arrays["pair/target"] = to_array(target_bag.weight)
    fitted.add("pair/pair", pair_words, pair_bag)
    fitted.add_linear("pair/source_dense", source_dense)
    fitted.add_linear("pair/target_dense", target_dense)
    fitted.add_linear("pair/output", output)
    fitted.tables["relations"] = names
    fitted.tables["paths"] = sorted(known)
    _fit_root(data, sets[0][0], sets[0][5], node_words, settings, generator, fitted)


def _fit_root(
    data: _PairData, nodes: Ragged, dense: Tensor, words: FeatureVocabulary, settings: Settings,
    generator: np.random.Generator, fitted: Fitted,
) -> None:  # fmt: skip
    features = bag(words, 16)
    projection, output = nn.Linear(dense.shape[1], 16), nn.Linear(16, 1, bias=False)
    modules = nn.ModuleList([features, projection, output])
    spans = np.array(data.roots, dtype=np.int64)

    def loss_of(rows: np.ndarray, _: float) -> Tensor:
        chosen = spans[rows]
        sizes = chosen[:, 1] - chosen[:, 0]
        every = np.concatenate([np.arange(a, b) for a, b, _ in chosen])
        hidden = torch.relu(
            features(*nodes.pick(every, settings.drop, generator))
            + projection(dense[torch.from_numpy(every)])
        )
        single = output(hidden).squeeze(1)
        owner = np.repeat(np.arange(len(rows)), sizes)
        inside = np.arange(len(every)) - np.repeat(np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
        padded = torch.full((len(rows), int(sizes.max())), -1e9)
        padded = padded.index_put((torch.from_numpy(owner), torch.from_numpy(inside)), single)
        return functional.cross_entropy(padded, torch.from_numpy(chosen[:, 2] - chosen[:, 0]))

    optimise(
        "root", modules, len(spans), loss_of, epochs=settings.epochs, batch=64,
        rate=settings.rate, decay=0.01, generator=generator,
    )  # fmt: skip
    fitted.arrays["root/node"] = to_array(features.weight)
    fitted.add_linear("root/dense", projection)
    fitted.add_linear("root/output", output)
