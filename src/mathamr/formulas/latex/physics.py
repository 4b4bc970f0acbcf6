"""Notation of physics: kets, derivatives, brackets (the packages `physics` and `braket`)."""

from __future__ import annotations

from mathamr.formulas.latex.fonts import ALPHABETS, PLAIN
from mathamr.formulas.latex.node import SCRIPT, TEXT, TOKEN, Node
from mathamr.formulas.latex.phrases import words
from mathamr.formulas.latex.reader import COMMANDS, Command, Reader, fraction_node, symbol

_LEFT_ANGLE = Node(TOKEN, "OPEN", "⟨", key="langle")
_RIGHT_ANGLE = Node(TOKEN, "CLOSE", "⟩", key="rangle")
_BAR = Node(TOKEN, "VERTBAR", "|")
_COMMA = Node(TOKEN, "PUNCT", ",")
WORDS = ("if", "then", "else", "otherwise", "unless", "given", "using", "assume", "since", "let", "for", "all", "even",
          "odd", "integer", "and", "or", "as", "in")  # fmt: skip
_D = Node(TOKEN, "UNKNOWN", "d", font=PLAIN)
_DELTA = Node(TOKEN, "UNKNOWN", "δ", font=ALPHABETS["it"])


def _fenced(opening: Node, closing: Node) -> Command:
    """An argument between two delimiters."""

    def put(reader: Reader, nodes: list[Node]) -> None:
        reader.star()
        content = reader.argument()
        nodes.extend([opening, *content, closing])

    return put


def _delimiters(left: str, right: str) -> Command:
    return _fenced(Node(TOKEN, "OPEN", left), Node(TOKEN, "CLOSE", right))


def _bracket(reader: Reader, nodes: list[Node]) -> None:
    """`\\braket{a}`, `\\braket{a|b}`, `\\braket{a}{b}`."""
    reader.star()
    content = reader.argument()
    if reader.peek() == "{":
        content = [*content, _BAR, *reader.argument()]
    nodes.extend([_LEFT_ANGLE, *content, _RIGHT_ANGLE])


def _outer_product(reader: Reader, nodes: list[Node]) -> None:
    reader.star()
    left = reader.argument()
    right = reader.argument() if reader.peek() == "{" else left
    nodes.extend([_BAR, *left, _RIGHT_ANGLE, _LEFT_ANGLE, *right, _BAR])


def _matrix_element(reader: Reader, nodes: list[Node]) -> None:
    reader.star()
    left, middle, right = reader.argument(), reader.argument(), reader.argument()
    nodes.extend([_LEFT_ANGLE, *left, _BAR, *middle, _BAR, *right, _RIGHT_ANGLE])


def _expectation(reader: Reader, nodes: list[Node]) -> None:
    reader.star()
    content = reader.argument()
    if reader.peek() == "{":
        state = reader.argument()
        content = [*state, _BAR, *content, _BAR, *state]
    nodes.extend([_LEFT_ANGLE, *content, _RIGHT_ANGLE])


def _pair(left: str, right: str) -> Command:
    """Two arguments in brackets: a commutator."""

    def put(reader: Reader, nodes: list[Node]) -> None:
        reader.star()
        first, second = reader.argument(), reader.argument()
        nodes.extend([Node(TOKEN, "OPEN", left), *first, _COMMA, *second, Node(TOKEN, "CLOSE", right)])

    return put


def _differential(sign: Node) -> Command:
    def put(reader: Reader, nodes: list[Node]) -> None:
        order = reader.optional()
        nodes.append(sign)
        if order:
            nodes.append(_power(reader, order))
        if reader.peek() == "{":
            nodes.extend(reader.argument())

    return put


def _power(reader: Reader, order: list[Node]) -> Node:
    return Node(
        SCRIPT, "POSTSUPERSCRIPT", children=(reader.expression(order, "Superscript"),), level=reader.level
    )


def _derivative(sign: Node | str) -> Command:
    """`\\dv{f}{x}`, `\\dv{x}`, `\\pdv[2]{f}{x}`, `\\pdv{f}{x}{y}`."""

    def put(reader: Reader, nodes: list[Node]) -> None:
        reader.star()
        order = reader.optional()
        head = sign if isinstance(sign, Node) else symbol(sign, reader.font, reader.style)
        if head is None:
            return
        above = reader.argument()
        below = reader.argument() if reader.peek() == "{" else None
        if below is None:
            above, below = [], above
        second = reader.argument() if isinstance(sign, str) and reader.peek() == "{" else None
        if second is not None and order is None:
            two = symbol("2", reader.font, reader.style)
            numerator = [head, _power(reader, [two] if two else []), *above]
            denominator = [head, *below, head, *second]
        else:
            power = [_power(reader, order)] if order else []
            numerator = [head, *power, *above]
            denominator = [head, *below, *power]
        nodes.append(fraction_node(reader.expression(numerator), reader.expression(denominator)))

    return put


def _short_for(*tokens: str) -> Command:
    """Returns a command that stands for these symbols."""

    def put(reader: Reader, nodes: list[Node]) -> None:
        nodes.extend(
            node for token in tokens if (node := symbol(token, reader.font, reader.style)) is not None
        )

    return put


def _starred(name: str) -> Command:
    """Returns a command that skips an optional star, which only changes the appearance."""

    def put(reader: Reader, nodes: list[Node]) -> None:
        reader.star()
        COMMANDS[name](reader, nodes)

    return put


def _calligraphic(letter: str, fenced: bool) -> Command:
    """`\\order{x}` is 𝒪(x), `\\pv{x}` the principal value 𝒫x."""

    def put(reader: Reader, nodes: list[Node]) -> None:
        reader.star()
        content = reader.argument() if reader.peek() == "{" else []
        nodes.append(Node(TOKEN, "UNKNOWN", letter, font=ALPHABETS["cal"]))
        if fenced and content:
            content = [Node(TOKEN, "OPEN", "("), *content, Node(TOKEN, "CLOSE", ")")]
        nodes.extend(content)

    return put


def _phrase(word: str) -> Command:
    """Words between quads: `\\qq{if}`, `\\qif`; a star leaves out the quad before them."""

    def put(reader: Reader, nodes: list[Node]) -> None:
        if not reader.star():
            COMMANDS["\\quad"](reader, nodes)
        nodes.append(Node(TEXT, text=word) if word else words(reader))
        COMMANDS["\\quad"](reader, nodes)

    return put


def _laplacian(reader: Reader, nodes: list[Node]) -> None:
    """`\\nabla^2`."""
    two = symbol("2", reader.font, reader.style)
    _short_for("\\nabla")(reader, nodes)
    nodes.append(_power(reader, [two] if two is not None else []))


def _set_bracket(reader: Reader, nodes: list[Node]) -> None:
    """`\\Braket{a|b}` of the package braket has one argument."""
    reader.star()
    nodes.extend([_LEFT_ANGLE, *reader.argument(), _RIGHT_ANGLE])


def _named(text: str, role: str = "OPFUNCTION", meaning: str = "") -> Command:
    return lambda reader, nodes: nodes.append(Node(TOKEN, role, text, meaning))


def _quantity(reader: Reader, nodes: list[Node]) -> None:
    """`\\qty(…)` sizes the delimiters that follow; `\\qty{…}` sets braces."""
    reader.star()
    if reader.peek() == "{":
        nodes.extend([Node(TOKEN, "OPEN", "{"), *reader.argument(), Node(TOKEN, "CLOSE", "}")])


def _conditional_set(reader: Reader, nodes: list[Node]) -> None:
    nodes.extend([Node(TOKEN, "OPEN", "{"), *reader.argument(), Node(TOKEN, "CLOSE", "}")])


def _evaluated(reader: Reader, nodes: list[Node]) -> None:
    reader.star()
    if reader.peek() == "{":
        nodes.extend(reader.argument())
        nodes.append(_BAR)


NOTATION: dict[str, Command] = {
    "ket": _fenced(_BAR, _RIGHT_ANGLE),
    "bra": _fenced(_LEFT_ANGLE, _BAR),
    "braket": _bracket,
    "innerproduct": _bracket,
    "ip": _bracket,
    "ketbra": _outer_product,
    "outerproduct": _outer_product,
    "dyad": _outer_product,
    "op": _outer_product,
    "mel": _matrix_element,
    "matrixel": _matrix_element,
    "matrixelement": _matrix_element,
    "ev": _expectation,
    "expval": _expectation,
    "expectationvalue": _expectation,
    "set": _conditional_set,
    "abs": _delimiters("|", "|"),
    "absolutevalue": _delimiters("|", "|"),
    "norm": _delimiters("‖", "‖"),
    "floor": _delimiters("⌊", "⌋"),
    "ceil": _delimiters("⌈", "⌉"),
    "pqty": _delimiters("(", ")"),
    "bqty": _delimiters("[", "]"),
    "Bqty": _delimiters("{", "}"),
    "vqty": _delimiters("|", "|"),
    "qty": _quantity,
    "quantity": _quantity,
    "comm": _pair("[", "]"),
    "commutator": _pair("[", "]"),
    "acomm": _pair("{", "}"),
    "anticommutator": _pair("{", "}"),
    "pb": _pair("{", "}"),
    "poissonbracket": _pair("{", "}"),
    "dd": _differential(_D),
    "differential": _differential(_D),
    "var": _differential(_DELTA),
    "variation": _differential(_DELTA),
    "dv": _derivative(_D),
    "derivative": _derivative(_D),
    "diff": _derivative(_D),
    "odv": _derivative(_D),
    "pdv": _derivative("\\partial"),
    "pderivative": _derivative("\\partial"),
    "partialderivative": _derivative("\\partial"),
    "pdiff": _derivative("\\partial"),
    "fdv": _derivative(_DELTA),
    "functionalderivative": _derivative(_DELTA),
    "eval": _evaluated,
    "evaluated": _evaluated,
    "Tr": _named("Tr"),
    "Trace": _named("Tr"),
    "tr": _named("tr"),
    "trace": _named("tr"),
    "rank": _named("rank"),
    "erf": _named("erf"),
    "Res": _named("Res"),
    "grad": _named("∇", "OPERATOR"),
    "gradient": _named("∇", "OPERATOR"),
    "laplacian": _laplacian,
    "curl": _short_for("\\nabla", "\\times"),
    "divergence": _short_for("\\nabla", "\\cdot"),
    "vb": _starred("\\mathbf"),
    "vectorbold": _starred("\\mathbf"),
    "va": _starred("\\vec"),
    "vectorarrow": _starred("\\vec"),
    "vu": _starred("\\hat"),
    "vectorunit": _starred("\\hat"),
    "order": _calligraphic("O", fenced=True),
    "pv": _calligraphic("P", fenced=False),
    "principalvalue": _calligraphic("P", fenced=False),
    "cp": _named("×", "MULOP", "times"),
    "Residue": _named("Res"),
    "fderivative": _derivative(_DELTA),
    "qq": _phrase(""),
    "qqtext": _phrase(""),
    **{f"q{word}": _phrase(word) for word in WORDS},
    "vdot": _named("⋅", "MULOP"),
    "dotproduct": _named("⋅", "MULOP"),
    "cross": _named("×", "MULOP", "times"),
    "crossproduct": _named("×", "MULOP", "times"),
}
for _name, _command in NOTATION.items():
    COMMANDS.setdefault("\\" + _name, _command)
COMMANDS.setdefault("\\Braket", _set_bracket)
for _big, _small in {"Bra": "bra", "Ket": "ket", "Set": "set"}.items():
    COMMANDS.setdefault("\\" + _big, NOTATION[_small])
