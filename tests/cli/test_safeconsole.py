from __future__ import annotations

import io

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mathamr.cli.safeconsole import SafeConsole


def test_colours_are_ours_alone() -> None:
    written = io.StringIO()
    console = SafeConsole(file=written, force_terminal=True, width=60, color_system="standard")
    table = Table("a")
    table.add_row("in a table \x1b[2J")
    for each in ("a name\x1b]0;owned\x07", Text("bold \x9b1A", style="bold"), table):
        console.print(each, markup=False, highlight=False)
    shown = written.getvalue()
    assert "\x1b[1m" in shown, "our own style is there"
    for sign in ("\x1b]", "\x07", "\x9b", "\x1b[2J"):
        assert sign not in shown
    assert "\\x1b]0;owned" in shown


def test_output_to_a_pipe_is_never_wrapped_nor_padded() -> None:
    written = io.StringIO()
    long = "a/very/long/path/" * 20 + "modular_symbols.html:81"
    console = SafeConsole(file=written)
    console.print(Text(long))
    console.print(Padding.indent(Text(long), 5))
    table = Table("a", "b", box=None)
    table.add_row(long, long)
    console.print(table)
    lines = written.getvalue().splitlines()
    assert lines[:2] == [long, f"     {long}"]
    assert lines[3].count(long) == 2


def test_a_terminal_wraps_at_its_width() -> None:
    written = io.StringIO()
    SafeConsole(file=written, force_terminal=True, width=40).print(Text("word " * 20))
    assert max(map(len, written.getvalue().splitlines())) <= 40
