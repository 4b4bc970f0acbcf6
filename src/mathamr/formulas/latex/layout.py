"""Commands of layout: space, boxes, colours, and what leaves no trace in a formula."""

from __future__ import annotations

import re

from mathamr.formulas.latex.node import HINT, Node
from mathamr.formulas.latex.reader import COMMANDS, Command, Reader, command
from mathamr.formulas.latex.symbols import SPACES

_DIMENSION = re.compile(r"\s*([+-]?[0-9]*[.,]?[0-9]*)\s*(pt|em|ex|mu|cm|mm|in|pc|bp|dd|cc|sp)?")
_POINTS = {
    "pt": 1.0, "em": 10.0, "ex": 4.3, "mu": 1 / 1.8, "cm": 28.45, "mm": 2.845, "in": 72.27, "pc": 12.0, "bp": 1.00375,
    "dd": 1.07, "cc": 12.84, "sp": 1 / 65536,
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
    """A length in points; what is no length is none."""
    match = _DIMENSION.match(text)
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
    text = "".join(reader.tokens[reader.i : reader.i + 24])
    match = _DIMENSION.match(text)
    taken = match.end() if match else 0
    more = re.compile(r"(\s*(plus|minus)\s*[0-9.]+\s*[a-z]{2,5})+").match(text, taken)
    if more:
        taken = more.end()
    while taken > 0 and reader.i < reader.count:
        taken -= len(reader.tokens[reader.i])
        reader.i += 1
    nodes.append(space(points_of(text) if name in ("\\mkern", "\\mskip") else 0.0, "skip"))


@command("\\phantom", "\\hphantom", "\\vphantom")
def _phantom(reader: Reader, nodes: list[Node]) -> None:
    content = reader.argument()
    nodes.append(space(5.0 * len(content), "phantom", phantom=True))


@command("\\smash", "\\hiderel", "\\shoveleft", "\\shoveright", "\\mathclap", "\\mathllap", "\\mathrlap", "\\clap",
         "\\ensuremath", "\\cramped", "\\vcenter", "\\lefteqn", "\\mathsmaller", "\\mathlarger", "\\unit",
         "\\smashoperator", "\\bbox")  # fmt: skip
def _transparent(reader: Reader, nodes: list[Node]) -> None:
    reader.raw_optional()
    nodes.extend(reader.argument())


@command("\\mathchoice")
def _choice(reader: Reader, nodes: list[Node]) -> None:
    choices = [reader.argument() for _ in range(4)]
    nodes.extend(choices[("display", "text", "script").index(reader.style)])


@command("\\color", "\\label", "\\tag", "\\vspace", "\\index", "\\leftroot", "\\uproot", "\\raisetag", "\\pagecolor",
         "\\require", "\\thetag", "\\usepackage", "\\vadjust", "\\mathversion", "\\footnote")  # fmt: skip
def _ignored_with_argument(reader: Reader, nodes: list[Node]) -> None:
    reader.star()
    reader.raw_optional()
    reader.raw_argument()


@command("\\textcolor", "\\colorbox", "\\href", "\\style", "\\class", "\\cssId", "\\mathcolor", "\\hyperref",
         "\\scalebox", "\\data")  # fmt: skip
def _second_argument(reader: Reader, nodes: list[Node]) -> None:
    reader.raw_optional()
    reader.raw_argument()
    nodes.extend(reader.argument())


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


def _struck(notation: str) -> Command:
    def put(reader: Reader, nodes: list[Node]) -> None:
        reader.raw_optional()
        nodes.append(_enclosed(reader.parsed_argument(), notation))

    return put


COMMANDS["\\cancel"] = _struck("updiagonalstrike")
COMMANDS["\\bcancel"] = _struck("downdiagonalstrike")
COMMANDS["\\xcancel"] = _struck("updiagonalstrike downdiagonalstrike")
COMMANDS["\\sout"] = _struck("horizontalstrike")


@command("\\enclose")
def _enclose(reader: Reader, nodes: list[Node]) -> None:
    notation = reader.raw_argument().strip()
    reader.raw_optional()
    nodes.append(_enclosed(reader.parsed_argument(), notation or "box"))


TRACELESS = (
    "\\nonumber", "\\notag", "\\relax", "\\protect", "\\allowbreak", "\\nobreak", "\\break", "\\noindent", "\\par",
    "\\centering", "\\DOTSB", "\\DOTSI", "\\DOTSX", "\\tiny", "\\scriptsize", "\\footnotesize", "\\small", "\\normalsize",
    "\\large", "\\Large", "\\LARGE", "\\huge", "\\Huge", "\\ignorespaces", "\\unskip", "\\null", "\\/", "\\-", "\\@",
    "\\hline", "\\toprule", "\\midrule", "\\bottomrule", "\\displaybreak", "\\allowdisplaybreaks", "\\nobreakdash",
    "\\vline", "\\", "\\everymath", "\\singlespacing", "\\selectfont",
    "\\goodbreak", "\\bigbreak", "\\medbreak", "\\smallbreak", "\\newpage", "\\adjustlimits", "\\mathsurround",
    "\\[", "\\]", "\\(", "\\)", "\\\\", "\\newline", "\\cr", "\\crcr", "\\tabularnewline", "\\MoveEqLeft", "\\thinmuskip",
)  # fmt: skip
"""Commands that leave no trace in a formula."""


def _nothing(reader: Reader, nodes: list[Node]) -> None:
    """Commands that leave no trace in a formula."""


for _name in TRACELESS:
    COMMANDS[_name] = _nothing


@command("\\cline", "\\noalign", "\\arrayrulecolor", "\\rowcolor", "\\cellcolor", "\\columncolor")
def _rule(reader: Reader, nodes: list[Node]) -> None:
    reader.raw_optional()
    reader.raw_argument()


@command("\\rule")
def _black_box(reader: Reader, nodes: list[Node]) -> None:
    reader.raw_optional()
    reader.raw_argument()
    reader.raw_argument()
