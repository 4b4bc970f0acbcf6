"""The numbers that LaTeX wrote into the `.aux` files of a document when it was last compiled."""

from __future__ import annotations

import re

from mathamr.posts.formats.latex.numbering import Numbered

MOST_LABELS = 200_000

_NEWLABEL = re.compile(
    r"""\\newlabel\s*+\{(?P<label>[^{}\n]{1,300}+)\}\s*+\{\{(?P<number>[^{}\n]{0,100}+(?:\{[^{}\n]{0,100}+\}[^{}\n]{0,100}+){0,5}+)\}
       (?:\{[^{}\n]{0,100}+\}\{(?:[^{}\n]|\{[^{}\n]*+\}){0,1000}+\}\{(?P<anchor>[^{}\n]{0,300}+)\})?+  # page, title and anchor of hyperref""",
    re.X,
)
_CLEVEREF = "@cref"
_MARKS = re.compile(r"\\[A-Za-z@]+\s?|[{}$]")
_KIND = re.compile(r"\A\[([A-Za-z]+)\]")
_ANCHOR_KIND = re.compile(r"\A([A-Za-z]+)\*?\.")


def numbers_in(text: str) -> dict[str, Numbered]:
    r"""Return the numbers of the labels of an `.aux` file, and the kinds of things where hyperref or cleveref say them.

    >>> numbers_in(r"\newlabel{thm:a}{{2.1}{7}{Limits}{theorem.2.1}{}}")
    {'thm:a': Numbered(kind='theorem', number='2.1')}
    """
    found: dict[str, Numbered] = {}
    kinds: dict[str, str] = {}
    for match in _NEWLABEL.finditer(text):
        label = match["label"]
        if label.endswith(_CLEVEREF):
            if kind := _KIND.match(match["number"]):
                kinds[label.removesuffix(_CLEVEREF)] = kind[1]
        elif len(found) < MOST_LABELS:
            number = " ".join(_MARKS.sub("", match["number"]).split()).rstrip("^")
            anchor = _ANCHOR_KIND.match(match["anchor"] or "")
            found[label] = Numbered(anchor[1] if anchor else "", number)
    return {label: Numbered(kinds.get(label, each.kind), each.number) for label, each in found.items()}
