"""Untrusted HTML made safe for a page: read into a tree, and only what a list allows is written again.

Safety does not rest on how the source is read: nothing of it is copied. Every element and attribute that leaves is
from the lists here, every text is escaped, every element is closed; MathML comes from our renderer alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from mathamr.core.errors import MathAMRError
from mathamr.posts.decoding import UNWANTED

MARK = "\ufdd0"
"""Stands around the number of a formula in the source: no character, so no text has it once it is replaced there."""


def _names(listing: str) -> frozenset[str]:
    return frozenset(listing.split())


KEPT = _names(
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
_PLACE = re.compile(f"{MARK}([0-9]+){MARK}")
_LINK_RELATION = "nofollow noopener noreferrer"


class NestedTooDeeplyError(MathAMRError):
    """HTML with so many elements within elements that its tree cannot be read whole."""


def sanitised_html(source: str, formulas: Sequence[str] = ()) -> str:
    """The source as safe HTML; the n-th of `formulas`, HTML of our own, stands where the source has `place(n)`.

    Raises `NestedTooDeeplyError` rather than losing what stands too deep.

    >>> sanitised_html('<p onclick="evil()">Let <script>evil()</script><a href="javascript:evil()">x</a> be</p>')
    '<p>Let <a>x</a> be</p>'
    """
    writer = _Writer(formulas)
    for root in _trees(UNWANTED.sub("\ufffd", source)):
        writer.write(root)
    return writer.html()


def place(number: int) -> str:
    """What stands in a source for a formula."""
    return f"{MARK}{number}{MARK}"


def without_places(source: str) -> str:
    """A source in which nobody else has written a place; as long as before."""
    return source.replace(MARK, "\ufffd")


def safe_link(target: str) -> str | None:
    """An address that a page may lead to, or None: whole `http`, `https` and `mailto` addresses pass.

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
    is_whole = bool(parts.path) if parts.scheme.lower() == "mailto" else bool(parts.netloc)
    return target if is_whole else None


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

    def __init__(self, formulas: Sequence[str]) -> None:
        self._formulas = formulas
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
        elif tag in KEPT and self._depth < DEEPEST:
            self._parts.append(f"<{tag}{_attributes(tag, element)}>")
            self._depth += 1
            return str(tag)
        return None

    def _picture(self, element: Any) -> None:
        """A picture of elsewhere is not fetched: what it shows, and a way to it."""
        shown = escape(_PLACE.sub("", element.get("alt") or "").strip()[:300]) or "no description"
        target = safe_link(element.get("src") or "")
        label = f"[picture: {shown}]"
        if target and not target.lower().startswith("mailto:"):
            label = f'<a href="{escape(target)}" rel="{_LINK_RELATION}">{label}</a>'
        self._parts.append(f'<span class="picture">{label}</span>')

    def _text(self, text: str) -> None:
        done = 0
        for match in _PLACE.finditer(text):
            self._parts.append(escape(text[done : match.start()]))
            number = int(match[1][:9])
            if number < len(self._formulas):
                self._parts.append(self._formulas[number])
            done = match.end()
        self._parts.append(escape(text[done:]))


def _attributes(tag: str, element: Any) -> str:
    given = element.attrib
    kept: dict[str, str] = {}
    if tag == "a" and _OWN_LINK.fullmatch(given.get("href", "")):
        kept = {"href": given["href"], "class": "reference"}
    elif tag == "a" and (target := safe_link(given.get("href", ""))):
        kept = {"href": target, "rel": _LINK_RELATION}
    elif tag in ("td", "th"):
        kept = {name: given[name] for name in ("colspan", "rowspan") if _SPAN.fullmatch(given.get(name, ""))}
    elif tag == "ol" and _NUMBER.fullmatch(given.get("start", "")):
        kept = {"start": given["start"]}
    elif tag in ("abbr", "dfn") and given.get("title"):
        kept = {"title": _PLACE.sub("", given["title"])[:300]}
    return "".join(f' {name}="{escape(value)}"' for name, value in kept.items())
