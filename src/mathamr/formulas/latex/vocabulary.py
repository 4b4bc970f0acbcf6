"""All commands that LaTeX and its packages define; importing the modules that define them fills the reader's table."""

from __future__ import annotations

from mathamr.formulas.latex import arrays, boxes, commands, commutative, physics
from mathamr.formulas.latex.groupreader import STRUCTURAL
from mathamr.formulas.latex.reader import COMMANDS
from mathamr.formulas.latex.symbols import OF_PACKAGES, SYMBOLS

MODULES = (arrays, boxes, commands, commutative, physics)


def is_predefined(name: str) -> bool:
    """True if a command is LaTeX's own or amsmath's; those of other packages exist only if a document loads them.

    >>> [is_predefined(name) for name in ("\\\\sin", "\\\\frac", "\\\\abs", "\\\\R")]
    [True, True, False, False]
    """
    if name in OF_PACKAGES or name[1:] in physics.NOTATION:
        return False
    return name in SYMBOLS or name in COMMANDS or name in STRUCTURAL
