"""The `mathamr` command: each verb is a module, imported only when that verb runs."""

from __future__ import annotations

import atexit
import gc
import shlex
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from mathamr.core.errors import MathAMRError, MissingExtraError, did_you_mean
from mathamr.core.interruption import STOPPED, StoppedError
from mathamr.core.memory import collect_rarely
from mathamr.core.settings import SETTINGS
from mathamr.core.terminal import visible
from mathamr.core.version import __version__

SECTIONS = {
    "Search": {
        "search": "Find posts that answer a query, or similar formulas.",
        "serve": "Serve the web page and the HTTP API of an index.",
        "index": "Build, update, check or repair an index.",
        "open": "Open the file of a hit in your editor, at its line.",
        "grep": "Find formulas in source files, with line and column; rename letters.",
        "twins": "Find statements that say the same, or propose those of a Lean library.",
        "notation": "List the symbols: what each is introduced as, where, and which never are.",
        "explain": "Explain which part of a query matched which part of a hit.",
        "mcp": "Serve an index as tools of the Model Context Protocol.",
        "tune": "Choose the weights of the ranking for a collection from its own titles, links and formulas.",
        "backup": "Write an index to one file while it stays in use.",
        "restore": "Restore an index from a backup and check it.",
        "demo": "Run the bundled sample end to end.",
        "doctor": "Show versions, engines, models, and what is missing.",
    },
    "Look inside": {
        "posts": "Show what a reader finds in posts, and what it skips.",
        "formula": "Show the layout and operator trees of formulas.",
        "amr": "Parse sentences into meaning graphs (AMR).",
        "graph": "Build MathAMR+ graphs of posts: print, store or draw them.",
        "models": "List the installed models: tasks, size, measured quality.",
    },
    "Evaluate": {
        "run": "Write a TREC run of an index for ARQMath topics.",
        "fuse": "Fuse several TREC runs, by ranks or by scores.",
        "evaluate": "Measure runs (nDCG', MAP', P'@10, Bpref) and compare them.",
    },
    "Laboratory": {
        "train": "Train a model.",
        "experiment": "Train, measure and compare variants.",
        "reproduce": "Measure figures of the docs again.",
    },
}
"""The verbs by what they are for, each a module of `mathamr.cli` with its line of help."""
VERBS = {verb: line for verbs in SECTIONS.values() for verb, line in verbs.items()}

LABORATORY = ("train", "experiment", "reproduce")
"""Verbs of the package mathamr-lab, which registers them as entry points of the group `GROUP`."""
GROUP = "mathamr.commands"


class LazyVerbs(TyperGroup):
    """Imports the module of a verb only when that verb runs, so that `--help` is quick."""

    def list_commands(self, _ctx: Any) -> list[str]:
        """Return the verbs in the order of the help."""
        return list(VERBS)

    def format_commands(self, _ctx: Any, formatter: Any) -> None:
        """Write the verbs under what they are for."""
        for section, verbs in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(f"{verb:<10}", line) for verb, line in verbs.items()])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Load the verb that is called, and no other."""
        self._called = args[0] if args else ""
        if self._called and not self._called.startswith("-") and self._called not in VERBS:
            ctx.fail(f"No such command {self._called!r}{did_you_mean(self._called, VERBS)}")
        return super().resolve_command(ctx, args)

    def get_command(self, _ctx: Any, cmd_name: str) -> Any:
        """Return the command of the verb that runs; for the list of verbs, a placeholder with only its line of help."""
        if cmd_name not in VERBS:
            return None
        called = cmd_name == getattr(self, "_called", "")
        run = _command(cmd_name) if called else _listed
        verb = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
        verb.command(name=cmd_name, cls=Verb, help=None if called else VERBS[cmd_name])(run)
        command = typer.main.get_command(verb)
        if called:
            _take_settings(command)
        return command


class Verb(TyperCommand):
    """A command with a short help, `-h`, that says how to type a query that begins with a minus sign, which looks like an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; `-h` prints a line for each of them and stops."""
        typed = list(args)
        if "-h" in (args[: args.index("--")] if "--" in args else args) and not ctx.resilient_parsing:
            from mathamr.cli.shorthelp import short_help

            print(short_help(self, ctx))
            ctx.exit()
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            # Typer does not export the error of an unknown option, which alone has this attribute.
            wrong = str(getattr(error, "option_name", ""))
            asked = next((each for each in typed if wrong and each.startswith(wrong)), "")
            if asked.startswith("--") or not asked or all(each.name != "query" for each in self.params):
                raise
            ctx.fail(
                f"No such option: {wrong}; -h lists them. "
                f"Type a query that begins with - behind --, as in -- {shlex.quote(asked)}"
            )
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command; Ctrl-C ends it in one sentence."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise StoppedError from None


def _take_settings(command: Any) -> None:
    """Make the values of the environment and of the user's file the defaults of the options that they are for."""
    for setting in SETTINGS:
        # Models and patterns are asked for by what makes an index, which knows the folder of the notes.
        if command.name in setting.verbs and not setting.local and (given := setting.given):
            for option in command.params:
                if setting.option in option.opts:
                    option.default = given


def _listed() -> None:
    """Stand for a command in the list of `--help`."""


def _command(verb: str) -> Any:
    """Return the function behind a verb: a module of this package, or an entry point of an installed package."""
    if verb not in LABORATORY:
        return import_module(f"mathamr.cli.{verb}").command
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=verb):
        return point.load()
    raise MissingExtraError(
        f"`mathamr {verb}` is part of the laboratory, which",
        "pip install ./lab (in a checkout of the repository)",
    )


app = typer.Typer(
    cls=LazyVerbs,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing rich would double the time of `mathamr --help`
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=False)
def _root(
    *,
    version: bool = typer.Option(
        False,
        "--version",
        help="Print the version and stop.",
        is_eager=True,
        callback=lambda value: _print_version(value=value),
    ),
) -> None:
    """Search mathematics by words and formulas, in your own notes or a whole library."""


def _print_version(*, value: bool) -> None:
    if value:
        print(f"mathamr {__version__}")
        raise typer.Exit


_EXTRAS = {"torch": "torch"}
"""Optional packages, each with the extra that installs it."""


def _make_printable(stream: object) -> None:
    """Let a stream of another encoding take every character: data are UTF-8, a terminal without ≤ gets \\u2264."""
    if not isinstance(stream, TextIOWrapper) or stream.encoding.lower() in ("utf-8", "utf8"):
        return
    if stream.isatty():
        stream.reconfigure(errors="backslashreplace")
    else:
        stream.reconfigure(encoding="utf-8")


def main() -> None:
    """Run the command; print a `MathAMRError` as one message and exit with code 1."""
    collect_rarely()
    atexit.register(gc.freeze)  # skips a last collection, an eighth of a first query's time
    _make_printable(sys.stdout)
    try:
        app()
    except MathAMRError as error:
        print(f"mathamr: {visible(str(error))}", file=sys.stderr)
        sys.exit(STOPPED if isinstance(error, StoppedError) else 1)
    except ModuleNotFoundError as error:
        if (extra := _EXTRAS.get((error.name or "").partition(".")[0])) is None:
            raise
        missing = MissingExtraError(
            f"{error.name}, which this command needs,", f'pip install "mathamr[{extra}]"'
        )
        print(f"mathamr: {missing}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
