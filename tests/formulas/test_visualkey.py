from __future__ import annotations

from pathlib import Path

from hypothesis import given

from mathamr.formulas.mathml.markup import slt_from_mathml
from mathamr.formulas.notation import slt_from_string
from mathamr.formulas.parse import parse
from mathamr.formulas.tree import Slt
from mathamr.formulas.visualkey import form_key, visual_key, visual_text
from tests.cases import cases
from tests.formulas.generated import SLTS


@cases(
    ("one", "other"),
    [
        ("[M!()1x1,w[V!x]]", "[([V!x[)]]]"),
        ("[M!()1x1,a[N!2],w[V!x]]", "[([V!x[),o[N!2]]]]"),
        ("[M!()1x2,w[V!x[&comma;],e[V!y]]]", "[([V!x[&comma;[V!y[)]]]]]"),
        ("[V!a[-[V!b]]]", "[V!a[−[V!b]]]"),
        ("[V!f[𝑑[V!x]]]", "[V!f[V!d[V!x]]]"),
        ("[V!x]", "[M!1x1,w[V!x]]"),
        ("[V!erf]", "[T!erf]"),
        ("[M!1x1,u[N!2],w[‖[V!x[‖]]]]", "[‖[V!x[‖,u[N!2]]]]"),
    ],
)
def test_what_visuals_the_same_has_the_same_key(one: str, other: str) -> None:
    assert visual_text(slt_from_string(one)) == visual_text(slt_from_string(other))
    assert visual_key(slt_from_string(one)) == visual_key(slt_from_string(other))


@cases(
    ("one", "other"),
    [
        ("[V!R]", "[V!ℝ]"),
        ("[V!R]", "[V!𝐑]"),
        ("[V!a]", "[T!a]"),
        ("[V!x,a[N!2]]", "[V!x,b[N!2]]"),
        ("[V!x[N!2]]", "[V!x,a[N!2]]"),
        ("[V!s[V!i[V!n]]]", "[V!sin]"),
        ("[O!divide,o[V!a],u[V!b]]", "[V!a[/[V!b]]]"),
        ("[M!1x1,o[¯],w[V!A[V!B]]]", "[V!A[V!B,o[¯]]]"),
        ("[M!()2x1,w[V!a,e[V!b]]]", "[M!()1x2,w[V!a,e[V!b]]]"),
        ("[O!root,w[V!x]]", "[O!root,c[N!3],w[V!x]]"),
        ("[N!1[N!0]]", "[N!10]"),
        ("[E![N!1]]", "[N!1]"),
    ],
)
def test_what_visuals_different_has_another_key(one: str, other: str) -> None:
    assert visual_key(slt_from_string(one)) != visual_key(slt_from_string(other))


@given(SLTS)
def test_every_tree_has_a_key(tree: Slt) -> None:
    assert len(visual_key(tree)) == 24


def test_distinct_visual_ids_seldom_share_a_key(data: Path) -> None:
    """Over ARQMath's own visually distinct formulas, keys fall together only where the eye sees no difference."""
    keys = set()
    with (data / "arqmath-mini/presentation_mathml.tsv").open(encoding="utf-8") as lines:
        next(lines)
        sample = [line.rstrip("\n").split("\t")[2] for number, line in enumerate(lines) if number % 10 == 0]
    for mathml in sample:
        keys.add(visual_key(slt_from_mathml(mathml)))
    assert len(sample) > 3000
    assert len(keys) / len(sample) > 0.99


def key(latex: str) -> str:
    return form_key(parse(latex).slt)


@cases(
    ("one", "other"),
    [
        ("a+b=c", "x+y=z"),
        ("a+b=a", "n+K=n"),
        (r"\alpha^n", "x^m"),
        (r"\mathbf{v}+\mathbf{w}", r"\mathbf{x}+\mathbf{y}"),
        (r"\frac{a}{b}", r"\dfrac{p}{q}"),
        (r"\left(a+b\right)^2", "(x+y)^2"),
    ],
)
def test_a_change_of_names_keeps_the_form(one: str, other: str) -> None:
    assert key(one) == key(other)


@cases(
    ("one", "other"),
    [
        ("a+b=c", "x+y=x"),
        ("a+b=a", "x+y=y"),
        ("a^2", "a^3"),
        ("a+b", "a-b"),
        (r"\sin x", r"\cos x"),
        (r"x\in\mathbb{R}", r"x\in\mathbb{N}"),
        (r"2\pi r", r"2sr"),
        (r"\mathbf{v}+w", "v+w"),
        ("x_1", "x_n"),
    ],
)
def test_another_form_is_another_key(one: str, other: str) -> None:
    assert key(one) != key(other)
