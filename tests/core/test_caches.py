"""What is remembered has an end: a server that answers for months must not grow with what it was asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import mathamr
from mathamr.formulas.trees import LONGEST_REMEMBERED
from mathamr.index.indexing import analysis
from mathamr.index.lexical import bags, terms
from mathamr.posts.post import Formula
from mathamr.posts.rendering import drawing

PACKAGE = Path(mathamr.__file__).parent
FEW = {
    "fused_products_work", "_pool", "worthwhile", "whole_products", "arithmetic", "_compiled", "_fingerprint",
    "integer_products",
}  # fmt: skip
"""Asked with a device, a process, the size of a model's vectors, the name of a reading: there are a handful of each."""


def endless(source: str) -> Iterator[str]:
    """The functions that remember every argument they were ever given."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        named = [ast.unparse(decorator) for decorator in node.decorator_list]
        parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        if parameters and any(
            name in ("cache", "functools.cache", "lru_cache(None)", "lru_cache(maxsize=None)")
            for name in named
        ):
            yield node.name


def test_an_endless_cache_is_found() -> None:
    assert list(endless("@cache\ndef f(x): ...\n@cache\ndef g(): ...\n@lru_cache(9)\ndef h(x): ...")) == ["f"]


def test_no_cache_grows_without_end() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    found = {name for path, text in sources.items() if "cache" in text for name in endless(text)}
    assert found <= FEW, "give it a size, or say here why it has an end"


@pytest.mark.parametrize(
    ("remembered", "ask"),
    [
        (terms._terms_of_latex, terms.formula_terms),
        (bags._bag_of_latex, bags.formula_bag),
        (analysis._key_of_latex, lambda formula: analysis._visual_key(formula, ())),
        (drawing._remembered, lambda formula: drawing.draw_formula(formula, ())),
    ],
)
def test_only_short_formulas_are_remembered(remembered, ask) -> None:  # type: ignore[no-untyped-def]
    assert remembered.cache_info().maxsize <= 10_000
    before = remembered.cache_info().currsize
    ask(Formula("", "x+" * LONGEST_REMEMBERED + "1"))
    assert remembered.cache_info().currsize == before
    remembered.cache_clear()
    ask(Formula("", "x^{17}+1"))
    assert remembered.cache_info().currsize == 1
