"""`RunEvaluation`: run files and baselines measured against judgments, for `mathamr evaluate`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.baselines import BASELINES, candidates
from mathamr.evaluation.baselines import run as run_baseline
from mathamr.evaluation.comparison import Comparison, compare
from mathamr.evaluation.measures import measures as _measures
from mathamr.evaluation.measures.measure import Measure
from mathamr.evaluation.qrels import RELEVANT, Qrels, read_qrels
from mathamr.evaluation.randomorder import known_items, random_scores
from mathamr.evaluation.runs import Run, check_once, few, named_apart, read_run
from mathamr.evaluation.scores import Scores, evaluate
from mathamr.evaluation.table import means_table, significance_table
from mathamr.evaluation.topics import Topic, read_topics
from mathamr.posts.formats.stackexchange.tables import table, table_kind
from mathamr.posts.inputs import head, walk
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.systems.ranking import Task


@dataclass(frozen=True)
class EvaluationInputs:
    """The files of an evaluation.

    `runs` and `baseline` are run files, or names of baselines, which are run over `posts` for `topics`. `formulas` is a
    table of visual ids (or a folder of tables), for runs of formula ids.
    """

    qrels: Path
    runs: tuple[str, ...]
    baseline: str | None = None
    topics: Path | None = None
    posts: Path | None = None
    formulas: Path | None = None
    judged_in: Path | None = None
    """Posts: judgments of items that are not among them are left out."""
    given: Mapping[str, Run] = field(default_factory=dict)
    """Runs that are no files, by the names that `runs` has for them."""

    def is_baseline(self, spec: str) -> bool:
        """Return True if a run is the name of a baseline."""
        return spec not in self.given and is_baseline(spec)


@dataclass(frozen=True)
class RunEvaluation:
    """Runs, judgments, topics and the comparison; `remarks` qualify the figures. Print it for its tables."""

    comparison: Comparison
    runs: tuple[Run, ...]
    qrels: Qrels
    topics: Mapping[str, Topic]
    floors: tuple[Scores, ...] = ()
    remarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        tables = [means_table(self.comparison, self.floors), f"\n{len(self.comparison.topics)} topics"]
        if self.comparison.differences:
            tests = f"† baseline; paired t-tests, Bonferroni corrected for {self.comparison.tests} tests\n"
            tables += [tests, significance_table(self.comparison)]
        return "\n".join(tables)


@dataclass
class _Inputs:
    """The files as runs and judgments. Posts are read anew for each baseline, so that a collection need not fit into memory."""

    sources: EvaluationInputs
    remarks: list[str] = field(default_factory=list)
    topics: list[Topic] = field(default_factory=list)
    judged: Collection[str] = frozenset()
    """All judged items."""
    _seen: dict[Task, set[str]] = field(default_factory=lambda: {"answers": set(), "formulas": set()})
    """Those that are posts, or looks of formulas, among the posts that were read."""
    _has_read: bool = False

    def run(self, spec: str) -> Run:
        """Return the run of a file, a run that was given as one, or that of a baseline by name."""
        if spec in self.sources.given:
            return self.sources.given[spec]
        if not is_baseline(spec):
            return self._from_file(spec)
        if not self.topics or self.sources.posts is None:
            raise MathAMRError(f"the baseline {spec!r} needs --topics and --posts")
        return run_baseline(spec, self._posts(self.sources.posts), self.topics, self.task)

    def _posts(self, path: Path) -> Iterator[Post]:
        report, self._has_read = Report(), True
        for post in read_posts(path, report):
            if post.id in self.judged:
                self._seen["answers"].add(post.id)
            looks = (formula.visual_id or "" for formula in post.formulas)
            self._seen["formulas"].update(look for look in looks if look in self.judged)
            yield post
        self.remarks.extend(line for line in skipped_lines(report) if line not in self.remarks)

    @property
    def task(self) -> Task:
        """The task: formulas if the topics name some, else answers."""
        return "formulas" if any(topic.formula_id for topic in self.topics) else "answers"

    def floors(self, qrels: Qrels, runs: Sequence[Run], measures: Sequence[Measure]) -> tuple[Scores, Scores]:
        """Return the scores of random orders: of the judged items, and of all known candidates."""
        count = known_items(qrels, runs)
        if self.sources.posts is not None and any(map(self.sources.is_baseline, _specs(self.sources))):
            count = max(count, sum(1 for _ in candidates(self._posts(self.sources.posts), self.task)))
        return random_scores(qrels, measures, 0), random_scores(qrels, measures, count)

    def covered(self, qrels: Qrels, threshold: int, *, only_with_relevant: bool) -> Qrels:
        """Return the judgments of items that are in `judged_in`, if it is given."""
        path = self.sources.judged_in
        if path is None:
            return qrels
        for _ in self._posts(path):
            pass  # reading notes what is judged
        found = qrels.among(self._seen_items(qrels))
        if not found.judgments:
            raise MathAMRError(f"{path}: none of its items is judged in {self.sources.qrels}")
        kept = Qrels({topic: grades for topic, grades in found.grades.items() if grades})
        kept = kept.with_relevant(threshold) if only_with_relevant else kept
        if not kept.topics:
            raise MathAMRError(
                f"{path}: no topic is left that has an item of grade {threshold} or above among these posts"
            )
        missing, topics = qrels.judgments - found.judgments, len(qrels.topics) - len(kept.topics)
        if missing:
            more = f", and with them {topics} topics" if topics else ""
            self.remarks.append(f"{self._lack(path, missing, qrels)}, which are left out{more}")
        return kept

    def remark_on_missing(self, qrels: Qrels) -> None:
        """Add a remark on judged items that the posts of the baselines lack."""
        path = self.sources.posts
        if path is None or self.sources.judged_in is not None or not self._has_read:
            return
        if missing := qrels.judgments - qrels.among(self._seen_items(qrels)).judgments:
            self.remarks.append(
                f"{self._lack(path, missing, qrels)}: measures and random orders count them, and no search of these posts"
                f" can find them; --judged-in {path} leaves them out"
            )

    def _lack(self, path: Path, missing: int, qrels: Qrels) -> str:
        return f"{path} lacks {missing:,} of {qrels.judgments:,} judged items"

    def _seen_items(self, qrels: Qrels) -> set[str]:
        """Return the judged ids that were read, of posts or of looks of formulas: topics say of which, or what fits better."""
        if self.topics:
            return self._seen["formulas" if self.task == "formulas" else "answers"]
        return max(self._seen.values(), key=lambda items: qrels.among(items).judgments)

    def _from_file(self, spec: str) -> Run:
        if not _exists(spec):
            raise MathAMRError(f"{spec}: no such file or baseline; the baselines are {', '.join(BASELINES)}")
        return read_run(spec)


def evaluate_runs(
    sources: EvaluationInputs,
    measures: Sequence[Measure],
    relevant: int | None = None,
    *,
    only_with_relevant: bool = False,
    has_floors: bool = False,
) -> RunEvaluation:
    """Measure all runs on the judged topics and compare them with the baseline.

    `only_with_relevant` ignores topics without a relevant item. `has_floors` adds the scores of random orders.
    """
    inputs = _Inputs(sources)
    qrels = _judgments(
        sources.qrels, relevant or RELEVANT, only_with_relevant=only_with_relevant, remarks=inputs.remarks
    )
    if sources.topics is not None:
        inputs.topics = [topic for topic in read_topics(sources.topics) if topic.id in qrels.grades]
        if not inputs.topics:
            raise MathAMRError(f"{sources.topics}: none of its topics is judged in {sources.qrels}")
    specs = _specs(sources)
    inputs.judged = frozenset(item for grades in qrels.grades.values() for item in grades)
    qrels = inputs.covered(qrels, relevant or RELEVANT, only_with_relevant=only_with_relevant)
    runs = named_apart([inputs.run(spec) for spec in specs], specs)
    if sources.formulas is not None:
        visual_ids = read_visual_ids(sources.formulas)
        runs = [
            run if sources.is_baseline(spec) else _by_visual(run, visual_ids, inputs.remarks)
            for spec, run in zip(specs, runs, strict=True)
        ]
    scores = [evaluate(run, qrels, measures) for run in runs]
    inputs.remarks.extend(_remarks(runs, scores, qrels))
    inputs.remark_on_missing(qrels)
    baseline = None if sources.baseline is None else runs[specs.index(sources.baseline)].name
    tested = [str(measure) for measure in measures if measure.is_tested]
    return RunEvaluation(
        compare(scores, baseline, tested),
        tuple(runs),
        qrels,
        {topic.id: topic for topic in inputs.topics},
        inputs.floors(qrels, runs, measures) if has_floors else (),
        tuple(inputs.remarks),
    )


def compare_runs(
    qrels: Path | str,
    *runs: Run | Path | str,
    baseline: Run | Path | str | None = None,
    measures: str | Measure | Sequence[str | Measure] = (),
    suite: str = "arqmath",
    topics: Path | str | None = None,
    posts: Path | str | None = None,
    formulas: Path | str | None = None,
    judged_in: Path | str | None = None,
) -> RunEvaluation:
    """Measure runs on judgments and test them against a baseline, as `mathamr evaluate` does; print the result for its tables.

    Runs are files, `Run`s, or names of baselines such as `bm25`, which need `topics` and `posts`. `measures` are names such as
    `P'@5`, or measures of your own; without any they are those of the `suite`. With `judged_in`, only items of these posts count as judged.

    >>> from mathamr.sample import folder
    >>> mine = Run.of("mine", {"A.1": [("1001", 0.9), ("1002", 0.4)]})
    >>> theirs = Run.of("theirs", {"A.1": [("1002", 9.1)]})
    >>> found = compare_runs(folder() / "qrels/task1.qrels", mine, theirs, measures=["nDCG'@5", "judged@2"])
    >>> print(found.comparison.of("mine").mean("judged@2"))
    0.05
    """
    given: dict[str, Run] = {}

    def spec(run: Run | Path | str) -> str:
        if not isinstance(run, Run):
            return str(run)
        if given.setdefault(run.name, run) is not run:
            raise MathAMRError(f"two runs are named {run.name!r}; rename one of them")
        return run.name

    specs, named = tuple(map(spec, runs)), None if baseline is None else spec(baseline)
    inputs = EvaluationInputs(
        Path(qrels), specs, named, _path(topics), _path(posts), _path(formulas), _path(judged_in), given=given
    )
    wanted = [measures] if isinstance(measures, str | Measure) else list(measures) or [suite]
    chosen: dict[str, Measure] = {}
    for each in wanted:
        chosen |= {
            str(found): found for found in ([each] if isinstance(each, Measure) else _measures([each]))
        }
    return evaluate_runs(inputs, list(chosen.values()))


def _path(path: Path | str | None) -> Path | None:
    return None if path is None else Path(path)


def is_baseline(spec: str) -> bool:
    """Return True if a run is the name of a baseline and no file has that name."""
    return spec in BASELINES and not _exists(spec)


def _exists(spec: str) -> bool:
    try:
        return spec == "-" or Path(spec).exists()
    except (OSError, ValueError):
        return False  # not a valid path: too long, or with an invalid character


def skipped_lines(report: Report) -> list[str]:
    """Return what was skipped while posts were read, one line per cause."""
    return [f"posts: {line}" for line in report.lines() if line.startswith("skipped")]


def _judgments(path: Path, threshold: int, *, only_with_relevant: bool, remarks: list[str]) -> Qrels:
    qrels = read_qrels(path)
    if qrels.unjudged:
        remarks.append(f"{path}: {qrels.unjudged} negative grades count as unjudged")
    chosen = qrels.with_relevant(threshold)
    without = len(qrels.topics) - len(chosen.topics)
    if without:
        what = (
            "are left out" if only_with_relevant else "count as zero (--only-with-relevant leaves them out)"
        )
        remarks.append(
            f"{without} of {len(qrels.topics)} judged topics have no item of grade {threshold} or above; they {what}"
        )
    if not only_with_relevant:
        return qrels
    if not chosen.topics:
        raise MathAMRError(f"{path}: no topic has an item of grade {threshold} or above")
    return chosen


def _specs(sources: EvaluationInputs) -> list[str]:
    """Return the runs in order, preceded by the baseline if it is not among them."""
    first = () if sources.baseline is None or sources.baseline in sources.runs else (sources.baseline,)
    specs = [*first, *sources.runs]
    if not specs:
        raise MathAMRError("give at least one run to evaluate")
    check_once(specs)
    return specs


def _by_visual(run: Run, visual_ids: Mapping[str, str], remarks: list[str]) -> Run:
    total = sum(map(len, run.rankings.values()))
    visuals, unknown = run.by_visual_id(visual_ids)
    if unknown == total:
        raise MathAMRError(
            f"run {run.name!r}: none of its {total} ids is in the table of formulas; are they visual ids already?"
        )
    kept = sum(map(len, visuals.rankings.values()))
    remarks.append(f"{run.name}: {total:,} formulas, {kept:,} after merging visual duplicates")
    if unknown:
        remarks.append(f"{run.name}: {unknown:,} formulas without a visual id were left out")
    return visuals


def _remarks(runs: Sequence[Run], scores: Sequence[Scores], qrels: Qrels) -> Iterable[str]:
    grades = qrels.grades
    for run, each in zip(runs, scores, strict=True):
        if each.missing:
            yield f"{run.name}: lacks {len(each.missing)} judged topics, which count as zero ({few(each.missing)})"
        if not any(hit.id in grades.get(topic, ()) for topic, hits in run.rankings.items() for hit in hits):
            yield f"{run.name}: none of its results is judged; is it a run of another collection, or of another task?"
        if each.unjudged:
            yield f"{run.name}: {len(each.unjudged)} of its topics are ignored, because they have no judgments ({few(each.unjudged)})"
        yield from run.remarks


def read_visual_ids(path: Path | str, report: Report | None = None) -> Mapping[str, str]:
    """Map formula ids to visual ids, which formulas that look the same share, from a table of formulas or a folder of tables.

    The header names the columns (`id` and `visual_id`). `report` counts damaged rows.
    """
    report = report or Report()
    path = Path(path)
    visual_ids: dict[str, str] = {}
    for file in _tables(path, report):
        for row in table(file, report):
            if "visual_id" not in row:
                raise MathAMRError(
                    f"{file}: expected a table with the columns id and visual_id, tab-separated"
                )
            if row["id"] and row["visual_id"]:
                visual_ids[row["id"]] = row["visual_id"]
    if not visual_ids:
        raise MathAMRError(
            f"{path}: no visual ids; expected tables with the columns id, visual_id and formula"
        )
    return visual_ids


def _tables(path: Path, report: Report) -> Iterator[Path]:
    files = walk(path, report) if path.is_dir() else [path]
    for file in files:
        if table_kind(head(file)) == "formulas":
            yield file
