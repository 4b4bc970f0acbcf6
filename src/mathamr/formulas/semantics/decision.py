"""Decisions of a reading: ambiguities, how they were resolved, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from mathamr.formulas.budget import Budget

MAX_DECISIONS = 100


class Decision(NamedTuple):
    """One ambiguity: the piece of the formula, its reading, and the reason."""

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
    """The context, findings, decisions and spent budget of one reading."""

    budget: Budget
    context: Context = EMPTY
    functions: set[str] = field(default_factory=set)
    """Letters that this formula applies, maps, or differentiates."""
    variables: set[str] = field(default_factory=set)
    """Letters that this formula multiplies with a group."""
    doubted: set[str] = field(default_factory=set)
    """Letters that were not read as functions; if one turns out to be a function, the formula is read again."""
    decisions: dict[Decision, None] = field(default_factory=dict)

    def decide(self, subject: str, choice: str, reason: str) -> None:
        """Records a decision, once."""
        if len(self.decisions) < MAX_DECISIONS:
            self.decisions[Decision(subject, choice, reason)] = None
