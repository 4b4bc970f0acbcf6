"""Hits as the command line prints them."""

from __future__ import annotations

from mathamr.cli.hitdisplay import _formula
from mathamr.search.hits import FormulaHit


def test_what_matched_is_underlined_where_a_label_is_left_out() -> None:
    latex = r"\label{eq:one} a^2 + \label{eq:two}b"
    place = latex.index("a^2")
    hit = FormulaHit("7:0", latex, "v", None, True, 1, False, "7:0", ((place, place + 3),))
    text = _formula(hit)
    assert text.plain == "$a^2 + b$"
    underlined = [span for span in text.spans if "underline" in str(span.style)]
    assert [text.plain[span.start : span.end] for span in underlined] == ["a^2"]
