"""What the roles of Sphinx have in common, in reStructuredText and in MyST."""

from __future__ import annotations


def words_and_target(content: str) -> tuple[str, str] | None:
    """Return the two parts of a role's text that names its target in angle brackets; `None` if it does not.

    >>> words_and_target("the limit <limits>"), words_and_target("limits")
    (('the limit', 'limits'), None)
    """
    words, opening, target = content.rstrip().removesuffix(">").rpartition("<")
    if not (opening and target and content.rstrip().endswith(">")) or ">" in target:
        return None
    return words.rstrip(), target
