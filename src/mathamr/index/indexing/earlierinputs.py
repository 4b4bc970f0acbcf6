"""`EarlierInputs`: a file belongs to the first input that holds it, so that folders inside each other give it once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from mathamr.index.manifest import InputRecord
from mathamr.posts.format import Collection
from mathamr.posts.ignorerules import IgnoreRules
from mathamr.posts.inputs import STDIN
from mathamr.posts.report import Report

CAUSE = "file of an earlier input"


class EarlierInputs:
    """The inputs that come before one in an index, as far as they exist and share files with it."""

    def __init__(self, own: Path, records: Iterable[InputRecord]) -> None:
        self._inputs: list[tuple[InputRecord, Path, IgnoreRules | None]] = []
        for record in records:
            root = Path(record.path)
            shares_files = root in (own, *own.parents) or own in root.parents
            if own != STDIN and shares_files and root.exists():
                rules = IgnoreRules(root, Report(), record.exclude) if root.is_dir() else None
                self._inputs.append((record, root, rules))

    def leave(self, parts: Sequence[tuple[str, Collection]], report: Report) -> list[tuple[str, Collection]]:
        """Return the files of an input by format without those that an earlier input holds, which are reported."""
        if not self._inputs:
            return list(parts)
        kept: list[tuple[str, Collection]] = []
        for format, collection in parts:
            files: list[Path] = []
            for file in collection.files:
                holder = self._holder(file, format)
                if holder is None:
                    files.append(file)
                else:
                    report.at(str(file))
                    report.ignore(CAUSE, f"it belongs to {holder}, which the index has from before")
            if files:
                kept.append((format, replace(collection, files=tuple(files))))
        return kept

    def _holder(self, file: Path, format: str) -> str | None:
        """Return the first input that holds a file of a format."""
        for record, root, rules in self._inputs:
            if record.format not in (None, format):
                continue
            if file == root or (rules is not None and root in file.parents and not rules.leaves_out(file)):
                return record.path
        return None
