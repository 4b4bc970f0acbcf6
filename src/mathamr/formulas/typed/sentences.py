"""Finds the formulas that stand unmarked in a typed text: `is p^2 divisible`, or the whole of `x² + y² = z²`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from mathamr.core import listing
from mathamr.formulas.latex.symbols import FUNCTIONS
from mathamr.formulas.latex.unicode import is_mathematical, unicode_to_latex
from mathamr.formulas.typed import names
from mathamr.formulas.typed.reader import typed_to_latex

Role = Literal["formula", "operator", "operand", "prefix", "connective", "prose"]
"""What a word can be: surely part of a formula; an operator; a letter or number; a function or sum; a word such as `in`;
or prose."""

_LETTER = r"(?:[A-Za-z]|[α-ωΑ-Ω])"
_GREEK = f"(?:{'|'.join(sorted(names.GREEK, key=len, reverse=True))})"
_FORMULA = re.compile(
    rf"""
    [^\s^]\^[^\s^]                                     # x^2
    | \*\*
    | (?<![A-Za-z]){_LETTER}{{1,2}}_[\w({{]            # a_n
    | (?<![A-Za-z]){_GREEK}(?:                          # alpha_i, Gamma(z), beta_hat
        _(?:[A-Za-z\d]{{1,2}}(?![A-Za-z])|(?:max|min|{_GREEK}|{"|".join(names.ACCENTS)})(?![A-Za-z])|[({{])
        | '*\((?![a-z]{{3,}}\))
    )
    | (?<![A-Za-z'])[A-HJ-Z]'[A-Za-z](?![A-Za-z'])       # X'y
    | \b(?:sum|prod|int|lim|log|max|min|sup|inf)_[\w({{-]
    | [<>=!:~]=|=>|->|=<|\S=\S|^=\S|\S=$               # relations
    | \|[^|]+\||<(?=[^<>]+,[^<>])[^<>]++>                        # |x|, <x,y>
    | (?<![A-Za-z])(?:[a-zA-Z]|{"|".join(names.CALLED)})'*\((?![a-z]{{3,}}\))
    | (?<![\w.])\d+[xyzknmpqrtab]\b(?!\.)              # 2x
    | (?<![A-Za-z'\d-])(?:\d*[a-z]|\))-(?:\d+|\d*[a-z]|\()(?![A-Za-z\d-])
    | (?<![\w!])(?:\d+|{_LETTER}|\))!(?=\W|$)(?!\Z)
    | \d\.\.\.
    | (?<![A-Za-z])[A-Za-z]\[[^\]]                       # k[x], C[0,1]
    | ^[A-Z]\*$ | ^[\da-z](?:,[\da-z])+(?:,?\.\.\.)?$
    | (?<![\w'])[a-zA-Z]'+(?=[\s,.?=]|$)(?!s)
    | \\[A-Za-z]+ | \?[a-zA-Z]\b
    """,
    re.VERBOSE,
)
_OPERATORS = listing.names(
    "+ - * / = < > <= >= != == := -> => <=> ~ ~= | : |-> ... , +- × · ⋅ − ± ∘ ∪ ∩ ∈ ∉ ⊂ ⊆ ⊕ ⊗ ≅ ≡ ≈ ∼ → ⇒ ⇔ ↦ ≤ ≥ ≠ ∧ ∨ = \\"
)
_OPERAND = re.compile(rf"[(\[{{|]*(?:\d+(?:\.\d+)?|{_LETTER}|d(?!o\b)[a-zA-Z]|d[α-ω])[)\]}}|,;']*")
_DIFFERENTIAL = re.compile(r"d[a-zA-Zμνλ]\b|dmu\b")
_PREFIXES = FUNCTIONS | listing.names("sum prod int integral limit lcm tr im rank sqrt forall exists")
_AMBIGUOUS = frozenset(
    ["max", "min", "im", "rank", "integral", "limit", "sum", "deg", "exists", "inf", "sup"]
)
"""Prefixes that are words of English, too: they need an operand that is surely mathematical."""
_CONNECTIVES = frozenset(
    ["in", "mod", "(mod", "to", "cross", "times", "choose", "from", "of", "as", "subset"]
)
_EDGE = re.compile(r"^[\"“'‘]+|(?<![\"”’,;:.?!])[\"”’,;:.?!]++$")
_HYPHENATED = re.compile(r"(?<=-)([A-Za-zÀ-ÿ]{3,})|^([^\W\d_]{3,})(?=-)")
_GREEK_COMPOUND = re.compile(rf"{_GREEK}(?:-{_GREEK})+")
_AFTER_FORMULAS = listing.names(
    "is are was were be has have had does do can may must with without and or for if when where whenever as at by in on to"
    " the that which then so under over given since because but not holds implies"
)
"""Words that can follow a formula: a Greek name before any other word, as in `beta distribution`, belongs to that word."""
_GREEK_WORD = re.compile(r"[α-ωά-ώ]{3,}")
_NOT_FORMULAS = listing.names("and/or w/o i/o n/a c/o a/c I/O N/A 1st 2nd 3rd")


class _Word(NamedTuple):
    """A word of the text with its role, without the punctuation around it."""

    start: int
    end: int
    role: Role
    text: str
    closes: bool
    """True if punctuation that ends a clause follows."""


def latex_of(formula: str) -> str:
    """Return the LaTeX of a formula that was typed as LaTeX or without it."""
    return unicode_to_latex(formula) if "\\" in formula.replace(" \\ ", "") else typed_to_latex(formula)


def is_formula(text: str) -> bool:
    """Return True if the whole text is one formula, without words around it.

    >>> [is_formula(text) for text in ("dim V = dim ker T + dim im T", "prime numbers", "xy", "Cantelli")]
    [True, False, True, False]
    """
    spans = formula_spans(text)
    if spans:
        start, end = spans[0]
        return len(spans) == 1 and not (text[:start] + text[end:]).strip(" .?!,")
    words = re.findall(r"[A-Za-z]+", text)
    return bool(text.strip()) and all(
        len(word) < 3 or word in _PREFIXES or names.is_name(word) or not re.search("[aeiouyAEIOUY]", word)
        for word in words
    )


def is_operator(text: str) -> bool:
    """Return True for a word that names a function or an operator and has nothing beside it.

    >>> [is_operator(text) for text in ("sum", "limit?", "log x", "prime")]
    [True, True, False, False]
    """
    found = list(_words(text))
    return len(found) == 1 and found[0].role == "prefix" and found[0].text.isalpha()


def _is_word(word: _Word) -> bool:
    """Return True for a word of prose, for one between formulas, and for the name of an operator."""
    return (
        word.role == "prose" or word.text in ("and", "or") or (word.role == "prefix" and word.text.isalpha())
    )


def formula_spans(text: str) -> list[tuple[int, int]]:
    """Return where the formulas of a text begin and end; a text of formulas alone is one.

    Names of operators are words unless something other than words stands beside them.

    >>> formula_spans("sum"), formula_spans("sum 1/n^2"), formula_spans("gcd and lcm")
    ([], [(0, 9)], [])
    """
    words = list(_words(text)) if any(map(str.isalnum, text)) else []
    if all(map(_is_word, words)):
        return []
    if _is_all_formula(words):
        start, end = words[0].start, len(text.rstrip())
        return [(start, len(text[:end].rstrip("?.,;:") if not text.rstrip().endswith("...") else text[:end]))]
    spans: list[tuple[int, int]] = []
    place = 0
    while place < len(words):
        if words[place].role == "formula" or _is_relation(words, place) or _is_applied(words, place):
            first, last = _extended(words, place, spans[-1][1] if spans else 0)
            start, end, last = _closed(text, words, first, last)
            if end == words[last].end and (more := _extended_right(words, last)) > last:
                start, end, last = _closed(text, words, first, more)
            spans.append((start, end))
            place = last + 1
        else:
            place += 1
    return spans


def _words(text: str) -> Iterator[_Word]:
    for match in re.finditer(r"\S+", text):
        start, end = match.span()
        word = match.group()
        if (before := _EDGE.match(word)) is not None and before.start() == 0 and before.end() < len(word):
            start += before.end()
        after = _EDGE.search(word)
        if after is not None and after.end() == len(word) and after.start() > 0 and not word.endswith("..."):
            cut = after.start()
            # The sign of a factorial, or of a derivative, belongs to the formula.
            if (
                word[cut] in "!’"
                and cut
                and (word[cut - 1].isdigit() or len(word[:cut]) == 1)
                and match.end() != len(text)
            ):
                cut += 1
            end = match.start() + cut
        start, end = _balanced(text, start, end)
        if start >= end:
            continue
        core = text[start:end]
        if word.endswith(":") and len(core) == 1:
            yield _Word(start, end, _role(core), core, closes=False)
            yield _Word(end, end + 1, "operator", ":", closes=False)
            continue
        yield _Word(start, end, _role(core), core, word[-1:] in ",;:.?" and end < match.end())


def _balanced(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a word without the one bracket of a parenthesis in prose that it has."""
    word = text[start:end]
    if (
        word[:1] == "("
        and word.count("(") > word.count(")")
        and re.fullmatch(r"\([A-Za-z-]{2,}", word)
        and word != "(mod"
    ):
        start += 1
    if word[-1:] == ")" and word.count(")") > word.count("(") and re.fullmatch(r"[A-Za-z-]{2,}\)", word):
        end -= 1
    return start, end


def _role(word: str) -> Role:
    if word in _OPERATORS:
        return "operator"
    if word.lower() in _CONNECTIVES and word != "X":
        return "connective"
    bare = word.strip("()[]{}|,")
    if bare in _PREFIXES:
        return "prefix"
    if (
        word in _NOT_FORMULAS
        or "://" in word
        or "@" in word
        or _is_hyphenated(word)
        or _GREEK_WORD.search(word)
    ):
        return "prose"
    if _FORMULA.search(word) and not re.fullmatch(r"[A-Za-z]{3,}[/=][A-Za-z]{3,}", word):
        return "formula"
    if any(is_mathematical(character) for character in word) or _is_term(word):
        return "formula"
    if _OPERAND.fullmatch(word) or names.is_name(bare):
        return "operand"
    if re.fullmatch(r"[(\[]?-?\d+(?:\.\d+)?[)\]]?", word) or re.fullmatch(
        rf"[-+(]*(?:\d*(?:[a-z]|{_GREEK})|\d+)\)*", word
    ):
        return "operand"
    return "prose"


def _is_hyphenated(word: str) -> bool:
    """Return True for words joined by a hyphen that is not a minus sign: `sigma-algebra` and `alpha-beta`, but not `exp(-lambda`.

    >>> [_is_hyphenated(word) for word in ("sigma-algebra", "alpha-beta", "exp(-lambda", "lambda-1")]
    [True, True, False, False]
    """
    joined = (name for found in _HYPHENATED.finditer(word) for name in found.groups() if name)
    return _GREEK_COMPOUND.fullmatch(word) is not None or not all(
        name in names.GREEK or name in _PREFIXES for name in joined
    )


def _is_term(word: str) -> bool:
    """Return True for an operation on letters, numbers and names, as `dy/dx` and `2*x`."""
    return bool(re.search(r"[\w)\]][/+*=<>·][\w(\[|]", word)) and all(
        len(run) < 3 or run in _PREFIXES or names.is_name(run) for run in re.findall(r"[^\W\d_]+", word)
    )


def _is_all_formula(words: list[_Word]) -> bool:
    """Return True if no word is prose, and the text is more than letters and numbers side by side."""
    if any(word.role == "prose" and word.text not in ("or", "and", "area", "infinity") for word in words):
        return False
    return (
        any(word.role in ("formula", "operator") for word in words)
        or any(word.role == "prefix" for word in words)
        or any(word.text in ("choose",) for word in words[1:-1])
        or (words[0].role == "prefix" and len(words) > 1)
        or (len(words) > 2 and any(word.text in ("in", "x", "mod") for word in words[1:-1]))
        or (len(words) > 1 and any(names.is_name(word.text) for word in words))
    )


def _is_operand(word: _Word) -> bool:
    return word.role in ("formula", "operand")


def _is_relation(words: list[_Word], place: int) -> bool:
    """Return True for an operator between two operands, as in `a + b`; a dash or a comma needs more."""
    word = words[place]
    if not 0 < place < len(words) - 1:
        return False
    before, after = words[place - 1], words[place + 1]
    if word.text == "in":
        return _is_operand(before) and before.text != "a" and _is_set(after.text)
    if word.role != "operator" or word.text in (",", "-", ":", "|", "...", "/"):
        return False
    return _is_operand(before) and (_is_operand(after) or after.role == "prefix")


def _is_applied(words: list[_Word], place: int) -> bool:
    """Return True for a function or a sum with its argument, as in `log n` or `sum 1/n^2`."""
    if words[place].role != "prefix" or place + 1 == len(words):
        return False
    following = words[place + 1]
    if following.role == "formula":
        return "\\" not in following.text
    return (
        words[place].text not in _AMBIGUOUS
        and following.role == "operand"
        and following.text not in ("a", "I")
    )


def _is_set(word: str) -> bool:
    return bool(re.fullmatch(r"[A-Z](?:_?\w)?|[ℕℤℚℝℂ]\S*|[\[({].*", word))


def _extended(words: list[_Word], place: int, after: int) -> tuple[int, int]:
    """Return the first and the last word of the formula around a word that surely belongs to one."""
    first = last = place
    while (
        first > 0
        and words[first - 1].end > after
        and not words[first - 1].closes
        and _joins_left(words, first - 1)
    ):
        first -= 1
    last = _extended_right(words, last)
    while (
        first < last
        and words[first].role in ("connective", "operator")
        and words[first].text not in ("-", "(")
    ):
        first += 1
    return first, last


def _extended_right(words: list[_Word], place: int) -> int:
    """Return the last word of the formula that has the word at `place`."""
    last = place
    while last + 1 < len(words) and not words[last].closes and _joins_right(words, last + 1):
        last += 1
    while last > place and words[last].role in ("operator", "connective") and words[last].text != "...":
        last -= 1
    return last


def _closed(text: str, words: list[_Word], first: int, last: int) -> tuple[int, int, int]:
    """Return the span of a formula with the words that its open brackets need, without a bracket that closes nothing in it."""

    def surplus() -> int:
        written = text[words[first].start : words[last].end]
        return sum(map(written.count, "([")) - sum(map(written.count, ")]"))

    while surplus() > 0 and last + 1 < len(words) and words[last + 1].role != "prose":
        last += 1
    end = words[last].end
    if surplus() < 0 and text[end - 1] in ")]":
        end -= 1
    return words[first].start, end, last


def _joins_left(words: list[_Word], place: int) -> bool:
    word, right = words[place], words[place + 1]
    if word.role == "operator":
        return place > 0 and (_is_operand(words[place - 1]) or word.text == "-")
    if word.role == "formula":
        return True
    if word.role == "prefix":
        is_latex = "\\" in right.text  # a formula in LaTeX has its own operators
        return not is_latex and (word.text not in _AMBIGUOUS or right.role in ("formula", "prefix"))
    if word.role == "connective":
        return word.text != "x" and place > 0 and word.text in ("mod", "times", "choose")
    if word.role == "operand":
        if right.role == "operator" or right.text in ("in", "mod", "times", "x", "choose", "to"):
            return True
        if word.text.lstrip("-(") in names.GREEK or re.fullmatch(r"\d+|[(\[{|].*", word.text):
            return True
        is_factor = re.match(rf"[(|]*{_GREEK}\b", right.text) and place > 0
        return bool(is_factor and words[place - 1].role == "operator" and word.text not in ("a", "I"))
    return False


def _joins_right(words: list[_Word], place: int) -> bool:
    word, left = words[place], words[place - 1]
    following = words[place + 1] if place + 1 < len(words) else None
    if word.role == "operator":
        return (
            following is not None
            and (_is_operand(following) or following.role == "prefix" or following.text == "...")
        ) or word.text == "..."
    if word.role == "formula":
        return True
    if word.role == "prefix":
        return (
            following is not None
            and (_is_operand(following) or following.role == "prefix")
            and word.text not in _AMBIGUOUS
        )
    if word.role == "connective":
        if word.text == "in":
            return following is not None and _is_set(following.text) and left.role == "operand"
        return (
            word.text in ("mod", "(mod", "times", "x", "choose")
            and following is not None
            and _is_operand(following)
        )
    if word.role == "operand":
        if left.role in ("operator", "prefix") or left.text in ("in", "mod", "(mod", "times", "x", "choose"):
            return word.text not in ("a", "I") or left.role == "operator"
        if word.text.rstrip(")]|,") in names.GREEK and _is_operand(left):
            return (
                word.closes
                or following is None
                or following.role != "prose"
                or following.text in _AFTER_FORMULAS
            )
        if left.text.lstrip("-([|") in names.GREEK and len(word.text.rstrip(")]|,'")) == 1:
            return word.text not in ("a", "I")
        if following is not None and following.role == "prefix" and len(word.text) == 1:
            return _is_operand(left) and following.text not in _AMBIGUOUS
        takes_argument = re.search(r"\\[A-Za-z]+\Z", left.text) and word.text not in ("a", "I")
        return bool(takes_argument or _DIFFERENTIAL.fullmatch(word.text) or word.text[:1] in "([{")
    return False
