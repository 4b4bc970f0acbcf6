"""`short_help`: what `mathamr VERB -h` prints, a line for each argument and option; `--help` prints all about them."""

from __future__ import annotations

import re
import shutil
import textwrap
from typing import Any

_SENTENCE = re.compile(r"(?<=\.)\s")
WIDEST_NAME = 26
"""The longest names of an option with which its help begins on the same line."""


def short_help(command: Any, ctx: Any) -> str:
    """Return the usage of a command, and for each argument and option the first sentence of its help, as far as the line goes."""
    width = min(shutil.get_terminal_size((100, 40)).columns, 120)
    rows = [
        (names(parameter, ctx), first_sentence(parameter.help or ""))
        for parameter in command.params
        if not getattr(parameter, "hidden", False)
    ]
    rows.append(("--help", "All options with their values and defaults"))
    room = min(max(len(name) for name, _ in rows), WIDEST_NAME)
    about = textwrap.wrap(_first_paragraph(command.help or ""), width - 2)
    lines = [command.get_usage(ctx), "", *(f"  {line}" for line in about), ""]
    for name, text in rows:
        line = f"  {name:{room}}  {text}"
        lines.append(line if len(line) <= width else f"{line[: width - 1].rstrip()}…")
    return "\n".join(lines)


def names(parameter: Any, ctx: Any) -> str:
    """Return how a parameter is typed: `QUERY`, `--kind TEXT` or `--exact/--approximate`."""
    if parameter.param_type_name == "argument":
        return str(parameter.make_metavar(ctx)).strip("{}").removeprefix("[").replace("]", "")
    names = "/".join(
        ", ".join(sorted(each, key=len)) for each in (parameter.opts, parameter.secondary_opts) if each
    )
    return names if getattr(parameter, "is_flag", False) else f"{names} {_value(parameter)}"


def _value(parameter: Any) -> str:
    kind = str(getattr(parameter.type, "name", ""))
    if "int" in kind or "float" in kind:
        return "N"
    return "PATH" if kind in ("path", "file") else "TEXT"


def first_sentence(text: str) -> str:
    """Return the first sentence of a help text, without its full stop."""
    return _SENTENCE.split(" ".join(text.split()), maxsplit=1)[0].rstrip(".")


def _first_paragraph(text: str) -> str:
    return " ".join(text.strip().split("\n\n")[0].split())
