"""Formulas in the notation of Typst as LaTeX: `sum_(n=1)^oo 1/n^2` is `\\sum_{n=1}^{\\infty}\\frac{1}{n^{2}}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from mathamr.core.listing import names
from mathamr.formulas.latex.symbols import FUNCTIONS
from mathamr.formulas.typed.names import OPERATORS

LONGEST = 20_000
"""Characters of a formula that is read; a longer one is shown as it is written."""
DEEPEST = 50
"""Brackets in each other that are followed."""
FREE = 100_000
PER_CHARACTER = 10
"""The steps that reading the formulas of any document may take, and those that each of its characters adds; also the characters of
LaTeX that its macros may write.
"""


class Effort:
    """What is left of the work that the formulas of one document may cost, those of the macros they use included."""

    __slots__ = ("characters", "steps")

    def __init__(self, size: int) -> None:
        self.steps = self.characters = FREE + PER_CHARACTER * size

    @property
    def is_spent(self) -> bool:
        """True if nothing is left: what is read from now on is cut short."""
        return self.steps <= 0 or self.characters <= 0


class TypstMacro(NamedTuple):
    """`#let name(parameters) = …` whose body is a formula."""

    parameters: tuple[str, ...]
    body: str


Macros = Mapping[str, TypstMacro]

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z))
    |(?P<string>"(?:[^"\\]|\\.)*+"?)
    |(?P<number>\d+(?:\.\d+)?)
    |(?P<name>[A-Za-z\u00c0-\u024f]{2,}(?:\.[A-Za-z]+)*|[A-Za-z](?:\.[A-Za-z]+)+)
    |(?P<letter>[^\W\d_])
    |(?P<escape>\\[^\s\w]|\\u\{[0-9a-fA-F]{1,6}\})
    |(?P<newline>\\)
    |(?P<code>\#[A-Za-z_][\w-]*(?:\.[A-Za-z][\w-]*)*|\#)
    |(?P<sign><==>|<-->|<=>|<->|-->|==>|~~>|\|->|\|=>|->>|>->|<<<|>>>|:=|::=|=:|!=|<=|>=|<<|>>|->|<-|=>|~>|\.\.\.|\|\||\[\||\|\])
    |(?P<open>[(\[{])|(?P<close>[)\]}])
    |(?P<other>.)""",
    re.X | re.S,
)
_SIGNS = {
    "<==>": r"\Longleftrightarrow", "<-->": r"\longleftrightarrow", "<=>": r"\Leftrightarrow", "<->": r"\leftrightarrow",
    "-->": r"\longrightarrow", "==>": r"\Longrightarrow", "~~>": r"\rightsquigarrow", "|->": r"\mapsto", "|=>": r"\Mapsto",
    "->>": r"\twoheadrightarrow", ">->": r"\rightarrowtail", "<<<": r"\lll", ">>>": r"\ggg", ":=": ":=", "::=": "::=",
    "=:": "=:", "!=": r"\ne", "<=": r"\le", ">=": r"\ge", "<<": r"\ll", ">>": r"\gg", "->": r"\to", "<-": r"\leftarrow",
    "=>": r"\Rightarrow", "~>": r"\rightsquigarrow", "...": r"\ldots", "||": r"\|", "[|": r"\llbracket", "|]": r"\rrbracket",
}  # fmt: skip
_OTHER = {"~": r"\sim", "*": "*", "%": r"\%", "$": r"\$", "_": r"\_", "^": r"\hat{}", "'": "'"}
_OPEN = {"(": "(", "[": "[", "{": r"\{"}
_CLOSE = {")": ")", "]": "]", "}": r"\}"}
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_ALPHABETS = {
    "bold": "mathbf", "bb": "mathbb", "cal": "mathcal", "scr": "mathscr", "frak": "mathfrak", "sans": "mathsf",
    "mono": "mathtt", "upright": "mathrm", "italic": "mathit", "serif": "mathrm",
}  # fmt: skip
_WRAPPED = {
    "sqrt": r"\sqrt", "overline": r"\overline", "underline": r"\underline", "hat": r"\hat", "tilde": r"\tilde",
    "macron": r"\bar", "overbracket": r"\overbracket", "underbracket": r"\underbracket", "dot": r"\dot",
    "dot.double": r"\ddot", "diaer": r"\ddot", "dot.triple": r"\dddot", "arrow": r"\vec", "arrow.l": r"\overleftarrow",
    "grave": r"\grave", "acute": r"\acute", "breve": r"\breve", "caron": r"\check", "circle": r"\mathring",
    "cancel": r"\cancel", "accent.hat": r"\hat",
} | {name: f"\\{command}" for name, command in _ALPHABETS.items()}  # fmt: skip
_FENCED = {
    "abs": ("|", "|"), "norm": (r"\|", r"\|"), "floor": (r"\lfloor", r"\rfloor"), "ceil": (r"\lceil", r"\rceil"),
    "round": (r"\lfloor", r"\rceil"), "Set": (r"\{", r"\}"), "set": (r"\{", r"\}"), "iprod": (r"\langle", r"\rangle"),
}  # fmt: skip
_ACCENTS = {"hat": "hat", "tilde": "tilde", "arrow": "vec", "macron": "bar", "dot": "dot", "->": "vec"}
_TRANSPARENT = names("display inline script sscript limits scripts mid stretch equation box move")
_BRACES = re.compile(r"[\\{}$%&#_^~]")


@cache
def symbols() -> dict[str, dict[frozenset[str], str]]:
    """Return the LaTeX of every symbol by its name and its modifiers."""
    found: dict[str, dict[frozenset[str], str]] = {}
    table = Path(__file__).with_name("symbols.tsv").read_text(encoding="utf-8")
    for line in table.splitlines():
        if line.startswith("# "):
            continue
        name, _, latex = line.partition("\t")
        base, *modifiers = name.split(".")
        found.setdefault(base, {}).setdefault(frozenset(modifiers), latex)
    return found


def symbol(name: str) -> str | None:
    """Return the LaTeX of a symbol; its modifiers may come in any order, and some may be left out.

    >>> symbol("arrow.r"), symbol("arrow.long.r"), symbol("RR"), symbol("lt.eq"), symbol("foo")
    ('\\\\to', '\\\\to', '\\\\mathbb{R}', '\\\\le', None)
    """
    base, *modifiers = name.split(".")
    variants, wanted = symbols().get(base), frozenset(modifiers)
    if variants is None:
        return None
    fitting = [known for known in variants if wanted <= known]
    return variants[min(fitting, key=len)] if fitting else None


def typst_to_latex(formula: str, macros: Macros | None = None, effort: Effort | None = None) -> str:
    r"""Return a formula of Typst as LaTeX; what is not understood stays readable as text. All formulas of a document share an `effort`.

    >>> print(typst_to_latex("sum_(n=1)^oo 1/n^2 = pi^2/6"))
    \sum _{n=1}^{\infty } \frac{1}{n^{2}} = \frac{\pi ^{2}}{6}
    >>> print(typst_to_latex("mat(1, 2; 3, 4) vec(x, y) in RR^n"))
    \begin{pmatrix}1 & 2 \\ 3 & 4\end{pmatrix} \begin{pmatrix}x \\ y\end{pmatrix} \in  \mathbb{R}^{n}
    """
    if len(formula) > LONGEST:
        return f"\\text{{{_text(formula)}}}"
    parser = _Parser(formula, macros or {}, effort or Effort(len(formula)), 0)
    latex = parser.row(frozenset())
    is_aligned = parser.has_lines or parser.has_alignment
    return f"\\begin{{aligned}}{latex}\\end{{aligned}}" if is_aligned else latex


_Writer = Callable[[list[str], list[str]], str]
"""Writes a function's LaTeX from its arguments as LaTeX and as they are written."""


class _Token(NamedTuple):
    kind: str
    text: str
    end: int


class _Parser:
    """Reads one formula; the macros it uses share its effort, so that they cannot grow without end.

    `given` are the arguments of the macros that are being expanded, whose own names are `hidden`.
    """

    def __init__(
        self,
        source: str,
        macros: Macros,
        effort: Effort,
        depth: int,
        given: Macros | None = None,
        hidden: frozenset[str] = frozenset(),
    ) -> None:
        self._source, self._macros, self._effort, self._depth = source, macros, effort, depth
        self._given, self._hidden = given or {}, hidden
        self._at = 0
        self._next: _Token | None = None
        self.has_lines = self.has_alignment = False

    # -- tokens

    def _peek(self) -> _Token | None:
        if self._next is None and self._at < len(self._source) and not self._effort.is_spent:
            self._effort.steps -= 1
            match = _TOKEN.match(self._source, self._at)
            assert match is not None
            self._next = _Token(match.lastgroup or "other", match.group(), match.end())
        return self._next

    def _take(self) -> _Token:
        token = self._peek()
        assert token is not None
        self._at, self._next = token.end, None
        return token

    def _skip_space(self) -> bool:
        found = False
        while (token := self._peek()) and token.kind == "space":
            self._take()
            found = True
        return found

    def _follows(self, text: str) -> bool:
        token = self._peek()
        return token is not None and token.text == text and token.kind != "string"

    # -- rows

    def row(self, stops: frozenset[str]) -> str:
        """Return LaTeX up to one of the stops, which stays unread, or to the end."""
        written: list[str] = []
        while True:
            spaced = self._skip_space()
            token = self._peek()
            if token is None or (token.text in stops and token.kind != "string"):
                return "".join(written).strip()
            if spaced and written:
                written.append(" ")
            written.append(self._fraction())

    def _fraction(self) -> str:
        """Return a term, or fractions of terms: `a/b/c` is read from the left."""
        latex, bare = self._scripted()
        while True:
            here, ahead = self._at, self._next
            self._skip_space()
            if not self._follows("/") or not latex:
                self._at, self._next = here, ahead
                return latex
            self._take()
            self._skip_space()
            below_latex, below_bare = self._scripted() if self._peek() else ("", "")
            latex = bare = f"\\frac{{{bare or latex}}}{{{below_bare or below_latex}}}"

    def _scripted(self) -> tuple[str, str]:
        """Return a term with its scripts; if it is a group in parentheses, also what is in it."""
        latex, inside = self._primary()
        while True:
            here, ahead = self._at, self._next
            spaced = self._skip_space()
            token = self._peek()
            if token is not None and token.kind == "other" and token.text in "^_" and latex:
                self._take()
                self._skip_space()
                script, bare = self._script(token.text)
                latex, inside = f"{latex}{token.text}{{{bare or script}}}", ""
            elif token is not None and token.text in ("'", "!") and token.kind == "other" and not spaced:
                self._take()
                latex, inside = latex + token.text, ""
            else:
                self._at, self._next = here, ahead
                return latex, inside

    def _script(self, sign: str) -> tuple[str, str]:
        """Return what is in a script; `x^y^z` is read from the right."""
        token = self._peek()
        if token is None:
            return "", ""
        latex, bare = self._primary()
        while self._follows("'"):
            latex += self._take().text
        if self._depth < DEEPEST and self._follows(sign):
            self._take()
            self._depth += 1
            further, inside = self._script(sign)
            self._depth -= 1
            return f"{latex}{sign}{{{inside or further}}}", ""
        return latex, bare

    def _primary(self) -> tuple[str, str]:
        """Return one piece of a formula, and what is inside if it is a group in parentheses."""
        token = self._take()
        kind, text = token.kind, token.text
        if kind == "open":
            return self._group(text)
        if kind in ("name", "letter"):
            return self._named(text), ""
        if kind == "number":
            return text, ""
        if kind == "string":
            return f"\\text{{{_text(text.strip(chr(34)))}}}", ""
        if kind == "escape":
            return _escape(text), ""
        if kind == "newline":
            self.has_lines = self.has_lines or self._depth == 0
            return " \\\\ ", ""
        if kind == "code":
            return self._code(text), ""
        if kind == "sign":
            return _command(_SIGNS[text]), ""
        if kind == "close":
            return _CLOSE[text], ""
        if text == "&":
            self.has_alignment = True
            return " & ", ""
        return _command(_OTHER.get(text, text)), ""

    def _group(self, opening: str) -> tuple[str, str]:
        closing = _PAIRS[opening]
        if self._depth >= DEEPEST:
            return _OPEN[opening], ""
        self._depth += 1
        inside = self.row(frozenset(")]}"))
        self._depth -= 1
        if (token := self._peek()) is None:
            return f"{_OPEN[opening]}{inside}", ""
        self._take()
        tall = "\\frac" in inside or "\\begin" in inside or "\\sum" in inside or "\\int" in inside
        left, right = ("\\left", "\\right") if tall else ("", "")
        latex = f"{left}{_OPEN[opening]}{inside}{right}{_CLOSE[token.text]}"
        return latex, inside if opening == "(" and token.text == closing else ""

    # -- names

    def _named(self, name: str) -> str:
        if macro := self._defined(name):
            return self._macro(name, macro)
        called = self._follows("(")
        if called and (latex := self._function(name)) is not None:
            return latex
        latex = self._plain_name(name)
        if called and (len(name) == 1 or name in FUNCTIONS or name not in symbols()):
            self._take()
            latex += self._group("(")[0]
        return latex

    def _plain_name(self, name: str) -> str:
        if len(name) == 1:
            return name
        if name in FUNCTIONS:
            return _command(f"\\{name}")
        if (found := symbol(name)) is not None:
            return _command(found)
        if name in OPERATORS or name == "mod":
            return f"\\operatorname{{{name}}}"
        base, *fields = name.split(".")
        if fields and (found := symbol(base)) is not None:
            return _command(found)
        return f"\\mathrm{{{_text(name)}}}"

    def _defined(self, name: str) -> TypstMacro | None:
        return self._given.get(name) or (None if name in self._hidden else self._macros.get(name))

    def _macro(self, name: str, macro: TypstMacro) -> str:
        values = self._arguments()[0] if macro.parameters and self._follows("(") else []
        if self._depth >= DEEPEST or self._effort.is_spent:
            return f"\\mathrm{{{_text(name)}}}"
        given = {known: value for known, value in self._given.items() if known != name}
        given |= {
            parameter: TypstMacro((), value)
            for parameter, value in zip(macro.parameters, values, strict=False)
        }
        self._effort.steps -= len(given)
        hidden = self._hidden | {name}
        latex = _Parser(macro.body, self._macros, self._effort, self._depth + 1, given, hidden).row(
            frozenset()
        )
        self._effort.characters -= len(latex)
        return f"{{{latex}}}" if macro.body else ""

    def _code(self, text: str) -> str:
        """Return `#name` in a formula: a macro, or code, of which only the text in its last brackets is kept."""
        name = text[1:].removeprefix("math.").removeprefix("sym.")
        if self._defined(name) or (name and (symbol(name) or self._follows("("))):
            return self._named(name)
        return ""

    def _arguments(self) -> tuple[list[str], dict[str, str], list[int]]:
        """Return the arguments of a call as they are written: in their order, by name, and where rows end."""
        self._take()
        start, depth = self._at, 0
        values: list[str] = []
        named: dict[str, str] = {}
        rows: list[int] = []
        position = start
        for match in _TOKEN.finditer(self._source, start):
            self._effort.steps -= 1
            position = match.end()
            sign = match.group() if match.lastgroup in ("open", "close", "other") else ""
            if not sign:
                continue
            if match.lastgroup == "open":
                depth += 1
            elif match.lastgroup == "close":
                depth -= 1
                if depth < 0:
                    break
            elif depth == 0 and sign in ",;":
                _add(self._source[start : match.start()], values, named)
                start = match.end()
                if sign == ";":
                    rows.append(len(values))
        end = position - 1 if depth < 0 else position
        _add(self._source[start:end], values, named)
        self._at, self._next = position, None
        return values, named, rows

    def _read(self, argument: str) -> str:
        """Return the LaTeX of an argument."""
        if self._depth >= DEEPEST or self._effort.is_spent:
            return f"\\text{{{_text(argument)}}}"
        inner = _Parser(
            argument.strip(), self._macros, self._effort, self._depth + 1, self._given, self._hidden
        )
        return inner.row(frozenset())

    def _function(self, name: str) -> str | None:
        """Return the LaTeX of a call of one of Typst's functions; `None` if the name is not a function."""
        known = name in _WRAPPED or name in _FENCED or name in _FUNCTIONS or name in _TRANSPARENT
        if not known:
            return None
        values, named, rows = self._arguments()
        if name in ("mat", "vec", "cases"):
            return self._table(name, values, named, rows)
        read = [self._read(value) for value in values] or [""]
        if name in _WRAPPED:
            return f"{_WRAPPED[name]}{{{', '.join(read)}}}"
        if name in _FENCED:
            left, right = _FENCED[name]
            return f"\\left{left} {', '.join(read)}\\right{right} "
        if name in _TRANSPARENT:
            return f"{{{', '.join(read)}}}"
        return _FUNCTIONS[name](read, values)

    def _table(self, name: str, values: list[str], named: dict[str, str], rows: list[int]) -> str:
        if name == "mat":
            bounds = [0, *rows, len(values)]
            lines = [" & ".join(map(self._read, values[begin:end])) for begin, end in pairwise(bounds)]
            lines = lines[:-1] if len(lines) > 1 and not lines[-1].strip() else lines
        else:
            lines = [self._read(value) for value in values]
        inside = " \\\\ ".join(lines)
        if name == "cases":
            return f"\\begin{{cases}}{inside}\\end{{cases}}"
        delimiter = named.get("delim", '"("').strip().strip('"')
        kind = {"[": "b", "{": "B", "|": "v", "||": "V", "#none": "", "none": ""}.get(delimiter, "p")
        return f"\\begin{{{kind}matrix}}{inside}\\end{{{kind}matrix}}"


def _add(argument: str, values: list[str], named: dict[str, str]) -> None:
    """Add an argument of a call to those by name or to those in order."""
    if found := _NAMED.match(argument):
        named[found[1]] = found[2]
    elif argument.strip() or values:
        values.append(argument)


_NAMED = re.compile(
    r"""\s*(delim|align|gap|augment|size|row-gap|column-gap|style|angle|inverted|cross|reverse|t|b|tl|tr|bl|br  # options
    |limits|dir|depth|fill|stroke|length)\s*:(.*)\Z""",
    re.S | re.X,
)


def _fraction(read: list[str], _values: list[str]) -> str:
    return f"\\frac{{{read[0]}}}{{{', '.join(read[1:])}}}"


def _root(read: list[str], _values: list[str]) -> str:
    return f"\\sqrt[{read[0]}]{{{', '.join(read[1:])}}}" if len(read) > 1 else f"\\sqrt{{{read[0]}}}"


def _binomial(read: list[str], _values: list[str]) -> str:
    return f"\\binom{{{read[0]}}}{{{', '.join(read[1:])}}}"


def _brace(command: str, sign: str) -> _Writer:
    def write(read: list[str], _values: list[str]) -> str:
        label = f"{sign}{{{', '.join(read[1:])}}}" if len(read) > 1 else ""
        return f"\\{command}{{{read[0]}}}{label}"

    return write


def _accent(read: list[str], values: list[str]) -> str:
    name = values[1].strip() if len(values) > 1 else ""
    return f"\\{_ACCENTS.get(name, 'hat')}{{{read[0]}}}"


def _operator(_read: list[str], values: list[str]) -> str:
    return f"\\operatorname{{{_text(values[0].strip().strip(chr(34))) if values else ''}}}"


def _words(_read: list[str], values: list[str]) -> str:
    return f"\\text{{{_text(values[0].strip().strip(chr(34))) if values else ''}}}"


def _lr(read: list[str], _values: list[str]) -> str:
    return ", ".join(read)


def _class(read: list[str], _values: list[str]) -> str:
    return f"{{{read[-1]}}}"


def _derivative(sign: str) -> _Writer:
    """Return a function that writes a derivative, `dv(f, x, 2)` of the package physica."""

    def write(read: list[str], _values: list[str]) -> str:
        above, below = (read[0], read[1]) if len(read) > 1 else ("", read[0])
        power = f"^{{{read[2]}}}" if len(read) > 2 else ""
        return f"\\frac{{{sign}{power} {above}}}{{{sign} {below}{power}}}"

    return write


_FUNCTIONS: dict[str, _Writer] = {
    "frac": _fraction, "root": _root, "binom": _binomial, "overbrace": _brace("overbrace", "^"),
    "underbrace": _brace("underbrace", "_"), "overparen": _brace("overparen", "^"),
    "underparen": _brace("underparen", "_"), "accent": _accent, "op": _operator, "text": _words, "lr": _lr,
    "class": _class, "attach": _class, "mat": _lr, "vec": _lr, "cases": _lr, "dv": _derivative(r"\mathrm{d}"),
    "pdv": _derivative(r"\partial"),
}  # fmt: skip


def _command(latex: str) -> str:
    """Return LaTeX with a blank behind a command, so that a letter may follow."""
    return f"{latex} " if latex[:1] == "\\" and latex[-1:].isalpha() else latex


def _escape(text: str) -> str:
    if text.startswith("\\u{"):
        code = int(text[3:-1], 16)
        return chr(code) if 0x20 <= code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
    return text if text[1] in "{}$%&#_" else text[1]


def _text(words: str) -> str:
    """Return words for `\\text{…}`."""
    return _BRACES.sub(
        lambda match: {"\\": ""}.get(match.group(), f"\\{match.group()}"),
        words.replace("^", "").replace("~", " "),
    )
