"""Queries as people type them: formulas of a collection, alone, in part, with words or a name, in other letters and notations.

Every query is drawn from one entry of an index and asks for that entry. Its formula, up to the names of its letters, occurs in no other entry.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from mathamr.evaluation.knownitems import KnownItem, content_words, longest_side, unique_formulas
from mathamr.formulas.latex.unicode import raised, symbols
from mathamr.index.lexical.terms import words
from mathamr.posts.passage import PLACEHOLDER, passage
from mathamr.posts.post import Post
from mathamr.search.searcher import Index
from mathamr_lab.systems.text.letters import drawn, variables_of

FORMS = (
    "alone", "one word", "two words", "part", "part, one word", "name", "unicode", "ascii",
)  # fmt: skip
"""What is typed: the formula alone or with words of its entry, a part of it, with the entry's name, or in another notation."""
WITH_WORDS = ("one word", "two words", "part, one word", "name")
SALT = "typed"

_GREEK = [
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "kappa", "lambda",
    "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "phi", "varphi", "chi", "psi", "omega", "Gamma", "Delta",
    "Theta", "Lambda", "Sigma", "Phi", "Psi", "Omega",
]  # fmt: skip
_FUNCTIONS = [
    "sin", "cos", "tan", "log", "ln", "exp", "max", "min", "sup", "inf", "lim", "det", "dim", "ker", "gcd",
    "sum", "prod", "int",
]  # fmt: skip
_ASCII = {
    **{f"\\{name}": f" {name} " for name in (*_GREEK, *_FUNCTIONS)},
    "\\le": "<=", "\\leq": "<=", "\\ge": ">=", "\\geq": ">=", "\\ne": "!=", "\\neq": "!=", "\\to": "->", "\\infty": " oo ",
    "\\in": " in ", "\\cdot": "*", "\\times": " xx ", "\\ldots": "...", "\\dots": "...", "\\cdots": "...",
    "\\subset": " subset ", "\\left": "", "\\right": "", "\\,": " ", "\\;": " ", "\\!": "", "\\quad": " ", "\\ ": " ",
    "\\partial": " partial ", "\\pm": "+-", "\\equiv": " equiv ",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TypedQuery:
    """A typed text, the entry it asks for, and its form."""

    text: str
    entry: str
    form: str


def draw(index: Index, count: int) -> list[TypedQuery]:
    """Draw queries for `count` entries of an index, one each; the form that was drawn least and applies, half in other letters."""
    entries = list(unique_formulas(index.archive.catalogue.every_post()))
    generator = np.random.default_rng(zlib.crc32(SALT.encode()))
    order = generator.permutation(len(entries))
    found: list[TypedQuery] = []
    drawn_forms: Counter[tuple[str, bool]] = Counter()
    for place in order:
        if len(found) == count:
            break
        post, formula = entries[place]
        rarest = sorted(
            product(FORMS, (False, True)), key=lambda each: (drawn_forms[each], FORMS.index(each[0]))
        )
        for form, renamed in rarest:
            text = _typed(post, formula.latex, form, generator, renamed=renamed)
            if text is not None:
                drawn_forms[form, renamed] += 1
                found.append(TypedQuery(text, post.id, form))
                break
    return found


def sentences(posts: Iterable[Post]) -> Iterator[KnownItem]:
    """Yield queries of eight consecutive words of a sentence, each with its post."""
    for post in posts:
        if post.markup == "declaration":
            continue
        for sentence in passage(post).sentences:
            said = sentence.text.split()
            if sentence.field == "body" and len(said) >= 8 and not PLACEHOLDER.search(sentence.text):
                start = zlib.crc32(post.id.encode()) % max(1, len(said) - 8)
                text = " ".join(said[start : start + 8])
                if len(words(text)) >= 6 and "$" not in text:
                    yield KnownItem(text, frozenset([post.id]), "sentence")
                    break


def _typed(
    post: Post,
    latex: str,
    form: str,
    generator: np.random.Generator,
    *,
    renamed: bool,
) -> str | None:
    """Return what is typed for a formula of an entry; None if the form does not apply."""
    if form.startswith("part"):
        part = longest_side(latex)
        if part is None:
            return None
        latex = part
    if renamed:
        variables = variables_of([latex])
        if not variables:
            return None
        latex = drawn(variables, generator, usual=True)(latex)
    if form in ("unicode", "ascii"):
        written = (_unicode if form == "unicode" else typed_in_ascii)(latex)
        return written
    if form == "name":
        return (
            f"{post.title} ${latex}$"
            if post.title and post.role != "answer" and "$" not in post.title
            else None
        )
    count = {"one word": 1, "part, one word": 1, "two words": 2}.get(form, 0)
    if not count:
        return f"${latex}$"
    known = content_words(post)
    if len(known) < count:
        return None
    chosen = [known[place] for place in sorted(generator.choice(len(known), count, replace=False))]
    return f"{' '.join(chosen)} ${latex}$" if generator.random() < 0.5 else f"${latex}$ {' '.join(chosen)}"


def _unicode(latex: str) -> str | None:
    """Return a formula in Unicode; None if some command has no character."""
    by_command = (
        {command: character for character, command in symbols().items()}
        | {
            command: command[1:]
            for command in map("\\{}".format, _FUNCTIONS)
            if command not in ("\\sum", "\\prod", "\\int")
        }
        | {"\\sum": "∑", "\\prod": "∏", "\\int": "∫", "\\leq": "≤", "\\geq": "≥", "\\neq": "≠"}
    )
    superscripts = {plain: character for character in "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ" if (plain := raised(character))}

    def superscript(match: re.Match[str]) -> str:
        inside = match[1] or match[2]
        return (
            "".join(superscripts[each] for each in inside) if set(inside) <= superscripts.keys() else match[0]
        )

    text = re.sub(r"\^(?:\{([^{}]{1,4})\}|(\w))", superscript, _plain(latex))
    text = re.sub(
        r"\\(?:[a-zA-Z]+|.)", lambda match: by_command.get(match[0], _ASCII.get(match[0], match[0])), text
    )
    return None if "\\" in text or "{" in text or text.isascii() else " ".join(text.split())


def typed_in_ascii(latex: str) -> str | None:
    r"""Return a formula as it is typed on a keyboard; None if some command has no such form.

    >>> typed_in_ascii(r"\int_0^{\infty}\frac{\sin (x)}{x}dx")
    'int_0^(oo)(sin(x))/xdx'
    """
    text = re.sub(r"\\(?:[a-zA-Z]+|.)", lambda match: _ASCII.get(match[0], match[0]), _plain(latex))
    text = _NEEDLESS_SPACE.sub("", " ".join(text.split()))
    return None if "\\" in text or "{" in text or not text.isascii() else text


_NEEDLESS_SPACE = re.compile(r" (?=[_^/)])|(?<=[_^/(]) |(?<=[a-zA-Z]) (?=\()")
"""Spaces that nobody types: `int _0^( oo )( sin x)/x` is typed as `int_0^(oo)(sin x)/x`."""


def _plain(latex: str) -> str:
    """Return LaTeX whose fractions, roots and groups are written with brackets."""
    previous = ""
    while previous != latex:
        previous = latex
        latex = re.sub(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", _fraction, latex)
        latex = re.sub(r"\\sqrt\s*\{([^{}]*)\}", r"sqrt(\1)", latex)
        latex = re.sub(r"([_^])\{([^{}\s])\}", r"\1\2", latex)
        latex = re.sub(r"([_^])\{([^{}]{2,})\}", r"\1(\2)", latex)
    return latex


def _fraction(match: re.Match[str]) -> str:
    above, below = (
        part if re.fullmatch(r"\s*(?:\w|\d+|\\[a-zA-Z]+)\s*", part) else f"({part})"
        for part in match.groups()
    )
    return f"{above}/{below}"
