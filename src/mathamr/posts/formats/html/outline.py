"""Finds the content of a web page, without navigation, and cuts a long page at its headings."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from itertools import pairwise

from mathamr.core.listing import names
from mathamr.posts.formats.html.pieces import TOKEN, Tag
from mathamr.posts.formats.outline import (
    LONGEST,
    SECTION_FROM,
    Headings,
    OutlinePart,
    cuts,
    slug,
    stands_alone,
)
from mathamr.posts.identifiers import stable_name, unique

_VOID = names("area base br col embed hr img input link meta param source track wbr")
_RAW = names("script style textarea noscript template svg math")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_MAIN_NAMES = names(
    """
    body rst-content document markdown-body mw-parser-output ltx_page_content entry-content post-content content
    main-content bodyContent main page-content article-content md-content
    """
)
_UNWANTED_ELEMENTS = names("nav footer form button select dialog menu")
_UNWANTED_ROLES = names("navigation search contentinfo complementary doc-toc")
_UNWANTED_NAMES = names(
    """
    headerlink anchor-link anchor permalink headeranchor header-anchor linkanchor toc table-of-contents toctree-wrapper
    localtoc contents breadcrumb breadcrumbs wy-breadcrumbs wy-nav-side sphinxsidebar sphinxsidebarwrapper sidebar related
    prev-next-area prev-next-footer rst-footer-buttons navbar navigation site-header site-footer page-nav
    edit-this-page mw-editsection noprint mw-jump-link catlinks printfooter skip-link sr-only visually-hidden copybtn
    md-nav md-header md-footer md-sidebar md-content__button md-source-file viewcode-link bd-sidebar bd-header bd-footer
    ltx_page_navbar ltx_page_footer ltx_TOC article-header-buttons bd-header-article navheader navfooter reflist-backlink ttc
    """
)
_BLOCKS = names("p li tr dt dd pre div section blockquote table hr")
_KEPT_ASIDES = names("footnote footnote-list topic admonition sidebar-content citation")
_SIGN = re.compile(
    r"""<a\b[^<>]{0,500}>\s*
    (?:\u00b6|\u00a7|\#|\U0001f517\ufe0e?|&para;|&sect;|&\#182;|&\#xb6;|&\#x1f517;)  # the sign of a permanent link
    \s*</a\s*>""",
    re.I | re.X,
)
_TITLE = re.compile(r"<title\b[^<>]{0,500}>([^<]{0,2000})</title", re.I)
_SITE = re.compile(
    r"""<meta\b(?=[^<>]{0,500}\b(?:og:site_name|application-name)\b)  # an element that names the site
    [^<>]{0,500}\bcontent\s*=\s*["']([^"'<>]{1,200})""",
    re.I | re.X,
)
_SITE_IN_TITLE = re.compile(
    r"""(?<!\s)\s++(?:\u2014|\u2013|\||\u00b7|::|-)\s++  # a dash or another separator
    [^|\u2014\u2013\u00b7]{0,80}\b(?:documentation|docs|manual)\s*\Z""",
    re.I | re.X,
)
_MARKUP = re.compile(r"<[^<>]*>")
_BEGINNING = 3000


@dataclass(slots=True)
class _Element:
    """An element that matters: [start, end) with its tags, [inner, outer) without."""

    name: str
    start: int
    inner: int
    identifier: str = ""
    outer: int = -1
    end: int = -1
    level: int = 0
    """The level of a heading."""
    is_closed: bool = False


@dataclass(slots=True)
class _Found:
    """The elements found in a page, in order."""

    mains: list[_Element] = field(default_factory=list)
    articles: list[_Element] = field(default_factory=list)
    named: list[_Element] = field(default_factory=list)
    bodies: list[_Element] = field(default_factory=list)
    unwanted: list[_Element] = field(default_factory=list)
    headers: list[_Element] = field(default_factory=list)
    headings: list[_Element] = field(default_factory=list)


def outline(page: str) -> list[OutlinePart]:
    """Return the parts of a page: a short page whole, else its sections; small ones are joined to the next.

    The id of a part is its anchor, empty for the page itself.
    """
    return _Page(page).parts()


class _Page:
    def __init__(self, page: str) -> None:
        self._page = page
        self._found = _scan(page)
        self._lines = [match.end() for match in re.finditer("\n", page)]
        self._start, self._end = self._main()
        self._cuts: list[tuple[int, int]] = []
        self._cuts = _merge(
            [*self._unwanted(), *(m.span() for m in _SIGN.finditer(page, self._start, self._end))]
        )
        self._headings = [
            each for each in self._found.headings if self._holds(each) and not self._is_cut(each.start)
        ]

    def _unwanted(self) -> list[tuple[int, int]]:
        """Return where navigation stands; none where nothing else does, and not what is never closed: it would take the text with it."""
        found = self._found
        elements = [*found.unwanted, *([] if found.mains or found.articles else found.headers)]
        cuts, form_end = [], 0
        for each in elements:
            if not each.is_closed or not self._holds(each):
                continue
            if each.name == "form":
                if each.end <= form_end:
                    continue
                form_end = each.end
                if self._count(each.inner, each.outer) >= SECTION_FROM:
                    continue  # the page of a framework that puts all its text into a form
            cuts.append((each.start, each.end))
        self._cuts = _merge(cuts)
        return cuts if self._count(self._start, self._end) else []

    def _holds(self, element: _Element) -> bool:
        return self._start <= element.start and element.end <= self._end

    def _is_cut(self, offset: int) -> bool:
        before = bisect_right(self._cuts, (offset, len(self._page))) - 1
        return before >= 0 and offset < self._cuts[before][1]

    def _main(self) -> tuple[int, int]:
        """Return the span [start, end) of the main content of the page."""
        found = self._found
        for candidates in (found.mains, found.articles, found.named, found.bodies):
            if not candidates or (candidates is found.articles and len(candidates) > 1):
                continue
            chosen = max(candidates, key=lambda each: each.outer - each.inner)
            inside = [
                each for each in found.articles if chosen.inner <= each.start and each.end <= chosen.outer
            ]
            if candidates is found.mains and len(inside) == 1:
                chosen = inside[0]
            return chosen.inner, chosen.outer
        return 0, len(self._page)

    def parts(self) -> list[OutlinePart]:
        """Return the page's parts in order."""
        title, headings, start = self._title()
        spans = [(each.start, each.end) for each in headings]
        alone = stands_alone(start, spans, self._end, self._count)
        parts: list[OutlinePart] = []
        above = Headings()
        taken: dict[str, int] = {}
        part, done = OutlinePart("page", (title,), self._line(start)), self._start
        for each, is_alone in zip(headings, alone, strict=True):
            text = self._heading(each)
            titles = (title, *filter(None, above.enter(each.level, text)))
            if is_alone:
                parts += self._cut(part, done, each.start, taken)
                anchor = unique(each.identifier or slug(unescape(_MARKUP.sub("", text))), taken, 1)
                part, done = OutlinePart("section", titles, self._line(each.start), anchor, anchor), each.end
            else:
                part.inside += [each.identifier] if each.identifier else []
        return [*parts, *self._cut(part, done, self._end, taken)]

    def _cut(self, part: OutlinePart, start: int, end: int, taken: dict[str, int]) -> Iterator[OutlinePart]:
        """Yield a part with its text, which stands between two offsets; a part that is far too long becomes several."""
        cuts = [start, *self._blocks(start, end), end]
        part.body = self._text(start, cuts[1])
        yield part
        for first, last in pairwise(cuts[1:]):
            body = self._text(first, last)
            words = unescape(_MARKUP.sub(" ", body[:_BEGINNING])).split()
            anchor = unique(stable_name(" ".join(words[:6]), *words[:50]), taken)
            yield OutlinePart("section", part.headings, self._line(first), "", anchor, body)

    def _blocks(self, start: int, end: int) -> Iterator[int]:
        """Yield the offsets of blocks at which the text between two offsets is cut if it is far too long."""
        if self._count(start, end) < LONGEST:
            return
        offsets = (
            start + offset
            for tag, offset, _ in _tags(self._page[start:end])
            if tag.name in _BLOCKS and not tag.closes
        )
        yield from cuts(start, (offset for offset in offsets if not self._is_cut(offset)), self._count)

    def _title(self) -> tuple[str, list[_Element], int]:
        """Return the title of the page, the other headings, and where the text below the title begins."""
        first = next((each for each in self._headings if each.name == "h1"), None)
        if first is not None and (text := self._heading(first)):
            rest = [each for each in self._headings if each is not first]
            self._cuts = _merge([*self._cuts, (first.start, first.end)])
            return text, rest, first.end
        if not (match := _TITLE.search(self._page)):
            return "", self._headings, self._start
        title = " ".join(match[1].split())
        site = _SITE.search(self._page)
        if site and title.endswith(site[1]) and title != site[1]:
            title = title[: -len(site[1])].rstrip(" \u2014\u2013|\u00b7:-")
        return _SITE_IN_TITLE.sub("", title), self._headings, self._start

    def _heading(self, element: _Element) -> str:
        """Return the text of a heading."""
        return " ".join(self._text(element.inner, element.outer).split())

    def _text(self, start: int, end: int) -> str:
        """Return the page between two offsets, without what is cut out."""
        kept, position = [], start
        place = max(0, bisect_right(self._cuts, (start, 0)) - 1)
        while place < len(self._cuts) and (cut := self._cuts[place])[0] < end:
            if cut[1] > position:
                kept.append(self._page[position : max(position, cut[0])])
                position = cut[1]
            place += 1
        kept.append(self._page[position:end])
        return "".join(kept)

    def _count(self, start: int, end: int) -> int:
        """Return how many words stand between two offsets, tags not counted."""
        return len(_MARKUP.sub(" ", self._text(start, end)).split())

    def _line(self, offset: int) -> int:
        return bisect_right(self._lines, offset) + 1


def _merge(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, those that touch made one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _scan(page: str) -> _Found:
    """Return the elements of a page that matter, by one pass over its tags; what is not closed ends with its parent."""
    found = _Found()
    opened: list[tuple[str, _Element]] = []
    counts: Counter[str] = Counter()
    section = ""
    for tag, start, end in _tags(page):
        name = tag.name
        if not tag.closes:
            if name == "section" or (name == "div" and "section" in tag.classes):
                section = tag.attributes.get("id", "")
            element = _Element(name, start, end, tag.attributes.get("id", ""))
            if name in _HEADINGS and not element.identifier:
                element.identifier, section = section, ""
            element.level = _HEADINGS.get(name, 0)
            _sort(found, tag, element)
            if name in _VOID or tag.empty:
                element.outer, element.end, element.is_closed = end, end, True
            else:
                opened.append((name, element))
                counts[name] += 1
        elif counts[name]:
            while opened:
                other, element = opened.pop()
                counts[other] -= 1
                element.outer, element.end, element.is_closed = (
                    start,
                    end if other == name else start,
                    other == name,
                )
                if other == name:
                    break
    for _, element in opened:
        element.outer = element.end = len(page)
    for heading, following in pairwise(found.headings):  # a heading that is not closed ends at the next one
        heading.outer, heading.end = min(heading.outer, following.start), min(heading.end, following.start)
    return found


def _sort(found: _Found, tag: Tag, element: _Element) -> None:
    """Sort an element by its name, role, id and classes."""
    name, role = tag.name, tag.attributes.get("role", "")
    names = tag.classes | {element.identifier}
    if name == "div" and names == {
        "contents",
        "",
    }:  # Doxygen's content; docutils' list of contents has more names
        found.named.append(element)
        return
    if name in _HEADINGS:
        found.headings.append(element)
    elif name == "main" or role == "main":
        found.mains.append(element)
    elif (
        name in _UNWANTED_ELEMENTS
        or role in _UNWANTED_ROLES
        or names & _UNWANTED_NAMES
        or (name == "aside" and not names & _KEPT_ASIDES)
    ):
        found.unwanted.append(element)
    elif name == "article":
        found.articles.append(element)
    elif name == "header" or role == "banner":
        found.headers.append(element)
    elif name == "body":
        found.bodies.append(element)
    elif name == "div" and names & _MAIN_NAMES:
        found.named.append(element)


def _tags(page: str) -> Iterator[tuple[Tag, int, int]]:
    """Yield the tags of a page with their offsets; those in scripts, pictures and formulas are not."""
    position = 0
    known: dict[str, Tag] = {}
    unclosed: set[str] = set()
    while position < len(page):
        for match in TOKEN.finditer(page, position):
            if match.lastgroup != "tag":
                continue
            source = match.group()
            tag = known.get(source)
            if tag is None:
                tag = Tag.parse(source)
                if len(source) < 40 and len(known) < 1000:
                    known[source] = tag
            yield tag, match.start(), match.end()
            if tag.name in _RAW and not tag.closes and not tag.empty and tag.name not in unclosed:
                closing = re.compile(rf"</{tag.name}\s*>", re.I).search(page, match.end())
                if closing is None:
                    unclosed.add(tag.name)
                else:
                    position = closing.start()
                    break
        else:
            return
