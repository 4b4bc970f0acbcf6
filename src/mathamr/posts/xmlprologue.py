"""`root_name`: the first element of XML or HTML, past everything that may stand before it."""

from __future__ import annotations

import re

_NEXT = re.compile(r"\s*+(<\?|<!--|<!doctype\s++(?:html\b)?|<[a-z][\w.:-]*+)", re.I)
_IN_DOCTYPE = re.compile(r"<\?|<!--|[\"'\[\]>]")
_ENDS = {"<?": "?>", "<!--": "-->", '"': '"', "'": "'"}


def root_name(text: str) -> str:
    """Return the name of the first element in lower case, `""` if there is none or something else comes first.

    A mark of byte order, declarations, processing instructions, comments and document types with entities of their own are passed over.

    >>> root_name('<?xml version="1.0"?><!-- <html> --><!DOCTYPE a [<!ENTITY b ">">]><pretext xml:id="c">')
    'pretext'
    >>> root_name("No <html> at its beginning")
    ''
    """
    place = 1 if text.startswith("\ufeff") else 0
    while place >= 0 and (opening := _NEXT.match(text, place)):
        sign = opening[1].lower()
        if sign in _ENDS:
            place = _after(text, sign, opening.end())
        elif sign.startswith("<!doctype"):
            if sign.endswith("html"):  # whose elements need not be written
                return "html"
            place = _after_doctype(text, opening.end())
        else:
            return sign[1:]
    return ""


def _after(text: str, sign: str, place: int) -> int:
    """Return where what this sign opens ends; -1 if it does not."""
    end = text.find(_ENDS[sign], place)
    return end if end < 0 else end + len(_ENDS[sign])


def _after_doctype(text: str, place: int) -> int:
    is_inside = False
    while place >= 0 and (found := _IN_DOCTYPE.search(text, place)):
        sign, place = found[0], found.end()
        if sign in _ENDS:
            place = _after(text, sign, place)
        elif sign == ">" and not is_inside:
            return place
        else:
            is_inside = sign == "[" if sign in "[]" else is_inside
    return -1
