"""Where formulas begin and end, and what of their punctuation belongs to the sentence."""

from __future__ import annotations

from mathamr.posts.markup.delimiters import OPENING, MathScanner, Region, strip_punctuation
from tests.cases import cases


def regions(text: str, money: bool = True) -> list[tuple[str, bool]]:
    """The formulas of a text as (LaTeX, display), read as a caller would."""
    scanner, found, position = MathScanner(text, money=money), [], 0
    while match := OPENING.search(text, position):
        region = scanner.at(match)
        position = match.end()
        if isinstance(region, Region):
            found.append((region.latex, region.display))
            position = region.end
    return found


@cases(
    ("text", "expected"),
    [
        ("let $x$ be", [("x", False)]),
        ("$$x$$", [("x", True)]),
        (r"\(x\) and \[y\]", [("x", False), ("y", True)]),
        ("$a$$b$", [("a", False), ("b", False)]),
        (r"$x \text{ if $y$ holds}$", [(r"x \text{ if $y$ holds}", False)]),
        (r"\begin{equation} x \end{equation}", [("x", True)]),
        (r"\begin{align*}a&b\end{align*}", [(r"\begin{align*}a&b\end{align*}", True)]),
        (
            r"\begin{array}{c}\begin{array}{c}1\end{array}\end{array}",
            [(r"\begin{array}{c}\begin{array}{c}1\end{array}\end{array}", True)],
        ),
        (r"costs \$5, $x$", [("x", False)]),
        (r"$\$5 + x$", [(r"\$5 + x", False)]),
        (r"\\(not math\\)", []),
        (r"\begin{enumerate}\item\end{enumerate}", []),
        ("an open $ stays", []),
        ("a $x\n\ny$ b", []),
        ("$$x\n\ny$$", [("x\n\ny", True)]),
        ("$x { y$ and $z$", [("x { y", False), ("z", False)]),
    ],
)
def test_formulas_between_delimiters(text: str, expected: list[tuple[str, bool]]) -> None:
    assert regions(text) == expected


def test_latex_knows_no_money() -> None:
    assert regions("$5 and $", money=False) == [("5 and", False)]


@cases(
    ("latex", "bare", "mark"),
    [
        ("x=1.", "x=1", "."),
        ("x = 1 ,", "x = 1", ","),
        (r"x=1\,;\ ", "x=1", ";"),
        (r"x \quad .", "x", "."),
        ("n!", "n!", None),
        ("1,2,...", "1,2,...", None),
        (r"1,2,\ldots.", r"1,2,\ldots", "."),
        (r"\left\{ x \right.", r"\left\{ x \right.", None),
        ("x = ?", "x = ?", None),
        ("x > y?", "x > y", "?"),
        (r"a\,", "a", None),
        (r"a \\", "a", None),
        (r"\begin{align} a.\\ \end{align}", r"\begin{align} a\end{align}", "."),
        (".", ".", None),
        ("", "", None),
        ("  ", "", None),
    ],
)
def test_punctuation_moves_out_of_a_formula(latex: str, bare: str, mark: str | None) -> None:
    found, place = strip_punctuation(latex)
    assert found == bare
    assert (None if place is None else latex[place]) == mark
