"""A hit prints as what it is."""

from __future__ import annotations

from mathamr.search.fragment import Fragment
from mathamr.search.hits import Hit


def test_a_hit_and_its_title_print_as_text_and_are_drawn_as_fragments() -> None:
    title = (Fragment("text", "Why is "), Fragment("formula", "x^2", "7:0"), Fragment("text", " positive?"))
    hit = Hit("notes/a.md", 1, 0.83456, "note", title, (Fragment("text", "Because."),))
    assert str(hit.title) == "Why is $x^2$ positive?"
    assert f"{hit.title!r}" == "'Why is $x^2$ positive?'"
    assert repr(hit) == "Hit(1, 'notes/a.md', 0.8346, 'Why is $x^2$ positive?')"
    assert tuple(hit.title) == title
    assert hit.to_json()["title_fragments"][1]["text"] == "x^2"
