"""The table of symbols: for every command and character its role, its text and its meaning."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Symbol(NamedTuple):
    """One row of the table."""

    role: str
    text: str
    meaning: str
    name: str
    limits: bool


_PACKAGES = "# mathtools and other packages."
"""The line of the table after which symbols belong to other packages than LaTeX and amssymb."""


def _load() -> tuple[dict[str, Symbol], frozenset[str]]:
    """Read all symbols, and the names of those that packages or authors define."""
    symbols: dict[str, Symbol] = {}
    core: frozenset[str] | None = None
    role, limits = "", False
    for line in Path(__file__).with_name("symbols.tsv").read_text(encoding="utf-8").splitlines():
        if line == _PACKAGES:
            core = frozenset(symbols)
        if not line or line.startswith("# "):
            continue
        if line[0] == "[" and line[-1] == "]" and len(line) > 1:
            role, _, rest = line[1:-1].partition(" ")
            limits = rest == "limits"
            continue
        command, text, *more = line.split("\t")
        if role == "ALIAS":
            symbols[command] = symbols[text]
            continue
        name = NAMES.get(command) or (command[1:] if command[0] == "\\" and command[1:].isalpha() else "")
        symbols[command] = Symbol(role, text, more[0] if more else "", name, limits)
    return symbols, frozenset(symbols) - (core or frozenset())


OPERATOR_ROLES = frozenset(
    ["FUNCTION", "OPFUNCTION", "TRIGFUNCTION", "LIMITOP", "SUMOP", "INTOP", "BIGOP", "DIFFOP", "OPERATOR"]
)
"""The roles of symbols that are named by words: functions, sums, integrals, limits."""

NAMES = {":": "colon", "\\|": "||", "\\{": "{", "\\}": "}"}
"""Names of symbols that differ from the name of their command."""

SYMBOLS, OF_PACKAGES = _load()
DIGITS = {digit: Symbol("NUMBER", digit, digit, "", False) for digit in "0123456789"}
SYMBOLS |= DIGITS

FUNCTIONS = frozenset(
    name[1:]
    for name, symbol in SYMBOLS.items()
    if symbol.role in ("OPFUNCTION", "TRIGFUNCTION", "LIMITOP")
    and symbol.text.isascii()
    and name not in OF_PACKAGES
)
"""Names of functions and limits that LaTeX itself has commands for: `sin`, `det`, `limsup`."""
GREEK = {
    name[1:]: symbol.text
    for name, symbol in SYMBOLS.items()
    if name not in OF_PACKAGES and name[1:].isalpha() and "\u0391" <= symbol.text <= "\u03f5"
}
"""Greek letters by the names of their commands."""
UPRIGHT_GREEK = {
    f"\\Up{name.lower()}" if name[0].isupper() else f"\\up{name}": letter
    for name, letter in GREEK.items()
    if name[0].isupper() or name.islower()
}
"""Letters that stay upright, `\\upalpha`, `\\Upgamma`."""

DELIMITERS = {
    "(": ("(", "OPEN", ""), ")": (")", "OPEN", ""), "[": ("[", "OPEN", ""), "]": ("]", "OPEN", ""),
    "\\{": ("{", "OPEN", ""), "\\}": ("}", "OPEN", ""), "\\lbrace": ("{", "OPEN", ""), "\\rbrace": ("}", "OPEN", ""),
    "\\lbrack": ("[", "OPEN", ""), "\\rbrack": ("]", "OPEN", ""),
    "\\lfloor": ("⌊", "OPEN", "lfloor"), "\\rfloor": ("⌋", "OPEN", "rfloor"),
    "\\lceil": ("⌈", "OPEN", "lceil"), "\\rceil": ("⌉", "OPEN", "rceil"),
    "\\llbracket": ("⟦", "OPEN", "llbracket"), "\\rrbracket": ("⟧", "OPEN", "rrbracket"),
    "⟦": ("⟦", "OPEN", "llbracket"), "⟧": ("⟧", "OPEN", "rrbracket"),
    "\\lBrace": ("⦃", "OPEN", "lBrace"), "\\rBrace": ("⦄", "OPEN", "rBrace"),
    "\\langle": ("⟨", "OPEN", "langle"), "\\rangle": ("⟩", "OPEN", "rangle"),
    "<": ("⟨", "OPEN", "langle"), ">": ("⟩", "OPEN", "rangle"),
    "⟨": ("⟨", "OPEN", "langle"), "⟩": ("⟩", "OPEN", "rangle"),
    "/": ("/", "MULOP", ""), "\\backslash": ("\\", "MULOP", "backslash"), "\\slash": ("/", "MULOP", ""),
    "|": ("|", "VERTBAR", ""), "\\vert": ("|", "VERTBAR", ""), "∣": ("|", "VERTBAR", ""),
    "\\|": ("∥", "VERTBAR", ""), "\\Vert": ("∥", "VERTBAR", ""), "‖": ("∥", "VERTBAR", ""),
    "\\uparrow": ("↑", "OPEN", "uparrow"), "\\Uparrow": ("⇑", "OPEN", "Uparrow"),
    "\\downarrow": ("↓", "OPEN", "downarrow"), "\\Downarrow": ("⇓", "OPEN", "Downarrow"),
    "\\updownarrow": ("↕", "OPEN", "updownarrow"), "\\Updownarrow": ("⇕", "OPEN", "Updownarrow"),
}  # fmt: skip
"""Delimiters that `\\left` and `\\right` take: text, role (an opening one closes after `\\right`), name."""

ACCENTS = {
    "\\hat": "^", "\\widehat": "^", "\\check": "ˇ", "\\widecheck": "ˇ", "\\breve": "˘", "\\acute": "´", "\\grave": "`",
    "\\tilde": "~", "\\widetilde": "~", "\\bar": "¯", "\\overline": "¯", "\\vec": "→", "\\dot": "˙", "\\ddot": "¨",
    "\\dddot": "˙˙˙", "\\ddddot": "˙˙˙˙", "\\mathring": "\u030a", "\\overrightarrow": "→", "\\overleftarrow": "←",
    "\\overleftrightarrow": "↔", "\\overparen": "⏜", "\\overbracket": "⎴", "\\wideparen": "⏜", "\\overarc": "⏜",
    "\\Hat": "^", "\\Check": "ˇ", "\\Tilde": "~", "\\Acute": "´", "\\Grave": "`", "\\Dot": "˙", "\\Ddot": "¨",
    "\\Breve": "˘", "\\Bar": "¯", "\\Vec": "→", "\\overbrace": "⏞", "\\overleftharpoon": "↼", "\\overrightharpoon": "⇀",
    "\\Overrightarrow": "⇒", "\\overgroup": "⏠",
}  # fmt: skip
UNDER_ACCENTS = {
    "\\underline": "¯", "\\underbar": "¯", "\\underbrace": "⏟", "\\underrightarrow": "→", "\\underleftarrow": "←",
    "\\underleftrightarrow": "↔", "\\underparen": "⏝", "\\underbracket": "⎵", "\\utilde": "~",
    "\\undergroup": "⏡",
}  # fmt: skip

LONG_ARROWS = {
    "\\xrightarrow": "→", "\\xleftarrow": "←", "\\xleftrightarrow": "↔", "\\xRightarrow": "⇒", "\\xLeftarrow": "⇐",
    "\\xLeftrightarrow": "⇔", "\\xhookrightarrow": "↪", "\\xhookleftarrow": "↩", "\\xmapsto": "↦", "\\xlongequal": "=",
    "\\xrightharpoonup": "⇀", "\\xrightharpoondown": "⇁", "\\xleftharpoonup": "↼", "\\xleftharpoondown": "↽",
    "\\xrightleftharpoons": "⇌", "\\xleftrightharpoons": "⇋", "\\xtwoheadrightarrow": "↠", "\\xtofrom": "⇄",
    "\\xtwoheadleftarrow": "↞", "\\xrightleftarrows": "⇄", "\\xrightequilibrium": "⇌", "\\xleftequilibrium": "⇋",
}  # fmt: skip
"""Arrows as long as the labels above and below them."""

SPACES = {
    "\\,": 1.7, "\\thinspace": 1.7, "\\:": 2.2, "\\>": 2.2, "\\medspace": 2.2, "\\;": 2.8, "\\thickspace": 2.8,
    "\\!": -1.7, "\\negthinspace": -1.7, "\\negmedspace": -2.2, "\\negthickspace": -2.8, "\\ ": 5.0, "\\space": 5.0,
    "~": 3.3, "\\nobreakspace": 3.3, "\\enspace": 5.0, "\\enskip": 5.0, "\\quad": 10.0, "\\qquad": 20.0,
    "\\\t": 5.0, "\\\n": 5.0, "\\hfill": 0.0, "\\hfil": 0.0, "\\mathstrut": 0.0, "\\strut": 0.0, "\\hss": 0.0,
    "\\vfill": 0.0, "\\bigstrut": 0.0, "\\smallskip": 0.0, "\\medskip": 0.0, "\\bigskip": 0.0,
}  # fmt: skip
"""Width of the spaces in points; from ten points on a space separates like a comma."""

SPACES_IN_NUMBERS = {
    "\\,": "\u2009", "\\thinspace": "\u2009", "\\:": "\u2005", "\\>": "\u2005", "\\medspace": "\u2005",
    "\\;": "\u2004", "\\thickspace": "\u2004", "\\ ": " ", "\\space": " ",
}  # fmt: skip
"""Spaces that do not end a number (`10\\,000`)."""

NEGATIONS = dict(
    zip("=<>∈≤≥≺≻⪯⪰⊂⊃⊆⊇⊑⊐≡≍≈⊲⊳⊴⊵∃", "≠≮≯∉≰≱⊀⊁⋠⋡⊄⊅⊈⊉⋢⋣≢≭≉⋪⋫⋬⋭∄", strict=True)
)  # fmt: skip
"""The negation of a sign by `\\not`; any other sign gets a stroke through it."""
