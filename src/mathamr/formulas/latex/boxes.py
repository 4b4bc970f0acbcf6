"""Layout commands: space, boxes, colours, and commands without a trace in a formula."""

from __future__ import annotations

from mathamr.formulas.latex.cursor import DIMENSION
from mathamr.formulas.latex.node import HINT, SCRIPT, Node
from mathamr.formulas.latex.reader import COMMANDS, Command, Reader, command
from mathamr.formulas.latex.symbols import SPACES
from mathamr.formulas.latex.transparent import second_shown, shown

_POINTS = {
    "pt": 1.0, "em": 10.0, "ex": 4.3, "mu": 1 / 1.8, "cm": 28.45, "mm": 2.845, "in": 72.27, "pc": 12.0, "bp": 1.00375,
    "px": 0.75, "dd": 1.07, "cc": 12.84, "sp": 1 / 65536,
}  # fmt: skip


def space(points: float, name: str = "", phantom: bool = False) -> Node:
    """Space of a width; wide space separates."""
    return Node(HINT, text=name, level=round(points * 10), position="phantom" if phantom else "")


def _fixed_space(name: str, points: float) -> Command:
    node = space(points, name)
    return lambda reader, nodes: nodes.append(node)


for _name, _width in SPACES.items():
    COMMANDS[_name] = _fixed_space(_name, _width)


def points_of(text: str) -> float:
    """A length in points; 0 for text that is not a length."""
    match = DIMENSION.match(text)
    number = match.group(1).replace(",", ".") if match else ""
    if not match or not number.strip("+-.") or not match.group(2):
        return 0.0
    return min(float(number), 1e4) * _POINTS[match.group(2)]


@command("\\hspace", "\\mspace", "\\hspace*")
def _horizontal_space(reader: Reader, nodes: list[Node]) -> None:
    reader.star()
    nodes.append(space(points_of(reader.raw_argument()), "hspace"))


@command("\\hskip", "\\kern", "\\mkern", "\\mskip", "\\vskip")
def _skip(reader: Reader, nodes: list[Node]) -> None:
    """Space by a bare length; only math units count as wide, as in the published trees."""
    name = reader.tokens[reader.i - 1]
    length = reader.dimension()
    nodes.append(space(points_of(length) if name in ("\\mkern", "\\mskip") else 0.0, "skip"))


@command("\\phantom", "\\hphantom", "\\vphantom")
def _phantom(reader: Reader, nodes: list[Node]) -> None:
    content = reader.argument()
    nodes.append(space(5.0 * len(content), "phantom", phantom=True))


@command("\\color", "\\tag")
def _ignored_with_argument(reader: Reader, nodes: list[Node]) -> None:
    reader.star()
    reader.raw_optional()
    reader.raw_argument()


@command("\\raise", "\\lower")
def _shift(reader: Reader, nodes: list[Node]) -> None:
    """Skips the distance of a moved box, which is otherwise unchanged."""
    reader.dimension()


command("\\smash", "\\mathclap", "\\mathllap", "\\mathrlap", "\\crampedclap", "\\crampedllap", "\\crampedrlap", "\\bbox",
        "\\clap", "\\lefteqn", "\\red", "\\blue", "\\green", "\\orange", "\\pink", "\\purple", "\\gray")(shown)  # fmt: skip
command("\\textcolor", "\\colorbox", "\\mathcolor")(second_shown)


@command("\\definecolor", "\\colorlet")
def _colour(reader: Reader, nodes: list[Node]) -> None:
    """A named colour leaves no trace."""
    three = reader.tokens[reader.i - 1] == "\\definecolor"
    reader.raw_optional()
    for _ in range(3 if three else 2):
        reader.raw_argument()


@command("\\fcolorbox")
def _third_argument(reader: Reader, nodes: list[Node]) -> None:
    reader.raw_argument()
    reader.raw_argument()
    nodes.extend(reader.argument())


@command("\\boxed", "\\Aboxed")
def _boxed(reader: Reader, nodes: list[Node]) -> None:
    nodes.append(_enclosed(reader.parsed_argument(), "box"))


def _enclosed(node: Node, notation: str) -> Node:
    copy = node.with_role(node.role)
    copy.enclosure = notation
    return copy


def _struck(notation: str, options: bool = True) -> Command:
    def put(reader: Reader, nodes: list[Node]) -> None:
        if options:
            reader.raw_optional()
        nodes.append(_enclosed(reader.parsed_argument(), notation))

    return put


COMMANDS["\\cancel"] = _struck("updiagonalstrike")
COMMANDS["\\bcancel"] = _struck("downdiagonalstrike")
COMMANDS["\\xcancel"] = _struck("updiagonalstrike downdiagonalstrike")
COMMANDS["\\sout"] = _struck("horizontalstrike", options=False)


@command("\\cancelto")
def _cancelled_to(reader: Reader, nodes: list[Node]) -> None:
    """Reads the cancelled part, followed by a superscript with its remainder."""
    value = reader.expression(reader.script_argument(), "Superscript")
    nodes.append(_enclosed(reader.parsed_argument(), "updiagonalstrike"))
    nodes.append(Node(SCRIPT, "POSTSUPERSCRIPT", children=(value,), level=reader.level))


@command("\\enclose")
def _enclose(reader: Reader, nodes: list[Node]) -> None:
    notation = reader.raw_argument().strip()
    reader.raw_optional()
    nodes.append(_enclosed(reader.parsed_argument(), notation or "box"))


@command("\\\\", "\\newline")
def _line_end(reader: Reader, nodes: list[Node]) -> None:
    """A line end outside a table leaves no trace, and neither do its options."""
    reader.skip_line_options()


@command("\\rule")
def _black_box(reader: Reader, nodes: list[Node]) -> None:
    reader.raw_optional()
    reader.raw_argument()
    reader.raw_argument()
