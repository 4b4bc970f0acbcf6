from __future__ import annotations

from mathamr.formulas.parse import parse
from mathamr.serve.completion import MOST_FREQUENT, completed, completions


def test_every_snippet_is_something_the_parser_reads_without_repair_of_the_command() -> None:
    for each in completions():
        filled = each.snippet.replace("{}", "{x}")
        if each.command.startswith("\\begin") or each.command in ("\\left", "\\right", "\\middle"):
            continue
        repairs = [repair.message for repair in parse(f"a {filled} b").repairs]
        assert not any("unknown" in message for message in repairs), (each, repairs)


def test_what_is_used_most_comes_first_and_nothing_twice() -> None:
    commands = [each.command for each in completions()]
    assert len(commands) == len(set(commands)) > 500
    listed = [command for command in MOST_FREQUENT if command in commands]
    assert commands[: len(listed)] == listed


def test_a_prefix_narrows_and_k_bounds() -> None:
    found = completed("\\al", 20)
    assert {"command": "\\alpha", "character": "α", "snippet": "\\alpha"} in found
    assert all(each["command"].startswith("\\al") for each in found)
    assert len(completed("", 3)) == 3
    assert completed("\\nosuch", 3) == []
