"""Reranks runs of other systems by MathAMR, and fuses both (Mansouri, Oard and Zanibbi 2022, Table 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import evaluate
from mathamr.index.scored import Scored
from mathamr.posts.post import Post
from mathamr.search.fusion import fuse
from mathamr_lab.experiments.tables import MeasuredRow, comparison_table

MEASURES = ("nDCG'@10", "P'@10", "nDCG'@1000", "MAP'", "Bpref")


def by_visual(runs: Mapping[str, Run], posts: Iterable[Post]) -> dict[str, Run]:
    """Convert runs whose results are formula ids, as participants submit them, to visual ids, by which formulas are judged.

    A visual class keeps its best result. Runs by visual id are unchanged; results of unknown formulas are left out.
    """
    asked = {hit.id for run in runs.values() for hits in run.rankings.values() for hit in hits}
    visual: dict[str, str] = {}
    known: set[str] = set()
    for post in posts:
        for formula in post.formulas:
            if formula.visual_id:
                if formula.visual_id in asked:
                    known.add(formula.visual_id)
                if formula.id in asked:
                    visual[formula.id] = formula.visual_id
    found = {}
    for name, run in runs.items():
        ids = {hit.id for hits in run.rankings.values() for hit in hits}
        is_visual = len(ids & known) >= len(ids & visual.keys())
        converted: dict[str, list[tuple[str, float]]] = {}
        for topic, hits in run.rankings.items():
            best: dict[str, float] = {}
            for hit in hits:
                target = (hit.id if hit.id in known else None) if is_visual else visual.get(hit.id)
                if target is not None:
                    best.setdefault(target, hit.score)
            converted[topic] = list(best.items())
        if not any(converted.values()):
            raise MathAMRError(
                f"the run {name!r} names no formula of the collection, neither by its id nor by its visual id; give runs and"
                " posts of one collection"
            )
        found[name] = Run.of(name, converted)
    return found


def reranked(run: Run, ours: Run) -> Run:
    """Order the results of a run by MathAMR's cosines; results without one follow in their old order, below every cosine."""
    found: dict[str, list[tuple[str, float]]] = {}
    for topic, hits in run.rankings.items():
        known = {hit.id: hit.score for hit in ours.rankings.get(topic, ())}
        rest = [hit for hit in hits if hit.id not in known]
        found[topic] = [(hit.id, known[hit.id]) for hit in hits if hit.id in known]
        found[topic] += [(hit.id, -2.0 - place) for place, hit in enumerate(rest)]
    return Run.of(f"{run.name}-reranked", found)


def fused(run: Run, ours: Run) -> Run:
    """Fuse a run with MathAMR's cosines of its results by score-weighted reciprocal ranks (section 5)."""
    found: dict[str, list[tuple[str, float]]] = {}
    for topic, hits in run.rankings.items():
        known = {hit.id: hit.score for hit in ours.rankings.get(topic, ())}
        cosines = sorted(
            (Scored(hit.id, known[hit.id]) for hit in hits if hit.id in known), key=lambda hit: -hit.score
        )
        original = [Scored(hit.id, hit.score) for hit in hits]
        found[topic] = [(hit.id, hit.score) for hit in fuse("score-rrf", [original, cosines])]
    return Run.of(f"{run.name}-fused", found)


def reranking_table(run: Run, ours: Sequence[Run], qrels: Qrels) -> Iterator[str]:
    """Yield a table of a run, reranked by the cosines of MathAMR's seeds, and fused, on the topics that both have."""
    ranked = {topic for each in ours for topic in each.rankings} & set(run.rankings)
    asked = Qrels({topic: grades for topic, grades in qrels.grades.items() if topic in ranked})
    chosen = measures(MEASURES)
    original = evaluate(run, asked, chosen)
    if not any(original.mean(each) for each in original.measures):
        raise MathAMRError(
            f"every measure of the run {run.name!r} is 0: none of its results is judged relevant; give its topics' judgments"
        )
    rows = [MeasuredRow("original", {0: original})]
    for name, again in (("reranked", reranked), ("fused", fused)):
        found = {seed: evaluate(again(run, each), asked, chosen) for seed, each in enumerate(ours)}
        rows.append(MeasuredRow(name, found))
    yield from comparison_table(rows, original.measures, baselines=["original"])
