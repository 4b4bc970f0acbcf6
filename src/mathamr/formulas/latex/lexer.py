"""LaTeX text to tokens: commands, single characters, runs of space; comments are dropped."""

from __future__ import annotations

import re

MAX_LENGTH = 100_000
"""The maximum number of characters in a formula."""

_COMMAND = r"\\(?:(?:lx|qvar)?@[a-zA-Z@]+|[a-zA-Z]+)|\\[\s\S]"
"""Commands, including inner ones in converted collections like `\\lx@paragraphsign`."""
_TOKEN = re.compile(_COMMAND + r"|\s+|[\s\S]")
_TOKEN_WITH_COMMENTS = re.compile(_COMMAND + r"|%[^\n]*\n?\s*|\s+|[\s\S]")

_ESCAPED = re.compile(
    r"""
    (?P<cell>\\qvar@construct\{&\}|&)      # the & of an entity that was taken for that of a table
    (?P<style>\$?\\displaystyle[ ]?)?
    (?P<amp>(?:amp;)+)? (?P<sign>lt;|gt;)?
    | (?P<begin>\A\\displaystyle[ ])amp;
    """,
    re.X,
)
_VERBATIM = re.compile(r"\\verb(?![a-zA-Z])\*?([^a-zA-Z\s*])([^\n]*?)\1")
_VERBATIM_TOKENS = {letter: "\\" + letter for letter in "{}$%&#_"} | {
    "\\": "\\textbackslash",
    "~": "\\textasciitilde",
    "^": "\\textasciicircum",
}
_COMMENT = re.compile(r"(?<!\\)%")
_SIGNS = {"lt;": "<", "gt;": ">"}


def tokenize(text: str) -> tuple[list[str], list[int]]:
    """Return the tokens of a formula and the offset at which each begins.

    >>> tokenize("a_1 % one")
    (['a', '_', '1', ' '], [0, 1, 2, 3])
    """
    text = unescaped(text)[0]
    return _with_verbatim(text) if "\\verb" in text else _lexed(text)


def _lexed(text: str) -> tuple[list[str], list[int]]:
    if "%" not in text:
        tokens = _TOKEN.findall(text)
        offsets = []
        offset = 0
        for token in tokens:
            offsets.append(offset)
            offset += len(token)
        return tokens, offsets
    tokens, offsets = [], []
    for match in _TOKEN_WITH_COMMENTS.finditer(text):
        token = match.group()
        if token[0] != "%":
            tokens.append(token)
            offsets.append(match.start())
    return tokens, offsets


def _with_verbatim(text: str) -> tuple[list[str], list[int]]:
    """Return the tokens of a text with `\\verb|…|` in it, which becomes typewriter text, every character literally."""
    tokens: list[str] = []
    offsets: list[int] = []
    done = 0
    for found in (*_VERBATIM.finditer(text), None):
        end = len(text) if found is None else found.start()
        outside, places = _lexed(text[done:end])
        tokens += outside
        offsets += [done + place for place in places]
        if found is not None:
            inside = ["\\texttt", "{", *(_VERBATIM_TOKENS.get(letter, letter) for letter in found[2]), "}"]
            tokens += inside
            offsets += [end] * len(inside)
            done = found.end()
    return tokens, offsets


def unescaped(text: str) -> tuple[str, list[int]]:
    """Return the text without the remains of double escapes, and their offsets: `a&amp;b`, `a &amp;lt; b`.

    Converted collections have them even after what a converter put into the cell, `&\\displaystyle amp;=b`. The text keeps
    its length, so that all offsets stay. If no `&` was escaped twice, an `&lt;` stays, as in the published trees.

    >>> unescaped("a&amp;<b &lt; c")
    ('a&    <b <    c', [1, 9])
    """
    if "amp;" not in text:
        return text, []
    places: list[int] = []

    def repaired(found: re.Match[str]) -> str:
        if found["begin"]:
            meant = found["begin"]
        elif found["sign"]:
            meant = _SIGNS[found["sign"]]
        elif found["amp"]:
            meant = "&" + (found["style"] or "")
        else:
            return found[0]
        places.append(found.start())
        return meant.ljust(len(found[0]))

    return _ESCAPED.sub(repaired, text), places


def without_comment_signs(text: str) -> tuple[str, int] | None:
    """Return the text with a blank for every `%`, and the offset of the first one; `None` if it has none.

    Collections contain formulas that a comment hides completely (`%x^2`); what the author meant is readable without it.
    """
    comment = _COMMENT.search(text)
    return None if comment is None else (_COMMENT.sub(" ", text), comment.start())
