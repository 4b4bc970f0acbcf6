"""The `mathamr` command: one module a verb, each loaded only when it is called."""

from __future__ import annotations

import atexit
import gc
import sys
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

import typer
from typer.core import TyperGroup

from mathamr import __version__
from mathamr.core.errors import MathAMRError, MissingExtraError, did_you_mean
from mathamr.core.garbage import collect_rarely
from mathamr.core.terminal import visible

# verb (a module under mathamr.cli) -> one line of help; the order is that of a post's way through the rooms.
VERBS = {
    "posts": "What a reader sees: counts, samples, what was skipped and why.",
    "formula": "Layout and operator trees of formulas.",
    "amr": "Meaning graphs of sentences.",
    "graph": "MathAMR+ graphs of posts, a store of them, or a picture of one.",
    "train": "An encoder from pairs of stored graphs.",
    "models": "The models that are there: tasks, size, speed, measured quality.",
    "index": "An index of posts: built, brought up to date, checked, mended.",
    "plan": "What an index of so many posts takes: hours, disk, memory.",
    "backup": "An index in one file, taken while it is searched and changed.",
    "restore": "An index from a backup, checked.",
    "search": "Posts that answer a query, or formulas like the one in it.",
    "shell": "A prompt that asks an index one query after another.",
    "explain": "Why a post is found: which part met which part of the query.",
    "run": "A TREC run of an index for ARQMath topics.",
    "fuse": "One TREC run of several, by ranks or by scores.",
    "evaluate": "Measures of runs: nDCG', MAP', P'@10, Bpref, with tests against a baseline.",
    "experiment": "An experiment of the thesis: variants trained, measured and compared.",
    "serve": "The web page and the HTTP API of an index.",
    "mcp": "An index as tools of the Model Context Protocol.",
    "demo": "The bundled sample, end to end.",
    "doctor": "Versions, engines, models, and what is missing.",
}

LABORATORY = ("train", "experiment")
"""Verbs that the package mathamr-lab adds as entry points of the group `GROUP`."""
GROUP = "mathamr.commands"


class LazyVerbs(TyperGroup):
    """Imports a verb's module only when that verb runs, so that `--help` answers at once."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The verbs, in their order."""
        return list(VERBS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Loads the verb that is called, and only that one."""
        self._called = args[0] if args else ""
        if self._called and not self._called.startswith("-") and self._called not in VERBS:
            ctx.fail(f"No such command {self._called!r}{did_you_mean(self._called, VERBS)}")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of the verb that is called; for the list of all verbs one that has only its line of help."""
        if cmd_name not in VERBS:
            return None
        called = cmd_name == getattr(self, "_called", "")
        run = _command(cmd_name) if called else _listed
        verb = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
        verb.command(name=cmd_name, help=None if called else VERBS[cmd_name])(run)
        return typer.main.get_command(verb)


def _listed() -> None:
    """Stands for a verb in the list of verbs."""


def _command(verb: str) -> Any:
    """The function behind a verb: a module of this package, or an entry point of an installed package."""
    if verb not in LABORATORY:
        return import_module(f"mathamr.cli.{verb}").command
    for point in entry_points(group=GROUP, name=verb):
        return point.load()
    raise MissingExtraError(f"`mathamr {verb}` is part of the laboratory, which", "pip install mathamr-lab")


app = typer.Typer(
    cls=LazyVerbs,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=False)
def _root(
    version: bool = typer.Option(
        False,
        "--version",
        help="Print the version and stop.",
        is_eager=True,
        callback=lambda value: _print_version(value),
    ),
) -> None:
    """Search mathematics: text, operators and layout of formulas in one graph."""


def _print_version(value: bool) -> None:
    if value:
        print(f"mathamr {__version__}")
        raise typer.Exit


_EXTRAS = {"torch": "torch", "bm25s": "baselines"}
"""Packages that a small installation does without, and the extra that brings each."""


def main() -> None:
    """Entry point: a `MathAMRError` is printed as one clear message and ends with exit code 1."""
    collect_rarely()
    atexit.register(gc.freeze)  # to look once more when it ends takes an eighth of a first query's time
    try:
        app()
    except MathAMRError as error:
        print(f"mathamr: {visible(str(error))}", file=sys.stderr)
        sys.exit(1)
    except ModuleNotFoundError as error:
        if (extra := _EXTRAS.get((error.name or "").partition(".")[0])) is None:
            raise
        missing = MissingExtraError(f"{error.name}, which this needs,", f'pip install "mathamr[{extra}]"')
        print(f"mathamr: {missing}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
