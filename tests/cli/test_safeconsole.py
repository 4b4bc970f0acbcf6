from __future__ import annotations

import io

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
