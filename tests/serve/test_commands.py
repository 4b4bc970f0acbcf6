from __future__ import annotations

from mathamr.formulas.parse import parse
from mathamr.serve.commands import MOST_FREQUENT, commands


def test_every_snippet_is_something_the_parser_reads_without_repair_of_the_command() -> None:
    for each in commands():
        filled = each.snippet.replace("{}", "{x}")
        if each.command.startswith("\\begin") or each.command in ("\\left", "\\right", "\\middle"):
            continue
        repairs = [repair.message for repair in parse(f"a {filled} b").repairs]
        assert not any("unknown" in message for message in repairs), (each, repairs)


def test_what_is_used_most_comes_first_and_nothing_twice() -> None:
    names = [each.command for each in commands()]
    assert len(names) == len(set(names)) > 500
    listed = [command for command in MOST_FREQUENT if command in names]
    assert names[: len(listed)] == listed
