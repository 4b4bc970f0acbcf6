"""`MarfPlan`: MaRF as published, trained by its recipe; its parts rank alone and fused (Wang, Zheng and Kani, Tables 1 to 6)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mathamr.core.batches import batches
from mathamr.core.device import chosen_device
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import DEPTH, Run
from mathamr.posts.post import Formula, Post
from mathamr.systems.marf.inference import context_vectors, formula_vectors, fused_vectors
from mathamr.systems.marf.model import load_marf
from mathamr.systems.marf.network import MarfNetwork
from mathamr.systems.marf.postinput import InputReader, PostInput
from mathamr_lab.experiments import ntcir12
from mathamr_lab.experiments.experiment import TrialRow
from mathamr_lab.experiments.formulaplaces import judged_places
from mathamr_lab.experiments.judgedformulas import judged_items
from mathamr_lab.experiments.plan import JudgedTest
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import Figures, Stage
from mathamr_lab.experiments.training import train_system
from mathamr_lab.experiments.trialplan import TrialPlan
from mathamr_lab.recipes.recipe import MODEL, RECIPES, TrainingSources
from mathamr_lab.systems.marf.configuration import STAGES
from mathamr_lab.systems.marf.scoring import mean_vector

CONTEXT, FORMULA, FUSED = "context", "formula", "marf"
"""The parts that rank: the context encoder, the formula encoder, and both fused."""
SHARED = STAGES[:2]
"""Words and context: the stages of a training that do not depend on how formulas are scored."""
NTCIR = "ntcir12"

Entry = tuple[str, PostInput]
Represented = Callable[[Sequence[PostInput]], list[list[Tensor]]]
"""The representations of some entries, each (rows, size)."""


class MarfPlan(TrialPlan):
    """The stages of an experiment with MaRF: a model for each way to score formulas, whose parts are measured."""

    system, seeds = "marf", ("all.seed",)

    def __init__(self, setting: ExperimentSetting) -> None:
        super().__init__(setting)
        for row in self.experiment.variants:
            RECIPES[self.system].check(self.model(row, 0)[0].settings)
        if self._ntcir is not None:
            qrels = ntcir12.ntcir12_bed(self._ntcir).qrels()
            self.tests[NTCIR] = JudgedTest(NTCIR, ntcir12.MEASURES, lambda: qrels)
        for seed in range(setting.seeds):
            for name, test in self.tests.items():
                for row in self.experiment.variants:
                    if setting.wants(row.name):
                        train = self._train(row, seed)
                        self.measure(
                            *(row.name, seed, test),
                            self.folder(row, seed) / "runs" / f"{row.part}-{name}.run",
                            {"part": row.part, "posts": setting.collection.digest},
                            (train,),
                            partial(self._search, row, seed, name),
                            train=train,
                        )

    @property
    def _ntcir(self) -> Path | None:
        return next(filter(ntcir12.is_ntcir12, self.setting.pools), None)

    @property
    def prepared(self) -> Stage:
        """The stage that counts the shares of mathematics, if a table has them, and lists what is not learned from."""
        folder, collection = self.setting.out / "marf", self.setting.collection
        with_shares = any(table.least for table in self.experiment.tables)

        def work() -> Figures:
            if not any(post.role == "answer" for post in collection.posts()):
                raise MathAMRError("the collection has no answers to search")
            if with_shares:
                (folder / "shares.json").write_text(json.dumps(self.shares()) + "\n", encoding="utf-8")
            without = "".join(f"{each}\n" for each in sorted(collection.without))
            (folder / "without.txt").write_text(without, encoding="utf-8")
            return {}

        inputs = {
            "posts": collection.digest,
            "without": sorted(collection.without),
            "topics": [test.digest for test in collection.tests],
        }
        name = "posts and shares for marf" if with_shares else "posts for marf"
        mark = folder / f"{'shares' if with_shares else 'posts'}.done.json"
        return self.stages.add(Stage("prepare", name, mark, inputs, (), work))

    def _train(self, row: TrialRow, seed: int) -> Stage:
        """Add the training of a row's formulas and fusion, over the words and the context that all rows of a seed share."""
        shared = self._part(SHARED, "words and context", replace(row, changes=()), seed)
        own = tuple(stage for stage in STAGES if stage not in SHARED)
        return self._part(own, "formulas and fusion", row, seed, shared)

    def _part(
        self, stages: tuple[str, ...], what: str, row: TrialRow, seed: int, before: Stage | None = None
    ) -> Stage:
        """Add the training of some stages, which go on from those of the stage before."""
        model, base = self.model(row, seed)
        first, *others = (*self.setting.collection.paths, *self.setting.collection.further)
        without = self.prepared.mark_path.with_name("without.txt")
        sources = TrainingSources(path=first, posts=tuple(others), without=(without,), base=base)
        folder = self.folder(row, seed)

        def work() -> Figures:
            known: Figures = {}
            if before is not None and (mark := before.mark()) is not None:
                known = mark.figures["stages"]
                for stage in known:
                    shutil.copytree(before.mark_path.with_name(stage), folder / stage, dirs_exist_ok=True)
            settings = replace(model.settings, stages=stages)
            made = train_system(self.system, sources, settings, folder, self.setting.device)
            return {**made, "stages": {**known, **made["stages"]}}

        inputs = {"changes": model.changes, "base": str(base or "")}
        needs = (self.prepared,) if before is None else (self.prepared, before)
        name = f"train {folder.name}, {what}"
        return self.stages.add(Stage("train", name, folder / "done.json", inputs, needs, work))

    def _search(self, row: TrialRow, seed: int, test: str) -> tuple[Run, Figures]:
        device = chosen_device(self.setting.device)
        model = load_marf(self.folder(row, seed) / MODEL)
        network, most = model.network.to(device).eval(), model.configuration.formulas
        asked, represented = (represent_by(network, device, row.part, count) for count in (1, most))
        topics, candidates = self._entries(test, model.reader)
        return Run.of(row.name, rank_all(topics, candidates, asked, represented, device)), {}

    def _entries(self, test: str, reader: InputReader) -> tuple[list[Entry], Iterator[Entry]]:
        """Return the topics and the searched entries of a test: answers, formulas with their posts, or formulas alone."""
        qrels = self.tests[test].qrels()
        if test == NTCIR:
            assert self._ntcir is not None
            concrete = ((n, x) for n, x in ntcir12.topics(self._ntcir) if n in qrels.grades)
            return list(_formulas(concrete, reader)), _formulas(ntcir12.formulas(self._ntcir), reader)
        topics = [topic for each in self.sets[test] for topic in each.topics]
        posts = self.setting.collection.posts()
        if test == "task2":
            asked = [
                (topic.id, _with_formula(topic.post, topic.formula_id or "", reader)) for topic in topics
            ]
            return asked, _occurrences(posts, qrels, reader)
        read = reader.posts([topic.post for topic in topics])
        answers = (post for post in posts if post.role == "answer")
        return [(t.id, each) for t, each in zip(topics, read, strict=True)], _posts(answers, reader)


def _posts(posts: Iterable[Post], reader: InputReader) -> Iterator[Entry]:
    for some in batches(posts, 256):
        yield from ((post.id, each) for post, each in zip(some, reader.posts(some), strict=True))


def _formulas(formulas: Iterable[tuple[str, str]], reader: InputReader) -> Iterator[Entry]:
    for some in batches(formulas, 256):
        read = reader.formulas([Formula(name, latex) for name, latex in some])
        yield from ((name, each) for (name, _), each in zip(some, read, strict=True))


def _with_formula(post: Post, formula: str, reader: InputReader) -> PostInput:
    (read,) = reader.posts([post])
    return reader.in_post(post, read).get(formula, read)


def _occurrences(posts: Iterable[Post], qrels: Qrels, reader: InputReader) -> Iterator[Entry]:
    """Yield some occurrences of each judged visual class with the post as context: others would not be measured."""
    found = False
    for post, wanted in judged_places(posts, judged_items(qrels)):
        read = reader.in_post(post, reader.posts([post])[0])
        for formula in post.formulas:
            if formula.id in wanted and formula.id in read:
                found = True
                yield formula.visual_id or "", read[formula.id]
    if not found:
        raise MathAMRError("no formula of the posts has a judged visual id, by which Task 2 is judged")


@torch.no_grad()
def rank_all(
    topics: Sequence[Entry],
    candidates: Iterable[Entry],
    asked: Represented,
    represented: Represented,
    device: torch.device,
    at_a_time: int = 0,
) -> dict[str, list[tuple[str, float]]]:
    """Rank all candidates by Algorithm 1: MaxSim with every representation, averaged by candidate; the best thousand of each
    topic.

    Candidates are represented `at_a_time` (0: as many as suit the device), and none of their vectors is kept. Several candidates
    of one id, as the places of a formula, count as the best of them. A topic without a representation is left out.
    """
    made = asked([each for _, each in topics])
    size = next((each[0].shape[1] for each in made if each), 1)
    # A question without formulas has no representation by formulas alone.
    queries = [each[0].float() if each else torch.zeros(0, size, device=device) for each in made]
    lengths = torch.tensor([len(each) for each in queries], device=device)
    tokens = torch.cat(queries)
    of = torch.repeat_interleave(torch.arange(len(queries), device=device), lengths)
    found: list[dict[str, float]] = [{} for _ in queries]
    stream = iter(candidates)
    at_a_time = at_a_time or (256 if device.type == "cuda" else 64)
    while block := list(islice(stream, at_a_time)):
        shown = represented([each for _, each in block])
        flat = [each.float() for own in shown for each in own]
        if not flat:
            continue
        owner = torch.tensor([place for place, own in enumerate(shown) for _ in own], device=device)
        rows = torch.nn.utils.rnn.pad_sequence(flat, batch_first=True)
        counted = torch.tensor([len(each) for each in flat], device=device)
        real = torch.arange(rows.shape[1], device=device) < counted[:, None]
        sums = _maxsims(tokens, of, len(queries), rows, real) / lengths.clamp(min=1)[:, None]
        counts = torch.bincount(owner, minlength=len(block))
        means = torch.zeros(len(queries), len(block), device=device).index_add_(1, owner, sums)
        means = (means / counts.clamp(min=1)).masked_fill(counts == 0, -torch.inf)
        for own, scores in zip(found, means.tolist(), strict=True):
            for (name, _), score in zip(block, scores, strict=True):
                if score > own.get(name, -np.inf):
                    own[name] = score
    return {
        topic: sorted(own.items(), key=lambda each: -each[1])[:DEPTH]
        for (topic, _), own, length in zip(topics, found, lengths.tolist(), strict=True)
        if length
    }


def _maxsims(
    tokens: Tensor, of: Tensor, queries: int, rows: Tensor, real: Tensor, limit: int = 1 << 28
) -> Tensor:
    """Return equation 2 for every query, whose tokens are given with its number, and representation."""
    found = torch.zeros(queries, len(rows), device=rows.device)
    flat = rows.flatten(0, 1)
    rows_each = max(1, limit // len(flat))
    for part, own in zip(torch.split(tokens, rows_each), torch.split(of, rows_each), strict=True):
        similar = (part @ flat.T).view(len(part), *real.shape)
        found.index_add_(0, own, similar.masked_fill_(~real, -1.0).amax(-1))
    return found


def represent_by(network: MarfNetwork, device: torch.device, part: str, most: int) -> Represented:
    """Represent an entry by its `context`, by some of its formulas as the network scores them (`formula`), or by both fused (`marf`).

    Fused, an entry without a formula is its context.
    """

    def represented(entries: Sequence[PostInput]) -> list[list[Tensor]]:
        if part == CONTEXT:
            return [[each] for each in context_vectors(network, entries, device)]
        if part == FUSED:
            return fused_vectors(network, entries, device, most)
        found = [own[:most] for own in formula_vectors(network, entries, device)]
        if network.configuration.scoring == "token":
            return found
        return [[mean_vector(each) for each in own] for own in found]

    return represented
