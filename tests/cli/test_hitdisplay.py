"""Hits as the command line prints them."""

from __future__ import annotations

import pytest

from mathamr.cli.hitdisplay import _formula, _show_hit
from mathamr.cli.safeconsole import SafeConsole
from mathamr.search.hits import FormulaHit, Hit


def test_what_matched_is_underlined_where_a_label_is_left_out() -> None:
    latex = r"\label{eq:one} a^2 + \label{eq:two}b"
    place = latex.index("a^2")
    hit = FormulaHit("7:0", latex, "v", None, True, 1, False, "7:0", ((place, place + 3),))
    text = _formula(hit)
    assert text.plain == "$a^2 + b$"
    underlined = [span for span in text.spans if "underline" in str(span.style)]
    assert [text.plain[span.start : span.end] for span in underlined] == ["a^2"]


def test_tags_do_not_repeat_the_place_of_a_declaration(capsys: pytest.CaptureFixture[str]) -> None:
    tags = ("simp", "module:A", "module:A.B", "namespace:C")
    _show_hit(Hit("A/B.lean#C.d", 1, 1.0, "theorem", tags=tags), SafeConsole())
    shown = capsys.readouterr().out
    assert "#simp" in shown
    assert "module:" not in shown
    assert "namespace:" not in shown
