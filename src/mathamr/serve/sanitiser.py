"""Untrusted HTML made safe for a page: read into a tree, and only what a list allows is written again.

Safety does not rest on how the source is read: nothing of it is copied. Every element and attribute that leaves is
from the lists here, every text is escaped, every element is closed; MathML comes from our renderer alone.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from html import escape
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from mathamr.core.errors import MathAMRError
from mathamr.posts.decoding import UNWANTED

MARK = "\ufdd0"
"""Stands around the mark of a formula; a noncharacter, which Unicode reserves for internal use."""


def _names(listing: str) -> frozenset[str]:
    return frozenset(listing.split())


ALLOWED = _names(
    """
    p div br hr em strong i b u s sub sup small code pre kbd samp var blockquote q cite ul ol li dl dt dd
    h1 h2 h3 h4 h5 h6 table caption thead tbody tfoot tr th td abbr dfn ins del mark a
    """
)
"""Elements that pass; any other one leaves its content behind."""

DROPPED = _names(
    """
    script style iframe frame frameset object embed applet svg math template noscript noembed noframes xmp plaintext
    textarea select option button input head title meta link base canvas audio video source track map area param
    portal dialog
    """
)
"""Elements that go with all that is in them."""

VOID = frozenset(["br", "hr"])
DEEPEST = 60
"""Elements within elements; deeper ones leave their content behind."""

_HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}
"""A post stands below the headings of its page."""
_SCHEMES = ("http", "https", "mailto")
_NUMBER = re.compile(r"-?[0-9]{1,6}")
_OWN_LINK = re.compile(r"\?post=[A-Za-z0-9%._~-]{1,3000}")
"""To another post on the same page."""
_SPAN = re.compile(r"[1-9][0-9]?")
_LINK_RELATION = "nofollow noopener noreferrer"


class NestedTooDeeplyError(MathAMRError):
    """HTML that is nested too deeply for its tree to be complete."""


class Places:
    """The formulas of one source, HTML of our own, and the marks that stand for them while the source is sanitised.

    Each mark holds a key drawn for this source, because an author can write any character as a character reference.
    """

    def __init__(self) -> None:
        key = secrets.token_hex(8)
        self._prefix = f"{MARK}{key}:"
        self._pattern = re.compile(f"{MARK}{key}:([0-9]{{1,9}}){MARK}")
        self._formulas: list[str] = []

    def add(self, html: str) -> str:
        """The mark to write into the source for a formula."""
        self._formulas.append(html)
        return f"{self._prefix}{len(self._formulas) - 1}{MARK}"

    def split(self, text: str) -> Iterator[tuple[str, str]]:
        """The text between the marks, each with the formula that follows it; no formula is returned twice."""
        parts = self._pattern.split(text)
        for before, number in zip(parts[::2], [*map(int, parts[1::2]), -1], strict=True):
            formula = self._formulas[number] if 0 <= number < len(self._formulas) else ""
            yield before, formula
            if formula:
                self._formulas[number] = ""

    def removed(self, text: str) -> str:
        """The text without the marks."""
        return self._pattern.sub("", text)


def sanitised_html(source: str, places: Places | None = None) -> str:
    """The source as safe HTML, with the formulas of `places` where their marks stand.

    Raises `NestedTooDeeplyError` rather than losing what stands too deep.

    >>> sanitised_html('<p onclick="evil()">Let <script>evil()</script><a href="javascript:evil()">x</a> be</p>')
    '<p>Let <a>x</a> be</p>'
    """
    writer = _Writer(places or Places())
    for root in _trees(UNWANTED.sub("\ufffd", source)):
        writer.write(root)
    return writer.html()


def safe_link(target: str) -> str | None:
    """An address that a page may link to, or None: complete `http`, `https` and `mailto` addresses pass.

    >>> safe_link("https://example.org/a?b=1"), safe_link("java\\nscript:alert(1)"), safe_link("//evil.example")
    ('https://example.org/a?b=1', None, None)
    """
    target = target.strip()
    if len(target) > 2000 or any(character <= " " or character == "\x7f" for character in target):
        return None
    try:
        parts = urlsplit(target)
    except ValueError:
        return None
    if parts.scheme.lower() not in _SCHEMES or not target.lower().startswith(f"{parts.scheme.lower()}:"):
        return None
    is_complete = bool(parts.path) if parts.scheme.lower() == "mailto" else bool(parts.netloc)
    return target if is_complete else None


def _trees(source: str) -> Iterator[Any]:
    """What the source says, as trees: one, and one more after every closing `</html>` in it."""
    from lxml import etree

    parser = etree.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=True, recover=True
    )
    root = etree.fromstring(b"<html><body><section>" + source.encode("utf-8", "replace"), parser)
    if any(problem.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for problem in parser.error_log):
        raise NestedTooDeeplyError("elements nested more deeply than can be read")
    return chain([root], root.itersiblings())


class _Writer:
    """Writes trees, without recursion, so that no nesting is too deep."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._parts: list[str] = []
        self._depth = 0

    def html(self) -> str:
        return "".join(self._parts).strip()

    def write(self, root: Any) -> None:
        waiting: list[tuple[str, Any]] = [("element", root)]
        while waiting:
            what, item = waiting.pop()
            if what == "text":
                self._text(item)
            elif what == "end":
                self._depth -= 1
                self._parts.append(f"</{item}>")
            elif isinstance(item.tag, str) and item.tag not in DROPPED and ":" not in item.tag:
                tag = self._open(item)
                if tag:
                    waiting.append(("end", tag))
                for child in reversed(item):
                    waiting.append(("text", child.tail or ""))
                    waiting.append(("element", child))
                self._text(item.text or "")

    def _open(self, element: Any) -> str | None:
        """Writes what opens an element; the element that is to be closed."""
        tag = _HEADINGS.get(element.tag, element.tag)
        if tag == "img":
            self._picture(element)
        elif tag in VOID:
            self._parts.append(f"<{tag}>")
        elif tag in ALLOWED and self._depth < DEEPEST:
            self._parts.append(f"<{tag}{self._attributes(tag, element)}>")
            self._depth += 1
            return str(tag)
        return None

    def _picture(self, element: Any) -> None:
        """Writes the description of a picture and a link to it, since pictures of other sites are not fetched."""
        shown = escape(self._places.removed(element.get("alt") or "").strip()[:300]) or "no description"
        target = safe_link(element.get("src") or "")
        label = f"[picture: {shown}]"
        if target and not target.lower().startswith("mailto:"):
            label = f'<a href="{escape(target)}" rel="{_LINK_RELATION}">{label}</a>'
        self._parts.append(f'<span class="picture">{label}</span>')

    def _text(self, text: str) -> None:
        for before, formula in self._places.split(text):
            self._parts += (escape(before.replace(MARK, "\ufffd")), formula)

    def _attributes(self, tag: str, element: Any) -> str:
        attributes = element.attrib
        allowed: dict[str, str] = {}
        if tag == "a" and _OWN_LINK.fullmatch(attributes.get("href", "")):
            allowed = {"href": attributes["href"], "class": "reference"}
        elif tag == "a" and (target := safe_link(attributes.get("href", ""))):
            allowed = {"href": target, "rel": _LINK_RELATION}
        elif tag in ("td", "th"):
            allowed = {
                name: attributes[name]
                for name in ("colspan", "rowspan")
                if _SPAN.fullmatch(attributes.get(name, ""))
            }
        elif tag == "ol" and _NUMBER.fullmatch(attributes.get("start", "")):
            allowed = {"start": attributes["start"]}
        elif tag in ("abbr", "dfn") and attributes.get("title"):
            allowed = {"title": self._places.removed(attributes["title"])[:300]}
        return "".join(f' {name}="{escape(value)}"' for name, value in allowed.items())
