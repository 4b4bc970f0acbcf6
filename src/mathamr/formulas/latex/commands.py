"""The table of commands: how every command and environment is read, for trees and drawings alike."""

from __future__ import annotations

import re
from functools import partial

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
    **dict.fromkeys(["array", "tabular"], CommandSyntax("array", "br")),
    "subarray": CommandSyntax("stack", "r"),
    **dict.fromkeys([*MATRICES, "smallmatrix"], CommandSyntax("matrix")),
    **dict.fromkeys([*(f"{name}*" for name in MATRICES), "smallmatrix*"], CommandSyntax("matrix", "b")),
    **dict.fromkeys(
        ["cases", "dcases", "rcases", "drcases", "cases*", "dcases*", "rcases*", "drcases*"],
        CommandSyntax("cases"),
    ),
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
}
"""Environments, with the arguments before their cells."""


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
    "\\root": CommandSyntax("root", "um"),
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
    "\\buildrel": CommandSyntax("stacked", "vm", "RELOP"),
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
        f"\\{size}{suffix}": CommandSyntax("sized", "D", (height, role))
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
    "\\raise": CommandSyntax("moved", "lm", 1),
    "\\lower": CommandSyntax("moved", "lm", -1),
    "\\color": _SILENT("colour switch", "br"),
    **dict.fromkeys(["\\textcolor", "\\mathcolor"], CommandSyntax("coloured", "brm")),
    "\\colorbox": CommandSyntax("colour box", "brx"),
    "\\fcolorbox": CommandSyntax("colour box", "brbrx"),
    # Tables in braces.
    **dict.fromkeys(["\\substack", "\\crampedsubstack"], CommandSyntax("stack", "L", "")),
    "\\cases": CommandSyntax("cases", "L", "cases"),
    **{f"\\{name}": CommandSyntax("matrix", "L", name) for name in ("matrix", "pmatrix")},
    "\\bordermatrix": CommandSyntax("matrix", "L", "pmatrix"),
    **dict.fromkeys(["\\eqalign", "\\eqalignno", "\\leqalignno"], CommandSyntax("lines", "L", "eqalign")),
    "\\displaylines": CommandSyntax("lines", "L", "displaylines"),
    "\\xymatrix": CommandSyntax("lines", "kL", "objects"),
    "\\multicolumn": CommandSyntax("several columns", "rrm"),
    # Commands that show an argument, choose one, or leave no trace.
    **dict.fromkeys(_SHOWN, CommandSyntax("shown", "Bm", "")),
    **dict.fromkeys(_SECOND_SHOWN, CommandSyntax("shown", "brm", "")),
    "\\mathchoice": CommandSyntax("choice", "mmmm"),
    **dict.fromkeys(TRACELESS, _NOTHING),
    **dict.fromkeys(_IGNORED_WITH_ARGUMENT, CommandSyntax("", "sbr")),
    **dict.fromkeys(["\\moveleft", "\\moveright"], CommandSyntax("", "l")),
    "\\MoveEqLeft": CommandSyntax("", "b"),
    **dict.fromkeys(["\\\\", "\\newline"], CommandSyntax("line end")),
    "\\begin": CommandSyntax("environment"),
    "\\end": CommandSyntax("end"),
    "\\ar": CommandSyntax("diagram arrow"),
    **dict.fromkeys(["$", "$$", "#", "&"], CommandSyntax("stray")),
    "\\qvar": CommandSyntax("wildcard", "r"),
    "\\qvar@construct": CommandSyntax("question", "r"),
}  # fmt: skip
for _name, _letter in UPRIGHT_GREEK.items():
    COMMANDS.setdefault(_name, CommandSyntax("upright", "", _letter))
for _name, _expansion in PHYSICS.items():
    COMMANDS.setdefault(_name, _expansion)

_LENGTH_OF_ZERO = re.compile(r"0*+(?:\.0*+)?\s*+[a-z]{2}|0")


def is_zero(length: str) -> bool:
    """Return True if a length is zero, so that a line of this thickness is not drawn."""
    return _LENGTH_OF_ZERO.fullmatch(length.strip()) is not None
