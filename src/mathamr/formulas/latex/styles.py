"""The four styles of TeX, as numbers that grow while letters shrink."""

from __future__ import annotations

DISPLAY, TEXT, SCRIPT, SCRIPTSCRIPT = range(4)
SMALLER = (TEXT, SCRIPT, SCRIPTSCRIPT, SCRIPTSCRIPT)
"""The style of the parts of a fraction."""
SCRIPTS = (SCRIPT, SCRIPT, SCRIPTSCRIPT, SCRIPTSCRIPT)
"""The style of subscripts and superscripts."""
