"""`Materials`: the stages before the first model: graphs of posts and topics, their tensors, and training pairs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from mathamr.graphs.configuration import GraphConfiguration
from mathamr_lab.experiments import graphs
from mathamr_lab.experiments.lines import write_lines
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import ExperimentStages, Figures, Stage


class Materials:
    """Adds each stage once, when it is first needed."""

    def __init__(self, setting: ExperimentSetting, stages: ExperimentStages) -> None:
        self._setting, self._stages = setting, stages

    @property
    def _parsed_by(self) -> dict[str, str | None]:
        """The inputs that stages depend on if the parser is not the built-in one."""
        name, model = self._setting.parser, self._setting.parser_model
        return {} if (name, model) == ("builtin", None) else {"name": name, "model": model}

    def corpus(self) -> Stage:
        """Add and return the stage that builds the graphs of all posts, including those that are only learned from."""
        setting = self._setting
        folder = setting.out / "graphs"
        inputs = {"posts": setting.collection.digest, "store": str(setting.store or ""), **self._parsed_by}

        def work() -> Figures:
            figures = graphs.build_corpus(
                setting.collection,
                folder,
                self.store,
                setting.parser,
                setting.parser_model,
                given=setting.store is not None,
                workers=setting.workers,
            )
            return {**figures, "output": figures["output"] + setting.collection.searched}

        return self._stages.add(
            Stage("graphs", "graphs of the posts", folder / "corpus.json", inputs, (), work)
        )

    @property
    def store(self) -> Path:
        """The graph store of the posts."""
        return self._setting.store or self._setting.out / "graphs" / "corpus"

    @property
    def topics(self) -> Path:
        """The graph store of the topics."""
        return self._setting.out / "graphs" / "topics"

    def topic_graphs(self) -> Stage:
        """Add and return the stage that builds the graphs of the topics of all test sets."""
        setting = self._setting
        return self._stages.add(
            Stage(
                "graphs",
                "graphs of the topics",
                setting.out / "graphs" / "topics.json",
                {"topics": [test.digest for test in setting.collection.tests], **self._parsed_by},
                (self.corpus(),),
                partial(
                    graphs.build_topics,
                    *(setting.collection, self.store, self.topics),
                    *(setting.parser, setting.parser_model, setting.workers),
                ),
            )
        )

    def tensors(self, configuration: GraphConfiguration) -> Stage:
        """Add and return the stage that builds the tensors of posts and topics in one configuration."""
        return self._stages.add(
            Stage(
                "graphs",
                f"tensors {configuration.name}",
                self._setting.out / "graphs" / f"{configuration.name}.json",
                {"configuration": configuration.name},
                (self.corpus(), self.topic_graphs()),
                partial(
                    graphs.build_both_tensors, self.store, self.topics, configuration, self._setting.workers
                ),
            )
        )

    def catalogue(self) -> graphs.CorpusCatalogue:
        """Return the searched items; known once the graphs of the posts are built."""
        return graphs.CorpusCatalogue.read(self._setting.out / "graphs")

    def pairs(self, configuration: GraphConfiguration) -> Stage:
        """Add and return the stage that exports the pairs to train on."""
        setting = self._setting
        path = self.shard(configuration)
        without = sorted(setting.collection.without)

        def work() -> Figures:
            return graphs.export_pairs(
                self.store,
                self.catalogue(),
                configuration.name,
                setting.collection.without,
                setting.scale.pairs,
                path,
                accepted=setting.accepted,
            )

        return self._stages.add(
            Stage(
                "graphs",
                f"pairs {configuration.name}",
                path.with_suffix(".json"),
                {
                    "configuration": configuration.name,
                    "without": without,
                    "pairs": setting.scale.pairs,
                    **({"accepted": True} if setting.accepted else {}),
                },
                (self.corpus(), self.tensors(configuration)),
                work,
            )
        )

    def lines(self, configuration: GraphConfiguration) -> Stage:
        """Add and return the stage that writes these pairs as lines of MathAMR."""
        pairs, path = self.pairs(configuration), self.line_file(configuration)
        work = partial(write_lines, self.shard(configuration), self.store, path)
        return self._stages.add(
            Stage("graphs", f"lines {configuration.name}", path.with_suffix(".json"), {}, (pairs,), work)
        )

    def line_file(self, configuration: GraphConfiguration) -> Path:
        """Return the file of these lines."""
        return self.shard(configuration).with_suffix(".lines.jsonl")

    def shard(self, configuration: GraphConfiguration) -> Path:
        """Return the file of these pairs."""
        which = "-accepted" if self._setting.accepted else ""
        return (
            self._setting.out
            / "pairs"
            / f"{configuration.name}-{self._setting.scale.pairs or 'all'}{which}.npz"
        )
