"""References of LaTeX: what `\\cref{lem:bezout}` is called where a reader sees it, `Lemma 1.1`."""

from __future__ import annotations

import re

from mathamr.posts.markup import pieces
from mathamr.posts.passage import Sentence
from mathamr.posts.post import Post

REFERENCE_COMMAND = re.compile(
    r"\\([cC]ref|autoref|nameref|zcref|[oO]lref|fullref|eqref|ref|labelcref|thref|vref)\b"
)
_WITH_LABEL = re.compile(REFERENCE_COMMAND.pattern + r"\*?\s*\{([^{}]{1,200})\}")


def name_reference(command: str, words: str, number: str, name: str = "", kind: str = "") -> str:
    """Return what a reference command shows for its target; empty if that is not known.

    >>> name_reference("cref", "Lemma 1.1", "1.1"), name_reference("Cref", "Lemma 1.1", "1.1", "Bézout"), name_reference("ref", "", "1.1")
    ('lemma 1.1', 'Lemma 1.1 (Bézout)', '1.1')
    """
    if command == "nameref":
        return name
    if command == "eqref":
        return f"({number})" if number else ""
    if command in ("ref", "labelcref"):
        return number
    if number and words:
        named = f"{words} ({name})" if name and words.endswith(number) else words
        return named[:1].lower() + named[1:] if command == "cref" else named
    return f"{kind} ({name})" if name else ""


def number_references(sentence: Sentence, post: Post) -> str:
    """Return the text of a sentence with its references as a reader sees them; one that is not known keeps its label's words."""
    text = sentence.text
    if post.markup != "latex" or sentence.field != "body":
        return text
    known = {link.label: link for link in post.links if link.label and link.number}
    parts: list[str] = []
    done = 0
    for match in _WITH_LABEL.finditer(post.body, sentence.start, sentence.end) if known else ():
        spoken = "".join(piece.text for piece in pieces(match.group(), "latex") if piece.kind == "text")
        place = text.find(spoken, done) if spoken else -1
        if place < 0:
            continue
        link = known.get(match[2].strip())
        parts += [
            text[done:place],
            (name_reference(match[1], link.words, link.number) if link else "") or spoken,
        ]
        done = place + len(spoken)
    return "".join([*parts, text[done:]])
