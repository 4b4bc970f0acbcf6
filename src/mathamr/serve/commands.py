"""`Command`: the LaTeX commands that the formula parser knows, for completion in a search box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

MOST_MACROS = 500
"""Macros of a collection that a client is told."""

MOST_FREQUENT = tuple(
    f"\\{name}"
    for name in """
    frac sum int sqrt lim infty mathbb in to le ge ne cdot times alpha beta gamma delta epsilon lambda mu pi sigma theta
    phi omega partial nabla forall exists subset cup cap text mathcal binom prod pmod equiv approx sim implies iff
    left right begin log ln sin cos tan exp max min gcd det dim ker vec hat bar overline operatorname quad ldots cdots
    """.split()  # noqa: SIM905
)
"""Commands that are offered first."""

_ARGUMENTS = {
    **dict.fromkeys(
        ["frac", "dfrac", "tfrac", "cfrac", "binom", "dbinom", "tbinom", "overset", "underset"], 2
    ),
    **dict.fromkeys(["stackrel", "textcolor", "dv", "pdv", "braket", "href"], 2),
    **dict.fromkeys(
        ["sqrt", "text", "mbox", "operatorname", "pmod", "substack", "boxed", "cancel", "phantom"], 1
    ),
    **dict.fromkeys(["mathrm", "mathit", "mathbf", "mathsf", "mathtt", "mathcal", "mathscr", "mathbb"], 1),
    **dict.fromkeys(["mathfrak", "boldsymbol", "bm", "textbf", "textit", "textrm", "emph", "abs", "norm"], 1),
    **dict.fromkeys(["floor", "ceil", "xrightarrow", "xleftarrow", "qvar", "tag"], 1),
}
_ENVIRONMENTS = ("matrix", "pmatrix", "bmatrix", "vmatrix", "cases", "aligned", "array", "gathered", "split")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


@dataclass(frozen=True, slots=True)
class Command:
    """A command, the character it draws (empty where it draws none by itself), and what to insert for it."""

    command: str
    character: str
    snippet: str


@lru_cache(maxsize=1)
def commands() -> tuple[Command, ...]:
    r"""Return every command that is a word, the most frequent first, then by name; then environments.

    >>> [each.snippet for each in commands()[:3]]
    ['\\frac{}{}', '\\sum', '\\int']
    """
    from mathamr.formulas.latex.commands import COMMANDS
    from mathamr.formulas.latex.symbols import ACCENTS, SPACES, SYMBOLS, UNDER_ACCENTS

    arguments = {f"\\{name}": count for name, count in _ARGUMENTS.items()}
    arguments |= dict.fromkeys([*ACCENTS, *UNDER_ACCENTS], 1)
    names = [name for name in {*COMMANDS, *SYMBOLS, *SPACES} if _is_word(name)]
    first = {name: place for place, name in enumerate(MOST_FREQUENT)}
    names.sort(key=lambda name: (first.get(name, len(first)), name.lower(), name))
    known = [
        Command(
            name,
            _character(SYMBOLS[name].text) if name in SYMBOLS else "",
            name + "{}" * arguments.get(name, 0),
        )
        for name in names
        if name not in ("\\begin", "\\end")
    ]
    known += [Command(rf"\begin{{{name}}}", "", rf"\begin{{{name}}}\end{{{name}}}") for name in _ENVIRONMENTS]
    return tuple(known)


def matching_commands(prefix: str, k: int) -> list[dict[str, str]]:
    """Return the first `k` commands that begin with `prefix`."""
    found = (each for each in commands() if each.command.startswith(prefix))
    return [asdict(each) for each, _ in zip(found, range(k), strict=False)]


def shown_macros(definitions: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    r"""Return macros of a collection for a field that draws formulas: how many arguments, and the body.

    Only macros with plain arguments: a field does not know delimited ones and defaults.

    >>> shown_macros({"Zc": r"\newcommand{\Zc}[1]{\mathbb{Z}/#1 \mathbb{Z}}"})
    {'Zc': {'arguments': 1, 'body': '\\mathbb{Z}/#1 \\mathbb{Z}'}}
    """
    from mathamr.formulas.latex.definitions import ARGUMENT
    from mathamr.formulas.latex.macros import Macros

    shown: dict[str, dict[str, Any]] = {}
    for name, macro in Macros.from_latex(*islice(definitions.values(), MOST_MACROS)).table.items():
        if _is_word(name) and all(each == ARGUMENT for each in macro.parameters):
            shown[name[1:]] = {"arguments": len(macro.parameters), "body": _joined(macro.body)}
    return shown


def _joined(tokens: tuple[str, ...]) -> str:
    """Return tokens as text; a name that letters follow ends at a space."""
    text = ""
    for token in tokens:
        text += " " if token[0] in _LETTERS and _is_word(text[text.rfind("\\") :]) else ""
        text += token
    return text


def _is_word(name: str) -> bool:
    return len(name) > 1 and name[0] == "\\" and _LETTERS.issuperset(name[1:])


def _character(text: str) -> str:
    return text if len(text) == 1 else ""
