"""Pieces and runs know where their characters came from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mathamr.posts.markup.piece import Piece, PieceRun


@given(
    st.lists(st.tuples(st.text("ab", min_size=1, max_size=4), st.booleans()), min_size=1, max_size=8),
    st.data(),
)
def test_origins_of_a_run_agree_with_a_character_by_character_map(
    atoms: list[tuple[str, bool]], data: st.DataObject
) -> None:
    run, where, source = PieceRun(), [], 0
    for text, decoded in atoms:
        length = 9 if decoded else len(text)
        run.add(text, source, source + length)
        for index in range(len(text)):
            where.append((source, source + length) if decoded else (source + index, source + index + 1))
        source += length
    assert run.text() == "".join(text for text, _ in atoms)
    first = data.draw(st.integers(0, len(where) - 1))
    last = data.draw(st.integers(first + 1, len(where)))
    assert run.origin(first, last) == (where[first][0], where[last - 1][1])
    assert "".join(piece.text for piece in run.pieces(first, last)) == run.text()[first:last]


def test_held_pieces_come_back_in_their_place() -> None:
    run = PieceRun()
    run.add("ab", 0, 2)
    formula = Piece("formula", 2, 9, "x")
    run.hold([formula], 2, 9, "$x$")
    run.add("cd", 9, 11)
    assert [piece.text for piece in run.pieces(1, 4)] == ["b", "x", "c"]
    assert run.held(0, len(run)) == ([formula], ["$x$"])
    assert run.held(3, 5) == ([], [])
