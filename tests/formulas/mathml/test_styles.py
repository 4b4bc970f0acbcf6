from __future__ import annotations

from importlib.resources import files

from mathamr.formulas.mathml.styles import (
    STYLES,
    are_known,
    classes,
    declarations,
    style_sheet,
)


def test_later_declarations_win_whatever_the_order_of_the_names() -> None:
    assert declarations("first cell") == declarations("cell first") == f"{STYLES['cell']}; {STYLES['first']}"


def test_only_our_names_are_known() -> None:
    assert all(map(are_known, ["left above", "tucked"]))
    assert not any(map(are_known, ["left  above", "evil", ""]))


def test_the_page_says_what_the_classes_mean() -> None:
    """Change `STYLES`, and the page must follow: `python -c "from mathamr.formulas.mathml.styles import style_sheet; …"`."""
    page = (files("mathamr.serve") / "page" / "formulas.css").read_text(encoding="utf-8")
    assert page.partition("*/\n")[2] == style_sheet()


def test_quirks_are_never_written_into_markup() -> None:
    assert declarations("tucked") == ""
    assert classes("left tucked") == "math-left math-tucked"
