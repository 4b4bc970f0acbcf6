"""Notation of physics (the packages `physics` and `braket`): commands that stand for plain LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mathamr.formulas.latex.syntax import Expansion

if TYPE_CHECKING:
    from mathamr.formulas.latex.reader import Reader
    from mathamr.formulas.latex.syntax import Row

WORDS = ("if", "then", "else", "otherwise", "unless", "given", "using", "assume", "since", "let", "for", "all", "even",
          "odd", "integer", "and", "or", "as", "in")  # fmt: skip


def _written(latex: str, count: int = 1, drawn: str = "") -> Expansion:
    """Expand a fixed number of arguments, perhaps to other LaTeX on a page; a star before them changes only sizes."""

    def read(reader: Reader) -> Row:
        reader.star()
        arguments = [reader.raw_places() for _ in range(count)]
        return reader.substitute(drawn if drawn and reader.drawn else latex, *arguments)

    return Expansion(read)


def _one_or_two(one: str, two: str) -> Expansion:
    """Expand one argument in braces, or two; between bars only a page needs `\\middle`."""

    def read(reader: Reader) -> Row:
        reader.star()
        first = reader.raw_places()
        if reader.peek() != "{":
            return reader.substitute(one, first)
        return reader.substitute(
            two if reader.drawn else two.replace(r"\middle", ""), first, reader.raw_places()
        )

    return Expansion(read)


def _order(reader: Reader) -> range | None:
    """Read the tokens of an argument in brackets."""
    if reader.peek() != "[":
        return None
    start = reader.i + 1
    reader.raw_optional()
    return range(start, reader.i - 1)


def _differential(sign: str) -> Expansion:
    def read(reader: Reader) -> Row:
        order = _order(reader)
        row = reader.substitute(sign if order is None else sign + "^{#1}", order or ())
        return row + reader.argument() if reader.peek() == "{" else row

    return Expansion(read)


def _derivative(sign: str, *, mixed: bool = False) -> Expansion:
    """`\\dv{f}{x}`, `\\dv{x}`, `\\pdv[2]{f}{x}`, `\\pdv{f}{x}{y}`."""

    def read(reader: Reader) -> Row:
        fraction = r"\flatfrac" if reader.star() else r"\frac"
        order = _order(reader)
        above: Sequence[int] = reader.raw_places()
        if reader.peek() == "{":
            below: Sequence[int] = reader.raw_places()
        else:
            above, below = (), above
        second = reader.raw_places() if mixed and reader.peek() == "{" else None
        if second is not None and order is None:
            numerator, denominator = f"{sign}^2 #1", rf"{sign} #2\,{sign} #3"
        elif order is not None:
            numerator, denominator = f"{sign}^{{#4}} #1", f"{sign} #2^{{#4}}"
        else:
            numerator, denominator = f"{sign} #1", f"{sign} #2"
        latex = f"{fraction}{{{numerator}}}{{{denominator}}}"
        return reader.substitute(latex, above, below, second or (), order or ())

    return Expansion(read)


def _if_braced(latex: str, otherwise: str = "") -> Expansion:
    """Expand an argument in braces; without one the command stands for other LaTeX."""

    def read(reader: Reader) -> Row:
        reader.star()
        if reader.peek() == "{":
            return reader.substitute(latex, reader.raw_places())
        return reader.substitute(otherwise) if otherwise else []

    return Expansion(read)


def _starred(accent: str) -> Expansion:
    """Set a vector in bold on a page, with a star also its Greek letters."""

    def read(reader: Reader) -> Row:
        bold = r"\boldsymbol" if reader.star() and reader.drawn else r"\mathbf"
        inside = f"{bold}{{#1}}" if reader.drawn or not accent else "#1"
        return reader.substitute(f"{accent}{{{inside}}}" if accent else inside, reader.raw_places())

    return Expansion(read)


def _phrase(word: str) -> Expansion:
    """Put words between quads: `\\qq{if}`, `\\qif`; a star leaves out the quad before them."""

    def read(reader: Reader) -> Row:
        before = "" if reader.star() else r"\quad"
        if word:
            return reader.substitute(rf"{before}\text{{{word}}}\quad")
        return reader.substitute(before + r"\text{#1}\quad", reader.raw_places())

    return Expansion(read)


_D = r"\mathrm{d}"
_TABLE: dict[str, Expansion] = {
    "ket Ket": _written(r"\left|#1\right\rangle"),
    "bra Bra": _written(r"\left\langle #1\right|"),
    "braket innerproduct ip": _one_or_two(
        r"\left\langle #1\right\rangle", r"\left\langle #1\middle|#2\right\rangle"
    ),
    "Braket": _written(r"\left\langle #1\right\rangle"),
    "ketbra outerproduct dyad op": _one_or_two(
        r"\left|#1\right\rangle\!\left\langle #1\right|", r"\left|#1\right\rangle\!\left\langle #2\right|"
    ),
    "mel matrixel matrixelement": _written(
        r"\left\langle #1|#2|#3\right\rangle", 3, r"\left\langle #1\middle|#2\middle|#3\right\rangle"
    ),
    "ev expval expectationvalue": _one_or_two(
        r"\left\langle #1\right\rangle", r"\left\langle #2\middle|#1\middle|#2\right\rangle"
    ),
    "set Set": _written(r"\left\{\,#1\,\right\}"),
    "abs absolutevalue vqty": _written(r"\left\lvert #1\right\rvert"),
    "norm": _written(r"\left\|#1\right\|"),
    "floor": _written(r"\left\lfloor #1\right\rfloor"),
    "ceil": _written(r"\left\lceil #1\right\rceil"),
    "pqty": _written(r"\left(#1\right)"),
    "bqty": _written(r"\left[#1\right]"),
    "Bqty": _written(r"\left\{#1\right\}"),
    "qty quantity": _if_braced(r"\left\{#1\right\}"),
    "comm commutator": _written(r"\left[#1,#2\right]", 2),
    "acomm anticommutator pb poissonbracket": _written(r"\left\{#1,#2\right\}", 2),
    "mqty matrixquantity smqty": _written(r"\begin{matrix}#1\end{matrix}"),
    "pmqty spmqty": _written(r"\begin{pmatrix}#1\end{pmatrix}"),
    "bmqty sbmqty": _written(r"\begin{bmatrix}#1\end{bmatrix}"),
    "vmqty svmqty mdet smdet": _written(r"\begin{vmatrix}#1\end{vmatrix}"),
    "dd differential": _differential(_D),
    "var variation": _differential(r"\delta"),
    "dv derivative diff odv": _derivative(_D),
    "pdv pderivative partialderivative pdiff": _derivative(r"\partial", mixed=True),
    "fdv functionalderivative fderivative": _derivative(r"\delta"),
    "eval evaluated": _if_braced(r"\left.#1\right|"),
    "Tr Trace": _written(r"\operatorname{Tr}", 0),
    "tr trace": _written(r"\operatorname{tr}", 0),
    "rank": _written(r"\operatorname{rank}", 0),
    "erf": _written(r"\operatorname{erf}", 0),
    "Res Residue": _written(r"\operatorname{Res}", 0),
    "grad gradient": _written(r"\nabla", 0, r"\boldsymbol{\nabla}"),
    "curl": _written(r"\nabla\times", 0, r"\boldsymbol{\nabla}\times"),
    "divergence": _written(r"\nabla\cdot", 0, r"\boldsymbol{\nabla}\cdot"),
    "laplacian": _written(r"\nabla^2", 0),
    "order": _if_braced(r"\mathcal{O}\left(#1\right)", r"\mathcal{O}"),
    "pv principalvalue": _if_braced(r"\mathcal{P}#1", r"\mathcal{P}"),
    "qq qqtext": _phrase(""),
    **{f"q{word}": _phrase(word) for word in WORDS},
    "vb vectorbold": _starred(""),
    "va vectorarrow": _starred(r"\vec"),
    "vu vectorunit": _starred(r"\hat"),
    "vdot dotproduct": _written(r"\cdot", 0, r"\boldsymbol\cdot"),
    "cross crossproduct cp": _written(r"\times", 0, r"\boldsymbol\times"),
}
PHYSICS = {f"\\{name}": expansion for names, expansion in _TABLE.items() for name in names.split()}
NOTATION = frozenset(PHYSICS) - {"\\Bra", "\\Ket", "\\Braket", "\\Set"}
"""Commands that documents define themselves under the same names."""
