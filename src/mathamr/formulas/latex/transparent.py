"""Commands that both back ends treat alike: they leave no trace, change the font, or show an argument unchanged."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mathamr.formulas.latex.fonts import ALPHABETS, FONT_SWITCHES, MATH, Font, chosen, emboldened
from mathamr.formulas.latex.groupreader import Commands, GroupReader

AnyReader = GroupReader[Any, Any]

TRACELESS = (
    "\\nonumber", "\\notag", "\\relax", "\\protect", "\\allowbreak", "\\nobreak", "\\break", "\\noindent", "\\par",
    "\\centering", "\\DOTSB", "\\DOTSI", "\\DOTSX", "\\tiny", "\\Tiny", "\\sixptsize", "\\scriptsize", "\\footnotesize", "\\small", "\\normalsize",
    "\\large", "\\Large", "\\LARGE", "\\huge", "\\Huge", "\\ignorespaces", "\\unskip", "\\null", "\\/", "\\-", "\\@",
    "\\hline", "\\hdashline", "\\toprule", "\\midrule", "\\bottomrule", "\\displaybreak", "\\allowdisplaybreaks", "\\nobreakdash",
    "\\vline", "\\", "\\everymath", "\\singlespacing", "\\selectfont",
    "\\goodbreak", "\\bigbreak", "\\medbreak", "\\smallbreak", "\\newpage", "\\adjustlimits", "\\mathsurround",
    "\\[", "\\]", "\\(", "\\)", "\\cr", "\\crcr", "\\tabularnewline", "\\thinmuskip",
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


def _nothing(reader: AnyReader, items: list[Any]) -> None:
    """Leaves no trace."""


def _ignored_with_argument(reader: AnyReader, items: list[Any]) -> None:
    reader.star()
    reader.raw_optional()
    reader.raw_argument()


def shown(reader: AnyReader, items: list[Any]) -> None:
    """Shows the argument unchanged, after options."""
    while reader.raw_optional() is not None:
        pass
    items.extend(reader.argument())


def second_shown(reader: AnyReader, items: list[Any]) -> None:
    """Shows the second argument unchanged."""
    reader.raw_optional()
    reader.raw_argument()
    items.extend(reader.argument())


def _option(reader: AnyReader, items: list[Any]) -> None:
    reader.raw_optional()


def _moved_aside(reader: AnyReader, items: list[Any]) -> None:
    """Leaves a box that is moved aside where it is."""
    reader.dimension()


def _choice(reader: AnyReader, items: list[Any]) -> None:
    """Shows the one of four arguments that belongs to the current style."""
    choices = [reader.argument() for _ in range(4)]
    items.extend(choices[reader.style])


def _stray(reader: AnyReader, items: list[Any]) -> None:
    reader.repair(f"stray {reader.tokens[reader.i - 1]}")


def _font_switch(change: Callable[[Font], Font]) -> Callable[[AnyReader, list[Any]], None]:
    return lambda reader, items: reader.set_font(change(reader.font))


def _diagram_arrow(reader: AnyReader, items: list[Any]) -> None:
    """Skips an arrow between the objects of `\\xymatrix`, with its direction and labels."""
    reader.repair("an arrow of a diagram is left out")
    while True:
        token = reader.peek()
        if token == "[":
            reader.raw_optional()
        elif token == "@":
            reader.i += 1
            _skip_modifier(reader)
        elif token in ("^", "_", "|"):
            reader.i += 1
            while reader.peek() in ("-", "<", ">"):
                reader.i += 1
            reader.raw_argument()
        else:
            return


def _skip_modifier(reader: AnyReader) -> None:
    if reader.peek() != "/":
        reader.raw_argument()
        return
    reader.i += 1
    while reader.i < reader.count and reader.tokens[reader.i] != "/":
        reader.i += 1
    reader.i += 1


COMMANDS: Commands = {
    **dict.fromkeys(TRACELESS, _nothing),
    **dict.fromkeys(_IGNORED_WITH_ARGUMENT, _ignored_with_argument),
    **dict.fromkeys(_SHOWN, shown),
    **dict.fromkeys(_SECOND_SHOWN, second_shown),
    **{
        name: _font_switch(partial(chosen, alphabet=ALPHABETS[alphabet]))
        for name, alphabet in FONT_SWITCHES.items()
    },
    "\\boldmath": _font_switch(emboldened),
    "\\unboldmath": _font_switch(lambda font: MATH),
    **dict.fromkeys(["\\moveleft", "\\moveright"], _moved_aside),
    **dict.fromkeys(["$", "$$", "#"], _stray),
    "\\mathchoice": _choice,
    "\\MoveEqLeft": _option,
    "\\ar": _diagram_arrow,
}
