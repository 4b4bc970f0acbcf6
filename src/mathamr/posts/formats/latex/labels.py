"""The words of labels: what authors call a lemma where a page shows only its number."""

from __future__ import annotations

import re

from mathamr.posts.formats.latex.commands import REFERENCE_WORDS

_WORD = re.compile(r"[A-Z]{3,}(?![a-z])|[A-Z]?[a-z]{2,}")


def label_words(label: str) -> str:
    """Return what the labels of a reference call the things that it refers to; nothing of such as `eq1`, `thm:a` or `sec:2`.

    >>> label_words("algebra-lemma-directed-colimit-exact"), label_words("thm:CauchySchwarz"), label_words("lem:3a")
    ('algebra directed colimit exact', 'Cauchy Schwarz', '')
    """
    found = _WORD.findall(label)
    return " ".join(word for word in found if len(word) > 2 and word.lower() not in REFERENCE_WORDS)
