"""`Vocabularies`: the concepts, templates, relations and tags that the network has numbers for, and words and nodes as numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mathamr.amr.builtin.frames import Frames
from mathamr.amr.builtin.lexicon import FrameCandidate
from mathamr.amr.builtin.mathematics import is_formula
from mathamr.amr.builtin.nodes import KINDS, kind_of

NO_RELATION, SAME = "none", "="
UNKNOWN, FORMULA = "<unknown>", "<formula>"
REASONS = (
    "none", "formula", "noun", "pronoun", "number", "seen", "copy", "name", "string", "inside", "phrasal-1", "phrasal-2",
    "phrasal-3", "sense-n0", "sense-n1", "sense-n2", "sense-n3", "sense-v0", "sense-v1", "sense-v2", "sense-v3", "sense-j0",
    "sense-j1", "sense-j2", "sense-j3", "sense-r0", "sense-r1", "sense-r2", "sense-r3", "derived-actor", "derived-event",
    "adverb-0", "adverb-1", "adverb-copy", "adverb-guess", "participle", "negated",
)  # fmt: skip
"""Why a candidate is offered; see `Lexicon`."""
_REASONS = {reason: number for number, reason in enumerate(REASONS)}
_KINDS = {kind: number for number, kind in enumerate(KINDS)}
PLACES = 4
ROLES = 7


@dataclass(frozen=True)
class Vocabularies:
    """Numbers by name."""

    concepts: Mapping[str, int]
    templates: Mapping[str, int]
    labels: Mapping[str, int]
    tags: Mapping[str, int]

    @classmethod
    def of(
        cls, concepts: Sequence[str], templates: Sequence[str], labels: Sequence[str], tags: Sequence[str]
    ) -> Vocabularies:
        """Return the vocabularies of lists; unknown concepts and formulas come first."""
        lists = ([UNKNOWN, FORMULA, *concepts], templates, labels, tags)
        return cls(*({name: number for number, name in enumerate(names)} for names in lists))

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Vocabularies:
        """Return the vocabularies of tables that hold the names in the order of their numbers."""
        return cls.of(row["concepts"][2:], row["templates"], row["labels"], row["tags"])

    @cached_property
    def tag_names(self) -> list[str]:
        """Tags by number."""
        return list(self.tags)

    def concept(self, key: str) -> int:
        """Return the number of a core or of a node's key."""
        return self.concepts.get(key, 1 if is_formula(key) else 0)


def concept_key(concept: str, *, constant: bool) -> str:
    """Return a node's entry among the concepts; numbers share one."""
    if constant:
        return "<number>" if concept[:1].isdigit() else "=" + concept
    return concept


def candidate_numbers(
    candidate: FrameCandidate, found: Vocabularies
) -> tuple[int, int, tuple[float, float, float, float]]:
    """Return the concept, the reason, and the counts of a candidate on a logarithmic scale."""
    times, total = candidate.times, candidate.total
    return (
        found.concept(candidate.core),
        _REASONS[candidate.reason],
        (math.log1p(times), times / max(1, total), math.log1p(total), math.log1p(max(0, candidate.overall))),
    )


def concept_numbers(concept: str, found: Vocabularies, frames: Frames, *, constant: bool) -> tuple[int, ...]:
    """Return concept, kind, whether it can be a source, and flags of the core arguments of its frame."""
    kind = kind_of(concept, constant=constant)
    roles = frames.roles(concept) if kind == "frame" else ""
    flags = (*tuple(int(str(number) in roles) for number in range(ROLES - 1)), int(bool(roles)))
    number = found.concept("<name>" if kind == "name" else concept_key(concept, constant=constant))
    return number, _KINDS[kind], int(not constant and kind != "name"), *flags
