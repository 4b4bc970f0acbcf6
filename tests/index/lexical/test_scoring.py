"""Long runs of postings, and columns of frequent terms, find what a plain sum over all terms and entries finds, whatever was deleted, and of one state alone."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from mathamr.index.lexical import scoring
from mathamr.index.lexical.lexicalindex import POSTS, LexicalPart
from mathamr.index.lexical.scoring import Weighting
from mathamr.index.lexical.terms import Terms

FIELDS = ("words", "stems", "latex")
VOCABULARY = [f"w{number}" for number in range(60)]


def draw_entries(random: Random, count: int) -> dict[str, dict[str, list[str]]]:
    """Entries whose terms are as unevenly frequent as words."""
    chances = [1 / (place + 1) for place in range(len(VOCABULARY))]
    return {
        f"e{number:03}": {
            field: random.choices(VOCABULARY, chances, k=random.randint(0, 12)) for field in FIELDS
        }
        for number in range(count)
    }


def score_plainly(
    entries: dict[str, dict[str, list[str]]], query: Terms, weighting: Weighting
) -> dict[str, float]:
    """BM25 by its formula, term by term and entry by entry."""
    totals, highest = dict.fromkeys(entries, 0.0), 0.0
    for field, weight in weighting.fields.items():
        mean = sum(len(entry.get(field, ())) for entry in entries.values()) / max(1, len(entries))
        for term, times in Counter(query.get(field, ())).items():
            holding = sum(term in entry.get(field, ()) for entry in entries.values())
            rarity = math.log1p((len(entries) - holding + 0.5) / (holding + 0.5)) ** weighting.rarity
            highest += weight * rarity * math.log1p(times)
            for name, entry in entries.items():
                often = entry.get(field, []).count(term)
                norm = weighting.k1 * (
                    1 - weighting.b + weighting.b * len(entry.get(field, ())) / (mean or 1e-9)
                )
                totals[name] += weight * rarity * math.log1p(times) * often / (often + norm) if often else 0.0
    return {name: total / (highest or 1.0) for name, total in totals.items()}


@pytest.mark.parametrize(
    "setting",
    [{"LONG": each, "LARGEST": 0} for each in (0, 20, 2_048)] + [{"COLUMNS": 4_000}, {}],
)
def test_the_best_are_those_of_a_plain_sum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: dict[str, float]
) -> None:
    for name, value in setting.items():
        monkeypatch.setattr(scoring, name, value)
    random = Random(1)
    entries = draw_entries(random, 90)
    part = LexicalPart(tmp_path, POSTS)
    names = list(entries)
    for start in (0, 50, 75):
        part.update((each, entries[each]) for each in names[start : start + 50])
    gone = random.sample(names, 15)
    part.update([], deletes=gone)
    entries = {name: entry for name, entry in entries.items() if name not in gone}
    for weighting in (POSTS, Weighting({"words": 1.0, "latex": 0.5}, k1=1.0, b=0.75)):
        for query in draw_entries(random, 20).values():
            scores = score_plainly(entries, query, weighting)
            expected = sorted(((-round(score, 6), name) for name, score in scores.items() if score > 0))
            for k in (1, 3, 20, 500):
                found = part.search(query, k, weighting=weighting)
                assert [hit.id for hit in found] == [name for _, name in expected[:k]]
                assert [hit.score for hit in found] == pytest.approx(
                    [-score for score, _ in expected[:k]], abs=1e-6
                )
            some = random.sample(names, 10)
            scored = {hit.id: hit.score for hit in part.score(query, [*some, "unknown"], weighting)}
            assert scored == pytest.approx(
                {each: scores.get(each, 0.0) for each in some if each in entries}, abs=1e-6
            )


def test_a_change_of_the_index_is_seen_by_terms_that_were_asked_for_before(tmp_path: Path) -> None:
    part = LexicalPart(tmp_path, POSTS)
    part.update([("a", {"words": ["ring"]})])
    asked = {"words": ["ring"]}
    assert [hit.id for hit in part.search(asked, 5)] == ["a"]
    part.update([("e", {"words": ["ring"]})])
    assert sorted(hit.id for hit in part.search(asked, 5)) == ["a", "e"]
