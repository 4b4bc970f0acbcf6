"""What needs the laboratory: the training of the system, and an experiment with all of the package."""

import json
import math
from collections import Counter

from mathamr import Lexical, read_posts
from mathamr_lab.experiments.experiment import SystemExperiment, SystemRow
from mathamr_lab.recipes.recipe import StageResult
from mathamr_wordhash import WordHashSystem, words


class WordWeights:
    """The recipe: rare words count more."""

    configurations, stages, reads = ("idf",), ("weigh",), ()

    def check(self, settings):
        """Every setting can be trained."""

    def prepare(self, sources, _settings, folder, _say):
        """Write in how many posts each word is, and under "" how many posts there are."""
        counts, path = Counter(), folder / "counts.json"
        for post in read_posts(sources.path):
            counts.update({*words(post), ""})
        path.write_text(json.dumps(counts), encoding="utf-8")
        return [path]

    def planned(self, _settings):
        """Return the stages by name: here one."""
        return {"weigh": self.weigh}

    def weigh(self, work):
        """Write the model."""
        counts = json.loads((work.prepared / "counts.json").read_text(encoding="utf-8"))
        weights = {word: math.log(counts[""] / count) for word, count in counts.items() if word}
        WordHashSystem(256, "wordhash-idf", weights).save(work.model)
        return StageResult([{"words": len(weights)}])


RECIPE = WordWeights()
EXPERIMENT = SystemExperiment(
    name="wordhash",
    title="Hashed words",
    question="Do hashed words find answers, weighted or not, alone or beside BM25?",
    variants=(
        SystemRow("hashes", model="wordhash", strategy="hashes"),
        SystemRow("weighted", recipe="wordhash", strategy="hashes"),
        SystemRow("words", model="wordhash", strategy=Lexical()),
        SystemRow("Borda", fused=("weighted", "words"), fusion="borda"),
    ),
    baselines=("words",),
    measures=("nDCG'", "P'@10", "Success@5"),
)
