"""Unicode characters as LaTeX: symbols, alphabets, superscripts and subscripts, fractions and accents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from mathamr.formulas.latex.symbols import NEGATIONS, OF_PACKAGES, SYMBOLS

_PREFERRED = {
    "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "→": r"\to", "∣": r"\mid", "ε": r"\varepsilon", "ϵ": r"\epsilon",
    "φ": r"\varphi", "ϕ": r"\phi", "ϑ": r"\vartheta", "⋅": r"\cdot", "·": r"\cdot", "∙": r"\cdot", "•": r"\cdot",
    "×": r"\times", "÷": r"\div", "−": "-", "–": "-", "—": "-", "∗": "*", "∕": "/", "⁄": "/", "…": r"\ldots", "⋯": r"\cdots",
    "′": "'", "″": "''", "‴": "'''", "’": "'", "∥": r"\|", "‖": r"\|", "⟨": r"\langle", "⟩": r"\rangle", "〈": r"\langle",
    "〉": r"\rangle", "⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil", "⌉": r"\rceil", "∖": r"\setminus", "∅": r"\emptyset",
    "¬": r"\neg", "∧": r"\land", "∨": r"\lor", "⇔": r"\Leftrightarrow", "⇒": r"\Rightarrow", "⟹": r"\Rightarrow",
    "⟺": r"\Leftrightarrow", "⟶": r"\to", "↦": r"\mapsto", "⊂": r"\subset", "⊆": r"\subseteq", "∼": r"\sim", "≅": r"\cong",
    "∆": r"\Delta", "∑": r"\sum", "∏": r"\prod", "∐": r"\coprod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint",
    "∮": r"\oint", "∞": r"\infty", "∂": r"\partial", "∇": r"\nabla", "±": r"\pm", "∓": r"\mp", "ℓ": r"\ell", "ℏ": r"\hbar", "ħ": r"\hbar",
    "ℵ": r"\aleph", "Ω": r"\Omega", "µ": r"\mu", "ı": r"\imath", "℘": r"\wp", "ℑ": r"\Im", "ℜ": r"\Re", "∎": r"\square",
    "°": r"^{\circ}", "א": r"\aleph", "≔": ":=", "≕": "=:", "⩽": r"\leqslant", "⩾": r"\geqslant", "‐": "-", "‑": "-",
    "⋂": r"\bigcap", "⋃": r"\bigcup", "⨁": r"\bigoplus", "⨂": r"\bigotimes", "⋀": r"\bigwedge", "⋁": r"\bigvee",
}  # fmt: skip
_ROOTS = {"√": "", "∛": "[3]", "∜": "[4]"}
_ALPHABETS = (
    ("DOUBLE-STRUCK", "mathbb"), ("FRAKTUR", "mathfrak"), ("BLACK-LETTER", "mathfrak"), ("SCRIPT", "mathcal"),
    ("SANS-SERIF", "mathsf"), ("MONOSPACE", "mathtt"), ("BOLD", "mathbf"),
)  # fmt: skip
_ACCENTS = {
    "\u0304": "bar", "\u0305": "overline", "\u0302": "hat", "\u0303": "tilde", "\u0307": "dot", "\u0308": "ddot",
    "\u20d7": "vec", "\u030c": "check", "\u0306": "breve", "\u030a": "mathring",
}  # fmt: skip
RAISED_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
LOWERED_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


@cache
def symbols() -> dict[str, str]:
    """Return the LaTeX of single characters that are not ASCII."""
    found: dict[str, str] = {}
    for command, symbol in SYMBOLS.items():
        if (
            command[0] == "\\"
            and command[1:].isalpha()
            and len(symbol.text) == 1
            and symbol.text > "\x7f"
            and command not in OF_PACKAGES
        ):
            found.setdefault(symbol.text, command)
    return found | _PREFERRED


def letter(character: str) -> str | None:
    """Return the LaTeX of a letter of a mathematical alphabet.

    >>> letter("ℤ"), letter("𝔤"), letter("𝑥"), letter("é")
    ('\\\\mathbb{Z}', '\\\\mathfrak{g}', 'x', None)
    """
    plain = unicodedata.normalize("NFKC", character)
    if plain == character or len(plain) != 1 or not plain.isalnum():
        return None
    name = unicodedata.name(character, "")
    base = plain if plain.isascii() else symbols().get(plain, plain)
    for word, command in _ALPHABETS:
        if word in name:
            return f"\\{command}{{{base}}}"
    return base if "MATHEMATICAL" in name else None


def raised(character: str) -> str | None:
    """Return the character of which this is a superscript form."""
    return _script(character, "<super>")


def lowered(character: str) -> str | None:
    """Return the character of which this is a subscript form."""
    return _script(character, "<sub>")


def _script(character: str, form: str) -> str | None:
    if character <= "\x7f" or not unicodedata.decomposition(character).startswith(form):
        return None
    plain = unicodedata.normalize("NFKC", character).replace("−", "-")
    return plain if len(plain) == 1 and character not in "ªº" else None


def fraction(character: str) -> tuple[str, str] | None:
    """Return the parts of a vulgar fraction such as ½."""
    if character <= "\x7f" or not unicodedata.decomposition(character).startswith("<fraction>"):
        return None
    above, _, below = unicodedata.normalize("NFKC", character).partition("⁄")
    return (above, below) if below else None


def root(character: str) -> str | None:
    """Return the optional argument of a root sign, `[3]` of ∛; `None` for any other character."""
    return _ROOTS.get(character)


def accent(mark: str) -> str | None:
    """Return the command of a combining mark."""
    return _ACCENTS.get(mark)


def is_mathematical(character: str) -> bool:
    """Return True for characters that hardly occur outside formulas."""
    if character <= "\x7f" or character in "’–—…·•µ°′″®©":
        return False
    return bool(
        unicodedata.category(character) == "Sm"
        or character in symbols()
        or letter(character)
        or raised(character)
        or lowered(character)
        or fraction(character)
        or character in _ROOTS
        or character == "\u20d7"
    )


_PIECE = re.compile(
    r"""
    \\(?:text\w*|[mhf]box|intertext|operatorname|label|tag|unicode|color|textcolor|href|url|verb)(?![A-Za-z])
        \*?\s*(?P<words>\{)?                                  # a command whose argument is words
    | (?P<argument>\\[A-Za-z]+|[\^_])                         # what the next piece may be the argument of
    | \\.
    | (?P<other>[^\x00-\x7f][\u0300-\u036f\u20d0-\u20ff]*     # a character, perhaps with accents
        | [A-Za-z0-9][\u0300-\u036f\u20d0-\u20ff]+)
    | (?P<space>\s+)
    | [\x00-\x08\x0e-\x1b!-/:-@\[\]`{-\x7f]+                  # other signs of ASCII
    | .
    """,
    re.S | re.X,
)
_OVER = frozenset(["\u0304", "\u0302", "\u0303", "\u0307", "\u20d7"])
"""Marks that are accents of mathematics even where Unicode has one character for letter and mark, as in ẋ."""
_NEGATED = {negation: sign for sign, negation in NEGATIONS.items()}
_BRACE = re.compile(r"\\.|[{}]", re.S)
_ROOTED = re.compile(r"\s*(?:\d+(?:\.\d+)?|\((?P<inside>[^()]*(?:\([^()]*\)[^()]*)*)\)|(?=\{))")


def unicode_to_latex(latex: str) -> str:
    r"""Return LaTeX in which the Unicode characters of its formulas are written as commands; words in it stay as they are.

    >>> unicode_to_latex("x² ≤ ℤ"), unicode_to_latex("x^2"), unicode_to_latex("√12")
    ('x^{2} \\le  \\mathbb{Z}', 'x^2', '\\sqrt{12}')
    >>> unicode_to_latex(r"x₁ \text{ für } ℝ^ℕ")
    'x_{1} \\text{ für } \\mathbb{R}^{\\mathbb{N}}'
    """
    return latex if latex.isascii() else "".join([text for text, _, _ in rewritten_pieces(latex)])


def rewritten_pieces(latex: str) -> Iterator[tuple[str, int, int]]:
    """Yield the pieces of LaTeX as commands, each with its start and end in the source."""
    place, end, argument = 0, len(latex), ""
    while place < end:
        match = _PIECE.match(latex, place)
        assert match is not None
        start, found, place = match.start(), match.group(), match.end()
        if match["words"]:
            closing = _closing(latex, place)
            yield found, start, place
            yield _with_formulas(latex[place:closing]), place, closing
            place, argument = closing, ""
        elif (character := match["other"]) is not None:
            if (script := _script_run(latex, start)) is not None:
                text, place = script
                text = text[1:] if argument in ("^", "_") else text
            elif (index := root(character)) is not None:
                text, place = _root(latex, place)
                text = f"\\sqrt{index}{text}" if not argument else f"{{\\sqrt{index}{text}}}"
            else:
                text = _character(character)
                wrapped = argument and len(text) > 2 and not text[1:].isalpha()
                text = "\\prime " if text == "'" and argument in ("^", "_") else text
                blank = " " if text[0] == "\\" and text[-1].isalpha() else ""
                text = (f"{{{text}}}" if wrapped else text) + blank
            yield text, start, place
            argument = ""
        else:
            yield found, start, place
            if not match["space"]:
                argument = match["argument"] or ""


def _script_run(text: str, start: int) -> tuple[str, int] | None:
    """Return the superscript or subscript that begins here, with the place behind it."""
    for script, sign in ((raised, "^"), (lowered, "_")):
        end = start
        while end < len(text) and script(text[end]):
            end += 1
        if end > start:
            inside = "".join(script(each) or "" for each in text[start:end])
            return f"{sign}{{{unicode_to_latex(inside)}}}", end
    return None


def _root(text: str, place: int) -> tuple[str, int]:
    """Return the radicand behind a root sign, as an argument: a number, what parentheses hold, or the next piece."""
    match = _ROOTED.match(text, place)
    if match is None:
        return " ", place
    inside = match["inside"] if match["inside"] is not None else match.group().strip()
    return (f"{{{unicode_to_latex(inside)}}}" if inside else ""), match.end()


def _character(character: str) -> str:
    """Return one character, perhaps with combining marks, as LaTeX."""
    base, *marks = list(unicodedata.normalize("NFC", character) if len(character) == 1 else character)
    if (
        not marks
        and base > "\xff"
        and len(apart := unicodedata.normalize("NFD", base)) == 2
        and apart[1] in _OVER
    ):
        base, marks = apart[0], [apart[1]]
    if (parts := fraction(base)) is not None:
        text = f"\\frac{{{parts[0]}}}{{{parts[1]}}}"
    else:
        text = _PREFERRED.get(base) or letter(base) or symbols().get(base) or _plain(base)
    for mark in marks:
        text = f"\\{_ACCENTS[mark]}{{{text}}}" if mark in _ACCENTS else text + mark
    return text


def _plain(character: str) -> str:
    """Return the ASCII form of a character that is only wider (`（`), the negation of a sign (`≰`), or the character itself."""
    plain = unicodedata.normalize("NFKC", character)
    if character > "\xff" and len(plain) == 1 and plain.isascii() and plain not in "\\{}$%&#^_~":
        return plain
    return (
        f"\\not{symbols().get(_NEGATED[character], _NEGATED[character])} "
        if character in _NEGATED
        else character
    )


def _closing(text: str, place: int) -> int:
    """Return the place of the brace that closes an argument which begins here."""
    depth = 1
    for match in _BRACE.finditer(text, place):
        depth += (match.group() == "{") - (match.group() == "}")
        if depth == 0:
            return match.start()
    return len(text)


def _with_formulas(words: str) -> str:
    """Return words in which only the formulas between dollars are rewritten."""
    parts = words.split("$")
    return "$".join(unicode_to_latex(part) if place % 2 else part for place, part in enumerate(parts))
