"""The allowed styles of our MathML, by name: everything that Core's attributes cannot express.

A page with its own style sheet gets the names as classes (`style_sheet` is what it must contain), any other
page the declarations themselves. No other style or class is allowed.
"""

from __future__ import annotations

from typing import Literal

Styling = Literal["inline", "classes"]
"""Whether styles are written as declarations or as names for a style sheet."""

STYLE = "#style"
"""The attribute for names of styles; markup from outside cannot have an attribute of this name."""

PREFIX = "math-"
"""The prefix of classes on a page, which separates them from others."""

_RULE = "0.06em solid"
_DASHED = "0.06em dashed"
_STROKE = "transparent calc(50% - 0.05em), currentcolor 50%, transparent calc(50% + 0.05em)"

STYLES = {
    # Cells: in TeX the height of a row is that of a strut.
    "cell": "padding: 0.05em 0.5em",
    "tight": "padding: 0 0.28em",
    "stacked": "padding: 0",
    "line": "padding: 0.15em 0",
    "first": "padding-left: 0",
    "last": "padding-right: 0",
    "apart": "padding-left: 1.5em",
    "tag": "padding-left: 2em",
    # Chromium sets the content of a cell as a block, which only its own alignment moves.
    "left": "text-align: left; text-align: -webkit-left",
    "right": "text-align: right; text-align: -webkit-right",
    "above": f"border-top: {_RULE}",
    "below": f"border-bottom: {_RULE}",
    "before": f"border-left: {_RULE}",
    "after": f"border-right: {_RULE}",
    "above-dashed": f"border-top: {_DASHED}",
    "before-dashed": f"border-left: {_DASHED}",
    "after-dashed": f"border-right: {_DASHED}",
    "overline": "border-top: 0.05em solid; padding-top: 0.12em",
    "underline": "border-bottom: 0.05em solid; padding-bottom: 0.1em",
    "boxed": "border: 0.06em solid; padding: 0.3em",
    "padded": "padding: 0.25em",
    "raised": "position: relative; bottom: 0.1em",
    "wider": "transform: scaleX(1.7)",
    "widest": "transform: scaleX(2.8)",
    "back-em": "margin-left: -1em",
    "back-thin": "margin-left: -0.1667em",
    "back-mu": "margin-left: -0.0556em",
    "matched": "background: var(--mark, #fbe7b2)",
    "taken": "background: var(--taken, #eadcf7)",
    "filled": "background: currentcolor",
    "cancelled": f"background: linear-gradient(to top left, {_STROKE})",
    "cancelled-back": f"background: linear-gradient(to top right, {_STROKE})",
    "crossed": f"background: linear-gradient(to top left, {_STROKE}), linear-gradient(to top right, {_STROKE})",
    "struck": f"background: linear-gradient(to top, {_STROKE})",
    "pulled-left": "transform: translateX(-100%)",
    "pulled-half": "transform: translateX(-50%)",
}
"""Declarations by name; if several names apply, those that come later here win."""

QUIRKS = {
    # Chromium moves the lower limit of an integral under its slant but keeps its original space.
    "tucked": "margin-right: -0.5em",
    "tucked-little": "margin-right: -0.25em",
    # It also leaves the space of the largest sign after any root.
    "small-root": "margin-right: -0.2em",
}
"""Declarations that only Chromium needs: only style sheets have them, because they can test for it."""

_CHROMIUM = "@supports (app-region: drag)"


def are_known(names: str) -> bool:
    """Return True if a value consists only of our names.

    >>> are_known("right above"), are_known("right dialog"), are_known("")
    (True, False, False)
    """
    return bool(names) and all(name in STYLES or name in QUIRKS for name in names.split(" "))


def declarations(names: str) -> str:
    """Return the declarations of some of our names.

    >>> declarations("tag")
    'padding-left: 2em'
    """
    chosen = names.split(" ")
    return "; ".join(STYLES[name] for name in STYLES if name in chosen)


def classes(names: str) -> str:
    """Return the classes of some of our names on a page.

    >>> classes("right above")
    'math-right math-above'
    """
    return " ".join(PREFIX + name for name in names.split(" "))


def style_sheet() -> str:
    """Return the style sheet for a page that gets classes."""
    rules = [f"math .{PREFIX}{name} {{ {says}; }}" for name, says in STYLES.items()]
    quirks = [f"  math .{PREFIX}{name} {{ {says}; }}" for name, says in QUIRKS.items()]
    return "\n".join([*rules, f"{_CHROMIUM} {{", *quirks, "}", ""])
