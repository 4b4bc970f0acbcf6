"""`IgnoreRules`: which files of a folder are left out, by patterns in the syntax of `.gitignore`.

Six sources are asked in this order, and the first with a matching pattern decides: the patterns of the caller
(`--exclude`), the files `.mathamrignore` from the innermost folder outwards, `exclude` in the `mathamr.toml` of the folder, the
files `.gitignore` likewise, up to the top of the repository, `exclude` in the user's settings, and the defaults. Within a source the last matching pattern counts, and `!pattern` brings back what an earlier or
a weaker one leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.settings import EXCLUDE, FOLDER_FILE, folder_settings, listed
from mathamr.posts.report import Report

IGNORE_FILE, GITIGNORE = ".mathamrignore", ".gitignore"
NO_GITIGNORE = f"!{GITIGNORE}"
"""The pattern of a caller with which no `.gitignore` is asked (`--no-gitignore`)."""
HIDDEN = ".*"
DEFAULTS = (
    HIDDEN, "_build/", "_modules/", "_sources/", "_static/", "__pycache__/", "build/", "dist/", "node_modules/",
    "site-packages/", "venv/", "*.egg-info/", "genindex.html", "genindex-*.html", "py-modindex.html",
)  # fmt: skip
"""What is left out unless a pattern brings it back: hidden files, copies and pages that tools generate, packages of others."""
HIDDEN_RULE = f"{HIDDEN} (a default)"
LARGEST_IGNORE_FILE = 1 << 20
MOST_STARS = 4
"""Stars between two slashes of a pattern, and names of two stars; the time of matching grows with a power of their number."""

_STARS = re.compile(r"\\.|\*+")


class IgnoreRules:
    """The rules of a folder; a path is asked for only if the folders above it are not left out.

    >>> rules = IgnoreRules(Path("/notes"), Report(), ["drafts/", "!drafts/good/"])
    >>> rules.rule_for(Path("/notes/drafts"), is_folder=True)
    'drafts/ (--exclude)'
    >>> rules.rule_for(Path("/notes/algebra/node_modules"), is_folder=True)
    'node_modules/ (a default)'
    >>> rules.rule_for(Path("/notes/algebra/groups.md"))
    """

    def __init__(self, root: Path, report: Report, exclude: Sequence[str] = ()) -> None:
        self._root, self._report = root, report
        self._exclude = _Patterns(root, "--exclude", exclude, _refuse)
        in_folder = listed(folder_settings(root).get(EXCLUDE.key, ""))
        self._of_notes = _Patterns(root, FOLDER_FILE, in_folder, _refuse)
        self._of_user = _Patterns(root, "your settings", EXCLUDE.values, _refuse)
        self._defaults = _Patterns(root, "a default", DEFAULTS, _refuse)
        self._of_folder = lru_cache(maxsize=10_000)(self._read)
        self._asks_git = NO_GITIGNORE not in exclude
        self._above = _repository_above(root) if self._asks_git else ()

    def rule_for(self, path: Path, *, is_folder: bool = False) -> str | None:
        """Return the rule that leaves a path out, with where it comes from; `None` if the path is read."""
        depth = len(path.relative_to(self._root).parts)
        folders = list(path.parents)[:depth]
        within = [*(self._of_folder(folder, IGNORE_FILE) for folder in folders), self._of_notes]
        if self._asks_git:
            within += (self._of_folder(folder, GITIGNORE) for folder in (*folders, *self._above))
        for patterns in (self._exclude, *within, self._of_user, self._defaults):
            if patterns is not None and (decision := patterns.decide(path, is_folder=is_folder)) is not None:
                return decision or None
        return None

    def leaves_out(self, path: Path) -> bool:
        """Return whether a file is left out, itself or by a folder above it."""
        depth = len(path.relative_to(self._root).parts)
        folders = reversed(list(path.parents)[: depth - 1])
        return any(self.rule_for(folder, is_folder=True) for folder in folders) or bool(self.rule_for(path))

    def _read(self, folder: Path, name: str) -> _Patterns | None:
        """Return the patterns of an ignore file of a folder."""
        file = folder / name
        try:
            if not file.is_file():
                return None
            with file.open("rb") as stream:
                data = stream.read(LARGEST_IGNORE_FILE + 1)
        except OSError as error:
            raise MathAMRError(
                f"{file}: cannot be read ({error.strerror}), so it is unknown which files to ignore; make it readable or remove it"
            ) from error
        if len(data) > LARGEST_IGNORE_FILE:
            raise MathAMRError(
                f"{file}: larger than {LARGEST_IGNORE_FILE >> 20} MB, so it is not a list of patterns"
            )

        def skip(pattern: str, why: str) -> None:
            self._report.at(str(file))
            self._report.skip(
                "pattern not understood", f"{pattern[:100]!r} ({why}); write it as in .gitignore"
            )

        source = file.relative_to(self._root).as_posix() if self._root in file.parents else str(file)
        return _Patterns(folder, source, data.decode("utf-8-sig", "replace").splitlines(), skip)


class _Patterns:
    """The patterns of one source, which count from `folder`; `on_error` is told which cannot be used, and why."""

    def __init__(
        self, folder: Path, source: str, lines: Iterable[str], on_error: Callable[[str, str], None]
    ) -> None:
        from pathspec import GitIgnoreSpec, RegexPattern  # a tenth of a second that only folders need

        self._folder, self._source = folder, source
        self._lines: list[str] = []
        self._patterns: list[re.Pattern[str]] = []
        for line in lines:
            if not line.strip() or line.startswith("#"):
                continue
            try:
                (pattern,) = GitIgnoreSpec.from_lines([_single_stars(line)]).patterns
            except (ValueError, re.error) as error:
                on_error(line, str(error))
            else:
                if isinstance(pattern, RegexPattern) and pattern.regex is not None:  # not a slash alone
                    self._lines.append(line)
                    self._patterns.append(pattern.regex)

    def decide(self, path: Path, *, is_folder: bool) -> str | None:
        """Return the rule that leaves a path out; empty if a pattern brings it back, `None` if none matches."""
        name = f"{path.relative_to(self._folder).as_posix()}{'/' * is_folder}"
        for line, pattern in zip(reversed(self._lines), reversed(self._patterns), strict=True):
            # An expression of pathspec has a group for the slash behind a folder: if it ends there, only a folder above matches.
            found = pattern.finditer(name)
            if any(each.lastgroup is None or each.end(each.lastgroup) == len(name) for each in found):
                return "" if line.startswith("!") else f"{line.strip()} ({self._source})"
        return None


def _repository_above(root: Path) -> tuple[Path, ...]:
    """Return the folders above one, up to the top of the repository that it lies in."""
    above: list[Path] = []
    for folder in (root, *root.parents):
        if folder != root:
            above.append(folder)
        if (folder / ".git").exists():
            return tuple(above)
    return ()


def _single_stars(pattern: str) -> str:
    """Return a pattern with one star for several in a name, and two for a name of several, as git reads them.

    >>> _single_stars("!***/b***c*")
    '!**/b*c*'
    """
    negated = pattern.startswith("!")
    names = pattern[negated:].split("/")
    is_path = any(names[1:])
    names = ["**" if is_path and re.fullmatch(r"\*\*+ *", name) else _STARS.sub(_one, name) for name in names]
    if max(name.count("*") for name in names) > MOST_STARS:
        raise ValueError(f"more than {MOST_STARS} stars in one name")
    if sum("**" in name for name in names) > MOST_STARS:
        raise ValueError(f"more than {MOST_STARS} times two stars")
    return "!" * negated + "/".join(names)


def _one(stars: re.Match[str]) -> str:
    return "*" if stars[0].startswith("*") else stars[0]


def _refuse(pattern: str, why: str) -> None:
    raise MathAMRError(f"the pattern {pattern!r} to exclude: {why}; write it as in .gitignore")
