"""`Amr`: what the constructor settles, what it refuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.amr.graph import Amr, InvalidAmrError, is_atom
from tests.amr.strategies import graphs
from tests.cases import cases

Triples = list[tuple[str, str, str]]
BOY = Amr("w", (("w", "want-01"), ("b", "boy")), (("w", ":ARG0", "b"),))


@cases(
    ("edges", "attributes", "kept"),
    [
        ([("b", ":ARG0-of", "r")], [], ([("r", ":ARG0", "b")], [])),  # an inverted edge is turned round
        ([("b", ":consist-of", "r")], [], ([("b", ":consist-of", "r")], [])),  # this role only looks inverted
        (
            [("r", ":ARG0", "b"), ("b", ":ARG0-of", "r")],
            [("r", ":polarity", "-")] * 2,
            ([("r", ":ARG0", "b")], [("r", ":polarity", "-")]),
        ),
        # a constant spelled like a variable is quoted
        ([("r", ":ARG0", "b")], [("b", ":mode", "b")], ([("r", ":ARG0", "b")], [("b", ":mode", '"b"')])),
    ],
)
def test_triples_are_kept_once_and_in_one_direction(
    edges: Triples, attributes: Triples, kept: tuple[Triples, Triples]
) -> None:
    amr = Amr("b", (("b", "boy"), ("r", "run-01")), tuple(edges), tuple(attributes))
    assert (list(amr.edges), list(amr.attributes)) == kept


@cases(
    ("arguments", "message"),
    [
        (("b", ()), "at least one node"),
        (("b", (("b", "boy"), ("b", "girl"))), "'b' stands for two nodes"),
        (("x", (("b", "boy"),)), "top 'x'"),
        (("b", (("b", "boy"),), (("b", ":ARG0", "x"),)), "'x' is not a variable"),
        (("b", (("b", "boy"),), (("x", ":ARG0", "b"),)), "'x' is not a variable"),
        (("b", (("b", "boy"),), (), (("x", ":mode", "-"),)), "'x' is not a variable"),
        (("b", (("b", "boy"), ("g", "girl"))), "disconnected graph: no path leads from the top 'b' to 'g'"),
        (("b", (("b", "boy"), ("g", "girl")), (("b", "mod", "g"),)), "'mod' is not a role"),
        (("b", (("b", "boy"), ("g", "girl")), (("b", ":mod x", "g"),)), "':mod x' is not a role"),
        (("b", (("b", "boy"),), (("b", ":instance", "b"),)), "':instance' is not a role"),
        (("b c", (("b c", "boy"),)), "'b c' is not a variable"),
        (("b", (("b", "boy"),), (), (), ("boy",), (("g", (0,)),)), "alignment of 'g'"),
        (("b", (("b", "boy"),), (), (), ("boy",), (("b", (-1,)),)), "alignment of 'b'"),
    ],
)
def test_what_is_no_graph_is_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InvalidAmrError, match="^.*" + message.replace("(", r"\(")):
        Amr(*arguments)  # type: ignore[arg-type]


def test_renaming_keeps_the_graph() -> None:
    amr = Amr("w", BOY.instances, BOY.edges, (("w", ":polarity", "-"),), ("wants",), (("w", (0,)),))
    renamed = amr.renamed({"w": "x"})
    assert renamed.to_penman() == "(x / want-01 :polarity -\n    :ARG0 (b / boy))"
    assert renamed.alignments == (("x", (0,)),)
    assert renamed.renamed({"x": "w"}) == amr


@given(st.text())
def test_is_atom_says_what_penman_reads_as_one_token(text: str) -> None:
    from penman._lexer import lex

    if is_atom(text):
        assert [token.type for token in lex(text)] in (["SYMBOL"], ["STRING"])


@given(graphs())
def test_json_round_trip(amr: Amr) -> None:
    assert Amr.from_json(amr.to_json()) == amr
    assert Amr.from_json(amr.to_json()).metadata == amr.metadata
    assert "\n" not in amr.to_json()
