"""References of LaTeX: what `\\cref{lem:bezout}` is called where a reader sees it, `Lemma 1.1`."""

from __future__ import annotations

import re

from mathamr.posts.formats.latex.labels import label_words
from mathamr.posts.markup import pieces
from mathamr.posts.passage import Sentence
from mathamr.posts.post import Link, Post

REFERENCE_COMMAND = re.compile(
    r"\\([cC]ref|autoref|nameref|zcref|[oO]lref|fullref|eqref|ref|labelcref|thref|vref)\b"
)
_NUMBER_ALONE = frozenset(["ref", "eqref", "labelcref"])
"""Commands that print a number without the kind of thing that it counts."""
UNNUMBERED = "(*)"
"""What stands for a number that only a printed page has."""
_NAMED = re.compile(r"([^\W\d_]+) \((.+)\)")
_WITH_LABEL = re.compile(REFERENCE_COMMAND.pattern + r"\*?\s*\{([^{}]{1,200})\}")


def name_reference(command: str, words: str, number: str, name: str = "", kind: str = "") -> str:
    """Return what a reference command shows for its target; empty if that is not known.

    Where the target has no number, that is its kind and its own name.

    >>> name_reference("cref", "Lemma 1.1", "1.1"), name_reference("Cref", "Lemma 1.1", "1.1", "Bézout"), name_reference("ref", "", "1.1")
    ('lemma 1.1', 'Lemma 1.1 (Bézout)', '1.1')
    >>> name_reference("cref", "", "", "Bézout", "Lemma"), name_reference("ref", "", "", kind="Lemma")
    ('lemma (Bézout)', '(*)')
    """
    if command == "nameref":
        return name
    if command in _NUMBER_ALONE:
        shown = number or name or (UNNUMBERED if kind else "")
        return f"({shown})" if shown and shown != UNNUMBERED and (command == "eqref" or not number) else shown
    if number and words:
        named = f"{words} ({name})" if name and words.endswith(number) else words
    else:
        named = f"{kind} ({name})" if name else kind
    return named[:1].lower() + named[1:] if command == "cref" else named


def number_references(sentence: Sentence, post: Post) -> str:
    """Return the text of a sentence with its references as a reader sees them: never with their labels."""
    text = sentence.text
    if post.markup != "latex" or sentence.field != "body":
        return text
    known = {link.label: link for link in post.links if link.label}
    parts: list[str] = []
    done = 0
    for match in _WITH_LABEL.finditer(post.body, sentence.start, sentence.end) if known else ():
        spoken = "".join(piece.text for piece in pieces(match.group(), "latex") if piece.kind == "text")
        place = text.find(spoken, done) if spoken else -1
        if place < 0:
            continue
        link = known.get(match[2].strip())
        parts += [text[done:place], _shown(match[1], link, spoken)]
        done = place + len(spoken)
    return "".join([*parts, text[done:]])


def _shown(command: str, link: Link | None, spoken: str) -> str:
    """Return what stands for a reference, which is read as `spoken`: its kind, and the words of its label."""
    if link is not None and link.number:
        return name_reference(command, link.words, link.number) or spoken
    called = label_words(link.label if link is not None else "")
    kind = spoken.replace(called, "").replace("()", UNNUMBERED).strip() if called else spoken
    if link is not None and (named := _NAMED.fullmatch(link.words)):
        return f"({named[2]})" if command in _NUMBER_ALONE else link.words
    return kind or UNNUMBERED
