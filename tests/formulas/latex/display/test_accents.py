from __future__ import annotations

import pytest

from tests.formulas.latex.display.drawing import drawn, first, styles_of, text_of


@pytest.mark.parametrize(("command", "name"), [(r"\overline", "overline"), (r"\underline", "underline")])
def test_lines_are_borders_and_so_as_long_as_what_they_cover(command: str, name: str) -> None:
    line = drawn(command + "{AB+C}")
    assert (line.tag, styles_of(line), text_of(line)) == ("mrow", [name], "AB+C")


def test_accents_keep_their_size_and_wide_ones_stretch() -> None:
    assert first(drawn(r"\hat{x}"), "mo").attributes["stretchy"] == "false"
    assert first(drawn(r"\overrightarrow{AB}"), "mo").attributes["stretchy"] == "true"
    assert first(drawn(r"\widehat{ABC}"), "mo").attributes["stretchy"] == "true"
    tildes = [styles_of(first(drawn(rf"\widetilde{{{base}}}"), "mo")) for base in ("x", "xy", "xyz")]
    assert tildes == [[], ["wider"], ["widest"]]


def test_the_label_of_a_brace_is_under_it() -> None:
    labelled = first(drawn(r"\underbrace{1+1}_{n}"), "munder")
    assert text_of(labelled.children[1]) == "n"
    assert text_of(labelled.children[0]) == "1+1⏟"
    assert drawn(r"\underbrace{a}_b", display=False).tag == "munder"


def test_options_of_brackets_are_not_drawn() -> None:
    assert text_of(drawn(r"\overbracket[2pt][3pt]{x}")) == "x⎴"


def test_what_stands_above_a_relation_leaves_it_one() -> None:
    stacked = drawn(r"a\stackrel{\text{def}}{=}b")
    assert first(stacked, "mo", "=").attributes["stretchy"] == "false"
    assert first(stacked, "mo", "=").attributes["movablelimits"] == "false"
    assert "lspace" not in first(stacked, "mo", "=").attributes  # a relation: the browser's own space
    assert first(drawn(r"\underset{x\to0}{\lim}", display=False), "munder").children[1].tag == "mrow"


def test_arrows_are_longer_than_their_labels() -> None:
    arrow = first(drawn(r"A\xrightarrow[below]{f}B"), "munderover")
    assert arrow.children[0].attributes["stretchy"] == "true"
    assert [text_of(label) for label in arrow.children[1:]] == ["below", "f"]
    for label in arrow.children[1:]:
        ends = label.children[0].attributes["width"], label.children[-1].attributes["width"]
        assert all(float(end.removesuffix("em")) >= 0.6 for end in ends)


def test_an_arrow_without_labels_has_a_length() -> None:
    assert first(drawn(r"\xleftarrow{}"), "mover").children[1].attributes == {"width": "2.6em"}
