"""What is easily typed wrong, told in words: arguments in the wrong order, a query that the shell has eaten of."""

from __future__ import annotations

import re
from pathlib import Path

import typer

_BEHEADED = re.compile(r"(?:^|[\s(])[\^_](?=[\w{])")


def check_argument_order(folder: Path, query: str) -> None:
    """Complains where the index was given as the query and the query as the index."""
    if not folder.exists() and query and len(query) < 4096 and "\0" not in query and Path(query).is_dir():
        raise typer.BadParameter(f"the index comes first, then the query: mathamr search {query} '{folder}'")


def shell_quoting_hint(query: str) -> str:
    """A hint where a query looks as if the shell had replaced `$x` in it by nothing.

    >>> eaten_by_shell("^2$"), eaten_by_shell("solve $x^2$")
    ("a formula of this query has lost its beginning; a shell replaces $x in double quotes: use single ones, '$x^2$'", '')
    """
    if query.count("$") - query.count("\\$") & 1 or ("$" not in query and _BEHEADED.search(query)):
        return "a formula of this query has lost its beginning; a shell replaces $x in double quotes: use single ones, '$x^2$'"
    return ""
