"""`Report`: what a reader skipped or repaired, why, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from mathamr.core.terminal import visible
from mathamr.posts.accounting import WordAccount

INCOMPLETE = frozenset({
    "archive too dense", "archive too large", "damaged XML", "damaged archive", "damaged notebook", "damaged page",
    "damaged row", "document not read", "document without an end", "encrypted page", "file too large", "nested too deeply", "output too large", "PDF not read", "reader failed",
    "row too large", "too slow", "truncated XML", "truncated entry", "unclosed comment", "unclosed string", "unreadable", "unreadable input", "XML with entities",
})  # fmt: skip
"""Causes for which something was skipped that may hold posts: what a file had before may still be in it."""
_LOSING = frozenset(["unclosed comment"])
"""What a markup reports where it does not read the rest of a text."""
_COUNTS = (
    "skipped",
    "repaired",
    "missing",
    "ignored",
    "excluded",
    "companions",
    "unknown",
    "unknown_entries",
    "empty",
    "empty_entries",
    "conflicts",
    "tallies",
)

COMMANDS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that was skipped or repaired."""

    cause: str
    file: str
    row: int | None
    message: str

    def __str__(self) -> str:
        place = self.file if self.row is None else f"{self.file}, row {self.row}"
        return visible(f"{place}: {self.message}" if place else self.message)


class Report:
    """Collects the problems of one reading: the counts are complete, the examples a bounded sample.

    A reader says where it is by setting `file` and `row` (from 1; a line of a text file, a row of a table) before
    it works on a row, so that whatever is wrong with the row is reported with its place. `companions` counts what
    the tables beside the posts gave.

    >>> report = Report()
    >>> report.at("Posts.xml", 7)
    >>> report.skip("no id", "a row without Id")
    >>> dict(report.skipped), str(report.examples["no id"][0])
    ({'no id': 1}, 'Posts.xml, row 7: a row without Id')
    """

    EXAMPLES_PER_CAUSE = 5
    MESSAGE_LENGTH = 300
    MOST_CAUSES = 200

    def __init__(self) -> None:
        self.file = ""
        self.row: int | None = None
        self.skipped: Counter[str] = Counter()
        self.repaired: Counter[str] = Counter()
        self.missing: Counter[str] = Counter()
        self.ignored: Counter[str] = Counter()
        self.excluded: Counter[str] = Counter()
        self.companions: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        """Commands that formulas use and that nothing explains, by the number of formulas."""
        self.unknown_entries: Counter[str] = Counter()
        self.empty: Counter[str] = Counter()
        """Macros with a body that expand to nothing, by the number of formulas."""
        self.empty_entries: Counter[str] = Counter()
        self.conflicts: Counter[str] = Counter()
        """Macros with several definitions, by the number of definitions."""
        self.tallies: Counter[str] = Counter()
        self.examples: dict[str, list[Problem]] = {}
        self.incomplete: set[str] = set()
        """The files, and the folders, that could not be read whole."""
        self.characters = 0
        """How many characters of documents were read."""
        self.account = WordAccount()
        self.bytes_read = 0
        self.bytes_total: int | None = None
        self.on_bytes: Callable[[], None] | None = None

    def at(self, file: str, row: int | None = None) -> None:
        """Say where the reader is; what is reported next happened there."""
        self.file, self.row = file, row

    def took(self, text: str, characters: int | None = None) -> None:
        """Account for text of the document that is read now; its markup counts among its characters, where they are given."""
        self.characters += len(text) if characters is None else characters
        self.account.took(text, self.file)

    def skip(self, cause: str, message: str) -> None:
        """Count something (a row, a file) that was left out; `cause` is one of a few short names, `message` describes this case."""
        self._count_cause(self.skipped, cause, message)
        if cause in INCOMPLETE:
            self.incomplete.add(self.file)

    def repair(self, cause: str, message: str) -> None:
        """Count something that was wrong and was repaired; nothing is missing."""
        self._count_cause(self.repaired, cause, message)

    def note(self, message: str, offset: int) -> None:
        """Count what a markup repaired or left out: one of a few fixed phrases, and the offset in the text."""
        count = self.skip if message in _LOSING else self.repair
        count(message, f"{message} at offset {offset} of the text")

    def miss(self, cause: str, message: str) -> None:
        """Count something that another file refers to and that is missing from the input."""
        self._count_cause(self.missing, cause, message)

    def ignore(self, cause: str, message: str) -> None:
        """Count a file that was ignored because no reader is meant for it, such as a picture."""
        self._count_cause(self.ignored, cause, message)

    def exclude(self, rule: str, message: str) -> None:
        """Count a file or a folder that was left out by a rule, which is written with its source: `drafts/ (--exclude)`."""
        self._count_cause(self.excluded, rule, message)

    def count_commands(
        self, fault: Literal["unknown", "empty"], entry: str, formulas: Iterable[tuple[str, Sequence[str]]]
    ) -> None:
        """Count the unknown or empty commands of the formulas of an entry, each formula with those that it has."""
        counts, entries = self._commands(fault)
        seen: set[str] = set()
        for latex, commands in formulas:
            self.tallies[f"formulas with {fault} commands"] += bool(commands)
            for command in commands:
                name = command if command in counts or len(counts) < self.MOST_CAUSES else "other"
                counts[name] += 1
                entries[name] += name not in seen
                seen.add(name)
                if (cause := f"{fault} command {name}") not in self.examples:
                    self.examples[cause] = [Problem(cause, entry, None, latex[: self.MESSAGE_LENGTH])]

    def _commands(self, fault: Literal["unknown", "empty"]) -> tuple[Counter[str], Counter[str]]:
        """Return how many formulas and entries have each command."""
        return (
            (self.unknown, self.unknown_entries) if fault == "unknown" else (self.empty, self.empty_entries)
        )

    def count_bytes(self, count: int) -> None:
        """Count bytes that were read from disk, and call `on_bytes`, which shows progress."""
        self.bytes_read += count
        if self.on_bytes:
            self.on_bytes()

    def share(self) -> float | None:
        """Return which part of the bytes has been read, from 0 to 1; `None` where their number is not known."""
        return self.bytes_read / self.bytes_total if self.bytes_total else None

    @property
    def words_read(self) -> int:
        """The number of words that were read of documents."""
        return self.account.read + self.tallies["words read"]

    @property
    def words_left_out(self) -> int:
        """The number of these words that are in no post."""
        return self.account.left_out + self.tallies["words left out"]

    def lines(self) -> list[str]:
        """Return what was skipped, repaired, missing, ignored or excluded, for people: one line for each cause, with an example."""
        verbs = {
            "skipped": self.skipped,
            "repaired": self.repaired,
            "missing": self.missing,
            "ignored": self.ignored,
            "excluded": self.excluded,
        }
        found = [
            f"{verb} {count:,}: {cause} (as in {self.examples[cause][0]})"
            for verb, counts in verbs.items()
            for cause, count in counts.most_common()
        ]
        return found + self.lines_of_macros()

    def lines_of_macros(self) -> list[str]:
        """Return the ten most frequent commands that are unknown or empty, and how many macros have several definitions."""
        lines = [*self._lines_of_commands("unknown"), *self._lines_of_commands("empty")]
        if self.conflicts:
            shown = ", ".join(
                f"\\{name} ({count:,})" for name, count in self.conflicts.most_common(COMMANDS_SHOWN)
            )
            lines.append(
                visible(
                    f"macros with several definitions, of which the nearest holds: {len(self.conflicts):,}: {shown}"
                )
            )
        return lines

    def _lines_of_commands(self, fault: Literal["unknown", "empty"]) -> Iterator[str]:
        counts, entries = self._commands(fault)
        if counts:
            affected = self.tallies[f"formulas with {fault} commands"]
            yield f"formulas with {fault} commands: {affected:,}; different commands: {len(counts):,}"
        for name, count in counts.most_common(COMMANDS_SHOWN):
            cause = f"{fault} command {name}"
            yield (
                f"{cause}{', which expands to nothing' * (fault == 'empty')}: {count:,} formula{'s' * (count != 1)} "
                f"in {entries[name]:,} entr{'y' if entries[name] == 1 else 'ies'}, as in {self.examples[cause][0]}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Convert to an object for `--json`: totals, counts by cause, and the examples."""
        return {
            "skipped": self.skipped.total(),
            "skipped_by_cause": dict(self.skipped.most_common()),
            "mended": self.repaired.total(),
            "mended_by_cause": dict(self.repaired.most_common()),
            "missing": self.missing.total(),
            "missing_by_cause": dict(self.missing.most_common()),
            "ignored": self.ignored.total(),
            "ignored_by_cause": dict(self.ignored.most_common()),
            "excluded": self.excluded.total(),
            "excluded_by_rule": dict(self.excluded.most_common()),
            "words_read": self.words_read,
            "words_left_out": self.words_left_out,
            "left_out_of": [{"file": file, "words": words} for file, words in self.account.examples],
            "companions": dict(self.companions),
            "formulas_with_unknown_commands": self.tallies["formulas with unknown commands"],
            "unknown_commands": dict(self.unknown.most_common()),
            "formulas_with_empty_commands": self.tallies["formulas with empty commands"],
            "empty_commands": dict(self.empty.most_common()),
            "conflicting_macros": dict(self.conflicts.most_common()),
            "examples": [asdict(problem) for problems in self.examples.values() for problem in problems],
        }

    def to_row(self) -> dict[str, Any]:
        """Return what was reported, for storing it or sending it to another process; empty if there was nothing."""
        self.account.close()
        counts: dict[str, Any] = {name: dict(getattr(self, name)) for name in _COUNTS if getattr(self, name)}
        if self.words_read:
            words = {"words read": self.words_read, "words left out": self.words_left_out}
            counts["tallies"] = counts.get("tallies", {}) | words
        if self.incomplete:
            counts["incomplete"] = sorted(self.incomplete)
        if self.examples:
            counts["examples"] = {
                cause: [[each.file, each.row, each.message] for each in found]
                for cause, found in self.examples.items()
            }
        return counts

    def add(self, row: dict[str, Any]) -> None:
        """Add what another report counted, as `to_row` wrote it.

        >>> report, other = Report(), Report()
        >>> other.skip("no id", "a row without Id")
        >>> report.add(other.to_row())
        >>> report.lines()
        ['skipped 1: no id (as in a row without Id)']
        """
        for name in _COUNTS:
            getattr(self, name).update(row.get(name, {}))
        self.incomplete.update(row.get("incomplete", ()))
        for cause, found in row.get("examples", {}).items():
            examples = self.examples.setdefault(cause, [])
            examples += [Problem(cause, *each) for each in found[: self.EXAMPLES_PER_CAUSE - len(examples)]]

    def clear(self) -> None:
        """Forget what was reported."""
        for name in _COUNTS:
            getattr(self, name).clear()
        self.examples = {}
        self.incomplete = set()
        self.account = WordAccount()

    def _count_cause(self, counts: Counter[str], cause: str, message: str) -> None:
        cause = cause if cause in counts or len(counts) < self.MOST_CAUSES else "other"
        counts[cause] += 1
        examples = self.examples.setdefault(cause, [])
        if len(examples) < self.EXAMPLES_PER_CAUSE:
            examples.append(Problem(cause, self.file, self.row, message[: self.MESSAGE_LENGTH]))
