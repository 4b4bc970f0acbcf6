"""Office Math (OMML, ISO/IEC 29500-1 §22.1) to Presentation MathML, element by element."""

from __future__ import annotations

import re
from html import escape
from typing import Any

MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_TOKENS = re.compile(r"(?P<number>\d+(?:[.,]\d+)*)|(?P<letter>[^\W\d_])|(?P<space>\s+)|(?P<sign>.)", re.S)
_SCRIPTS = {
    "script": "script", "fraktur": "fraktur", "double-struck": "double-struck", "sans-serif": "sans-serif",
    "monospace": "monospace",
}  # fmt: skip
_CLOSING = re.compile(r"<mo>([.,;:])</mo>")
_UNSEEN = "&\u200b\u2060\u2061\u2062\u2063\u2064\ufeff\u00ad"
"""Marks of alignment, and signs without width: nothing is seen of them."""
_STYLES = {"b": "bold", "bi": "bold-italic", "p": "normal"}


def mathml(element: Any, *, display: bool = False) -> str:
    """Return an `m:oMath` element as a `math` element; the mark that ends its sentence follows it as text."""
    block = ' display="block"' if display else ""
    written = [part for child in element for part in _written(child)]
    mark = _CLOSING.fullmatch(written[-1]) if len(written) > 1 else None
    kept = written[:-1] if mark else written
    inside = kept[0] if len(kept) == 1 else f"<mrow>{''.join(kept)}</mrow>"
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"{block}>{inside}</math>{mark[1] if mark else ""}'


def _row(element: Any) -> str:
    """Return the children of an element side by side, in a row if they are not just one."""
    written = [part for child in (element if element is not None else ()) for part in _written(child)]
    return written[0] if len(written) == 1 else f"<mrow>{''.join(written)}</mrow>"


def _written(element: Any) -> list[str]:
    if not isinstance(element.tag, str) or not element.tag.startswith(MATH):
        if isinstance(element.tag, str) and element.tag.endswith("}t") and element.text:
            return [f"<mtext>{escape(element.text, quote=False)}</mtext>"]
        return [part for child in element for part in _written(child)] if isinstance(element.tag, str) else []
    name = element.tag[len(MATH) :]
    if name == "r":
        return _run(element)
    if name.endswith("Pr"):
        return []
    writer = _WRITERS.get(name)
    if writer is not None:
        return [writer(element)]
    return [part for child in element for part in _written(child)]


def _child(element: Any, name: str) -> Any:
    return element.find(f"{MATH}{name}")


def _arg(element: Any, name: str = "e") -> str:
    return _row(_child(element, name))


def _property(element: Any, name: str, default: str = "") -> str:
    """Return the value of a property of an element; "1" if the property has no value, `default` if it is missing."""
    tag = element.tag[len(MATH) :]
    found = element.find(f"{MATH}{tag}Pr/{MATH}{name}")
    return default if found is None else str(found.get(f"{MATH}val", "1"))


def _is_on(element: Any, name: str) -> bool:
    return _property(element, name) in ("1", "on", "true")


def _run(element: Any) -> list[str]:
    words = "".join(found.text or "" for found in element.findall(f"{MATH}t"))
    if not words:
        return []
    if _property(element, "nor"):
        return [f"<mtext>{escape(words, quote=False)}</mtext>"]
    style = _property(element, "sty")
    variant = _SCRIPTS.get(_property(element, "scr"), "")
    variant = f"bold-{variant}" if variant and style in ("b", "bi") else variant or _STYLES.get(style, "")
    given = f' mathvariant="{variant}"' if variant else ""
    if style == "p" and len(words) > 1 and words.strip().isalpha() and words.isascii():
        return [f"<mi>{words.strip()}</mi>"]  # several letters are upright by themselves
    written = []
    for token in _TOKENS.finditer(words):
        shown = escape(token.group(), quote=False)
        if token["number"]:
            written.append(f"<mn>{shown}</mn>")
        elif token["letter"]:
            written.append(f"<mi{given}>{shown}</mi>")
        elif token["sign"] and token["sign"] not in _UNSEEN:
            written.append(f"<mo>{shown}</mo>")
    return written


def _fraction(element: Any) -> str:
    kind = _property(element, "type", "bar")
    line = ' linethickness="0"' if kind == "noBar" else ' bevelled="true"' if kind in ("skw", "lin") else ""
    return f"<mfrac{line}>{_arg(element, 'num')}{_arg(element, 'den')}</mfrac>"


def _radical(element: Any) -> str:
    degree = _child(element, "deg")
    if _is_on(element, "degHide") or degree is None or not len(degree):
        return f"<msqrt>{_arg(element)}</msqrt>"
    return f"<mroot>{_arg(element)}{_row(degree)}</mroot>"


def _delimited(element: Any) -> str:
    left, right = _property(element, "begChr", "("), _property(element, "endChr", ")")
    between = f"<mo>{escape(_property(element, 'sepChr', '|'), quote=False)}</mo>"
    inside = between.join(_row(each) for each in element.findall(f"{MATH}e"))
    return f"<mrow>{_mark(left)}{inside}{_mark(right)}</mrow>"


def _mark(sign: str) -> str:
    return f"<mo>{escape(sign, quote=False)}</mo>" if sign.strip() else ""


def _nary(element: Any) -> str:
    sign = f"<mo>{escape(_property(element, 'chr', '∫'), quote=False)}</mo>"
    lower = not _is_on(element, "subHide") and len(
        _child(element, "sub") if _child(element, "sub") is not None else ()
    )
    upper = not _is_on(element, "supHide") and len(
        _child(element, "sup") if _child(element, "sup") is not None else ()
    )
    limits = _property(element, "limLoc") == "undOvr"
    names = ("munder", "mover", "munderover") if limits else ("msub", "msup", "msubsup")
    below, above = _arg(element, "sub"), _arg(element, "sup")
    if lower and upper:
        sign = f"<{names[2]}>{sign}{below}{above}</{names[2]}>"
    elif lower:
        sign = f"<{names[0]}>{sign}{below}</{names[0]}>"
    elif upper:
        sign = f"<{names[1]}>{sign}{above}</{names[1]}>"
    return f"<mrow>{sign}{_arg(element)}</mrow>"


def _accent(element: Any) -> str:
    sign = escape(_property(element, "chr", "\u0302"), quote=False)
    return f'<mover accent="true">{_arg(element)}<mo>{_ACCENTS.get(sign, sign)}</mo></mover>'


def _bar(element: Any) -> str:
    name = "mover" if _property(element, "pos") == "top" else "munder"
    return f"<{name}>{_arg(element)}<mo>¯</mo></{name}>"


def _brace(element: Any) -> str:
    name = "mover" if _property(element, "pos") == "top" else "munder"
    return f"<{name}>{_arg(element)}<mo>{escape(_property(element, 'chr', '⏟'), quote=False)}</mo></{name}>"


def _table(rows: list[list[str]]) -> str:
    cells = ("".join(f"<mtd>{cell}</mtd>" for cell in row) for row in rows)
    return f"<mtable>{''.join(f'<mtr>{row}</mtr>' for row in cells)}</mtable>"


def _scripts(name: str, *arguments: str) -> Any:
    return lambda element: f"<{name}>{''.join(_arg(element, each) for each in arguments)}</{name}>"


def _prescripts(element: Any) -> str:
    return f"<mmultiscripts>{_arg(element)}<mprescripts/>{_arg(element, 'sub')}{_arg(element, 'sup')}</mmultiscripts>"


_ACCENTS = {
    "\u0302": "^", "\u0303": "~", "\u0304": "¯", "\u0305": "¯", "\u0307": "˙", "\u0308": "¨", "\u20d7": "→",
}  # fmt: skip
_WRITERS = {
    "f": _fraction,
    "sSup": _scripts("msup", "e", "sup"),
    "sSub": _scripts("msub", "e", "sub"),
    "sSubSup": _scripts("msubsup", "e", "sub", "sup"),
    "sPre": _prescripts,
    "rad": _radical,
    "d": _delimited,
    "nary": _nary,
    "func": lambda element: f"<mrow>{_arg(element, 'fName')}<mo>\u2061</mo>{_arg(element)}</mrow>",
    "limLow": _scripts("munder", "e", "lim"),
    "limUpp": _scripts("mover", "e", "lim"),
    "acc": _accent,
    "bar": _bar,
    "groupChr": _brace,
    "phant": lambda element: f"<mphantom>{_arg(element)}</mphantom>",
    "eqArr": lambda element: _table([[_row(each)] for each in element.findall(f"{MATH}e")]),
    "m": lambda element: _table(
        [[_row(each) for each in row.findall(f"{MATH}e")] for row in element.findall(f"{MATH}mr")]
    ),
}
