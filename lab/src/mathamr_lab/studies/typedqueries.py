"""Queries as people type them: formulas of a collection, alone, in part, with words or a name, in other letters and notations.

Every query is drawn from one entry of an index and asks for that entry. Its formula, up to the names of its letters, occurs in no other entry.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from mathamr.formulas.latex.unicode import raised, symbols
from mathamr.formulas.renaming import form_key
from mathamr.formulas.trees import trees_of
from mathamr.index.lexical.terms import words
from mathamr.posts.passage import PLACEHOLDER, passage
from mathamr.posts.post import Formula, Post
from mathamr.search.commonwords import STOP_WORDS
from mathamr.search.searcher import Index
from mathamr_lab.systems.text.letters import drawn, variables_of

LEAST, MOST = 6, 40
"""The numbers of symbols between which a formula is asked for."""
LONGEST = 160
HELD = 4
"""The queries of one in so many entries are held back from every choice."""
FORMS = (
    "alone", "one word", "two words", "part", "part, one word", "name", "unicode", "ascii",
)  # fmt: skip
"""What is typed: the formula alone or with words of its entry, a part of it, with the entry's name, or in another notation."""
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
_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|.", re.S)
_SPACING = re.compile(r"^(?:\\[,;:! ]|[\s,.;&])+|(?:\\[,;:! ]|[\s,.;&])+$")
_SIDES = re.compile(r"\\(?:leq?|geq?|neq?|equiv|to|in|subset(?:eq)?|cong|sim|approx)(?![a-zA-Z])|[=<>]")


@dataclass(frozen=True, slots=True)
class TypedQuery:
    """A typed text, the entry it asks for, and how it was made; `held` entries take part in no choice."""

    text: str
    entry: str
    form: str
    renamed: bool
    held: bool
    formula: str


def draw(index: Index, count: int) -> list[TypedQuery]:
    """Draw queries for `count` entries of an index, one each; the form that was drawn least and applies, half in other letters."""
    entries = list(_candidates(index))
    generator = np.random.default_rng(zlib.crc32(SALT.encode()))
    order = generator.permutation(len(entries))
    found: list[TypedQuery] = []
    drawn_forms: Counter[tuple[str, bool]] = Counter()
    for place in order:
        if len(found) == count:
            break
        post, formula = entries[place]
        held = zlib.crc32(post.id.encode()) % HELD == 0
        rarest = sorted(
            product(FORMS, (False, True)), key=lambda each: (drawn_forms[each], FORMS.index(each[0]))
        )
        for form, renamed in rarest:
            text = _typed(post, formula.latex, form, renamed, generator)
            if text is not None:
                drawn_forms[form, renamed] += 1
                found.append(TypedQuery(text, post.id, form, renamed, held, formula.latex))
                break
    return found


def _candidates(index: Index) -> Iterator[tuple[Post, Formula]]:
    """Yield entries with the longest of their formulas whose form occurs in no other entry."""
    posts: dict[str, Post] = {}
    own: dict[str, dict[str, Formula]] = defaultdict(dict)
    holders: dict[str, set[str]] = defaultdict(set)
    for post in index.archive.catalogue.every_post():
        if post.markup == "declaration":
            continue
        posts[post.id] = post
        for formula in post.formulas:
            if len(formula.latex) > LONGEST:
                continue
            slt = trees_of(formula, post.macros)[0][1]
            if slt is not None and LEAST <= len(slt) <= MOST:
                key = form_key(slt)
                holders[key].add(post.id)
                own[post.id].setdefault(key, formula)
    for identifier, formulas in own.items():
        generator = np.random.default_rng(zlib.crc32(f"{SALT}:{identifier}".encode()))
        single = [
            formula
            for key, formula in formulas.items()
            if len(holders[key]) == 1
            and "\\begin" not in formula.latex
            and "\\text" not in formula.latex
            and not posts[identifier].macros
        ]
        if single:
            yield posts[identifier], single[int(generator.integers(len(single)))]


def _content(post: Post) -> list[str]:
    text = PLACEHOLDER.sub(
        " ", " ".join(each.text for each in passage(post).sentences if each.field == "body")
    )
    return [
        word
        for word in dict.fromkeys(words(text))
        if word.isalpha() and len(word) > 3 and word not in STOP_WORDS
    ]


def _typed(
    post: Post,
    latex: str,
    form: str,
    renamed: bool,
    generator: np.random.Generator,
) -> str | None:
    """Return what is typed for a formula of an entry; None if the form does not apply."""
    if form.startswith("part"):
        part = _part(latex)
        if part is None:
            return None
        latex = part
    if renamed:
        variables = variables_of([latex])
        if not variables:
            return None
        latex = drawn(variables, generator, usual=True)(latex)
    if form in ("unicode", "ascii"):
        written = (_unicode if form == "unicode" else _ascii)(latex)
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
    known = _content(post)
    if len(known) < count:
        return None
    chosen = [known[place] for place in sorted(generator.choice(len(known), count, replace=False))]
    return f"{' '.join(chosen)} ${latex}$" if generator.random() < 0.5 else f"${latex}$ {' '.join(chosen)}"


def _part(latex: str) -> str | None:
    """Return the longest side of a relation, of a sum, or what stands under an integral, if it is large enough."""
    depth, cuts = 0, [0]
    for match in _TOKEN.finditer(latex):
        token = match.group()
        depth += (token[-1] in "{([") - (token[-1] in "})]")
        if depth == 0 and _SIDES.fullmatch(token):
            cuts += [match.start(), match.end()]
    cuts.append(len(latex))
    sides = [_SPACING.sub("", latex[start:end]) for start, end in zip(cuts[::2], cuts[1::2], strict=True)]
    if len(sides) < 2:
        return None
    side = max(sides, key=len)
    slt = trees_of(Formula("", side), ())[0][1]
    return side if slt is not None and len(slt) >= LEAST else None


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


def _ascii(latex: str) -> str | None:
    """Return a formula as it is typed on a keyboard; None if some command has no such form."""
    text = re.sub(r"\\(?:[a-zA-Z]+|.)", lambda match: _ASCII.get(match[0], match[0]), _plain(latex))
    return None if "\\" in text or "{" in text or not text.isascii() else " ".join(text.split())


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
