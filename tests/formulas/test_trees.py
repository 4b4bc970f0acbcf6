"""What is remembered of trees has an end in bytes, and is what a parse gives."""

from __future__ import annotations

import tracemalloc

import pytest

from mathamr.core.settings import TREES
from mathamr.formulas import trees
from mathamr.formulas.parse import parse
from mathamr.formulas.trees import LARGEST_SHARE, Readings, TreeCache, trees_of
from mathamr.posts.post import Formula


def asked(latex: str, *macros: str) -> tuple[str, tuple[str, ...]]:
    return latex, macros


def read(latex: str) -> Readings:
    formula = parse(latex)
    return Readings(formula.opt, formula.slt, False)


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> TreeCache:
    own = TreeCache(1 << 20)
    monkeypatch.setattr(trees, "REMEMBERED", own)
    return own


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The formulas that are parsed, as often as they are."""
    seen: list[str] = []
    for name in ("parse", "both_readings"):
        made = getattr(trees, name)
        monkeypatch.setattr(
            trees, name, lambda latex, *rest, made=made: seen.append(latex) or made(latex, *rest)
        )
    return seen


def test_both_readings_come_of_one_parse(memory: TreeCache, parses: list[str]) -> None:
    formula = Formula("1", r"f(x)=\int_0^1 g\,dt")
    (meant, layout), _ = trees_of(formula, reading="mathematician")
    assert trees_of(Formula("2", formula.latex))[0] == (parse(formula.latex).opt, layout)
    assert meant == parse(formula.latex, reading="mathematician").opt != parse(formula.latex).opt
    assert parses == [formula.latex]


def test_a_reading_that_nobody_asked_for_is_made_when_somebody_does(memory: TreeCache) -> None:
    formula = Formula("1", "f(x)")
    published, _ = trees_of(formula)
    meant, _ = trees_of(formula, reading="mathematician")
    assert meant[0] == parse("f(x)", reading="mathematician").opt != published[0]
    assert trees_of(formula)[0] == published
    assert len(memory) == 1


def test_what_cannot_be_read_is_tried_once(memory: TreeCache, parses: list[str]) -> None:
    for reading in ("mathematician", "published", "mathematician"):
        assert trees_of(Formula("1", "{}"), reading=reading) == ((None, None), True)
    assert parses == ["{}"]


def test_bytes_bound_what_is_remembered_and_the_oldest_go_first() -> None:
    memory = TreeCache(60 * read("x+10").size)
    for number in range(10, 99):
        memory.put(asked(f"x+{number}"), read(f"x+{number}"))
        memory.get(asked("x+10"))
        assert memory.weight <= memory.most_weight
    assert memory.get(asked("x+10")) == read("x+10")
    assert memory.get(asked("x+11")) is None
    assert memory.get(asked("x+98")) == read("x+98")
    memory.clear()
    assert (len(memory), memory.weight) == (0, 0)


def test_the_bytes_are_no_fewer_than_python_takes() -> None:
    latex = [rf"\frac{{a_{{{number}}}}}{{b+{number}}}" for number in range(300)]
    memory = TreeCache(1 << 24)
    for one in latex:
        read(one)  # what parsing remembers of symbols is not counted
    tracemalloc.start()
    try:
        for one in latex:
            memory.put(asked(one), read(one))
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken <= memory.weight
    assert len(memory) == len(latex)


def test_a_formula_that_would_fill_it_is_not_remembered() -> None:
    memory = TreeCache(LARGEST_SHARE * read("x").size + 5_000)
    memory.put(asked("x"), read("x"))
    long = "+".join("x" * 200)
    memory.put(asked(long), read(long))
    memory.put(asked("y", "%" * 10_000), read("y"))
    assert len(memory) == 1
    assert memory.weight < memory.most_weight


PRESENTATION = "<math><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow></math>"
CONTENT = "<math><apply><plus/><ci>a</ci><ci>b</ci></apply></math>"
FORMULA = Formula("f", "x^2", presentation_mathml=PRESENTATION, content_mathml=CONTENT)


def test_latex_is_preferred_unless_mathml_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    written = parse("x^2")
    assert trees_of(FORMULA)[0] == (written.opt, written.slt)
    monkeypatch.setenv(TREES.name, "mathml")
    opt, slt = trees_of(FORMULA)[0]
    assert opt is not None
    assert slt is not None
    assert {"V!a", "V!b"} <= set(slt.labels) & set(opt.labels)
    assert (opt, slt) == trees_of(Formula("f", "", presentation_mathml=PRESENTATION, content_mathml=CONTENT))[
        0
    ]


def test_a_tree_without_mathml_comes_from_latex(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TREES.name, "mathml")
    opt, slt = trees_of(Formula("f", "x^2", presentation_mathml=PRESENTATION))[0]
    assert opt == parse("x^2").opt
    assert slt is not None
    assert "V!a" in slt.labels
    assert trees_of(Formula("f", "x^2"))[0] == (parse("x^2").opt, parse("x^2").slt)
    broken = Formula("f", "x^2", presentation_mathml="<math><unclosed", content_mathml=CONTENT)
    assert trees_of(broken)[0][1] == parse("x^2").slt
