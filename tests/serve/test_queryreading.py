"""What an answer says of its query."""

from __future__ import annotations

from mathamr.search.query import Query
from mathamr.serve.queryreading import query_shown


def test_the_formulas_of_notes_are_drawn() -> None:
    notes = ["also searched: $x^2$", "no formula costs $5"]
    shown = query_shown(Query.of_text("squares"), notes)
    assert shown["notes"] == notes
    (words, formula), others = shown["note_pieces"]
    assert (words["text"], formula["latex"]) == ("also searched: ", "x^2")
    assert "<math" in formula["mathml"]
    assert "".join(each["text"] for each in others) == "no formula costs $5"
