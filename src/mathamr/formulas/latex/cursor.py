"""`Cursor`: a position in the tokens of one formula, and what can be read there without knowing its meaning."""

from __future__ import annotations

import re

from mathamr.formulas.errors import FormulaError, Repair

MAX_DEPTH = 60
"""The maximum nesting of arguments; a formula nested deeper is refused."""


DIMENSION = re.compile(r"\s*+([+-]?[0-9]*+[.,]?[0-9]*+)\s*+(pt|em|ex|mu|cm|mm|in|pc|bp|dd|cc|sp|px)?")
"""A length: number and unit."""
_LENGTH = re.compile(
    DIMENSION.pattern.removesuffix("?") + r"|\s*+[+-]?[0-9.]*+\\(jot|[a-z]*(skip|width|height|sep|depth))"
)
_STRETCH = re.compile(r"(\s*(plus|minus)\s*[0-9.]+\s*[a-z]{2,5})+")
_LONGEST_LENGTH = 24
"""The maximum number of tokens in a length."""


_POINTS = {
    "pt": 1.0, "em": 10.0, "ex": 4.3, "mu": 1 / 1.8, "cm": 28.45, "mm": 2.845, "in": 72.27, "pc": 12.0, "bp": 1.00375,
    "px": 0.75, "dd": 1.07, "cc": 12.84, "sp": 1 / 65536,
}  # fmt: skip


def points_of(text: str) -> float:
    """Return a length in points; 0 for text that is not a length."""
    match = DIMENSION.match(text)
    number = match.group(1).replace(",", ".") if match else ""
    if not match or not number.strip("+-.") or not match.group(2):
        return 0.0
    return min(float(number), 1e4) * _POINTS[match.group(2)]


class Cursor:
    """Moves over the tokens of one formula, and records repairs."""

    def __init__(self, tokens: list[str], offsets: list[int], source: str) -> None:
        self.tokens, self.offsets, self.source = tokens, offsets, source
        self.count = len(tokens)
        self.i = 0
        self.depth = 0
        self.repairs: list[Repair] = []

    # -- where we are

    def offset(self, position: int | None = None) -> int:
        """Return the offset of a token in the source, by default of the last one read."""
        position = self.i - 1 if position is None else position
        return self.offsets[position] if 0 <= position < len(self.offsets) else len(self.source)

    def repair(self, message: str, position: int | None = None) -> None:
        """Record that something malformed was parsed anyway."""
        if len(self.repairs) < 100:
            self.repairs.append(Repair(message, self.offset(position)))

    def skip_spaces(self) -> None:
        """Move to the next token that is not space."""
        while self.i < self.count and self.tokens[self.i].isspace():
            self.i += 1

    def peek(self) -> str:
        """Return the next token that is not space, or nothing."""
        self.skip_spaces()
        return self.tokens[self.i] if self.i < self.count else ""

    def descend(self) -> None:
        """Enter an argument; raise `FormulaError` if it is nested too deeply."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise FormulaError(f"nested deeper than {MAX_DEPTH} levels", self.source, self.offset(self.i))

    # -- arguments as text

    def raw_argument(self) -> str:
        """Return the text of the next argument without parsing it: names, lengths, colours."""
        token = self.peek()
        if token != "{":
            if token and token not in ("}", "&", "\\\\", "\\end"):
                self.i += 1
                return token
            return ""
        start = self.i + 1
        self.i = self.matching_brace()
        text = "".join(self.tokens[start : self.i])
        self.i += 1
        return text

    def raw_places(self) -> range:
        """Return the numbers of the tokens of the next argument without parsing them."""
        token = self.peek()
        if token != "{":
            if not token or token in ("}", "&", "\\\\", "\\end", "\\right"):
                return range(0)
            self.i += 1
            return range(self.i - 1, self.i)
        start = self.i + 1
        self.i = self.matching_brace()
        self.i += 1
        return range(start, self.i - 1)

    def raw_optional(self) -> str | None:
        """Return the text of an argument in brackets, if there is one."""
        if self.peek() != "[":
            return None
        depth, start = 0, self.i + 1
        while self.i < self.count:
            token = self.tokens[self.i]
            depth += (token == "{") - (token == "}")
            if token == "]" and depth <= 0:
                break
            self.i += 1
        text = "".join(self.tokens[start : self.i])
        self.i += 1
        return text

    def optional_places(self) -> range | None:
        """Return the numbers of the tokens of an argument in brackets, if there is one."""
        if self.peek() != "[":
            return None
        start = self.i + 1
        self.raw_optional()
        return range(start, self.i - 1)

    def matching_brace(self) -> int:
        """Return the position of the brace that closes the one here, or the end."""
        depth, position = 0, self.i
        while position < self.count:
            token = self.tokens[position]
            if token == "{":
                depth += 1
            elif token == "}":
                depth -= 1
                if depth == 0:
                    return position
            position += 1
        self.repair("unclosed {", self.i)
        return position

    def dimension(self) -> str:
        """Read the bare length here (`1em plus 2pt`, `{1em}`), if there is one."""
        if self.peek() == "{":
            return self.raw_argument()
        text = "".join(self.tokens[self.i : self.i + _LONGEST_LENGTH])
        found = DIMENSION.match(text)
        end = found.end() if found is not None else 0
        more = _STRETCH.match(text, end)
        taken = end if more is None else more.end()
        length = text[:taken]
        while taken > 0 and self.i < self.count:
            taken -= len(self.tokens[self.i])
            self.i += 1
        return length

    def skip_line_options(self) -> None:
        """Skip what may follow the end of a line: a star, and space in brackets.

        After a blank only a length is an option: in amsmath `\\\\ [y]` begins the next line with `[y]`.
        """
        if self.i < self.count and self.tokens[self.i] == "*":
            self.i += 1
        spaced = self.i < self.count and self.tokens[self.i].isspace()
        if self.peek() != "[":
            return
        inside, closing, _ = "".join(self.tokens[self.i + 1 : self.i + 1 + _LONGEST_LENGTH]).partition("]")
        if closing and _LENGTH.match(inside):
            self.raw_optional()
        elif not spaced:
            self.repair("the brackets behind \\\\ hold no length", self.i)

    def star(self) -> bool:
        """Read a star if one follows, and return whether there was one."""
        if self.peek() == "*":
            self.i += 1
            return True
        return False
