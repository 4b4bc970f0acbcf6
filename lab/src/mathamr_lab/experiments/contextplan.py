"""`ContextPlan`: MathAMR's contexts of a formula, and runs reranked by them (Mansouri, Oard and Zanibbi 2022, Tables 1 and 2).

Every topic is ranked by a model that was not trained on it: either the topics are split into folds, and each fold is
ranked by the model trained on the others, or some topics are only trained on and the others only ranked, as in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.core.integrity import file_hash
from mathamr.evaluation.baselines import run as run_baseline
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run, RunHit, read_run, write_run
from mathamr.evaluation.topics import Topic
from mathamr.graphs.corpus import build_graphs
from mathamr.graphs.store import GraphStore
from mathamr.index.storage import GRAPHS
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr_lab.experiments.experiment import TrialRow
from mathamr_lab.experiments.formulabed import write_posts
from mathamr_lab.experiments.formulaplaces import judged_sentences, topic_sentences
from mathamr_lab.experiments.indexes import index_from, index_posts, score_index
from mathamr_lab.experiments.judgedformulas import (
    FIRST_YEAR,
    TOPICS,
    ContextMaterials,
    judged_items,
    split_topics,
)
from mathamr_lab.experiments.plan import JudgedTest
from mathamr_lab.experiments.rerank import by_visual, reranking_table
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import Figures, Stage
from mathamr_lab.experiments.training import train_system
from mathamr_lab.experiments.trialplan import TrialPlan
from mathamr_lab.recipes.recipe import MODEL, RECIPES, TrainingSettings, TrainingSources
from mathamr_lab.systems.mathamr.judgedlines import read_pairs, write_pairs
from mathamr_lab.systems.mathamr.recipe import STAGES
from mathamr_lab.training.export import ids_in

ORIGINALS = ("random", "latex-ngrams")
"""The baselines that are reranked if no runs are named."""
LINES, POSTS, INDEX = "judged.jsonl", "posts.jsonl", "index"
ANY_MODEL = "mathamr-plus"
"""The model of the index that the others are made from: it reads graphs, too, and encodes fast."""
_EVERY = 1_000_000


class ContextPlan(TrialPlan):
    """The stages of an experiment with MathAMR: contexts of judged formulas, a model for each context, measured runs."""

    system, seeds = "mathamr", ("contrast.seed", "ranking.seed")

    def __init__(self, setting: ExperimentSetting) -> None:
        super().__init__(setting)
        TrainingSettings(config="", changes=setting.changes).checked((*STAGES, "model", "contexts"))
        for row in self.experiment.variants:
            RECIPES[self.system].check(self.model(row, 0)[0].settings)
        given = [change for change in setting.changes if change.startswith("contexts.")]
        if any(not change.startswith(TOPICS) for change in given):
            raise UnknownNameError("field of contexts", given[0].partition(".")[2], ["topics"])
        self.topics = given[-1].removeprefix(TOPICS) if given else FIRST_YEAR
        if "task2" not in self.tests:
            raise MathAMRError(
                "comparing MathAMR's contexts needs topics of formulas with judgments; the collection has none"
            )
        self._test = JudgedTest(
            "task2", self.tests["task2"].measures, self._asked, self.tests["task2"].digest
        )
        for seed in range(setting.seeds):
            for row in self.experiment.variants:
                if setting.wants(row.name):
                    train = self._train(row, seed)
                    self.measure(
                        *(row.name, seed, self._test),
                        train.mark_path.with_name("task2.run"),
                        {"context": row.part},
                        (train,),
                        partial(self._search, row, train),
                        train=train,
                        kept=_EVERY,
                        among_judged=True,
                    )

    def check(self) -> None:
        """Raise an error if no topic is left to train on, or to rank."""
        for _ in split_topics(
            (topic.id for test in self.sets["task2"] for topic in test.topics), self.topics
        ):
            pass

    @property
    def _changes(self) -> tuple[str, ...]:
        return tuple(change for change in self.setting.changes if not change.startswith("contexts."))

    @cached_property
    def prepared(self) -> Stage:
        """The stage that reads the contexts of all query formulas, of judged visual classes and of those of the runs."""
        setting = self.setting
        inputs = {
            "posts": setting.collection.digest,
            "topics": [test.digest for test in setting.collection.tests],
            "parser": [setting.parser, setting.parser_model],
            "runs": [file_hash(path) for path in setting.runs],
        }
        folder = setting.out / "contexts" / ("reranked" if self.experiment.reranking else "judged")
        work = partial(self._prepare, folder)
        return self.stages.add(
            Stage("prepare", "contexts of formulas", folder / "done.json", inputs, (), work)
        )

    def _prepare(self, folder: Path) -> Figures:
        """Write the sentences as posts, and index them; the index of each model is made from this one, and has its graphs."""
        setting, qrels = self.setting, self.tests["task2"].qrels()
        further = {
            hit.id for run in self._originals(folder) for hits in run.rankings.values() for hit in hits
        }
        folder.mkdir(parents=True, exist_ok=True)
        found = judged_sentences(setting.collection.posts(), judged_items(qrels), further)
        if not write_posts(found, folder / POSTS):
            raise MathAMRError(
                "no judged formula is in the posts; topics, judgments (by visual id) and posts must be of one collection"
            )
        index_posts(setting, folder / INDEX, ANY_MODEL, (folder / POSTS,))
        with GraphStore(folder / "topics", create=True) as graphs:
            build_graphs(
                [topic.post for topic in self._topics],
                graphs,
                parser=setting.parser,
                model=setting.parser_model,
            )
        return {}

    @cached_property
    def _topics(self) -> list[Topic]:
        return topic_sentences(topic for test in self.sets["task2"] for topic in test.topics)

    @cached_property
    def _materials(self) -> ContextMaterials:
        folder = self.prepared.mark_path.parent
        posts = list(read_posts(folder / POSTS, Report()))
        graphs = [GraphStore(folder / INDEX / GRAPHS, read_only=True), GraphStore(folder / "topics")]
        return ContextMaterials(self._topics, posts, graphs, self.tests["task2"].qrels())

    def _asked(self) -> Qrels:
        """Return the judgments of the topics that are ranked."""
        materials = self._materials
        asked = [topic for _, some in materials.splits(self.topics) for topic in some]
        return Qrels({topic: materials.qrels.grades[topic] for topic in asked})

    def _train(self, row: TrialRow, seed: int) -> Stage:
        model, base = self.model(row, seed)
        which = Path(self.topics)
        folder = self.folder(row, seed) / self.prepared.mark_path.parent.name / which.name

        def work() -> Figures:
            stages: Figures = {}
            for number, (learned, _) in enumerate(self._materials.splits(self.topics), 1):
                own = folder / f"model-{number}"
                own.mkdir(parents=True, exist_ok=True)
                pairs = self._materials.pairs(row.part, learned)
                # A file that is written again would begin a stopped training from its start.
                if not (own / LINES).exists() or read_pairs(own / LINES) != pairs:
                    write_pairs(pairs, own / LINES)
                sources = TrainingSources(path=own / LINES, base=base)
                made = train_system(self.system, sources, model.settings, own, self.setting.device)
                stages |= {f"{number}, {name}": each for name, each in made["stages"].items()}
            return {"stages": stages}

        inputs = {
            "changes": model.changes,
            "base": str(base or ""),
            "topics": ids_in(which) if which.is_file() else self.topics,
        }
        name = f"train {folder.relative_to(self.setting.out / 'models')}"
        return self.stages.add(Stage("train", name, folder / "done.json", inputs, (self.prepared,), work))

    def _search(self, row: TrialRow, train: Stage) -> tuple[Run, Figures]:
        found: dict[str, tuple[RunHit, ...]] = {}
        folder = self.prepared.mark_path.parent
        ids = sorted(
            {each.visual_id for post in self._materials.posts for each in post.formulas if each.visual_id}
        )
        for number, (_, asked) in enumerate(self._materials.splits(self.topics), 1):
            model = train.mark_path.with_name(f"model-{number}") / MODEL
            topics = [topic for topic in self._topics if topic.id in asked]
            with index_from(self.setting, folder / INDEX, model, (folder / POSTS,)) as index:
                run = score_index(index, topics, ids, "mathamr", row.name, self.setting.device)
            found |= run.rankings
        return Run(row.name, found), {}

    def _originals(self, folder: Path) -> list[Run]:
        """Return the runs to rerank, by visual id: those that the user names, or baselines."""
        if not self.experiment.reranking:
            return []
        posts = self.setting.collection.posts
        if self.setting.runs:
            named = {name: read_run(path) for name, path in self.setting.named_runs.items()}
            return list(by_visual(named, posts()).values())
        topics = [topic for test in self.sets["task2"] for topic in test.topics]
        for name in ORIGINALS:
            path = folder / f"{name}.run"
            if not path.exists():
                write_run(run_baseline(name, posts(), topics, "formulas"), path)
        return [read_run(folder / f"{name}.run") for name in ORIGINALS]

    def tables(self) -> Iterator[tuple[str, str]]:
        """Yield the tables of contexts, then those of reranked runs."""
        yield from super().tables()
        originals = self._originals(self.prepared.mark_path.parent) if self.prepared.mark() else []
        for row in self.experiment.reranking:
            runs = [
                read_run(each.path)
                for each in self.measured
                if each.row == row.name and each.scores() is not None
            ]
            for original in originals if runs else ():
                table = "\n".join(reranking_table(original, runs, self._asked()))
                yield f"{original.name}, reranked by {row.name}", table
