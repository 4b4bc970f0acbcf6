"""`Reader`: one pass over the tokens of a formula: rows, and the tables and words among them."""

from __future__ import annotations

from typing import Any

from mathamr.formulas.latex.commands import COMMANDS, ENVIRONMENTS, TRANSPARENT
from mathamr.formulas.latex.physics import NOTATION
from mathamr.formulas.latex.rowreader import CELL_ENDS, IN_ENVIRONMENT, STRUCTURAL, RowReader
from mathamr.formulas.latex.symbols import OF_PACKAGES, SPACES, SYMBOLS
from mathamr.formulas.latex.syntax import CellLine, Construct, Row
from mathamr.formulas.latex.wordreader import read_words

_IN_BRACES = CELL_ENDS | {"}"}
_RULES = frozenset(["\\hline", "\\toprule", "\\midrule", "\\bottomrule", "\\hdashline"])
_PARTIAL_RULES = frozenset(["\\cline", "\\cmidrule", "\\cdashline"])


class Reader(RowReader):
    """Reads the syntax of a formula."""

    def words(self) -> list[Any]:
        """Read an argument of words."""
        return read_words(self)

    def environment(self, row: Row, start: int) -> None:
        """Read an environment, or nothing but its name where it is transparent or unknown."""
        name = self.raw_argument().strip()
        if name in TRANSPARENT:
            return
        environment = ENVIRONMENTS.get(name)
        if environment is None:
            self.repair(f"unknown environment {name}", start)
            return
        begin = self.i - 1
        self.descend()
        arguments = self.read_arguments(environment)
        lines = self.lines(IN_ENVIRONMENT)
        row.append(Construct(environment.kind, start, (*arguments, lines), name))
        if self.peek() == "\\end":
            self.i += 1
            found = self.raw_argument().strip()
            if found != name:
                self.repair(f"\\begin{{{name}}} ended by \\end{{{found}}}")
        else:
            self.repair(f"unclosed environment {name}", begin)
        self.depth -= 1

    def end_environment(self, _row: Row, _place: int) -> None:
        """Read the end of an environment that does not begin here."""
        name = self.raw_argument().strip()
        if name not in TRANSPARENT:
            self.repair(f"\\end{{{name}}} without its beginning")

    def braced_lines(self) -> list[CellLine] | None:
        """Read a table that is written as an argument: `\\substack{a\\\\b}`, `\\matrix{a&b\\cr c&d}`."""
        if self.peek() != "{":
            self.repair("missing argument", self.i)
            return None
        start = self.i
        self.i += 1
        self.descend()
        lines = self.lines(_IN_BRACES)
        self.depth -= 1
        if self.peek() == "}":
            self.i += 1
        else:
            self.repair("unclosed {", start)
        return lines

    def lines(self, stops: frozenset[str]) -> list[CellLine]:
        """Read the cells of a table line by line, with the rules above each line and the options after it."""
        lines = [CellLine()]
        self._read_rules(lines[-1])
        while True:
            lines[-1].cells.append(self.read(stops))
            token = self.peek()
            if token not in CELL_ENDS:
                break
            self.i += 1
            if token == "&":
                continue
            if token in ("\\\\", "\\newline"):
                start = self.i
                self.skip_line_options()
                lines[-1].options = "".join(self.tokens[start : self.i])
            lines.append(CellLine())
            self._read_rules(lines[-1])
        self.budget.spend(len(lines) * max(len(line.cells) for line in lines) if self.drawn else 0)
        return lines

    def _read_rules(self, line: CellLine) -> None:
        while (token := self.peek()) in _RULES or token in _PARTIAL_RULES:
            self.i += 1
            if token == "\\cmidrule" and self.peek() == "(":
                while self.i < self.count and self.tokens[self.i] != ")":
                    self.i += 1
                self.i += 1
            line.rules.append((token, self.raw_argument() if token in _PARTIAL_RULES else ""))


def is_command(name: str) -> bool:
    r"""Return True for a command that formulas have without being defined.

    >>> is_command(r"\int"), is_command(r"\frac"), is_command(r"\Hilb")
    (True, True, False)
    """
    return name in COMMANDS or name in SYMBOLS or name in SPACES


def is_predefined(name: str) -> bool:
    """Return True if a command is LaTeX's own or amsmath's; those of other packages exist only if a document loads them.

    >>> [is_predefined(name) for name in ("\\\\sin", "\\\\frac", "\\\\abs", "\\\\R")]
    [True, True, False, False]
    """
    if name in OF_PACKAGES or name in NOTATION:
        return False
    return name in SYMBOLS or name in COMMANDS or name in STRUCTURAL or name in SPACES
