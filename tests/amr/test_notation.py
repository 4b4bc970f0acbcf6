"""Penman text: our writer and reader against the `penman` library."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import penman
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from penman.models.amr import model

from mathamr.amr.graph import OF_ROLES, Amr
from mathamr.amr.notation import depth, layout, written_order
from mathamr.core.errors import ParseError
from tests.amr.strategies import graphs
from tests.cases import cases

BOY = """\
# ::id 7 ::annotator us
# ::snt The boy, std::vector ::x, wants to run.
# ::tok The boy wants to run .
(w / want-01~e.2
    :ARG0 (b / boy~e.1)
    :ARG1 (r / run-01~e.3,4
        :ARG0 b))"""


def test_the_inverse_looking_roles_are_those_of_the_library() -> None:
    assert {role for role in model.roles if role.endswith("-of")} == OF_ROLES


@given(graphs())
def test_the_library_reads_our_text_to_the_same_triples(amr: Amr) -> None:
    for text in (
        amr.to_penman(),
        amr.to_penman(one_line=True),
        amr.to_penman(alignments=True, metadata=True),
    ):
        text.encode()
        read = penman.decode(text, model=model)
        assert read.top == amr.top
        assert sorted(read.triples) == sorted(amr.triples())


@given(graphs())
def test_our_reader_inverts_our_writer(amr: Amr) -> None:
    text = amr.to_penman(alignments=True, metadata=True)
    read = Amr.from_penman(text)
    assert sorted(read.triples()) == sorted(amr.triples())
    assert dict(read.alignments) == dict(amr.alignments)
    assert len(read.tokens) == len(amr.tokens)
    assert read.to_penman(alignments=True, metadata=True) == text


@given(graphs())
def test_our_reader_reads_what_the_library_writes(amr: Amr) -> None:
    graph = penman.Graph(list(amr.triples()), top=amr.top)
    assert sorted(Amr.from_penman(penman.encode(graph, model=model)).triples()) == sorted(amr.triples())


@given(graphs())
def test_nodes_are_in_the_order_in_which_they_are_defined(amr: Amr) -> None:
    read = penman.decode(amr.to_penman(), model=model)
    assert written_order(amr.top, amr.concepts(), amr.edges) == [node.source for node in read.instances()]


def test_every_node_is_written_once_and_every_edge_once() -> None:
    amr = Amr.from_penman(BOY)
    written = [edge for edges in layout(amr).values() for edge in edges]
    assert len(written) == len(amr.edges)
    assert sum(defines for _, _, defines in written) == len(amr) - 1


def test_alignments_tokens_and_metadata_survive() -> None:
    amr = Amr.from_penman(BOY)
    assert amr.tokens == ("The", "boy", "wants", "to", "run", ".")
    assert dict(amr.alignments) == {"w": (2,), "b": (1,), "r": (3, 4)}
    assert dict(amr.metadata) == {
        "id": "7",
        "annotator": "us",
        "snt": "The boy, std::vector ::x, wants to run.",
    }
    assert amr.to_penman(alignments=True) == BOY.split("\n", 3)[3]
    assert "~" not in amr.to_penman()


def test_an_alignment_of_a_constant_belongs_to_its_node() -> None:
    amr = Amr.from_penman('(n / name :op1 "Euler"~e.3 :op2~e.9 5~4)')
    assert amr.alignments == (("n", (3, 4)),)


def test_the_text_of_one_line_is_one_line() -> None:
    line = Amr.from_penman(BOY).to_penman(one_line=True)
    assert line == "(w / want-01 :ARG0 (b / boy) :ARG1 (r / run-01 :ARG0 b))"


def test_a_node_without_concept_may_refer_to_one_that_has_it() -> None:
    assert Amr.from_penman("(w / want-01 :ARG0 (b) :ARG1 (b / boy))").edges == (
        ("w", ":ARG0", "b"),
        ("w", ":ARG1", "b"),
    )


def test_a_very_deep_graph_is_written_and_read() -> None:
    size = 5_000
    names = [f"n{number}" for number in range(size)]
    chain = Amr(
        "n0",
        tuple((n, "next") for n in names),
        tuple((a, ":n", b) for a, b in pairwise(names)),
    )
    assert depth(chain) == size
    text = chain.to_penman()
    assert len(text) < 300 * size
    assert Amr.from_penman(text).edges == chain.edges


def test_the_layout_is_as_flat_as_the_graph() -> None:
    names = [f"n{number}" for number in range(50)]
    ring = (
        *((a, ":n", b) for a, b in pairwise(names)),
        *(("n0", ":mod", n) for n in names[1:]),
    )
    assert depth(Amr("n0", tuple((n, "x") for n in names), ring)) == 2


@cases(
    ("text", "message", "offset"),
    [
        ("", "an opening parenthesis should stand here", 0),
        ("(", "a variable should stand here", 1),
        ("()", "a variable should stand here", 1),
        ("(a / b", "a closing parenthesis should stand here", 6),
        ("(a / )", "node 'a' has no concept", 5),
        ("(a / b :r)", "the role :r has no target", 9),
        ("(a / b :r :s c)", "the role :r has no target", 10),
        ("(a / b))", "text follows", 7),
        ("(a / b) (c / d)", "text follows", 8),
        ('(a / "b)', "node 'a' has no concept", 5),
        ("(a / b :ARG0 (c))", "node 'c' has no concept", 14),
        ("# ::snt x\n(a / b c)", "a role or a closing parenthesis", 17),
        ("(a / b :ARG0 (a / c))", "'a' stands for two nodes", 0),
    ],
)
def test_an_error_shows_the_place(text: str, message: str, offset: int) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        Amr.from_penman(text, "notes.amr")
    assert (caught.value.offset, caught.value.source) == (offset, "notes.amr")


@given(st.one_of(st.text(), st.text(alphabet='()/:~"ab \\#\n-of1.', max_size=30)))
@example("(a / b :ARG0-of 5)")
@example('(a / "\\")')
def test_any_text_is_a_graph_or_a_clear_error(text: str) -> None:
    try:
        amr = Amr.from_penman(text)
    except ParseError:
        return
    assert sorted(Amr.from_penman(amr.to_penman()).triples()) == sorted(amr.triples())


def test_the_gold_corpora_read_as_the_library_reads_them(data: Path) -> None:
    path = data / "amr" / "bio-dev.txt"
    blocks = path.read_text(encoding="utf-8").split("\n\n")
    ours = [Amr.from_penman(block, path.name) for block in blocks if "(" in block]
    theirs = penman.load(path, model=model)
    assert len(ours) == len(theirs) == 500
    for our, their in zip(ours, theirs, strict=True):
        assert set(our.triples()) == set(their.triples)
        assert dict(our.metadata)["id"] == their.metadata["id"]
        assert sorted(penman.decode(our.to_penman(), model=model).triples) == sorted(our.triples())
