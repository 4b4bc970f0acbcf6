"""Is what is there said to be there, and what is not there denied? Fits and checks the labels of hits and of whole searches.

    python -m mathamr_lab.studies.reliability cases/ --fit a.index b.index --check c.index d.index --count 120

Queries are drawn with a seed: typed formulas (`typedqueries`), titles, titles as questions, parts of sentences, and the titles of forum
questions, which ask for their answers. Each is asked once with what is right in the collection and once without it. Collections to fit on
print weights for `config.json` and the curve of each kind of query; all print how often a search that has a right place among
its first three is denied, and how often what is not there is. What was asked is kept in the folder, so that nothing is asked twice.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import cast
from zlib import crc32

import numpy as np

from mathamr.core.arrays import BoolArray, DoubleArray, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.knownitems import KnownItem, titles
from mathamr.evaluation.table import aligned
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.scored import EntryNames
from mathamr.search.confidence import BACKGROUND, MOST_LOOKED_AT, found_of, is_exact
from mathamr.search.hits import Found
from mathamr.search.labelweights import ConfidenceWeights, Features, Group
from mathamr.search.query import Query
from mathamr.search.results import MOST_GRADED, RankedResult
from mathamr.search.searcher import Index
from mathamr_lab.studies.typedqueries import draw, sentences

SHRINKAGE = 0.5
"""The weight of the squared weights, of features in standard deviations."""
USED: dict[Group, tuple[str, ...]] = {
    "text": ("words", "words_ahead", "similarity", "parts", "parts_ahead"),
    "formula": ("formula", "words_ahead", "similarity", "parts", "parts_ahead"),
    "mixed": ("words", "formula", "words_ahead", "similarity", "parts", "parts_ahead"),
    "question": ("words", "words_ahead", "similarity", "parts", "parts_ahead"),
}
WITHOUT_VECTORS = ("words", "formula", "words_ahead")
ASKED_AS = ("what is {}?", "how do I prove {}?", "where is {} explained?", "I am looking for {}")
DENIED = ("similar", "nothing")
ALL = 0.999


@dataclass(frozen=True, slots=True)
class Judged:
    """One of the first results: its features, its chance, whether it has what was typed, and whether it is right."""

    features: Features
    chance: float
    least: float
    is_right: bool


@dataclass(frozen=True, slots=True)
class Case:
    """A search: the collection, the form, kind and group of its query, what was said of it, and its first results."""

    collection: str
    form: str
    kind: str
    group: Group
    query: str
    is_present: bool
    found: Found
    results: tuple[Judged, ...]

    @property
    def is_answered(self) -> bool:
        """True if a right place is among the first three."""
        return any(each.is_right for each in self.results[:MOST_LOOKED_AT])

    @property
    def is_absent(self) -> bool:
        """True if it was asked for without what is right, and no other result says it: the formula, or all of the words."""
        return not self.is_present and not any(map(self._says, self.results))

    def _says(self, found: Judged) -> bool:
        has_words = self.group in ("text", "question") and found.features.words > ALL
        return found.least > 0 or found.chance == 1 or has_words

    @property
    def best(self) -> float:
        """The chance of the best of the first three, or 1 where one has what was typed."""
        return max((max(each.chance, each.least) for each in self.results[:MOST_LOOKED_AT]), default=0.0)

    @classmethod
    def of_row(cls, row: Mapping[str, object]) -> Case:
        """Return a case from its row."""
        results = cast("list[dict[str, object]]", row["results"])
        read = tuple(Judged(**(each | {"features": Features(*each["features"])})) for each in results)  # type: ignore[arg-type,misc]
        return cls(**(dict(row) | {"results": read}))  # type: ignore[arg-type]


class Without:
    """A lexical index as it is without some posts."""

    def __init__(self, lexicon: LexicalPart, gone: Collection[str]) -> None:
        self._lexicon, self._gone = lexicon, gone

    def count(self) -> int:
        """Return the number of posts that remain."""
        return self._lexicon.count() - len(self._gone)

    def frequencies(self, field: str, terms: Collection[str]) -> dict[str, int]:
        """Return in how many of them each term stands."""
        found = self._lexicon.frequencies(field, terms)
        for own in self._lexicon.having(field, terms, self._gone).values():
            for term in own:
                found[term] -= 1
        return found

    def having(self, field: str, terms: Collection[str], ids: Collection[str]) -> dict[str, set[str]]:
        """Return which of the terms some posts have."""
        return self._lexicon.having(field, terms, ids)

    @property
    def names(self) -> EntryNames:
        """The ids of all posts by row, those that are gone among them."""
        return self._lexicon.names

    def rows_having(self, field: str, terms: Collection[str]) -> dict[str, IntArray]:
        """Return the rows that have each of the terms."""
        return self._lexicon.rows_having(field, terms)


def questions(index: Index, count: int) -> Iterator[KnownItem]:
    """Draw about so many queries of all forms; the title of a question asks for its answers."""
    for typed in draw(index, count // 3):
        yield KnownItem(typed.text, frozenset([typed.entry]), f"typed, {typed.form}")
    posts = sorted(index.posts(), key=lambda post: crc32(f"asked:{post.id}".encode()))
    named = [each for each in titles(posts) if len(str(each.query)) < 100]
    own = [each for each in named if not each.made_of and not str(each.query).rstrip().endswith("?")]
    yield from own[: count // 5]
    for place, item in enumerate(own[count // 5 : count // 5 * 2]):
        title = str(item.query).rpartition(": ")[2]
        yield replace(item, query=ASKED_AS[place % len(ASKED_AS)].format(title), form="asked")
    asking = {post.id for post in posts if post.kind == "question"}
    yield from islice(
        (replace(each, form="question") for each in named if each.made_of in asking), count // 4
    )
    yield from islice(sentences(posts), count // 5)


def cases(index: Index, name: str, count: int) -> Iterator[Case]:
    """Ask every query with what is right in the collection, and without."""
    for asked in questions(index, count):
        gone = asked.right | ({asked.made_of} - {""})
        try:
            query = Query.of_text(str(asked.query), macros=index.macros)
            ranked, _ = index.rank(query, depth=BACKGROUND.stop + MOST_GRADED + len(gone))
        except MathAMRError:
            continue
        ranked = [each for each in ranked if each.id != asked.made_of]
        without = [each for each in ranked if each.id not in gone]
        lexicon = index.archive.lexical.posts
        yield _case(index, name, query, asked, ranked, lexicon, is_present=True)
        if "part" not in asked.form:  # a part may well be in other entries
            fewer = cast(LexicalPart, Without(lexicon, gone))
            yield _case(index, name, query, asked, without, fewer, is_present=False)


def _case(
    index: Index,
    name: str,
    query: Query,
    asked: KnownItem,
    ranked: Sequence[RankedResult],
    lexicon: LexicalPart,
    *,
    is_present: bool,
) -> Case:
    confidence = index.confidence(query, ranked, lexicon=lexicon)
    labels = confidence.matches()
    results = tuple(
        Judged(
            confidence.features(each),
            1.0 if is_exact(each) else confidence.probability(each),
            confidence.least(each),
            each.id in asked.right,
        )
        for each in ranked[:MOST_GRADED]
    )
    found = found_of(labels, confidence)
    return Case(name, asked.form, query.kind, confidence.group, str(asked.query), is_present, found, results)


def asked_cases(folder: Path, index: Path, count: int) -> list[Case]:
    """Return the cases of an index from the folder, asked first if they are not there."""
    kept = folder / f"{index.stem}-{count}.jsonl"
    if not kept.is_file():
        with Index.open(index) as opened:
            found = list(cases(opened, index.stem, count))
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_text("".join(json.dumps(asdict(case)) + "\n" for case in found), "utf-8")
    return [Case.of_row(json.loads(line)) for line in kept.read_text("utf-8").splitlines()]


def print_shares(found: Sequence[Case], column: str) -> None:
    """Print how often what is there is denied, and what is not there, by collection, kind or form of query."""
    rows = [["", "answered", "denied", "“nothing”", "absent", "denied", "“nothing”"]]
    for name in ("all", *dict.fromkeys(getattr(case, column) for case in found)):
        own = [case for case in found if name in ("all", getattr(case, column))]
        row = [name]
        for some in (
            [each for each in own if each.is_answered],
            [each for each in own if each.is_absent],
        ):
            denied = [each.found for each in some if each.found in DENIED]
            row += [
                str(len(some)),
                _share(len(denied), len(some)),
                _share(denied.count("nothing"), len(some)),
            ]
        rows.append(row)
    print(aligned(rows), flush=True)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "–"


def print_weights(found: Sequence[Case]) -> dict[str, dict[str, float]]:
    """Print and return the weights of each group, as `config.json` has them, and those of a search without vectors."""
    fitted_groups: dict[str, dict[str, float]] = {}
    for group, used in USED.items():
        seen = [
            each
            for case in found
            if case.group == group
            for each in case.results[:MOST_LOOKED_AT]
            if each.chance < 1
        ]
        right = np.array([each.is_right for each in seen])
        if not 0 < right.sum() < len(right):
            continue
        for name, chosen in (
            ("", used),
            (", by words", tuple(each for each in used if each in WITHOUT_VECTORS)),
        ):
            rows = np.array([(1.0, *(getattr(each.features, one) for one in chosen)) for each in seen])
            weights = fitted(rows, right)
            area = _area(rows @ weights, right)
            named = dict(
                zip(("intercept", *chosen), (round(float(each), 2) for each in weights), strict=True)
            )
            print(f"{group}{name}: {len(seen)} results, area {area:.3f}, {json.dumps(named)}", flush=True)
            fitted_groups[group + name] = named
    return fitted_groups


def print_curves(found: Sequence[Case]) -> None:
    """Print for each kind of query what is denied if the best of the first three has less than a chance."""
    for kind in dict.fromkeys(case.kind for case in found):
        own = [case for case in found if case.kind == kind]
        answered = np.array([case.best for case in own if case.is_answered])
        absent = np.array([case.best for case in own if case.is_absent])
        if len(answered) and len(absent):
            points = [0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5]
            rows = [["below", *map(str, points)]]
            for said, some in (("answered, denied", answered), ("absent, denied", absent)):
                rows.append([said, *(f"{(some < point).mean():.3f}" for point in points)])
            print(f"\n{kind}: {len(answered)} answered, {len(absent)} absent\n{aligned(rows)}", flush=True)


def with_weights(found: Sequence[Case], weights: Mapping[str, Mapping[str, float]]) -> list[Case]:
    """Return the cases with the chances that other weights give."""
    read = {
        group: ConfidenceWeights(
            own["intercept"], Features(**{name: value for name, value in own.items() if name != "intercept"})
        )
        for group, own in weights.items()
    }
    return [
        replace(
            case,
            results=tuple(
                each
                if each.chance == 1.0 or case.group not in read
                else replace(each, chance=read[case.group].probability(each.features))
                for each in case.results
            ),
        )
        for case in found
    ]


def areas(found: Sequence[Case]) -> str:
    """Return for each kind of query how surely what is there has a better first result than what is not."""
    said = []
    for kind in dict.fromkeys(case.kind for case in found):
        own = [case for case in found if case.kind == kind and (case.is_answered or case.is_absent)]
        answered = np.array([case.is_answered for case in own])
        if 0 < answered.sum() < len(answered):
            said.append(f"{kind} {_area(np.array([case.best for case in own]), answered):.3f}")
    return ", ".join(said)


def fitted(rows: DoubleArray, right: BoolArray) -> DoubleArray:
    """Return the weights of a logistic regression by Newton's method; the first column of the rows is 1."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    mean[0], spread[0] = 0.0, 1.0
    scaled = (rows - mean) / spread
    shrinkage = np.full(rows.shape[1], SHRINKAGE)
    shrinkage[0] = 1e-9
    weights = np.zeros(rows.shape[1])
    for _ in range(60):
        chance = 1 / (1 + np.exp(-np.clip(scaled @ weights, -30, 30)))
        gradient = scaled.T @ (right - chance) - shrinkage * weights
        curvature = (scaled.T * (chance * (1 - chance))) @ scaled + np.diag(shrinkage)
        weights = weights + np.linalg.solve(curvature, gradient)
    found = weights / spread
    found[0] -= (found[1:] * mean[1:]).sum()
    return np.asarray(found)


def _area(scores: DoubleArray, right: BoolArray) -> float:
    """Return the probability that a right result has a higher score than a wrong one."""
    yes, no = scores[right], scores[~right]
    return float((yes[:, None] > no).mean() + 0.5 * (yes[:, None] == no).mean())


def main() -> None:
    """Print weights and curves of the collections to fit on, and the shares of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=Path, help="folder that keeps what was asked")
    parser.add_argument("--fit", type=Path, nargs="*", default=[])
    parser.add_argument("--check", type=Path, nargs="*", default=[])
    parser.add_argument("--count", type=int, default=120)
    asked = parser.parse_args()
    weights: dict[str, dict[str, float]] = {}
    for name, folders in (("fit", asked.fit), ("check", asked.check)):
        found = [case for folder in folders for case in asked_cases(asked.cases, folder, asked.count)]
        if not found:
            continue
        print(f"\n{name}: {len(found)} searches of {len(folders)} collections")
        for column in ("collection", "kind", "form"):
            print_shares(found, column)
        weights = weights or print_weights(found)
        print_curves(found)
        print(
            f"\narea of whole searches, as it is: {areas(found)}; with the weights fitted: {areas(with_weights(found, weights))}"
        )


if __name__ == "__main__":
    main()
