"""LaTeX that is likely to hurt: openers of every known command within each other, real formulas mutated, loose pieces."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from functools import cache
from importlib.resources import files

from mathamr.core.errors import MathAMRError
from mathamr.formulas.latex.commands import COMMANDS, ENVIRONMENTS, TRANSPARENT
from mathamr.formulas.latex.lexer import tokenize
from mathamr.formulas.latex.macros import DEFINING
from mathamr.formulas.latex.rowreader import STRUCTURAL
from mathamr.formulas.latex.symbols import ACCENTS, DELIMITERS, SPACES, SYMBOLS, UNDER_ACCENTS

LENGTH = 300
"""Characters of an input at most."""

_STRUCTURE = ["{", "}", "[", "]", "(", ")", "^", "_", "'", "&", "|", "<", ">", "$", "#", "~", ",", "=", "+", "!", "\\\\",
              "\\left", "\\right", "\\middle", "\\over", "\\atop", "\\choose", "\\above", "\\bgroup", "\\egroup",
              "\\begingroup", "\\endgroup", "\\limits", "\\not", "x", "1", " ", "\n", "%", "é"]  # fmt: skip
_SHAPES = ("{0}{{", "{0}[", "{0}", "{0}{{a}}{{", "{0}[a]{{", "{0}{{a}}{{b}}{{", "{0}*{{", "{0}(", "{0}_{{", "x^{0}{{", "{0}^{{",
           "{0} a=(", "({0}", "|{0}", "$\\text{{{0}$", "{{{0} a\\over ", "\\left({0}", "{0}&", "{0}\\\\", "{0}[{0}{{")  # fmt: skip
"""How a command opens something that the next one can stand in."""


@cache
def commands() -> list[str]:
    """Every command that the parser knows, and all that begins an environment."""
    environments = [f"\\begin{{{name}}}" for name in sorted({*ENVIRONMENTS, *TRANSPARENT})]
    known = {
        *COMMANDS,
        *SPACES,
        *SYMBOLS,
        *ACCENTS,
        *UNDER_ACCENTS,
        *DELIMITERS,
        *DEFINING,
        *STRUCTURAL,
        *_STRUCTURE,
    }
    return [*sorted(known), *environments]


@cache
def working_commands() -> list[str]:
    """The commands that do something, which symbols do not."""
    return [name for name in commands() if name not in SYMBOLS]


@cache
def formulas() -> list[str]:
    """Real formulas: those of the bundled sample, and of the evaluation data where it is."""
    lines = (files("mathamr.sample") / "formulas.tsv").read_text(encoding="utf-8").splitlines()
    found = {row["formula"] for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)}
    try:
        from mathamr_lab.data import data_folder

        path = data_folder() / "arqmath-mini/formulas.tsv"
    except MathAMRError:
        return sorted(found)
    with path.open(encoding="utf-8", newline="") as rows:
        found |= {row["formula"] for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE)}
    return sorted(found)


def made(choice: random.Random) -> str:
    """One input."""
    kind: Callable[[random.Random], str] = choice.choices((_nested, _mutated, _loose), (4, 5, 1))[0]
    return kind(choice)[:LENGTH]


def _nested(choice: random.Random) -> str:
    """One to three openers in turn, until there is no room, perhaps with all that they opened closed again."""
    openers = [
        choice.choice(_SHAPES).format(choice.choice(working_commands()))
        for _ in range(choice.choice((1, 1, 2, 3)))
    ]
    cycle = "".join(openers)
    room = choice.randint(len(cycle), LENGTH)
    if choice.random() < 0.5:
        return cycle * (room // len(cycle))
    closing = _closing(cycle)
    inner = choice.choice(("x", "", "a=b", choice.choice(formulas())[:40]))
    times = max(1, (room - len(inner)) // (len(cycle) + len(closing)))
    return cycle * times + inner + closing * times


def _closing(opened: str) -> str:
    """What closes all that is open behind a text, and gives arguments to commands that wait for more."""
    stack = []
    for token in tokenize(opened)[0]:
        if token in "{[(":
            stack.append("}])"["{[(".index(token)])
        elif token in "}])" and stack:
            stack.pop()
        elif token == "\\left":
            stack.append("\\right)")
    return "".join(reversed(stack))


def _mutated(choice: random.Random) -> str:
    tokens = tokenize(choice.choice(formulas())[: LENGTH * 2])[0] or ["x"]
    for _ in range(choice.choice((1, 2, 4, 8))):
        tokens = choice.choice(_MUTATIONS)(tokens, choice) or ["x"]
    return "".join(tokens)


Tokens = list[str]


def _span(tokens: Tokens, choice: random.Random) -> tuple[int, int]:
    start = choice.randrange(len(tokens))
    return start, min(len(tokens), start + choice.choice((1, 1, 2, 4, 8, 16)))


def _dropped(tokens: Tokens, choice: random.Random) -> Tokens:
    start, end = _span(tokens, choice)
    return tokens[:start] + tokens[end:]


def _repeated(tokens: Tokens, choice: random.Random) -> Tokens:
    start, end = _span(tokens, choice)
    return tokens[:start] + tokens[start:end] * choice.choice((2, 3, 10, 60)) + tokens[end:]


def _inserted(tokens: Tokens, choice: random.Random) -> Tokens:
    place = choice.randint(0, len(tokens))
    return [*tokens[:place], choice.choice(commands()), *tokens[place:]]


def _replaced(tokens: Tokens, choice: random.Random) -> Tokens:
    place = choice.randrange(len(tokens))
    return [*tokens[:place], choice.choice(commands()), *tokens[place + 1 :]]


def _swapped(tokens: Tokens, choice: random.Random) -> Tokens:
    start, end = _span(tokens, choice)
    place = choice.randrange(len(tokens))
    return tokens[:place] + tokens[start:end] + tokens[place:]


def _wrapped(tokens: Tokens, choice: random.Random) -> Tokens:
    """A part as the argument of a command, several times over."""
    start, end = _span(tokens, choice)
    opener = choice.choice(_SHAPES).format(choice.choice(working_commands()))
    times = choice.choice((1, 1, 3, 12))
    return tokens[:start] + [opener] * times + tokens[start:end] + [_closing(opener)] * times + tokens[end:]


def _spliced(tokens: Tokens, choice: random.Random) -> Tokens:
    other = tokenize(choice.choice(formulas())[:LENGTH])[0]
    return tokens[: choice.randint(0, len(tokens))] + other[choice.randint(0, len(other)) :]


_MUTATIONS = (_dropped, _repeated, _inserted, _replaced, _swapped, _wrapped, _spliced)


def _loose(choice: random.Random) -> str:
    return "".join(
        choice.choice(commands()) + choice.choice(("", "", "{", "}", " "))
        for _ in range(choice.randint(1, 80))
    )
