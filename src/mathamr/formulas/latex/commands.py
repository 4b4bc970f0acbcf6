"""The table of commands: how every command and environment is read, for trees and drawings alike."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from mathamr.formulas.latex.fonts import (
    ALPHABETS,
    BOLD_COMMANDS,
    FONT_COMMANDS,
    FONT_SWITCHES,
    MATH,
    chosen,
    emboldened,
)
from mathamr.formulas.latex.physics import PHYSICS
from mathamr.formulas.latex.styles import DISPLAY, SCRIPT, SCRIPTSCRIPT, TEXT
from mathamr.formulas.latex.symbols import (
    ACCENTS,
    LONG_ARROWS,
    UNDER_ACCENTS,
    UPRIGHT_GREEK,
)
from mathamr.formulas.latex.syntax import CommandSyntax, Expansion
from mathamr.formulas.latex.text import BOXES, LOGOS, TEXT_ACCENTS, TEXT_FONTS

if TYPE_CHECKING:
    from mathamr.formulas.latex.reader import Reader

# -- environments

MATRICES = {
    # environment: (opening, closing, what the delimiters mean)
    "matrix": ("", "", ""),
    "pmatrix": ("(", ")", ""),
    "bmatrix": ("[", "]", ""),
    "Bmatrix": ("{", "}", ""),
    "vmatrix": ("|", "|", "determinant"),
    "Vmatrix": ("‖", "‖", "norm"),
}
for _small in list(MATRICES)[1:]:
    MATRICES[f"{_small[0]}smallmatrix"] = MATRICES[_small]
TRANSPARENT = frozenset(
    ["equation", "equation*", "displaymath", "math", "document", "center", "subequations", "dmath", "dmath*", "flushleft", "flushright"]
)  # fmt: skip
ENVIRONMENTS: dict[str, CommandSyntax] = {
    **dict.fromkeys(["array", "tabular", "darray"], CommandSyntax("array", "br")),
    "subarray": CommandSyntax("stack", "r"),
    **dict.fromkeys([*MATRICES, "smallmatrix"], CommandSyntax("matrix")),
    **dict.fromkeys([*(f"{name}*" for name in MATRICES), "smallmatrix*"], CommandSyntax("matrix", "b")),
    **dict.fromkeys(
        ["cases", "dcases", "rcases", "drcases", "cases*", "dcases*", "rcases*", "drcases*"],
        CommandSyntax("cases"),
    ),
    **dict.fromkeys(["numcases", "subnumcases"], CommandSyntax("cases", "m")),
    **dict.fromkeys(
        ["align", "align*", "flalign", "flalign*", "eqnarray", "eqnarray*"], CommandSyntax("aligned")
    ),
    **dict.fromkeys(
        ["alignat", "alignat*", "xalignat", "xalignat*", "xxalignat"], CommandSyntax("aligned", "r")
    ),
    "aligned": CommandSyntax("aligned", "b"),
    "alignedat": CommandSyntax("aligned", "br"),
    **dict.fromkeys(["split", "gather", "gather*", "multline", "multline*"], CommandSyntax("gathered")),
    **dict.fromkeys(["gathered", "lgathered", "rgathered"], CommandSyntax("gathered", "b")),
    "multlined": CommandSyntax("gathered", "bb"),
    "CD": CommandSyntax("diagram"),
}
"""Environments, with the arguments before their cells."""


def _table(kind: str, name: str) -> CommandSyntax:
    """Return a table in braces."""

    def read(reader: Reader) -> tuple[Any, ...] | None:
        lines = reader.braced_lines()
        return None if lines is None else (lines,)

    return CommandSyntax(kind, read, name)


def _objects(reader: Reader) -> tuple[Any, ...] | None:
    """Read the objects of `\\xymatrix`, after its options."""
    while reader.i < reader.count and reader.tokens[reader.i] not in ("{", "\\\\", "&"):
        reader.i += 1
    lines = reader.braced_lines()
    return None if lines is None else (lines,)


# -- commands that are read in a way of their own


def _end(reader: Reader) -> None:
    name = reader.raw_argument().strip()
    if name not in TRANSPARENT:
        reader.repair(f"\\end{{{name}}} without its beginning")


def _stray(reader: Reader) -> None:
    reader.repair(f"stray {reader.tokens[reader.i - 1]}")


def _stray_alignment(reader: Reader) -> tuple[Any, ...]:
    _stray(reader)
    return ()


def _diagram_arrow(reader: Reader) -> None:
    """Skip an arrow between the objects of `\\xymatrix`, with its direction and labels."""
    reader.repair("an arrow of a diagram is left out")
    while True:
        token = reader.peek()
        if token == "[":
            reader.raw_optional()
        elif token == "@":
            reader.i += 1
            if reader.peek() != "/":
                reader.raw_argument()
                continue
            reader.i += 1
            while reader.i < reader.count and reader.tokens[reader.i] != "/":
                reader.i += 1
            reader.i += 1
        elif token in ("^", "_", "|"):
            reader.i += 1
            while reader.peek() in ("-", "<", ">"):
                reader.i += 1
            reader.raw_argument()
        else:
            return


def _sized(reader: Reader) -> tuple[Any, ...]:
    """Read a delimiter of a chosen size; None for a dot."""
    if reader.peek() == ".":
        reader.i += 1
        return (None,)
    return (reader.argument("delimiter"),)


def _colour_box(reader: Reader) -> tuple[Any, ...]:
    """Read the colours of a frame and a background, and the content: words on a page, a formula in a tree."""
    framed = reader.tokens[reader.i - 1] == "\\fcolorbox"
    frame = (reader.raw_optional(), reader.raw_argument()) if framed else None
    background = (reader.raw_optional(), reader.raw_argument())
    return (frame, background, reader.words() if reader.drawn else reader.argument())


def _character(reader: Reader) -> tuple[Any, ...] | None:
    r"""Read a character that is given by number: `\char65`, `\char"41`, ``\char`A``, `\symbol{65}`, `\unicode{x41}`."""
    start = reader.i - 1
    reader.raw_optional()
    number = reader.raw_argument().strip() if reader.peek() == "{" else reader.number()
    code = _code_point(number)
    if code is None:
        reader.repair(f"{number or 'nothing'} is not the code of a character", start)
        return None
    return (chr(code),)


def _code_point(number: str) -> int | None:
    if number.startswith("`"):
        letter = number[1:].removeprefix("\\")
        return ord(letter) if len(letter) == 1 else None
    base = {'"': 16, "'": 8, "x": 16, "X": 16, "U": 16}.get(number[:1], 10)
    digits = number if base == 10 else number[1:].removeprefix("+")
    try:
        code = int(digits, base) if len(digits) <= 8 else -1
    except ValueError:
        return None
    character = chr(code) if 0 < code <= 0x10FFFF else ""
    return code if character and (character.isprintable() and not character.isspace()) else None


def _line_end(reader: Reader) -> None:
    """Skip the options of a line end outside a table, which leaves no trace."""
    reader.skip_line_options()


# -- the table

_NOTHING = CommandSyntax("")
"""A command without a trace."""
_SILENT = partial(CommandSyntax, silent=True)
TRACELESS = (
    "\\nonumber", "\\notag", "\\relax", "\\protect", "\\allowbreak", "\\nobreak", "\\break", "\\noindent", "\\par",
    "\\centering", "\\DOTSB", "\\DOTSI", "\\DOTSX", "\\Tiny", "\\sixptsize", "\\normalsize", "\\ignorespaces", "\\unskip",
    "\\null", "\\/", "\\-", "\\@", "\\hline", "\\hdashline", "\\toprule", "\\midrule", "\\bottomrule", "\\displaybreak",
    "\\allowdisplaybreaks", "\\nobreakdash", "\\vline", "\\", "\\everymath", "\\singlespacing", "\\selectfont", "\\goodbreak",
    "\\bigbreak", "\\medbreak", "\\smallbreak", "\\newpage", "\\adjustlimits", "\\mathsurround", "\\[", "\\]", "\\(", "\\)",
    "\\cr", "\\crcr", "\\tabularnewline", "\\thinmuskip",
)  # fmt: skip
"""Commands that leave no trace in a formula."""
_IGNORED_WITH_ARGUMENT = (
    "\\label", "\\vspace", "\\index", "\\leftroot", "\\uproot", "\\raisetag", "\\pagecolor", "\\require", "\\thetag",
    "\\usepackage", "\\includegraphics", "\\vadjust", "\\mathversion", "\\footnote", "\\noalign", "\\arrayrulecolor",
    "\\rowcolor", "\\cellcolor", "\\columncolor", "\\cline", "\\cdashline",
)  # fmt: skip
_SHOWN = (
    "\\hiderel", "\\ensuremath", "\\vcenter", "\\mathsmaller", "\\mathlarger", "\\mathmbox", "\\reflectbox",
    "\\mathreflectbox", "\\shoveleft", "\\shoveright", "\\cramped", "\\unit", "\\smashoperator", "\\mathmakebox",
)  # fmt: skip
"""Commands that show their argument unchanged, after options."""
_SECOND_SHOWN = (
    "\\href", "\\style", "\\class", "\\cssId", "\\hyperref", "\\scalebox", "\\data", "\\htmlClass", "\\htmlId",
    "\\htmlStyle", "\\htmlData",
)  # fmt: skip
SIZES = {
    "\\tiny": "0.5em", "\\scriptsize": "0.7em", "\\footnotesize": "0.8em", "\\small": "0.9em", "\\large": "1.2em",
    "\\Large": "1.44em", "\\LARGE": "1.73em", "\\huge": "2.07em", "\\Huge": "2.49em",
}  # fmt: skip

COMMANDS: dict[str, CommandSyntax | Expansion] = {
    # Fractions and roots.
    "\\frac": CommandSyntax("fraction", "mm"),
    "\\dfrac": CommandSyntax("fraction", "mm", DISPLAY),
    "\\tfrac": CommandSyntax("fraction", "mm", TEXT),
    "\\flatfrac": CommandSyntax("flat fraction", "mm"),
    **dict.fromkeys(["\\nicefrac", "\\sfrac"], CommandSyntax("slanted fraction", "bmm")),
    "\\cfrac": CommandSyntax("continued fraction", "bmm"),
    "\\binom": CommandSyntax("binomial", "mm"),
    "\\dbinom": CommandSyntax("binomial", "mm", DISPLAY),
    "\\tbinom": CommandSyntax("binomial", "mm", TEXT),
    "\\genfrac": CommandSyntax("general fraction", "rrrrmm"),
    "\\sqrt": CommandSyntax("root", "om"),
    "\\root": CommandSyntax("root", lambda reader: (reader.read_up_to("\\of", "\\root"), reader.argument())),
    # Things above and below.
    **{
        name: CommandSyntax("accent", "bbm" if name.endswith("bracket") else "m", name)
        for name in (*ACCENTS, *UNDER_ACCENTS)
    },
    "\\overset": CommandSyntax("placed", "mm", "OVERACCENT"),
    "\\underset": CommandSyntax("placed", "mm", "UNDERACCENT"),
    "\\overunderset": CommandSyntax("over and under", "mmm"),
    "\\underoverset": CommandSyntax("over and under", "mmm", "below first"),
    "\\stackrel": CommandSyntax("stacked", "oMm", "RELOP"),
    "\\stackbin": CommandSyntax("stacked", "oMm", "BINOP"),
    "\\buildrel": CommandSyntax(
        "stacked", lambda reader: (None, reader.read_up_to("\\over", "\\buildrel"), reader.argument()), "RELOP"
    ),
    **{name: CommandSyntax("long arrow", "om", text) for name, text in LONG_ARROWS.items()},
    "\\sideset": CommandSyntax("side set", "mmm"),
    "\\prescript": CommandSyntax("prescript", "MMm"),
    # Fonts and styles.
    **{
        name: CommandSyntax("font", "m", partial(chosen, alphabet=ALPHABETS[alphabet]))
        for name, alphabet in FONT_COMMANDS.items()
    },
    **dict.fromkeys(BOLD_COMMANDS, CommandSyntax("font", "m", emboldened)),
    **{
        name: _SILENT("font switch", "", partial(chosen, alphabet=ALPHABETS[alphabet]))
        for name, alphabet in FONT_SWITCHES.items()
    },
    "\\boldmath": _SILENT("font switch", "", emboldened),
    "\\unboldmath": _SILENT("font switch", "", lambda _font: MATH),
    "\\displaystyle": _SILENT("style", "", DISPLAY),
    "\\textstyle": _SILENT("style", "", TEXT),
    "\\scriptstyle": _SILENT("style", "", SCRIPT),
    "\\scriptscriptstyle": _SILENT("style", "", SCRIPTSCRIPT),
    **{name: _SILENT("size", "", size) for name, size in SIZES.items()},
    # Operators, classes and delimiters.
    "\\operatorname": CommandSyntax("operator name", "sm"),
    **dict.fromkeys(["\\operatornamewithlimits", "\\operatorname*"], CommandSyntax("operator name", "m", "limits")),
    **{
        name: CommandSyntax("classed", "m", role)
        for name, role in {
            "\\mathord": "ID", "\\mathop": "BIGOP", "\\mathbin": "BINOP", "\\mathrel": "RELOP", "\\mathopen": "OPEN",
            "\\mathclose": "CLOSE", "\\mathpunct": "PUNCT", "\\mathinner": "ATOM",
        }.items()
    },
    "\\limits": _SILENT("limits", "", "mid"),
    "\\nolimits": _SILENT("limits", "", "post"),
    "\\displaylimits": _SILENT("limits", "", "display"),
    "\\varlimsup": CommandSyntax("limit", "", ("¯", "OVERACCENT", "limit-supremum", "\\overline")),
    "\\varliminf": CommandSyntax("limit", "", ("¯", "UNDERACCENT", "limit-infimum", "\\underline")),
    "\\varinjlim": CommandSyntax("limit", "", ("→", "UNDERACCENT", "injective-limit", "\\underrightarrow")),
    "\\varprojlim": CommandSyntax("limit", "", ("←", "UNDERACCENT", "projective-limit", "\\underleftarrow")),
    "\\pmod": CommandSyntax("modulus", "m", "mod"),
    "\\pod": CommandSyntax("modulus", "m", ""),
    **dict.fromkeys(["\\dots", "\\dotsx"], CommandSyntax("dots")),
    **{
        f"\\{size}{suffix}": CommandSyntax("sized", _sized, (height, role))
        for size, height in {"big": 1.2, "Big": 1.8, "bigg": 2.4, "Bigg": 3.0}.items()
        for suffix, role in {"": "", "l": "OPEN", "m": "MIDDLE", "r": "CLOSE"}.items()
    },
    "\\middle": CommandSyntax("middle", "d"),
    "\\not": CommandSyntax("negated", "m"),
    # Words.
    **{
        name: CommandSyntax("words", {0: "Bt", 1: "rBt"}[BOXES[name]] if name in BOXES else "t", name)
        for name in TEXT_FONTS
        if name != "\\underline"
    },
    **{name: CommandSyntax("accented letter", "r", mark) for name, mark in TEXT_ACCENTS.items()},
    "\\d": CommandSyntax("dotted letter", "r", ("⋅", "\u0323")),
    "\\b": CommandSyntax("dotted letter", "r", ("¯", "\u0331")),
    **{f"\\{logo}": CommandSyntax("logo", "", logo) for logo in LOGOS},
    **dict.fromkeys(["\\char", "\\symbol", "\\unicode"], CommandSyntax("character", _character)),
    **{name: CommandSyntax("reference", "br", name) for name in ("\\ref", "\\eqref", "\\cite")},
    "\\tag": _SILENT("tag", "st"),
    # Space, boxes and colours.
    **dict.fromkeys(["\\hspace", "\\mspace", "\\hspace*"], CommandSyntax("space", "sr")),
    **dict.fromkeys(["\\hskip", "\\kern"], CommandSyntax("skip", "l", "length")),
    **dict.fromkeys(["\\mkern", "\\mskip"], CommandSyntax("skip", "l", "math units")),
    "\\vskip": CommandSyntax("skip", "l", "vertical"),
    "\\rule": _SILENT("rule", "brr"),
    **{name: CommandSyntax("phantom", "m", name) for name in ("\\phantom", "\\hphantom", "\\vphantom")},
    "\\smash": CommandSyntax("smashed", "Bm"),
    **{
        name: CommandSyntax("beside", "Bm", style)
        for style, names in {
            "": ["\\mathrlap", "\\crampedrlap", "\\lefteqn"], "pulled-left": ["\\mathllap", "\\crampedllap"],
            "pulled-half": ["\\mathclap", "\\crampedclap", "\\clap"],
        }.items()
        for name in names
    },
    "\\bbox": CommandSyntax("shown", "Bm", "boxed"),
    **dict.fromkeys(["\\boxed", "\\Aboxed"], CommandSyntax("enclosed", "m", ("box", "boxed"))),
    "\\cancel": CommandSyntax("enclosed", "bm", ("updiagonalstrike", "cancelled")),
    "\\bcancel": CommandSyntax("enclosed", "bm", ("downdiagonalstrike", "cancelled-back")),
    "\\xcancel": CommandSyntax("enclosed", "bm", ("updiagonalstrike downdiagonalstrike", "crossed")),
    "\\sout": CommandSyntax("enclosed", "m", ("horizontalstrike", "struck")),
    "\\cancelto": CommandSyntax("cancelled to", "Mm"),
    "\\enclose": CommandSyntax("enclose", "rbm"),
    "\\raise": CommandSyntax("moved", "lm", 1),
    "\\lower": CommandSyntax("moved", "lm", -1),
    "\\color": _SILENT("colour switch", "br"),
    **dict.fromkeys(["\\textcolor", "\\mathcolor"], CommandSyntax("coloured", "brm")),
    **{
        f"\\{name}": CommandSyntax("coloured", "Bm", name)
        for name in ("red", "blue", "green", "orange", "pink", "purple", "gray")
    },
    **dict.fromkeys(["\\colorbox", "\\fcolorbox"], CommandSyntax("colour box", _colour_box)),
    "\\definecolor": _SILENT("new colour", "brrr"),
    "\\colorlet": _SILENT("same colour", "rbr"),
    # Tables in braces.
    **dict.fromkeys(["\\substack", "\\crampedsubstack"], _table("stack", "")),
    "\\cases": _table("cases", "cases"),
    **{f"\\{name}": _table("matrix", name) for name in ("matrix", "pmatrix")},
    "\\bordermatrix": _table("matrix", "pmatrix"),
    **dict.fromkeys(["\\eqalign", "\\eqalignno", "\\leqalignno"], _table("lines", "eqalign")),
    "\\displaylines": _table("lines", "displaylines"),
    "\\xymatrix": CommandSyntax("lines", _objects, "objects"),
    "\\multicolumn": CommandSyntax("several columns", "rrm"),
    # Commands that show an argument, choose one, or leave no trace.
    **dict.fromkeys(_SHOWN, CommandSyntax("shown", "Bm", "")),
    **dict.fromkeys(_SECOND_SHOWN, CommandSyntax("shown", "brm", "")),
    "\\mathchoice": CommandSyntax("choice", "mmmm"),
    **dict.fromkeys(TRACELESS, _NOTHING),
    **dict.fromkeys(_IGNORED_WITH_ARGUMENT, CommandSyntax("", "sbr")),
    **dict.fromkeys(["\\moveleft", "\\moveright"], CommandSyntax("", "l")),
    "\\MoveEqLeft": CommandSyntax("", "b"),
    **dict.fromkeys(["\\\\", "\\newline"], CommandSyntax("", _line_end)),
    "\\begin": CommandSyntax("environment"),
    "\\end": CommandSyntax("", _end),
    "\\ar": CommandSyntax("", _diagram_arrow),
    **dict.fromkeys(["$", "$$", "#"], CommandSyntax("", _stray)),
    "&": CommandSyntax("stray alignment", _stray_alignment),
    "\\qvar": CommandSyntax("wildcard", "r"),
    "\\qvar@construct": CommandSyntax("question", "r"),
}  # fmt: skip
for _name, _letter in UPRIGHT_GREEK.items():
    COMMANDS.setdefault(_name, CommandSyntax("upright", "", _letter))
for _name, _expansion in PHYSICS.items():
    COMMANDS.setdefault(_name, _expansion)

_LENGTH_OF_ZERO = re.compile(r"0*\.?0*\s*[a-z]{2}|0")


def is_zero(length: str) -> bool:
    """Return True for the thickness of a line that is not drawn."""
    return _LENGTH_OF_ZERO.fullmatch(length.strip()) is not None
