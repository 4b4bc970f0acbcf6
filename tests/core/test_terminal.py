"""What strangers wrote is shown, never obeyed."""

from __future__ import annotations

import unicodedata

from mathamr.core.terminal import visible
from mathamr.posts.report import Report
from tests.cases import cases


@cases("sign", ["\x1b[2J", "\x1b]0;x\x07", "\x9b1A", "\r", "\x08", "\u202e", "\x7f", "\udcff"])
def test_what_a_terminal_obeys_is_spelt_out(sign: str) -> None:
    shown = visible(f"a{sign}b")
    assert shown.startswith("a\\")
    assert all(unicodedata.category(character) not in ("Cc", "Cf", "Cs") for character in shown)


def test_text_of_people_stays_as_it_is() -> None:
    text = "Über ∑ aᵢ\tund\nZeilen 数学 עברית"
    assert visible(text) == text


def test_a_report_about_a_file_with_an_odd_name_is_readable() -> None:
    report = Report()
    report.at("notes\x1b]0;owned\x07.md")
    report.skip("unreadable", "no \x1b[31mtext")
    (line,) = report.lines()
    assert "\x1b" not in line
    assert "\\x1b]0;owned\\x07.md" in line
