"""What commands do: fractions, roots, accents, fonts, operators, delimiters, text."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from mathamr.formulas.latex import styles
from mathamr.formulas.latex.assembly import script_operator
from mathamr.formulas.latex.characters import character_by_number
from mathamr.formulas.latex.fonts import (
    ALPHABETS,
    BOLD_COMMANDS,
    FONT_COMMANDS,
    PLAIN,
    Font,
    chosen,
    emboldened,
)
from mathamr.formulas.latex.node import (
    HINT,
    SCRIPT,
    TEXT,
    TOKEN,
    WILDCARD,
    Node,
    apply,
    dual,
    operator,
    row,
)
from mathamr.formulas.latex.phrases import words
from mathamr.formulas.latex.reader import COMMANDS, Command, Reader, command, fraction_node, symbol
from mathamr.formulas.latex.symbols import (
    ACCENTS,
    DELIMITERS,
    LONG_ARROWS,
    SYMBOLS,
    UNDER_ACCENTS,
    UPRIGHT_GREEK,
)
from mathamr.formulas.latex.text import (
    BOXES,
    LOGOS,
    TEXT_ACCENTS,
    TEXT_FONTS,
    accented,
    composed,
)

# -- fractions and roots


@command("\\frac", "\\dfrac", "\\tfrac", "\\nicefrac", "\\sfrac", "\\flatfrac")
def _frac(reader: Reader, nodes: list[Node]) -> None:
    style = reader.style
    reader.set_style(styles.SMALLER[style])
    numerator, denominator = reader.parsed_argument("numerator"), reader.parsed_argument("denominator")
    reader.set_style(style)
    nodes.append(fraction_node(numerator, denominator))


@command("\\cfrac")
def _continued(reader: Reader, nodes: list[Node]) -> None:
    reader.raw_optional()
    numerator, denominator = reader.parsed_argument("numerator"), reader.parsed_argument("denominator")
    nodes.append(apply(operator("continued-fraction"), numerator, denominator))


@command("\\binom", "\\dbinom", "\\tbinom")
def _binomial(reader: Reader, nodes: list[Node]) -> None:
    style = reader.style
    reader.set_style(styles.SMALLER[style])
    above, below = reader.parsed_argument(), reader.parsed_argument()
    reader.set_style(style)
    shown = row([Node(TOKEN, "OPEN", "("), fraction_node(above, below, "", False), Node(TOKEN, "CLOSE", ")")])
    nodes.append(dual(apply(operator("binomial"), above, below), shown))


@command("\\genfrac")
def _general_fraction(reader: Reader, nodes: list[Node]) -> None:
    left, right = _raw_delimiter(reader, "OPEN"), _raw_delimiter(reader, "CLOSE")
    thickness, _style = reader.raw_argument(), reader.raw_argument()
    numerator, denominator = reader.parsed_argument("numerator"), reader.parsed_argument("denominator")
    line = not re.fullmatch(r"0*\.?0*\s*[a-z]{2}|0", thickness.strip())
    meaning = "divide" if line else ""
    nodes.append(fraction_node(numerator, denominator, meaning, line, left, right))


def _raw_delimiter(reader: Reader, role: str) -> Node | None:
    written = reader.raw_argument().strip()
    if not written or written == ".":
        return None
    text, _, name = DELIMITERS.get(written, (written, "", ""))
    return Node(TOKEN, role, text, key=name or text)


@command("\\sqrt")
def _root(reader: Reader, nodes: list[Node]) -> None:
    style = reader.style
    reader.set_style(styles.SCRIPT)
    degree = reader.optional()
    reader.set_style(style)
    radicand = reader.parsed_argument("radicand")
    if degree:
        nodes.append(apply(operator("nth-root"), reader.expression(degree), radicand))
    else:
        nodes.append(apply(operator("square-root"), radicand))


@command("\\root")
def _plain_root(reader: Reader, nodes: list[Node]) -> None:
    degree = reader.read_up_to("\\of", "\\root")
    nodes.append(apply(operator("nth-root"), reader.expression(degree), reader.parsed_argument("radicand")))


# -- accents, things above and below


def _accent(name: str, text: str, role: str) -> Command:
    position = "mid" if name.endswith(("brace", "bracket")) else ""
    bracket = name.endswith("bracket")

    def put(reader: Reader, nodes: list[Node]) -> None:
        if bracket:
            reader.raw_optional()
            reader.raw_optional()
        base = reader.parsed_argument()
        node = apply(Node(TOKEN, role, text), base)
        node.position = position
        nodes.append(node)

    return put


for _name, _text in ACCENTS.items():
    COMMANDS[_name] = _accent(_name, _text, "OVERACCENT")
for _name, _text in UNDER_ACCENTS.items():
    COMMANDS[_name] = _accent(_name, _text, "UNDERACCENT")


def _placed(role: str) -> Command:
    def put(reader: Reader, nodes: list[Node]) -> None:
        above = reader.parsed_argument()
        base = reader.parsed_argument()
        nodes.append(apply(above.with_role(role), base))

    return put


COMMANDS["\\overset"] = _placed("OVERACCENT")
COMMANDS["\\underset"] = _placed("UNDERACCENT")


@command("\\overunderset")
def _over_and_under(reader: Reader, nodes: list[Node]) -> None:
    above, below, base = reader.parsed_argument(), reader.parsed_argument(), reader.parsed_argument()
    nodes.append(apply(above.with_role("OVERACCENT"), apply(below.with_role("UNDERACCENT"), base)))


@command("\\stackrel", "\\stackbin")
def _stacked_relation(reader: Reader, nodes: list[Node]) -> None:
    role = "BINOP" if reader.tokens[reader.i - 1] == "\\stackbin" else "RELOP"
    above, base = reader.expression(reader.script_argument()), reader.parsed_argument()
    _append_stacked(reader, nodes, above, base, role)


@command("\\buildrel")
def _built_relation(reader: Reader, nodes: list[Node]) -> None:
    above = reader.read_up_to("\\over", "\\buildrel")
    _append_stacked(reader, nodes, reader.expression(above), reader.parsed_argument())


def _append_stacked(reader: Reader, nodes: list[Node], above: Node, base: Node, role: str = "RELOP") -> None:
    node = apply(Node(TOKEN, "SUPERSCRIPTOP", position="mid", level=reader.level), base, above)
    node.role = role
    nodes.append(node)


def _long_arrow(text: str) -> Command:
    def put(reader: Reader, nodes: list[Node]) -> None:
        below = reader.optional()
        above = reader.parsed_argument()
        arrow = apply(above.with_role("OVERACCENT"), Node(TOKEN, "ARROW", text))
        arrow.role = "ARROW"
        if below:
            arrow = apply(reader.expression(below).with_role("UNDERACCENT"), arrow)
            arrow.role = "ARROW"
        nodes.append(arrow)

    return put


for _name, _text in LONG_ARROWS.items():
    COMMANDS[_name] = _long_arrow(_text)


@command("\\sideset")
def _side_set(reader: Reader, nodes: list[Node]) -> None:
    """Reads scripts at the four corners of a big operator, which keeps its limits; anything else gets them beside it."""
    before, after, node = reader.argument(), reader.argument(), reader.parsed_argument()
    position, level = node.position or "post", reader.level
    for script in reversed([one for one in before if one.kind == SCRIPT]):
        node = apply(script_operator(_operator_of(script), "pre", level), node, script.children[0])
        level += script.role.startswith("FLOAT")
    for script in (one for one in after if one.kind == SCRIPT):
        level += script.role.startswith("FLOAT")
        node = apply(script_operator(_operator_of(script), "post", level), node, script.children[0])
    node.position, node.level = position, reader.level
    nodes.extend(one for one in before if one.kind != SCRIPT)
    nodes.append(node)
    nodes.extend(one for one in after if one.kind != SCRIPT)


def _operator_of(script: Node) -> str:
    return "SUPERSCRIPTOP" if script.role.endswith("SUPERSCRIPT") else "SUBSCRIPTOP"


@command("\\prescript")
def _prescript(reader: Reader, nodes: list[Node]) -> None:
    above, below = reader.script_argument(), reader.script_argument()
    for kind, rule, content in (("SUPERSCRIPT", "Superscript", above), ("SUBSCRIPT", "Subscript", below)):
        if content:
            nodes.append(
                Node(SCRIPT, "FLOAT" + kind, children=(reader.expression(content, rule),), level=reader.level)
            )
    nodes.extend(reader.argument())


# -- fonts and styles


def _in_font(change: Callable[[Font], Font]) -> Command:
    def put(reader: Reader, nodes: list[Node]) -> None:
        font = reader.font
        reader.set_font(change(font))
        nodes.extend(reader.argument())
        reader.set_font(font)

    return put


for _name, _alphabet in FONT_COMMANDS.items():
    COMMANDS[_name] = _in_font(partial(chosen, alphabet=ALPHABETS[_alphabet]))
for _name in BOLD_COMMANDS:
    COMMANDS[_name] = _in_font(emboldened)


def _style(style: int) -> Command:
    def put(reader: Reader, nodes: list[Node]) -> None:
        reader.set_style(style)

    return put


COMMANDS["\\displaystyle"] = _style(styles.DISPLAY)
COMMANDS["\\textstyle"] = _style(styles.TEXT)
COMMANDS["\\scriptstyle"] = _style(styles.SCRIPT)
COMMANDS["\\scriptscriptstyle"] = _style(styles.SCRIPTSCRIPT)


def _upright(letter: str) -> Command:
    node = Node(TOKEN, "UNKNOWN", letter)
    return lambda reader, nodes: nodes.append(node)


for _name, _letter in UPRIGHT_GREEK.items():
    COMMANDS.setdefault(_name, _upright(_letter))


# -- operators and roles


def named_operator(reader: Reader, role: str, position: str) -> Node:
    """`\\operatorname{…}`: an upright name that is applied to what follows."""
    font = reader.font
    reader.set_font(chosen(font, PLAIN))
    content = reader.argument("name")
    reader.set_font(font)
    return reader.expression(content).with_role(role, position)


@command("\\operatorname")
def _operator_name(reader: Reader, nodes: list[Node]) -> None:
    if reader.star():
        nodes.append(named_operator(reader, "OPERATOR", "mid"))
    else:
        nodes.append(named_operator(reader, "OPFUNCTION", "post"))


@command(
    "\\operatornamewithlimits",
    "\\operatorname*",
)
def _operator_with_limits(reader: Reader, nodes: list[Node]) -> None:
    nodes.append(named_operator(reader, "OPERATOR", "mid"))


_CONCATENATED = frozenset(["OP", "BIGOP", "RELOP", "METARELOP", "ADDOP", "MULOP", "BINOP", "OPEN", "CLOSE"])


def _classed(role: str) -> Command:
    def put(reader: Reader, nodes: list[Node]) -> None:
        position = "mid" if role == "BIGOP" and reader.style == styles.DISPLAY else ""
        content = [node for node in reader.argument() if node.kind != HINT or len(node.text) != 2]
        if not content:
            return
        if (
            len(content) > 1
            and role in _CONCATENATED
            and all(node.kind == TOKEN and node.role in _CONCATENATED for node in content)
        ):
            text = "".join(node.text for node in content)
            nodes.append(Node(TOKEN, role, text, font=reader.font, position=position))
        else:
            nodes.append(reader.expression(content).with_role(role, position))

    return put


for _name, _role in {
    "\\mathord": "ID", "\\mathop": "BIGOP", "\\mathbin": "BINOP", "\\mathrel": "RELOP", "\\mathopen": "OPEN",
    "\\mathclose": "CLOSE", "\\mathpunct": "PUNCT", "\\mathinner": "ATOM",
}.items():  # fmt: skip
    COMMANDS[_name] = _classed(_role)


def _limits(position: str) -> Command:
    def put(reader: Reader, nodes: list[Node]) -> None:
        for index in range(len(nodes) - 1, -1, -1):
            node = nodes[index]
            if node.kind == HINT:
                continue
            if node.kind == SCRIPT:
                continue
            nodes[index] = node.with_role(node.role, position)
            return

    return put


COMMANDS["\\limits"] = _limits("mid")
COMMANDS["\\nolimits"] = _limits("post")
COMMANDS["\\displaylimits"] = lambda reader, nodes: _limits(
    "mid" if reader.style == styles.DISPLAY else "post"
)(reader, nodes)


def _under_or_over_limit(accent: str, role: str, meaning: str) -> Command:
    def put(reader: Reader, nodes: list[Node]) -> None:
        name = Node(TOKEN, "OPFUNCTION", "lim", position="post")
        nodes.append(
            dual(operator(meaning, role="LIMITOP"), apply(Node(TOKEN, role, accent), name), "LIMITOP")
        )

    return put


COMMANDS["\\varlimsup"] = _under_or_over_limit("¯", "OVERACCENT", "limit-supremum")
COMMANDS["\\varliminf"] = _under_or_over_limit("¯", "UNDERACCENT", "limit-infimum")
COMMANDS["\\varinjlim"] = _under_or_over_limit("→", "UNDERACCENT", "injective-limit")
COMMANDS["\\varprojlim"] = _under_or_over_limit("←", "UNDERACCENT", "projective-limit")


@command("\\pmod")
def _modulo_in_parentheses(reader: Reader, nodes: list[Node]) -> None:
    modulus = reader.parsed_argument()
    name = Node(TOKEN, "BIGOP", "mod", position="mid")
    shown = row([Node(TOKEN, "OPEN", "("), apply(name, modulus), Node(TOKEN, "CLOSE", ")")])
    content = apply(Node(TOKEN, "UNKNOWN", "", key="pmod"), modulus)
    nodes.append(dual(content, shown, "MODIFIER"))


@command("\\pod")
def _parenthesized_modulus(reader: Reader, nodes: list[Node]) -> None:
    modulus = reader.parsed_argument()
    shown = row([Node(TOKEN, "OPEN", "("), modulus, Node(TOKEN, "CLOSE", ")")])
    nodes.append(dual(apply(operator("modulo"), modulus), shown, "MODIFIER"))


@command("\\dots", "\\dotsx")
def _dots(reader: Reader, nodes: list[Node]) -> None:
    entry = SYMBOLS.get(reader.peek())
    raised = entry is not None and entry.role in ("ADDOP", "BINOP", "MULOP", "RELOP")
    nodes.append(Node(TOKEN, "ID", "⋯" if raised else "…", key="dots"))


# -- delimiters


def _sized(role: str) -> Command:
    def put(reader: Reader, nodes: list[Node]) -> None:
        if reader.peek() == ".":
            nodes.append(reader.delimiter(left=True))
            return
        content = reader.argument("delimiter")
        if content and role and content[-1].role in ("OPEN", "MIDDLE", "CLOSE", "VERTBAR", "UNKNOWN", ""):
            content = [*content[:-1], content[-1].with_role(role)]
        nodes.extend(content)

    return put


for _size in ("big", "Big", "bigg", "Bigg"):
    for _suffix, _role in {"": "", "l": "OPEN", "m": "MIDDLE", "r": "CLOSE"}.items():
        COMMANDS[f"\\{_size}{_suffix}"] = _sized(_role)


@command("\\middle")
def _middle(reader: Reader, nodes: list[Node]) -> None:
    node = reader.delimiter(left=True)
    nodes.append(node.with_role("MIDDLE") if node.kind == TOKEN else node)


# -- text


def _textual(name: str, font: Font | None) -> Command:
    lengths = BOXES.get(name)

    def put(reader: Reader, nodes: list[Node]) -> None:
        if lengths is not None:
            if lengths:
                reader.raw_argument()
            while reader.raw_optional() is not None:
                pass
        nodes.append(words(reader, font))

    return put


for _name, _font in TEXT_FONTS.items():
    if _name not in COMMANDS:
        COMMANDS[_name] = _textual(_name, _font)


def _accented_letter(mark: str) -> Command:
    """Accents of text in a formula: `\\'e` is a word of one letter."""

    def put(reader: Reader, nodes: list[Node]) -> None:
        nodes.append(Node(TEXT, text=composed(accented(reader.raw_argument(), mark))))

    return put


for _name, _mark in TEXT_ACCENTS.items():
    if _name not in COMMANDS:
        COMMANDS[_name] = _accented_letter(_mark)


def _dotted(text: str) -> Command:
    """`\\d` and `\\b`: words with a mark below."""

    def put(reader: Reader, nodes: list[Node]) -> None:
        nodes.append(apply(Node(TOKEN, "UNDERACCENT", text), words(reader)))

    return put


COMMANDS["\\d"], COMMANDS["\\b"] = _dotted("⋅"), _dotted("¯")


@command(*(f"\\{logo}" for logo in LOGOS))
def _logo(reader: Reader, nodes: list[Node]) -> None:
    nodes.append(Node(TEXT, text=reader.tokens[reader.i - 1][1:]))


@command("\\char", "\\symbol", "\\unicode")
def _character(reader: Reader, nodes: list[Node]) -> None:
    character = character_by_number(reader)
    if character is not None:
        node = symbol(character, PLAIN, reader.style)
        nodes.append(node if node is not None else Node(TOKEN, "UNKNOWN", character))


@command("\\ref", "\\eqref", "\\cite")
def _reference(reader: Reader, nodes: list[Node]) -> None:
    """Reads a reference as an empty text, because its target is unknown."""
    reader.raw_optional()
    reader.raw_argument()
    nodes.append(Node(TEXT))


# -- what cannot be read


@command("&")
def _stray_alignment(reader: Reader, nodes: list[Node]) -> None:
    reader.repair("stray &")
    nodes.append(Node(TOKEN, "UNKNOWN", "&"))


@command("\\qvar")
def _wildcard(reader: Reader, nodes: list[Node]) -> None:
    nodes.append(Node(WILDCARD, text=reader.raw_argument().strip() or "x"))


@command("\\qvar@construct")
def _question_and_next(reader: Reader, nodes: list[Node]) -> None:
    """Reproduces what older conversions with wildcards made of a question mark and the next token."""
    for token in ("?", reader.raw_argument()):
        node = symbol(token, reader.font, reader.style)
        if node is not None:
            nodes.append(node)


@command("?")
def _question_mark(reader: Reader, nodes: list[Node]) -> None:
    following = reader.tokens[reader.i] if reader.i < reader.count else ""
    if reader.wildcards and len(following) == 1 and following.isalnum():
        reader.i += 1
        nodes.append(Node(WILDCARD, text=following))
        return
    node = symbol("?", reader.font, reader.style)
    if node is not None:
        nodes.append(node)
