"""Defined terms: emphasised words of a post, since a definition usually emphasises the name that it introduces."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mathamr.posts.post import Markup

LONGEST = 100_000
"""Characters of a post that are searched."""
_NAME = r"[^{}<>*\n]{1,120}"
_EMPHASIS: dict[Markup, re.Pattern[str]] = {
    "latex": re.compile(
        rf"\\(?:emph|textbf|textit|textsl|defn?|dfn|term|define)\s*\{{({_NAME})\}}"
        rf"|\{{\s*\\(?:em|it|bf|sl|itshape|bfseries)\b\s*({_NAME})\}}"
    ),
    "html": re.compile(
        rf"<(?:em|strong|i|b|dfn)\b[^<>]{{0,100}}>({_NAME})</(?:em|strong|i|b|dfn)>", re.IGNORECASE
    ),
    "markdown": re.compile(
        rf"(?<![\w*])\*{{1,3}}(?=\S)({_NAME}?)(?<=\S)\*{{1,3}}(?![\w*])|(?<!\w)__?(?=\S)([^_\n]{{1,120}}?)(?<=\S)__?(?!\w)"
    ),
}


def emphasised_terms(body: str, markup: Markup) -> Iterator[str]:
    r"""The emphasised parts of a text, as they are written.

    >>> list(emphasised_terms(r"A set is \emph{nowhere dense} or {\bf meagre}.", "latex"))
    ['nowhere dense', 'meagre']
    >>> list(emphasised_terms("A **prime number** is 2 * 3 * 5?", "markdown"))
    ['prime number']
    """
    pattern = _EMPHASIS.get(markup)
    if pattern is None:
        return
    for match in pattern.finditer(body[:LONGEST]):
        yield next(group for group in match.groups() if group is not None)
