"""The trial of MaRF as published: its parts trained one after the other, ranked alone and fused (Wang, Zheng and Kani, Tables 1 to 6)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mathamr.core.configured import check_ranges
from mathamr.core.errors import MathAMRError
from mathamr.core.tensorfile import read_tensors, tensor_bytes
from mathamr.evaluation.qrels import RELEVANT, Qrels
from mathamr.systems.marf.fusion import GatedFusion
from mathamr_lab.experiments.ntcir12 import MEASURES as NTCIR_MEASURES
from mathamr_lab.experiments.ntcir12 import RELEVANT as NTCIR_RELEVANT
from mathamr_lab.experiments.trials.descent import Descent, descend
from mathamr_lab.experiments.trials.marftexts import MarfText, MarfTexts, read_commands
from mathamr_lab.experiments.trials.publishedbase import PublishedBase, mean_vectors, mixed
from mathamr_lab.experiments.trials.scorefiles import JUDGED, KNOWN, judgments, keep_figures, keep_run, say

CONTEXT = "context"
SCORINGS, FORMULAS = ("passage", "token"), ("several", "longest")
DEPTH = 1000
MASKED = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class MarfPaper:
    """The published recipe (section 3.4, appendix B.3): sizes and epochs; what the paper does not say is our choice.

    `base` is any that `transformers` loads; with `tuning` ``frozen`` it is not trained at all, as the paper uses
    Qwen3-Embedding: a projection to `size` learns together with the fusion. `pretraining` counts the epochs of masked words
    and next sentences before that. Not published: batches, rates, `length`, the inner size of the formula encoder (2,048
    gives the stated 50 million parameters with BERT's vocabulary), and how long the pretraining takes.
    """

    title: ClassVar[str] = "MaRF as published"

    base: str = "bert-base-uncased"
    tuning: str = "full"
    size: int = 768
    length: int = 512
    pretraining: int = 1
    context_epochs: int = 3
    formula_epochs: int = 3
    fusion_epochs: int = 4
    formula_size: int = 512
    formula_layers: int = 8
    formula_heads: int = 8
    formula_inner: int = 2048
    formula_length: int = 128
    fusion_heads: int = 8
    most: int = 6
    batch: int = 32
    formula_batch: int = 128
    rate: float = 2e-5
    formula_rate: float = 1e-4
    fusion_rate: float = 1e-4
    temperature: float = 0.05
    held: int = 256
    seconds: float = 0.0

    def __post_init__(self) -> None:
        counts = dict.fromkeys(("pretraining", "context_epochs", "formula_epochs", "fusion_epochs"), (0, 1e4))
        sizes = dict.fromkeys(
            ("size", "formula_size", "formula_inner", "length", "formula_length"), (2, 16384)
        )
        few = {"formula_layers": (1, 64), "formula_heads": (1, 64), "fusion_heads": (1, 64), "most": (1, 300)}
        others = {"batch": (2, 1e5), "formula_batch": (2, 1e5), "held": (0, 1e6), "seconds": (0, 1e6)}
        check_ranges(self, self.title, {**counts, **sizes, **few, **others})
        if self.formula_size % self.formula_heads or self.size % self.fusion_heads:
            raise MathAMRError("a size must be a multiple of its number of heads")


class FormulaTransformer(nn.Module):
    """The formula encoder (section 3.2): a transformer of Llama's layers that sees all tokens, projected to the size of the context."""

    def __init__(self, recipe: MarfPaper, tokens: int) -> None:
        super().__init__()
        from transformers import LlamaConfig, LlamaModel

        self.model = LlamaModel(
            LlamaConfig(
                vocab_size=tokens,
                hidden_size=recipe.formula_size,
                intermediate_size=recipe.formula_inner,
                num_hidden_layers=recipe.formula_layers,
                num_attention_heads=recipe.formula_heads,
                num_key_value_heads=recipe.formula_heads,
                max_position_embeddings=max(512, recipe.formula_length),
                use_cache=False,
            )
        )
        self.head = nn.Linear(recipe.formula_size, recipe.size, bias=False)

    def forward(self, numbers: Tensor, real: Tensor) -> Tensor:
        """Token vectors of length one (rows, width, size)."""
        seen = torch.zeros(len(numbers), 1, 1, numbers.shape[1], device=numbers.device, dtype=torch.float32)
        seen = seen.masked_fill(~real[:, None, None, :], torch.finfo(torch.float32).min)
        seen = seen.expand(-1, -1, numbers.shape[1], -1)
        kind = torch.get_autocast_dtype(numbers.device.type)
        mask = seen.to(kind) if torch.is_autocast_enabled(numbers.device.type) else seen
        states = self.model(input_ids=numbers, attention_mask=mask).last_hidden_state
        return functional.normalize(self.head(states).float(), dim=-1)


class Marf(nn.Module):
    """The context encoder with its projection, the formula encoder, and the fusion."""

    def __init__(self, recipe: MarfPaper, commands: Sequence[str], device: torch.device) -> None:
        super().__init__()
        self.recipe, self.device = recipe, device
        self.base = PublishedBase(
            recipe.base, tuning=recipe.tuning, words=[] if recipe.tuning == "frozen" else commands
        )
        self.head: nn.Module = nn.Identity()
        if self.base.size != recipe.size or recipe.tuning == "frozen":
            projection = nn.Linear(self.base.size, recipe.size, bias=False)
            nn.init.orthogonal_(projection.weight)
            self.head = projection
        self.formula = FormulaTransformer(recipe, len(self.base.tokenizer))
        self.fusion = GatedFusion(recipe.size, recipe.fusion_heads, recipe.size)
        self.to(device)

    def renew_fusion(self) -> None:
        """Starts the fusion anew, and with it the projection that learns with it, that of a frozen base."""
        self.fusion = GatedFusion(self.recipe.size, self.recipe.fusion_heads, self.recipe.size).to(
            self.device
        )
        if self.recipe.tuning == "frozen":
            nn.init.orthogonal_(self.head.get_parameter("weight"))

    def contexts(self, texts: Sequence[str], *, projected: bool = True) -> tuple[Tensor, Tensor]:
        """Token vectors of texts, of length one (equation 1), and which are real."""
        numbers, real = self.base.padded(self.base.numbers(texts, self.recipe.length))
        real = real.to(self.device)
        states = self.base(numbers.to(self.device), real)
        states = self.head(states) if projected else states
        return functional.normalize(states.float(), dim=-1), real

    def formulas(self, latex: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Token vectors of formulas, and which are real; a missing formula has one padding."""
        rows = self.base.numbers(latex, self.recipe.formula_length, marks=False)
        numbers, real = (each.to(self.device) for each in self.base.padded(rows))
        return self.formula(numbers, real), real

    def fused(self, context: Tensor, latex: Sequence[str]) -> Tensor:
        """Contexts with one formula each (equations 4 to 6), of length one; without a formula the context is unchanged."""
        with torch.no_grad():
            self.formula.eval()
            vectors, real = self.formulas(latex)
        counts = real.sum(1) * torch.tensor([bool(each) for each in latex], device=self.device)
        return functional.normalize(self.fusion(context, vectors, counts).float(), dim=-1)


def maxsim(queries: Tensor, asked: Tensor, documents: Tensor, real: Tensor) -> Tensor:
    """Equation 2 for every query and document, both padded: the sum over a query's tokens of their best cosine."""
    similar = torch.einsum("qis,djs->qdij", queries, documents)
    best = similar.masked_fill(~real[None, :, None, :], -1.0).amax(-1)
    return torch.einsum("qdi,qi->qd", best.float(), asked.float())


def contrast(scores: Tensor) -> Tensor:
    """Equation 3 with the answers of a batch's other questions as negatives; the diagonal is positive."""
    return functional.cross_entropy(scores.float(), torch.arange(len(scores), device=scores.device))


class MarfTraining:
    """Trains the parts of one seed from pairs of posts."""

    def __init__(self, texts: MarfTexts, pairs: Sequence[tuple[int, int]], marf: Marf, seed: int) -> None:
        self.texts, self.marf, self.seed, self.recipe = texts, marf, seed, marf.recipe
        order = np.random.default_rng([seed, 5]).permutation(len(pairs))
        held = min(self.recipe.held, len(pairs) // 5)
        self.held = [pairs[place] for place in order[:held]]
        self.train = [pairs[place] for place in order[held:]]

    def _descend(
        self,
        what: str,
        parts: Iterable[nn.Module],
        loss: Callable[[Sequence[tuple[int, int]], np.random.Generator], Tensor],
        epochs: int,
        batch: int,
        rate: float,
        share: float,
        usable: Callable[[tuple[int, int]], bool] = lambda pair: True,
    ) -> Descent:
        say(f"seed {self.seed}: {what}")
        trained = nn.ModuleList(parts)
        frozen = {id(each) for each in trained.parameters()}
        asked = [each.requires_grad for each in self.marf.parameters()]
        for each in self.marf.parameters():
            each.requires_grad_(each.requires_grad and id(each) in frozen)
        found = descend(
            trained,
            [pair for pair in self.train if usable(pair)],
            loss,
            epochs=epochs,
            batch=batch,
            rate=rate,
            seed=self.seed,
            device=self.marf.device,
            held=[pair for pair in self.held if usable(pair)],
            seconds=share * self.recipe.seconds or None,
        )
        for each, was in zip(self.marf.parameters(), asked, strict=True):
            each.requires_grad_(was)
        return found

    def words(self) -> Descent:
        """Masked words and next sentences (Devlin et al.): half of the second sentences follow the first, half are of another post."""
        from transformers import BertForPreTraining, DataCollatorForLanguageModeling

        base, device = self.marf.base, self.marf.device
        if base.model.config.model_type != "bert":
            raise MathAMRError(
                f"next sentences are predicted by BERT, and {base.name} is of type {base.model.config.model_type};"
                " set marf.pretraining=0"
            )
        untyped: Any = BertForPreTraining
        network = untyped(base.model.config).to(device)
        network.bert = base.model
        network.tie_weights()
        collate = DataCollatorForLanguageModeling(base.tokenizer, mlm_probability=MASKED)
        usable = [place for place in range(len(self.texts)) if self.texts[place].sentences]

        def loss(chosen: Sequence[int], chance: np.random.Generator) -> Tensor:
            rows, follows = [], []
            for post in chosen:
                sentences = self.texts[post].sentences
                place = int(chance.integers(max(1, len(sentences) - 1)))
                is_next = bool(chance.random() < 0.5) and place + 1 < len(sentences)
                other = self.texts[usable[int(chance.integers(len(usable)))]].sentences
                second = sentences[place + 1] if is_next else other[int(chance.integers(len(other)))]
                rows.append(
                    base.tokenizer(sentences[place], second, truncation=True, max_length=self.recipe.length)
                )
                follows.append(0 if is_next else 1)
            batch = collate(rows)
            found: Tensor = network(
                **{name: each.to(device) for name, each in batch.items()},
                next_sentence_label=torch.tensor(follows, device=device),
            ).loss
            return found

        say(f"seed {self.seed}: masked words and next sentences")
        return descend(
            network,
            usable,
            loss,
            epochs=self.recipe.pretraining,
            batch=self.recipe.batch,
            rate=self.recipe.rate,
            seed=self.seed,
            device=device,
            seconds=0.2 * self.recipe.seconds or None,
        )

    def context(self) -> Descent:
        """Questions against their answers by MaxSim (section 3.1)."""

        def loss(chosen: Sequence[tuple[int, int]], chance: np.random.Generator) -> Tensor:
            posts = [self.texts[post].text for pair in zip(*chosen, strict=True) for post in pair]
            vectors, real = self.marf.contexts(posts)
            return contrast(maxsim(*_first(vectors, real), *_second(vectors, real)))

        recipe = self.recipe
        parts = (self.marf.base, self.marf.head)
        return self._descend(
            "context encoder", parts, loss, recipe.context_epochs, recipe.batch, recipe.rate, 0.3
        )

    def formulas(self, scoring: str) -> Descent:
        """A formula of a question against one of its answer, by passage (mean vectors) or token (MaxSim; section 3.2)."""

        def drawn(post: int, chance: np.random.Generator) -> str:
            known = self.texts[post].formulas
            return known[int(chance.integers(len(known)))]

        def loss(chosen: Sequence[tuple[int, int]], chance: np.random.Generator) -> Tensor:
            latex = [drawn(post, chance) for pair in zip(*chosen, strict=True) for post in pair]
            vectors, real = self.marf.formulas(latex)
            if scoring == "token":
                return contrast(maxsim(*_first(vectors, real), *_second(vectors, real)))
            one, two = mean_vectors(vectors, real).chunk(2)
            return contrast(one @ two.T / self.recipe.temperature)

        recipe = self.recipe
        return self._descend(
            f"formula encoder by {scoring}",
            (self.marf.formula,),
            loss,
            recipe.formula_epochs,
            recipe.formula_batch,
            recipe.formula_rate,
            0.15,
            lambda pair: all(self.texts[post].formulas for post in pair),
        )

    def fusion(self, formulas: str) -> Descent:
        """Fused questions against fused answers; both encoders are frozen, but the projection of a frozen base learns (section 3.3)."""
        marf, recipe = self.marf, self.recipe

        def loss(chosen: Sequence[tuple[int, int]], chance: np.random.Generator) -> Tensor:
            posts = [self.texts[post] for pair in zip(*chosen, strict=True) for post in pair]
            draw = chance if formulas == "several" else None
            most = recipe.most if draw is not None else 1
            latex = [_one(post.some(most), draw) for post in posts]
            marf.base.eval()
            with torch.set_grad_enabled(recipe.tuning == "frozen" and torch.is_grad_enabled()):
                context, real = marf.contexts([post.text for post in posts])
            fused = marf.fused(context, latex)
            return contrast(maxsim(*_first(fused, real), *_second(fused, real)))

        parts = (marf.fusion, *((marf.head,) if recipe.tuning == "frozen" else ()))
        return self._descend(
            f"fusion, {formulas}",
            parts,
            loss,
            recipe.fusion_epochs,
            recipe.batch,
            recipe.fusion_rate,
            0.1,
        )


def _first(vectors: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    return vectors[: len(vectors) // 2], real[: len(vectors) // 2]


def _second(vectors: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    return vectors[len(vectors) // 2 :], real[len(vectors) // 2 :]


def _one(formulas: Sequence[str], chance: np.random.Generator | None) -> str:
    """A random formula, or the longest, which is the first; "" if there is none."""
    if not formulas:
        return ""
    return formulas[0 if chance is None else int(chance.integers(len(formulas)))]


@dataclass(frozen=True, slots=True, eq=False)
class SearchTask:
    """Topics, the searched entries, judgments, and the measures."""

    name: str
    topics: Sequence[MarfText]
    candidates: MarfTexts
    qrels: Qrels
    measures: tuple[str, ...]


def search_tasks(folder: Path) -> Iterator[SearchTask]:
    """Yields the search tasks of a prepared folder: judged answers, known items, judged formulas, those of NTCIR-12."""
    for name, candidates, chosen, relevant in (
        ("task1", "answers", JUDGED, RELEVANT),
        ("known-items", "answers", KNOWN, RELEVANT),
        ("task2", "visual", JUDGED, RELEVANT),
        ("ntcir12", "ntcir12", NTCIR_MEASURES, NTCIR_RELEVANT),
    ):
        topics = folder / f"topics-{name}.jsonl"
        if topics.exists():
            qrels = judgments(folder / "qrels", name, relevant)
            asked = [topic for topic in MarfTexts(topics) if topic.id in qrels.grades]
            yield SearchTask(name, asked, MarfTexts(folder / f"{candidates}.jsonl"), qrels, chosen)


Represented = Callable[[Sequence[MarfText]], tuple[Tensor, Tensor, Sequence[int]]]
"""Representations of some entries (rows, width, size), which tokens are real, and the entry that each row belongs to."""


@torch.no_grad()
def rank_all(
    task: SearchTask, asked: Represented, represented: Represented, device: torch.device, at_a_time: int = 0
) -> dict[str, dict[str, float]]:
    """Algorithm 1 over all candidates: MaxSim with every representation, averaged by candidate; the best thousand of each topic.

    Candidates are represented `at_a_time` (0: as many as suit the device), and none of their vectors is kept.
    """
    queries = []
    for topic in task.topics:
        with mixed(device):
            vectors, real, _ = asked([topic])
        queries.append(vectors[0][real[0]].float() if len(vectors) else torch.zeros(0, 1, device=device))
    size = max((each.shape[1] for each in queries), default=1)
    lengths = torch.tensor([len(each) for each in queries], device=device)
    tokens = torch.cat([each if len(each) else each.new_zeros(0, size) for each in queries])
    of = torch.repeat_interleave(torch.arange(len(queries), device=device), lengths)
    values = torch.full((len(queries), 0), -torch.inf, device=device)
    places = torch.zeros(len(queries), 0, dtype=torch.long, device=device)
    stream, done = iter(task.candidates), 0
    at_a_time = at_a_time or (256 if device.type == "cuda" else 64)
    while block := list(islice(stream, at_a_time)):
        with mixed(device):
            rows, real, owners = represented(block)
        found = torch.full((len(queries), len(block)), -torch.inf, device=device)
        if len(rows):
            owner = torch.tensor(list(owners), device=device)
            sums = _maxsims(tokens, of, len(queries), rows.float(), real) / lengths.clamp(min=1)[:, None]
            counts = torch.bincount(owner, minlength=len(block))
            means = torch.zeros_like(found).masked_fill_(counts == 0, -torch.inf).index_add_(1, owner, sums)
            found = torch.where(lengths[:, None] > 0, means / counts.clamp(min=1), found)
        numbers = torch.arange(done, done + len(block), device=device).expand(len(queries), -1)
        joined, which = torch.cat([values, found], 1), torch.cat([places, numbers], 1)
        values, chosen = joined.topk(min(DEPTH, joined.shape[1]))
        places, done = which.gather(1, chosen), done + len(block)
    return {
        topic.id: {
            task.candidates[place].id: value
            for place, value in zip(own.tolist(), row.tolist(), strict=True)
            if value > -torch.inf
        }
        for topic, own, row in zip(task.topics, places, values, strict=True)
    }


def _maxsims(
    tokens: Tensor, of: Tensor, queries: int, rows: Tensor, real: Tensor, limit: int = 1 << 28
) -> Tensor:
    """Returns equation 2 for every query, whose tokens are given with its number, and representation."""
    found = torch.zeros(queries, len(rows), device=rows.device)
    flat = rows.flatten(0, 1)
    rows_each = max(1, limit // len(flat))
    for part, own in zip(torch.split(tokens, rows_each), torch.split(of, rows_each), strict=True):
        similar = (part @ flat.T).view(len(part), *real.shape)
        found.index_add_(0, own, similar.masked_fill_(~real, -1.0).amax(-1))
    return found


def context_of(marf: Marf) -> Represented:
    """The context alone: one representation an entry, by the states of the base before a projection that only the fusion trains."""

    def represented(entries: Sequence[MarfText]) -> tuple[Tensor, Tensor, Sequence[int]]:
        texts = [each.text for each in entries]
        return *marf.contexts(texts, projected=marf.recipe.tuning != "frozen"), range(len(entries))

    return represented


def formulas_of(marf: Marf, scoring: str, most: int) -> Represented:
    """The formulas alone, some of an entry, as tokens or as one mean vector each."""

    def represented(entries: Sequence[MarfText]) -> tuple[Tensor, Tensor, Sequence[int]]:
        jobs = [(place, latex) for place, each in enumerate(entries) for latex in each.some(most)]
        if not jobs:
            return torch.zeros(0, 1, 1), torch.zeros(0, 1, dtype=torch.bool), ()
        vectors, real = marf.formulas([latex for _, latex in jobs])
        if scoring == "passage":
            vectors, real = mean_vectors(vectors, real)[:, None], real[:, :1]
        return vectors, real, [place for place, _ in jobs]

    return represented


def fused_of(marf: Marf, most: int) -> Represented:
    """Contexts fused with some formulas of each entry; an entry without a formula is its context."""

    def represented(entries: Sequence[MarfText]) -> tuple[Tensor, Tensor, Sequence[int]]:
        contexts, real = marf.contexts([each.text for each in entries])
        jobs = [(place, latex) for place, each in enumerate(entries) for latex in each.some(most) or ("",)]
        places = torch.tensor([place for place, _ in jobs], device=marf.device)
        fused = marf.fused(contexts[places], [latex for _, latex in jobs])
        return fused, real[places], [place for place, _ in jobs]

    return represented


class MarfTrial:
    """Trains and measures with one seed, part by part; what is measured already is not measured again."""

    def __init__(self, folder: Path, out: Path, recipe: MarfPaper, device: torch.device, seed: int) -> None:
        self.folder, self.out, self.recipe, self.device, self.seed = folder, out, recipe, device, seed
        self.tasks = list(search_tasks(folder))
        self.texts = MarfTexts(folder / "posts.jsonl")
        self.pairs = [(int(one), int(two)) for one, two in np.load(folder / "pairs.npy", allow_pickle=False)]

    def run(self, rows: Sequence[str] = ()) -> None:
        """Measures the context, and for each scoring the formulas and both fusions; `rows` restricts that to some by name."""
        wanted = [name for name in ROWS if not rows or name in rows]
        if all(self._is_done(name) for name in wanted):
            return
        torch.manual_seed(self.seed)
        marf = Marf(self.recipe, read_commands(self.folder), self.device)
        training = MarfTraining(self.texts, self.pairs, marf, self.seed)
        sizes = {
            "context": marf.base,
            "formula encoder": marf.formula,
            "fusion": marf.fusion,
        }
        counted = {name: sum(each.numel() for each in part.parameters()) for name, part in sizes.items()}
        say(f"seed {self.seed}: {len(self.pairs):,} pairs; parameters {counted}")
        learned: dict[str, Any] = {}
        if self.recipe.tuning != "frozen":
            parts = nn.ModuleList([marf.base, marf.head])
            steps = {"words": training.words} if self.recipe.pretraining else {}
            learned |= self._learned("context", parts, {**steps, "context": training.context})
        if CONTEXT in wanted:
            self._measure(CONTEXT, context_of(marf), context_of(marf), learned)
        for scoring in SCORINGS:
            if not any(scoring in name for name in wanted):
                continue
            torch.manual_seed(self.seed)
            marf.formula = FormulaTransformer(self.recipe, len(marf.base.tokenizer)).to(self.device)
            learn = {"formulas": partial(training.formulas, scoring)}
            learned |= self._learned(f"formula-{scoring}", marf.formula, learn)
            for formulas in FORMULAS:
                most = self.recipe.most if formulas == "several" else 1
                name = f"formula-{scoring}-{formulas}"
                if name in wanted:
                    one = formulas_of(marf, scoring, 1)
                    self._measure(name, one, formulas_of(marf, scoring, most), learned)
                name = f"marf-{scoring}-{formulas}"
                if name in wanted and not self._is_done(name):
                    torch.manual_seed(self.seed)
                    marf.renew_fusion()
                    fitted = {**learned, "fusion": asdict(training.fusion(formulas))}
                    self._measure(name, fused_of(marf, 1), fused_of(marf, most), fitted)

    def _learned(
        self, name: str, part: nn.Module, learn: Mapping[str, Callable[[], Descent]]
    ) -> dict[str, Any]:
        """Trains a part, or loads it as it was trained before; returns how it learned."""
        path = self.out / f"seed-{self.seed}" / f"weights-{name}.safetensors"
        if path.exists():
            part.load_state_dict(read_tensors(path), strict=False)
            found: dict[str, Any] = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            return found
        found = {each: asdict(step()) for each, step in learn.items()}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".json").write_text(json.dumps(found) + "\n", encoding="utf-8")
        state = {each: value.detach().cpu().contiguous() for each, value in part.state_dict().items()}
        path.write_bytes(tensor_bytes(state))
        return found

    def _path(self, name: str, task: SearchTask) -> str:
        return f"seed-{self.seed}/{name}/{task.name}"

    def _is_done(self, name: str) -> bool:
        return all((self.out / f"{self._path(name, task)}.json").exists() for task in self.tasks)

    def _measure(
        self, name: str, asked: Represented, represented: Represented, learned: Mapping[str, Any]
    ) -> None:
        if self._is_done(name):
            return
        for task in self.tasks:
            found = rank_all(task, asked, represented, self.device)
            depth = DEPTH if name in (CONTEXT, "marf-passage-several") else 0
            keep_run(self.out, self._path(name, task), found, task.qrels, task.measures, depth)
        keep_figures(self.out / f"seed-{self.seed}" / name, learned)


ROWS = (
    CONTEXT,
    *(
        f"{part}-{scoring}-{formulas}"
        for scoring in SCORINGS
        for part in ("formula", "marf")
        for formulas in FORMULAS
    ),
)
