r"""Lean's notation as LaTeX: `∑ i ∈ s, f i` is `\sum_{i \in s} f(i)`.

A small parser with Lean's precedences reads a term as it is written, without knowing any types; what it cannot read gives
no formula. Types that are ascribed and coercions are left out.
"""

from __future__ import annotations

import re

from mathamr.formulas.latex.unicode import RAISED_DIGITS
from mathamr.posts.formats.lean.symbols import (
    BIG,
    CLOSING,
    COERCIONS,
    FENCES,
    FUNCTIONS,
    GREEK,
    INDEXED,
    INFIX,
    INTERVALS,
    MODIFIERS,
    POSTFIX,
    QUANTIFIERS,
    REFUSED,
    RELATIONS,
    SUBSCRIPTS,
    SYMBOLS,
    UNSEEN,
)

LONGEST_TERM = 600
DEEPEST = 40
"""How many brackets and operators may stand inside each other."""

_TOKEN = re.compile(
    r"""ℝ≥0∞|ℝ≥0
    |[^\W\d][\w'!?]*(?:\.[^\W\d][\w'!?]*)*|\.(?:\d+|[^\W\d][\w'!?]*)  # a name; a projection
    |\d+(?:\.\d+)?
    |⁻¹'|⁻¹|\'\'|<\||\|>|=>|↦|:=|\.\.|\[X\]|∑'|∏'|∃!|\S  # signs, longest first""",
    re.X,
)


class _UnreadableError(Exception):
    """The term is not one that this parser reads."""


def latex_of(term: str) -> str:
    r"""Return the LaTeX of a term, or an empty string.

    >>> latex_of("∑ i ∈ s, f i"), latex_of("a / b ≤ |x| ^ 2")
    ('\\sum_{i \\in s} f(i)', '\\frac{a}{b} \\le |x|^{2}')
    >>> latex_of("∀ ε > 0, ∃ δ > 0, ‖f x - f y‖ < ε"), latex_of("by simp")
    ('\\forall \\varepsilon > 0, \\exists \\delta > 0, \\|f(x) - f(y)\\| < \\varepsilon', '')
    >>> latex_of("f ∘ₗ g =ᵐ[μ] Kᗮ"), latex_of("∀ᵐ x ∂μ, #s ≤ ‖⁅x, y⁆‖₊")
    ('f \\circ g = K^\\perp', '\\forall x, |s| \\le \\|[x, y]\\|')
    """
    if len(term) > LONGEST_TERM:
        return ""
    for pattern, instead in UNSEEN:
        term = pattern.sub(instead, term)
    parser = _Parser(_TOKEN.findall(term))
    try:
        found = parser.term(0)
    except _UnreadableError:
        return ""
    return found if parser.place >= len(parser.tokens) else ""


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.place, self.depth = tokens, 0, 0
        self.closing: list[str] = []

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self) -> str:
        if self.place >= len(self.tokens):
            raise _UnreadableError
        self.place += 1
        return self.tokens[self.place - 1]

    def expect(self, token: str) -> None:
        if self.take() != token:
            raise _UnreadableError

    def term(self, lowest: int) -> str:
        """Return a term whose operators bind at least as tightly as `lowest`."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise _UnreadableError
        left = self.prefix()
        while True:
            sign = self.peek()
            if self.closing and sign == self.closing[-1]:
                break
            if sign in ("⁻¹'", "''") and lowest <= 80:
                self.take()
                right = self.term(81)
                left = f"{left}^{{-1}}({right})" if sign == "⁻¹'" else f"{left}({right})"
                continue
            if sign in ("<|", "|>"):
                self.take()
                left = f"{left}({self.term(10)})"
                continue
            if sign not in INFIX:
                break
            precedence, to_right, latex = INFIX[sign]
            if precedence < lowest:
                break
            self.take()
            if sign in "→⟶≃↪" and self.peek()[:1] in "ₗₐₛ₀⁎+*ₘₙ":
                self.take()
            if sign in "→≃≡⊗" and self.peek() in ("[", "[X]"):
                modulus = self.group("[")
                if sign == "≡":
                    left = f"{left} \\pmod{{{modulus}}}"
                    continue
            right = self.term(precedence if to_right else precedence + 1)
            if sign == "/":
                left = f"\\frac{{{_bare(left)}}}{{{_bare(right)}}}"
            elif sign == "^":
                left = f"{left}^{{{_bare(right)}}}"
            elif sign == "*":
                left = (
                    f"{left} {right}" if right[0].isalpha() or right[0] == "\\" else f"{left} \\cdot {right}"
                )
            elif sign == "≡" and self.peek() == "[":
                left = f"{left} \\equiv {right} \\pmod{{{_modulus(self.group('['))}}}"
            else:
                left = f"{left} {latex} {right}"
        self.depth -= 1
        return left

    def prefix(self) -> str:
        sign = self.peek()
        if sign in QUANTIFIERS:
            self.take()
            bound = self.bound((",",))
            return f"{QUANTIFIERS[sign]} {bound}, {self.term(0)}"
        if sign in BIG:
            self.take()
            if self.peek() == "₀":
                self.take()
                return f"{BIG[sign]} {self.term(110)}"
            bound = self.bound((",",))
            return f"{BIG[sign]}_{{{bound}}} {self.term(66)}"
        if sign == "∫" or sign == "∮":
            return self.integral()
        if sign in ("fun", "λ"):
            self.take()
            bound = self.bound(("=>", "↦", ","))
            return f"{bound} \\mapsto {self.term(0)}"
        if sign == "-":
            self.take()
            return f"-{self.term(75)}"
        if sign == "¬":
            self.take()
            return f"\\neg {self.term(40)}"
        if sign == "√":
            self.take()
            return f"\\sqrt{{{_bare(self.atom())}}}"
        return self.application()

    def integral(self) -> str:
        self.take()
        if self.peek() == "⁻":
            self.take()
        names = self.name_list()
        limits = ""
        if self.peek() == ":":
            self.take()
            self.term(51)
        if self.peek() == "in":
            self.take()
            low = self.term(0)
            if self.peek() == "..":
                self.take()
                limits = f"_{{{low}}}^{{{self.term(0)}}}"
            else:
                limits = f"_{{{low}}}"
        self.expect(",")
        body = self.term(0)
        if self.peek() == "∂":
            self.take()
            return f"\\int{limits} {body} \\, d{self.term(70)}"
        return f"\\int{limits} {body} \\, d{names}"

    def name_list(self) -> str:
        names: list[str] = []
        while (
            self.peek()
            and (self.peek()[0].isalpha() or self.peek() == "_")
            and self.peek() not in ("in", "with")
        ):
            names.append(_identifier(self.take()))
        return ", ".join(names)

    def bound(self, ends: tuple[str, ...]) -> str:
        """Return what a quantifier or a sum binds, up to and with one of `ends`."""
        found: list[str] = []
        while True:
            token = self.peek()
            if token in ends:
                self.take()
                return ", ".join(filter(None, found)) or r"\cdot"
            if token in ("(", "{", "⦃", "["):
                self.take()
                close = {"(": ")", "{": "}", "⦃": "⦄", "[": "]"}[token]
                self.closing.append(close)
                names = self.name_list()
                if self.peek() in RELATIONS or self.peek() == ":":
                    sign = self.take()
                    type = self.term(0)
                    names = f"{names} {RELATIONS.get(sign, chr(92) + 'in')} {type}"
                elif self.peek() != close:
                    self.term(0)
                self.closing.pop()
                self.expect(close)
                found.append(names)
                continue
            if token == "⟨":
                found.append(self.atom())
                continue
            names = self.name_list()
            token = self.peek()
            if token == ":":
                self.take()
                found.append(f"{names} \\in {self.term(0)}")
            elif token == "in" or token in RELATIONS:
                self.take()
                found.append(f"{names} {RELATIONS.get(token, chr(92) + 'in')} {self.term(51)}")
            elif names:
                found.append(names)
            elif token == "with":
                self.take()
                found.append(self.term(0))
            else:
                raise _UnreadableError

    def application(self) -> str:
        """Return a function and its arguments."""
        start = self.place
        head = self.atom()
        name = self.tokens[start]
        arguments: list[str] = []
        while self._begins_atom():
            arguments.append(self.atom())
        return _apply(name, head, arguments)

    def _begins_atom(self) -> bool:
        token = self.peek()
        if not token or (self.closing and token == self.closing[-1]) or token in ("in", "with", "fun", "λ"):
            return token in ("fun", "λ") and bool(token)
        if token in REFUSED:
            raise _UnreadableError
        if token in ("|", "‖"):
            return False
        if token == "[" and self.tokens[self.place + 1 : self.place + 2] in (
            ["MOD"],
            ["ZMOD"],
            ["PMOD"],
            ["SMOD"],
        ):
            return False
        return token in "([{⟨⌊⌈⟪⁅#" or token in COERCIONS or (token in SYMBOLS and token not in ("*", "·", "∂")) or (
            token[0].isalnum() or token[0] == "_"
        )  # fmt: skip

    def atom(self) -> str:
        token = self.take()
        if token in REFUSED:
            raise _UnreadableError
        if token in COERCIONS:
            return self.atom()
        if token == "#":
            return f"|{_bare(self.atom())}|"
        if token in ("fun", "λ"):
            self.place -= 1
            return f"({self.prefix()})"
        if token == "(":
            found = self.parenthesised()
        elif token == "{":
            found = self.braces()
        elif token in FENCES:
            self.closing.append(CLOSING[token])
            inner = self.listed()
            self.closing.pop()
            self.expect(CLOSING[token])
            left, right = FENCES[token]
            found = f"{left}{inner}{right}"
            if token == "⟪" and self.peek().startswith("_"):
                self.take()
        elif token in SYMBOLS:
            found = SYMBOLS[token]
            if token == "𝓝" and self.peek() == "[":
                self.group("[")
        elif token[0].isalpha() or token[0] == "_":
            found = _identifier(token)
        elif token[0].isdigit():
            found = token
        else:
            raise _UnreadableError
        return self.postfix(found)

    def postfix(self, found: str) -> str:
        while True:
            token = self.peek()
            if token == "⁻¹":
                found = f"{found}^{{-1}}"
            elif token == "!":
                found = f"{found}!"
            elif token in POSTFIX:
                found = f"{found}{POSTFIX[token]}"
            elif token == "[X]":
                found = f"{found}[X]"
            elif token[:1] == "." and len(token) > 1 and token != "..":
                found = (
                    f"{found}_{{{token[1:]}}}"
                    if token[1].isdigit()
                    else f"{_identifier(token[1:])}({_bare(found)})"
                )
            elif token and token.translate(RAISED_DIGITS).isdecimal() and not token.isdecimal():
                found = f"{found}^{{{token.translate(RAISED_DIGITS)}}}"
            else:
                return found
            self.take()

    def parenthesised(self) -> str:
        self.closing.append(")")
        if self.peek() in INFIX and self.peek() not in ("-", "↑"):
            raise _UnreadableError
        inner = self.listed()
        if self.peek() == ":":
            self.take()
            self.term(0)
            self.closing.pop()
            self.expect(")")
            return inner if re.fullmatch(r"\\?\w+", inner) else f"({inner})"
        self.closing.pop()
        self.expect(")")
        return f"({inner})"

    def listed(self) -> str:
        if self.peek() == self.closing[-1]:
            return ""
        found = [self.term(0)]
        while self.peek() == ",":
            self.take()
            found.append(self.term(0))
        return ", ".join(found)

    def braces(self) -> str:
        self.closing.append("}")
        start = self.place
        try:
            inner = self.set_builder()
        except _UnreadableError:
            self.place = start
            inner = self.listed()
        self.closing.pop()
        self.expect("}")
        return f"\\{{{inner}\\}}"

    def set_builder(self) -> str:
        self.closing.append("|")
        left = self.term(0)
        if self.peek() == ":":
            self.take()
            left = f"{left} \\in {self.term(0)}"
        self.closing.pop()
        self.expect("|")
        return f"{left} \\mid {self.term(0)}"

    def group(self, opening: str) -> str:
        """Return what stands in brackets, as a term; `[X]` is one token."""
        if self.peek() == "[X]":
            self.take()
            return "X"
        self.expect(opening)
        self.closing.append(CLOSING[opening])
        while self.peek() and self.peek() in RELATIONS:
            self.take()
        inner = "" if self.peek() == CLOSING[opening] else self.term(0)
        self.closing.pop()
        self.expect(CLOSING[opening])
        return inner


def _identifier(name: str) -> str:
    if name in SYMBOLS:
        return SYMBOLS[name]
    body = name.rstrip(MODIFIERS)
    if body and body != name:
        return _identifier(body) + POSTFIX.get(name[len(body) :], "")
    first, dot, _ = name.partition(".")
    if dot:
        last = name.rpartition(".")[2]
        if _is_variable(first):
            return f"{_identifier(last)}({_identifier(name[: -len(last) - 1])})"
        return _identifier(last)
    if found := INDEXED.match(name):
        return f"{_letter(found[1])}_{{{found[2].translate(SUBSCRIPTS)}}}{found[3]}"
    plain = name.rstrip("'")
    if len(plain) == 1:
        return _letter(plain) + "'" * (len(name) - 1)
    if plain in FUNCTIONS:
        return f"\\{plain}"
    if plain == "sqrt":
        return r"\sqrt"
    escaped = plain.translate(SUBSCRIPTS).replace("_", r"\_").replace("!", "").replace("?", "")
    return (
        f"\\operatorname{{{escaped}}}" + "'" * (len(name) - len(plain))
        if escaped.isascii()
        else f"\\mathrm{{{escaped}}}"
    )


def _is_variable(name: str) -> bool:
    """Return True for a name such as `s` in `s.card`; a longer or capital name is a namespace, as in `Finset.card`."""
    return (name[:1].islower() and len(name) <= 3) or name[:1] in GREEK


def _letter(letter: str) -> str:
    return (
        f"\\{GREEK[letter]}" if letter in GREEK else letter if len(letter) == 1 else f"\\mathrm{{{letter}}}"
    )


def _apply(name: str, head: str, arguments: list[str]) -> str:
    if not arguments:
        return head
    before, _, last = name.rpartition(".")
    if before and _is_variable(before.partition(".")[0]):
        head, arguments = _identifier(last), [_identifier(before), *arguments]
    bare = [_bare(argument) for argument in arguments]
    if last == "sqrt" and len(arguments) == 1:
        return f"\\sqrt{{{bare[0]}}}"
    if last == "choose" and len(arguments) == 2:
        return f"\\binom{{{bare[0]}}}{{{bare[1]}}}"
    if last == "factorial" and len(arguments) == 1:
        return f"{arguments[0]}!"
    if last in INTERVALS and len(arguments) == 2:
        fences = INTERVALS[last]
        return f"{fences[0]}{bare[0]}, {bare[1]}{fences[1]}"
    if last in ("abs", "norm") and len(arguments) == 1:
        fence = "|" if last == "abs" else r"\|"
        return f"{fence}{bare[0]}{fence}"
    return f"{head}({', '.join(bare)})"


def _bare(latex: str) -> str:
    """Return LaTeX without the parentheses around all of it."""
    if not (latex.startswith("(") and latex.endswith(")")):
        return latex
    depth = 0
    for place, sign in enumerate(latex):
        depth += (sign == "(") - (sign == ")")
        if not depth and place < len(latex) - 1:
            return latex
    return latex[1:-1]


def _modulus(text: str) -> str:
    return re.sub(r"^\\operatorname\{Z?MOD\}\(?|\)$", "", text)
