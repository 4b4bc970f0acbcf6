"""Notation of physics (the packages `physics` and `braket`), expanded to plain LaTeX."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.display.atom import Atom
from mathamr.formulas.latex.display.typesetter import COMMANDS, Command, Typesetter
from mathamr.formulas.latex.environments import MATRICES_IN_BRACES
from mathamr.formulas.latex.physics import WORDS


def _written(latex: str, count: int = 1) -> Command:
    """Expands a fixed number of arguments; a star before them changes only sizes, which follow the content anyway."""

    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        setter.star()
        atoms.extend(setter.substituted(latex, *[setter.raw_tokens() for _ in range(count)]))

    return put


def _one_or_two(one: str, two: str) -> Command:
    """One argument in braces, or two."""

    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        setter.star()
        first = setter.raw_tokens()
        if setter.peek() == "{":
            atoms.extend(setter.substituted(two, first, setter.raw_tokens()))
        else:
            atoms.extend(setter.substituted(one, first))

    return put


def _differential(sign: str) -> Command:
    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        order = _order(setter)
        atoms.extend(setter.substituted(sign if order is None else sign + "^{#1}", order or ()))
        if setter.peek() == "{":
            atoms.extend(setter.argument())

    return put


def _order(setter: Typesetter) -> Sequence[str] | None:
    """Returns the tokens of an argument in brackets."""
    if setter.peek() != "[":
        return None
    start = setter.i + 1
    setter.raw_optional()
    return setter.tokens[start : setter.i - 1]


def _derivative(sign: str, mixed: bool = False) -> Command:
    """`\\dv{f}{x}`, `\\dv{x}`, `\\pdv[2]{f}{x}`, `\\pdv{f}{x}{y}`."""

    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        flat = setter.star()
        order = _order(setter)
        above: Sequence[str] = setter.raw_tokens()
        if setter.peek() == "{":
            below: Sequence[str] = setter.raw_tokens()
        else:
            above, below = (), above
        second = setter.raw_tokens() if mixed and setter.peek() == "{" else None
        if second is not None and order is None:
            numerator, denominator = f"{sign}^2 #1", rf"{sign} #2\,{sign} #3"
        elif order is not None:
            numerator, denominator = f"{sign}^{{#4}} #1", f"{sign} #2^{{#4}}"
        else:
            numerator, denominator = f"{sign} #1", f"{sign} #2"
        latex = f"{numerator} / {denominator}" if flat else rf"\frac{{{numerator}}}{{{denominator}}}"
        atoms.extend(setter.substituted(latex, above, below, second or (), order or ()))

    return put


def _quantity(setter: Typesetter, atoms: list[Atom]) -> None:
    """`\\qty(…)` lets the delimiters that follow grow; `\\qty{…}` sets braces."""
    setter.star()
    if setter.peek() == "{":
        atoms.extend(setter.substituted(r"\left\{#1\right\}", setter.raw_tokens()))


def _starred(plain: str, starred: str) -> Command:
    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        latex = starred if setter.star() else plain
        atoms.extend(setter.substituted(latex, setter.raw_tokens()))

    return put


def _phrase(word: str) -> Command:
    """Words between quads: `\\qq{if}`, `\\qif`; a star leaves out the quad before them."""

    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        before = "" if setter.star() else r"\quad"
        content = [word] if word else setter.raw_tokens()
        atoms.extend(setter.substituted(before + r"\text{#1}\quad", content))

    return put


def _calligraphic(letter: str, opening: str = "", closing: str = "") -> Command:
    """`\\order{x}` is 𝒪(x), `\\pv{x}` the principal value 𝒫x."""

    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        alone = rf"\mathcal{{{letter}}}"
        if setter.peek() == "{":
            atoms.extend(setter.substituted(f"{alone}{opening}#1{closing}", setter.raw_tokens()))
        else:
            atoms.extend(setter.substituted(alone))

    return put


_D = r"\mathrm{d}"
_EXPECTATION = _one_or_two(
    r"\left\langle #1\right\rangle", r"\left\langle #2\middle|#1\middle|#2\right\rangle"
)
_OUTER = _one_or_two(
    r"\left|#1\right\rangle\!\left\langle #1\right|", r"\left|#1\right\rangle\!\left\langle #2\right|"
)
_INNER = _one_or_two(r"\left\langle #1\right\rangle", r"\left\langle #1\middle|#2\right\rangle")
_MATRIX_ELEMENT = _written(r"\left\langle #1\middle|#2\middle|#3\right\rangle", 3)
_SET = _written(r"\left\{\,#1\,\right\}")
_PHYSICS: dict[str, Command] = {
    **dict.fromkeys(["ket", "Ket"], _written(r"\left|#1\right\rangle")),
    **dict.fromkeys(["bra", "Bra"], _written(r"\left\langle #1\right|")),
    **dict.fromkeys(["braket", "innerproduct", "ip"], _INNER),
    "Braket": _written(r"\left\langle #1\right\rangle"),
    **{
        name: _written(rf"\begin{{{matrix}}}#1\end{{{matrix}}}")
        for name, matrix in MATRICES_IN_BRACES.items()
    },
    **dict.fromkeys(["ketbra", "outerproduct", "dyad", "op"], _OUTER),
    **dict.fromkeys(["mel", "matrixel", "matrixelement"], _MATRIX_ELEMENT),
    **dict.fromkeys(["ev", "expval", "expectationvalue"], _EXPECTATION),
    **dict.fromkeys(["set", "Set"], _SET),
    **dict.fromkeys(["abs", "absolutevalue", "vqty"], _written(r"\left|#1\right|")),
    "norm": _written(r"\left\|#1\right\|"),
    "floor": _written(r"\left\lfloor #1\right\rfloor"),
    "ceil": _written(r"\left\lceil #1\right\rceil"),
    "pqty": _written(r"\left(#1\right)"),
    "bqty": _written(r"\left[#1\right]"),
    "Bqty": _written(r"\left\{#1\right\}"),
    **dict.fromkeys(["qty", "quantity"], _quantity),
    **dict.fromkeys(["comm", "commutator"], _written(r"\left[#1,#2\right]", 2)),
    **dict.fromkeys(
        ["acomm", "anticommutator", "pb", "poissonbracket"], _written(r"\left\{#1,#2\right\}", 2)
    ),
    **dict.fromkeys(["dd", "differential"], _differential(_D)),
    **dict.fromkeys(["var", "variation"], _differential(r"\delta")),
    **dict.fromkeys(["dv", "derivative", "diff", "odv"], _derivative(_D)),
    **dict.fromkeys(
        ["pdv", "pderivative", "partialderivative", "pdiff"], _derivative(r"\partial", mixed=True)
    ),
    **dict.fromkeys(["fdv", "functionalderivative", "fderivative"], _derivative(r"\delta")),
    **dict.fromkeys(["eval", "evaluated"], _written(r"\left.#1\right|")),
    **dict.fromkeys(["Tr", "Trace"], _written(r"\operatorname{Tr}", 0)),
    **dict.fromkeys(["tr", "trace"], _written(r"\operatorname{tr}", 0)),
    "rank": _written(r"\operatorname{rank}", 0),
    "erf": _written(r"\operatorname{erf}", 0),
    **dict.fromkeys(["Res", "Residue"], _written(r"\operatorname{Res}", 0)),
    **dict.fromkeys(["grad", "gradient"], _written(r"\boldsymbol{\nabla}", 0)),
    "curl": _written(r"\boldsymbol{\nabla}\times", 0),
    "divergence": _written(r"\boldsymbol{\nabla}\cdot", 0),
    "order": _calligraphic("O", r"\left(", r"\right)"),
    **dict.fromkeys(["pv", "principalvalue"], _calligraphic("P")),
    **dict.fromkeys(["qq", "qqtext"], _phrase("")),
    **{f"q{word}": _phrase(word) for word in WORDS},
    "laplacian": _written(r"\nabla^2", 0),
    **dict.fromkeys(["vb", "vectorbold"], _starred(r"\mathbf{#1}", r"\boldsymbol{#1}")),
    **dict.fromkeys(["va", "vectorarrow"], _starred(r"\vec{\mathbf{#1}}", r"\vec{\boldsymbol{#1}}")),
    **dict.fromkeys(["vu", "vectorunit"], _starred(r"\hat{\mathbf{#1}}", r"\hat{\boldsymbol{#1}}")),
    **dict.fromkeys(["vdot", "dotproduct"], _written(r"\boldsymbol\cdot", 0)),
    **dict.fromkeys(["cross", "crossproduct", "cp"], _written(r"\boldsymbol\times", 0)),
}
for _name, _command in _PHYSICS.items():
    COMMANDS.setdefault("\\" + _name, _command)
