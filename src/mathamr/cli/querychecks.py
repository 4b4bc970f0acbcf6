"""Checks for common mistakes in a typed query: swapped arguments, and `$x` expanded by the shell."""

from __future__ import annotations

import re
from pathlib import Path

import typer

_MISSING_BASE = re.compile(r"(?:^|[\s(])[\^_](?=[\w{])")


def check_argument_order(folder: Path, query: str) -> None:
    """Raise if the index and the query were swapped."""
    if not folder.exists() and query and len(query) < 4096 and "\0" not in query and Path(query).is_dir():
        raise typer.BadParameter(f"the index comes first, then the query: mathamr search {query} '{folder}'")


def shell_quoting_hint(query: str) -> str:
    """Return a hint if the shell seems to have expanded `$x` in the query to nothing; else an empty string.

    >>> shell_quoting_hint("^2$"), shell_quoting_hint("solve $x^2$")
    ("a formula of this query has lost its beginning; a shell replaces $x in double quotes: use single ones, '$x^2$'", '')
    """
    if query.count("$") - query.count("\\$") & 1 or ("$" not in query and _MISSING_BASE.search(query)):
        return "a formula of this query has lost its beginning; a shell replaces $x in double quotes: use single ones, '$x^2$'"
    return ""
