"""Untrusted HTML made safe for a page: nh3 keeps what a list allows, and our formulas are put back into what is left.

Formulas are cut out of the source before it is sanitised, so that MathML comes from our renderer alone.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from html import escape, unescape
from urllib.parse import urlsplit

import nh3

from mathamr.core.listing import names
from mathamr.posts.decoding import UNWANTED

MARK = "\ufdd0"
"""Stands around the mark of a formula; a noncharacter, which Unicode reserves for internal use."""


ALLOWED = names(
    """
    p div br hr em strong i b u s sub sup small code pre kbd samp var blockquote q cite ul ol li dl dt dd
    h1 h2 h3 h4 h5 h6 table caption thead tbody tfoot tr th td abbr dfn ins del mark a
    """
)
"""Elements that pass; any other one leaves its content behind."""

DROPPED = names(
    """
    script style iframe frame frameset object embed applet svg math template noscript noembed noframes xmp plaintext
    textarea select option button input head title meta link base canvas audio video source track map area param
    portal dialog
    """
)
"""Elements that go with all that is in them."""

_WRITTEN = re.compile(r'<(/?)(a|img|h[1-6])((?: [a-z]+="[^"]*")*)>')
"""A tag as nh3 writes it that is written anew for our page."""
_ATTRIBUTE = re.compile(r' ([a-z]+)="([^"]*)"')
_HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}
"""A post stands below the headings of its page."""
_SCHEMES = ("http", "https", "mailto")
_OWN_LINK = re.compile(r"\?post=[A-Za-z0-9%._~-]{1,3000}")
"""To another post on the same page."""
_LINK_RELATION = "nofollow noopener noreferrer"
_LONGEST_TITLE = 300
_ATTRIBUTES = {
    "a": {"href"},
    "img": {"src", "alt"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
    "ol": {"start"},
    "abbr": {"title"},
    "dfn": {"title"},
}
_VALUES: Mapping[str, Callable[[str], object]] = {
    "href": lambda value: page_link(value),
    "src": lambda value: safe_link(value),
    "start": re.compile(r"-?[0-9]{1,6}").fullmatch,
    "colspan": re.compile(r"[1-9][0-9]?").fullmatch,
    "rowspan": re.compile(r"[1-9][0-9]?").fullmatch,
}
"""What the value of an attribute must be to pass."""


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
        """Return the mark to write into the source for a formula."""
        self._formulas.append(html)
        return f"{self._prefix}{len(self._formulas) - 1}{MARK}"

    def fill(self, html: str) -> str:
        """Return the HTML with the formulas where their marks stand; no formula is written twice."""
        left = dict(enumerate(self._formulas))
        filled = self._pattern.sub(lambda mark: left.pop(int(mark[1]), ""), html)
        return filled.replace(MARK, "\ufffd")

    def remove(self, text: str) -> str:
        """Return the text without the marks."""
        return self._pattern.sub("", text)


def sanitise_html(source: str, places: Places | None = None) -> str:
    """Return HTML that `Body` wrote as safe HTML, with the formulas of `places` where their marks stand.

    Reading HTML takes time in proportion to its length and its depth, and in the square of the attributes of a tag; `Body` bounds these.

    >>> sanitise_html('<p onclick="evil()">Let <script>evil()</script><a href="javascript:evil()">x</a> be</p>')
    '<p>Let <a>x</a> be</p>'
    """
    places = places or Places()
    source = UNWANTED.sub("\ufffd", source)

    def keep_value(_tag: str, name: str, value: str) -> str | None:
        """Return the value of an attribute, or None if the attribute goes."""
        if name in ("alt", "title"):
            return places.remove(value).strip()[:_LONGEST_TITLE] or None
        may_pass = _VALUES.get(name)  # nh3 asks about every attribute, and keeps one for which this raises
        return value.strip() if may_pass is not None and may_pass(value) else None

    cleaned = nh3.clean(
        source.encode("utf-8", "replace").decode(),
        tags=set(ALLOWED | {"img"}),
        clean_content_tags=set(DROPPED),
        attributes=_ATTRIBUTES,
        attribute_filter=keep_value,
        link_rel=None,
    )
    return places.fill(_WRITTEN.sub(_write_tag, cleaned).strip())


def _write_tag(tag: re.Match[str]) -> str:
    """Return a tag for our page: headings below its own, links that say what they are, pictures as links."""
    attributes = dict(_ATTRIBUTE.findall(tag[3]))
    if tag[2] in _HEADINGS:
        return f"<{tag[1]}{_HEADINGS[tag[2]]}>"
    if tag[2] == "img":
        label = f"[picture: {escape(unescape(attributes.get('alt', ''))) or 'no description'}]"
        target = attributes.get("src", "")
        if target and not target.lower().startswith("mailto:"):
            label = f'<a href="{escape(unescape(target))}" rel="{_LINK_RELATION}">{label}</a>'
        return f'<span class="picture">{label}</span>'
    target = unescape(attributes.get("href", ""))
    if not target:
        return f"<{tag[1]}a>"
    kind = 'class="reference"' if _OWN_LINK.fullmatch(target) else f'rel="{_LINK_RELATION}"'
    return f'<a href="{escape(target)}" {kind}>'


def page_link(target: str) -> str | None:
    """Return an address if a post may link to it: another post on the page, or one that `safe_link` passes."""
    return target if _OWN_LINK.fullmatch(target) else safe_link(target)


def safe_link(target: str) -> str | None:
    """Return an address that a page may link to, or None: complete `http`, `https` and `mailto` addresses pass.

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
