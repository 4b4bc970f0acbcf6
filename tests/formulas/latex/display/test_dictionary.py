from __future__ import annotations

from mathamr.formulas.latex.display.dictionary import STRETCHED, default_spaces


def test_known_spaces_are_those_of_tex_classes() -> None:
    assert default_spaces("=") == (5 / 18, 5 / 18)
    assert default_spaces("+") == (4 / 18, 4 / 18)
    assert default_spaces(",") == (0.0, 3 / 18)
    assert default_spaces("∗") is None


def test_bars_and_parentheses_would_grow() -> None:
    assert set("()[]{}|‖") <= STRETCHED
