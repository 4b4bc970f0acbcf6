"""Notation of physics (the packages `physics` and `braket`): commands that stand for plain LaTeX."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.syntax import Expansion

WORDS = ("if", "then", "else", "otherwise", "unless", "given", "using", "assume", "since", "let", "for", "all", "even",
          "odd", "integer", "and", "or", "as", "in")  # fmt: skip


def _written(latex: str, count: int = 1, drawn: str = "") -> Expansion:
    """Expand a fixed number of arguments, perhaps to other LaTeX on a page; a star before them changes only sizes."""
    return Expansion("s" + "m" * count, lambda _, is_drawn: drawn if drawn and is_drawn else latex)


def _one_or_two(one: str, two: str) -> Expansion:
    """Expand one argument in braces, or two; between bars only a page needs `\\middle`."""
    in_trees = two.replace(r"\middle", "")
    return Expansion("smq", lambda given, drawn: (two if drawn else in_trees) if given[2] else one)


def _differential(sign: str) -> Expansion:
    return Expansion("oq", lambda given, _: sign + "^{#1}" * given[0] + "#2" * given[1])


def _derivative(sign: str, *, mixed: bool = False) -> Expansion:
    r"""Expand a derivative: `\dv{f}{x}`, `\dv{x}`, `\pdv[2]{f}{x}`, `\pdv{f}{x}{y}`."""

    def write(given: Sequence[bool]) -> str:
        is_flat, has_order, _, has_second, *is_mixed = given
        fraction = r"\flatfrac" if is_flat else r"\frac"
        above, below = ("#2", "#3") if has_second else ("", "#2")
        numerator, denominator = f"{sign} {above}", f"{sign} {below}"
        if has_order:
            numerator, denominator = f"{sign}^{{#1}} {above}", f"{sign} {below}^{{#1}}"
        elif any(is_mixed):
            numerator, denominator = f"{sign}^2 {above}", rf"{sign} {below}\,{sign} #4"
        return f"{fraction}{{{numerator}}}{{{denominator}}}"

    return Expansion("somqq" if mixed else "somq", lambda given, _: write(given))


def _if_braced(latex: str, otherwise: str = "") -> Expansion:
    """Expand an argument in braces; without one the command stands for other LaTeX."""
    return Expansion("sq", lambda given, _: latex if given[1] else otherwise)


def _vector(in_trees: str, drawn: str) -> Expansion:
    """Set a vector in bold on a page, with a star also its Greek letters."""
    bold = drawn.replace(r"\mathbf", r"\boldsymbol")
    return Expansion("sm", lambda given, is_drawn: (bold if given[0] else drawn) if is_drawn else in_trees)


def _phrase(word: str) -> Expansion:
    """Put words between quads: `\\qq{if}`, `\\qif`; a star leaves out the quad before them."""
    text = rf"\text{{{word or '#1'}}}\quad"
    return Expansion("s" if word else "sm", lambda given, _: text if given[0] else r"\quad" + text)


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
    "vb vectorbold": _vector(r"\mathbf{#1}", r"\mathbf{#1}"),
    "va vectorarrow": _vector(r"\vec{#1}", r"\vec{\mathbf{#1}}"),
    "vu vectorunit": _vector(r"\hat{#1}", r"\hat{\mathbf{#1}}"),
    "vdot dotproduct": _written(r"\cdot", 0, r"\boldsymbol\cdot"),
    "cross crossproduct cp": _written(r"\times", 0, r"\boldsymbol\times"),
}
PHYSICS = {f"\\{name}": expansion for names, expansion in _TABLE.items() for name in names.split()}
NOTATION = frozenset(PHYSICS) - {"\\Bra", "\\Ket", "\\Braket", "\\Set"}
"""Commands that documents define themselves under the same names."""
