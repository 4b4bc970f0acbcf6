"""Decisions of a reading: what could be read in two ways, how it was read, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from mathamr.formulas.budget import Budget

MAX_DECISIONS = 100


class Decision(NamedTuple):
    """One ambiguity: the piece of the formula, how it was read, and the reason."""

    subject: str
    choice: str
    reason: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.choice}, because {self.reason}"


@dataclass(frozen=True, slots=True)
class Context:
    """What the other formulas of a post say about letters: which are functions, which are certainly not."""

    functions: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()


EMPTY = Context()


@dataclass(slots=True)
class DecisionNotes:
    """What one reading knows beforehand, finds out, decides and has spent."""

    budget: Budget
    context: Context = EMPTY
    functions: set[str] = field(default_factory=set)
    """Letters that this formula applies, or maps, or derives."""
    variables: set[str] = field(default_factory=set)
    """Letters that this formula multiplies with a group."""
    doubted: set[str] = field(default_factory=set)
    """Letters that were read as no functions; if one turns out to be, the formula is read again."""
    decisions: dict[Decision, None] = field(default_factory=dict)

    def decide(self, subject: str, choice: str, reason: str) -> None:
        """Notes a decision; the same one is noted once."""
        if len(self.decisions) < MAX_DECISIONS:
            self.decisions[Decision(subject, choice, reason)] = None
