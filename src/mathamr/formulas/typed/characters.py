"""Unicode characters as LaTeX: symbols, alphabets, superscripts and subscripts, fractions and accents."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from mathamr.formulas.latex.symbols import OF_PACKAGES, SYMBOLS

_PREFERRED = {
    "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "→": r"\to", "∣": r"\mid", "ε": r"\varepsilon", "ϵ": r"\epsilon",
    "φ": r"\varphi", "ϕ": r"\phi", "ϑ": r"\vartheta", "⋅": r"\cdot", "·": r"\cdot", "∙": r"\cdot", "•": r"\cdot",
    "×": r"\times", "÷": r"\div", "−": "-", "–": "-", "—": "-", "∗": "*", "∕": "/", "⁄": "/", "…": r"\ldots", "⋯": r"\cdots",
    "′": "'", "″": "''", "‴": "'''", "’": "'", "∥": r"\|", "‖": r"\|", "⟨": r"\langle", "⟩": r"\rangle", "〈": r"\langle",
    "〉": r"\rangle", "⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil", "⌉": r"\rceil", "∖": r"\setminus", "∅": r"\emptyset",
    "¬": r"\neg", "∧": r"\land", "∨": r"\lor", "⇔": r"\Leftrightarrow", "⇒": r"\Rightarrow", "⟹": r"\Rightarrow",
    "⟺": r"\Leftrightarrow", "⟶": r"\to", "↦": r"\mapsto", "⊂": r"\subset", "⊆": r"\subseteq", "∼": r"\sim", "≅": r"\cong",
    "∆": r"\Delta", "∑": r"\sum", "∏": r"\prod", "∐": r"\coprod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint",
    "∮": r"\oint", "∞": r"\infty", "∂": r"\partial", "∇": r"\nabla", "±": r"\pm", "∓": r"\mp", "ℓ": r"\ell", "ℏ": r"\hbar",
    "ℵ": r"\aleph", "Ω": r"\Omega", "µ": r"\mu", "ı": r"\imath", "℘": r"\wp", "ℑ": r"\Im", "ℜ": r"\Re", "∎": r"\square",
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
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾", "0123456789+-=()", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", "0123456789+-=()", strict=True))


@cache
def symbols() -> dict[str, str]:
    """The LaTeX of single characters that are not ASCII."""
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
    """The LaTeX of a letter of a mathematical alphabet.

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
    """The character of which this is a superscript form."""
    return _RAISED.get(character) or _script(character, "<super>")


def lowered(character: str) -> str | None:
    """The character of which this is a subscript form."""
    return _LOWERED.get(character) or _script(character, "<sub>")


def _script(character: str, form: str) -> str | None:
    if character <= "\x7f" or not unicodedata.decomposition(character).startswith(form):
        return None
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 and plain not in "ao" + "™℠" else None


def fraction(character: str) -> tuple[str, str] | None:
    """The parts of a vulgar fraction such as ½."""
    if character <= "\x7f" or not unicodedata.decomposition(character).startswith("<fraction>"):
        return None
    above, _, below = unicodedata.normalize("NFKC", character).partition("⁄")
    return (above, below) if below else None


def root(character: str) -> str | None:
    """The optional argument of a root sign, `[3]` of ∛; `None` for any other character."""
    return _ROOTS.get(character)


def accent(mark: str) -> str | None:
    """The command of a combining mark."""
    return _ACCENTS.get(mark)


def is_mathematical(character: str) -> bool:
    """True for characters that hardly occur outside formulas."""
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


_RUN = re.compile(r"[^\x00-\x7f]+")


def unicode_to_latex(latex: str) -> str:
    r"""LaTeX in which Unicode characters are written as commands.

    >>> unicode_to_latex("x² ≤ ℤ"), unicode_to_latex("x^2"), unicode_to_latex("√2")
    ('x^{2} \\le  \\mathbb{Z}', 'x^2', '\\sqrt 2')
    """
    return _RUN.sub(lambda match: _latex_of_run(match.group()), latex) if not latex.isascii() else latex


def _latex_of_run(text: str) -> str:
    written: list[str] = []
    place = 0
    while place < len(text):
        character = text[place]
        for script, sign in ((raised, "^"), (lowered, "_")):
            end = place
            while end < len(text) and script(text[end]):
                end += 1
            if end > place:
                inside = "".join(script(each) or "" for each in text[place:end])
                written.append(f"{sign}{{{unicode_to_latex(inside)}}}")
                break
        else:
            end = place + 1
            if (parts := fraction(character)) is not None:
                written.append(f"\\frac{{{parts[0]}}}{{{parts[1]}}}")
            elif (index := root(character)) is not None:
                written.append(f"\\sqrt{index} ")
            else:
                command = letter(character) or symbols().get(character, character)
                written.append(f"{command} " if command[0] == "\\" and command[-1].isalpha() else command)
        place = end
    return "".join(written)
